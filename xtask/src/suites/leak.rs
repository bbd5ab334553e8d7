//! Suite `leak`: memory over 100,000 open/write/close cycles, and a short run under valgrind, both next to native.

use super::{Context, Log, On, Suite};
use crate::connector::native;
use crate::proc::Run;
use crate::world::Mpi;
use crate::{mpi, place};
use anyhow::{Context as _, Result, ensure};
use std::path::Path;
use std::time::Duration;

pub struct Leak;

const CYCLES: i64 = 100_000;
const CYCLES_VALGRIND: i64 = 40;
const FILES_AT_ONCE: usize = 2200;
const LIMIT: Duration = Duration::from_secs(900);
/// One lost byte in each cycle would show as 90,000 on the heap.
const HEAP_SLACK_BYTES: i64 = 64 << 10;
/// Resident memory moves by pages and by the allocator's mood.
const RESIDENT_SLACK_KIB: i64 = 1 << 10;

impl Suite for Leak {
    fn name(&self) -> &'static str {
        "leak"
    }

    fn about(&self) -> &'static str {
        "no memory is lost over 100,000 open/write/close cycles, nor under valgrind, and no communicator"
    }

    fn run(&self, context: &Context, log: &mut Log) -> Result<()> {
        let hdf5 = context.world.newest(Mpi::Mpich)?;
        let program = mpi::program(hdf5, &context.scratch, &place::root().join("tests/leak/cycles.c"))?;
        let on = On::hdf5(hdf5);
        log.case(&on, format!("{CYCLES} cycles"), cycles(context, &program, log));
        log.case(&on, format!("{CYCLES_VALGRIND} cycles under valgrind"), valgrind(context, &program, log));
        let source = place::root().join("tests/leak/communicators.c");
        let program = mpi::program(hdf5, &context.scratch, &source)?;
        log.case(&on, format!("{FILES_AT_ONCE} times three files at once"), communicators(context, &program));
        Ok(())
    }
}

/// A communicator lost each time would be one more than MPICH has.
fn communicators(context: &Context, program: &Path) -> Result<()> {
    const RANKS: usize = 2;
    let connector = context.connector("communicators")?;
    let run = mpi::mpiexec(Mpi::Mpich, RANKS).arg(program).arg(FILES_AT_ONCE.to_string());
    let done = connector.apply(run.arg(&context.scratch).limit(LIMIT)).run()?;
    ensure!(done.success() && done.stdout.contains("done "), "{}", done.explain());
    connector.assert_active(RANKS).map(drop)
}

/// Growth between the first and the last line that the program prints.
struct Growth {
    resident_kib: i64,
    heap_bytes: i64,
}

fn cycles(context: &Context, program: &Path, log: &Log) -> Result<()> {
    let connector = context.connector("cycles")?;
    let command =
        || Run::new(program).arg(CYCLES.to_string()).arg(context.scratch.join("cycles.h5")).limit(LIMIT);
    let native = growth(&native(command()).text()?)?;
    let through = growth(&connector.apply(command()).text()?)?;
    let activity = connector.assert_active(1)?;
    ensure!(activity[0].count("file open") >= CYCLES as u64, "not every cycle went through the connector");
    log.note(format!(
        "growth over {} cycles: heap {} B native, {} B connector; resident {} KiB native, {} KiB connector",
        CYCLES / 10 * 9,
        native.heap_bytes,
        through.heap_bytes,
        native.resident_kib,
        through.resident_kib
    ));
    ensure!(
        through.heap_bytes <= native.heap_bytes + HEAP_SLACK_BYTES,
        "the heap grew by {} bytes, natively by {}",
        through.heap_bytes,
        native.heap_bytes
    );
    ensure!(
        through.resident_kib <= native.resident_kib.max(0) + RESIDENT_SLACK_KIB,
        "resident memory grew by {} KiB, natively by {}",
        through.resident_kib,
        native.resident_kib
    );
    Ok(())
}

fn growth(text: &str) -> Result<Growth> {
    let lines: Vec<Vec<i64>> = text
        .lines()
        .map(|l| {
            l.split(' ').map(|n| n.parse().with_context(|| format!("not a memory count: {l}"))).collect()
        })
        .collect::<Result<_>>()?;
    let (first, last) =
        (lines.first().context("no memory counts")?, lines.last().context("no memory counts")?);
    Ok(Growth { resident_kib: last[1] - first[1], heap_bytes: last[2] - first[2] })
}

/// Compares the errors that valgrind finds, lost memory among them, with the native run.
fn valgrind(context: &Context, program: &Path, log: &Log) -> Result<()> {
    let connector = context.connector("valgrind")?;
    let start = || {
        Run::new("valgrind")
            .args(["--leak-check=full", "--errors-for-leak-kinds=definite,possible", "--num-callers=30"])
            .arg(program)
            .arg(CYCLES_VALGRIND.to_string())
            .arg(context.scratch.join("valgrind.h5"))
            .limit(LIMIT)
    };
    let plain = Findings::of(native(start()))?;
    let through = Findings::of(connector.apply(start()))?;
    connector.assert_active(1)?;
    log.note(format!(
        "valgrind: {} errors, {} B lost native; {} errors, {} B lost connector",
        plain.errors, plain.lost_bytes, through.errors, through.lost_bytes
    ));
    let worse = through.errors > plain.errors || through.lost_bytes > plain.lost_bytes;
    ensure!(!worse, "valgrind finds more than natively:\n{}", through.text);
    Ok(())
}

struct Findings {
    errors: u64,
    lost_bytes: u64,
    text: String,
}

impl Findings {
    fn of(run: Run) -> Result<Self> {
        let text = run.ok()?.stderr;
        // "==12== ERROR SUMMARY: 0 errors", "==12==    definitely lost: 1,024 bytes in 2 blocks"
        let number = |label: &str| {
            let rest = text.split(label).nth(1)?;
            rest.trim_start().split(' ').next()?.replace(',', "").parse::<u64>().ok()
        };
        let errors = number("ERROR SUMMARY:").context("valgrind printed no summary")?;
        let lost = ["definitely lost:", "indirectly lost:", "possibly lost:"].map(|l| number(l).unwrap_or(0));
        Ok(Self { errors, lost_bytes: lost.iter().sum(), text })
    }
}
