//! Suite `latency`: what the connector adds to a small call. It prints and never judges a time; it does insist that
//! the connector was active.

use super::{Context, Log, On, Suite};
use crate::connector::native;
use crate::proc::Run;
use crate::world::{Hdf5, Mpi};
use crate::{mpi, place};
use anyhow::{Context as _, Result};
use std::path::Path;
use std::time::Duration;

pub struct Latency;

/// Runs of each kind, alternating, so that a busy moment of the machine hits both.
const REPEATS: usize = 7;
const LIMIT: Duration = Duration::from_secs(120);

impl Suite for Latency {
    fn name(&self) -> &'static str {
        "latency"
    }

    fn about(&self) -> &'static str {
        "what the connector adds to small calls (prints, does not judge)"
    }

    fn run(&self, context: &Context, log: &mut Log) -> Result<()> {
        for hdf5 in context.world.hdf5.iter().filter(|h| h.mpi == Mpi::Mpich) {
            let program =
                mpi::program(hdf5, &context.scratch, &place::root().join("tests/latency/latency.c"))?;
            for mode in ["serial", "mpi"] {
                let result = compare(context, hdf5, &program, mode);
                if let Ok(rows) = &result {
                    rows.iter().for_each(|row| log.note(row.to_string()));
                }
                log.case(&On::hdf5(hdf5), format!("measured, {mode}"), result.map(|_| ()));
            }
        }
        Ok(())
    }
}

/// The medians of one call.
struct Row {
    call: String,
    native_us: f64,
    through_us: f64,
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Row { call, native_us, through_us } = self;
        let added = through_us - native_us;
        write!(
            f,
            "{call:<14} native {native_us:7.2} us   connector {through_us:7.2} us   adds {added:+6.2} us"
        )
    }
}

fn compare(context: &Context, hdf5: &Hdf5, program: &Path, mode: &str) -> Result<Vec<Row>> {
    let connector = context.connector(&format!("{}-{mode}", hdf5.version))?.options("report_of=processes");
    let file = context.scratch.join("latency.h5");
    let start = || match mode {
        "mpi" => mpi::mpiexec(hdf5.mpi, 1).arg(program),
        _ => Run::new(program),
    };
    let run = || start().arg(mode).arg(&file).limit(LIMIT);
    let (mut natives, mut throughs) = (Vec::new(), Vec::new());
    for _ in 0..REPEATS {
        natives.push(times(&native(run()).text()?)?);
        throughs.push(times(&connector.apply(run()).text()?)?);
    }
    connector.assert_active(REPEATS)?;
    let row = |at: usize| Row {
        call: natives[0][at].0.clone(),
        native_us: median(natives.iter().map(|n| n[at].1)),
        through_us: median(throughs.iter().map(|t| t[at].1)),
    };
    Ok((0..natives[0].len()).map(row).collect())
}

/// Lines of "call nanoseconds", in microseconds.
fn times(text: &str) -> Result<Vec<(String, f64)>> {
    text.lines()
        .map(|line| {
            let (call, ns) = line.split_once(' ').with_context(|| format!("not a time: {line}"))?;
            Ok((call.to_owned(), ns.parse::<f64>()? / 1000.0))
        })
        .collect()
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = values.collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}
