//! Suite `conform`: plain C programs, run natively and through the connector, see and leave behind the same.
//!
//! The programs (`tests/conform`) write down every call's result, every value read and every error stack. Each case runs
//! twice natively and once through the connector. The transcripts must agree (see [`transcript`]), and so must the files
//! (see [`files`]): byte for byte where two native runs agree byte for byte, object by object elsewhere.

mod files;
mod launch;
mod programs;
mod transcript;

use super::{Context, Log, On, Suite, Verdict};
use crate::connector::Connector;
use crate::world::{Hdf5, Mpi};
use anyhow::{Result, bail, ensure};
use files::Files;
use launch::{Ended, Launch, Results};
use programs::{Case, Programs};
use std::collections::BTreeMap;
use std::fs;

pub struct Conform;

/// Where a broken plugin shows at once; enough for a brief run.
const BRIEF_TOPICS: [&str; 4] = ["contiguous", "chunked", "attributes", "errors_open"];
const BRIEF_RANKS: usize = 2;

impl Suite for Conform {
    fn name(&self) -> &'static str {
        "conform"
    }

    fn about(&self) -> &'static str {
        "C programs on 1 to 4 ranks see the same results, errors and files with and without the connector"
    }

    fn run(&self, context: &Context, log: &mut Log) -> Result<()> {
        if context.brief {
            let hdf5 = context.world.newest(Mpi::Mpich)?;
            let programs = Programs::new(hdf5)?;
            let cases = programs.cases(BRIEF_RANKS)?;
            let few: Vec<Case> =
                cases.into_iter().filter(|c| BRIEF_TOPICS.contains(&c.topic()) && c.is_plain()).collect();
            return compare_all(context, log, hdf5, &programs, BRIEF_RANKS, &few);
        }
        for hdf5 in &context.world.hdf5 {
            let programs = Programs::new(hdf5)?;
            let on = On::hdf5(hdf5);
            match files::self_test(&programs, &context.scratch.join(format!("pairs-{}", programs.label))) {
                Ok(pairs) => log.record(&on, "h5same tells pairs of files apart", pairs, Verdict::Pass),
                Err(e) => log.case(&on, "h5same tells pairs of files apart", Err(e)),
            }
            for ranks in 1..=4 {
                compare_all(context, log, hdf5, &programs, ranks, &programs.cases(ranks)?)?;
            }
        }
        Ok(())
    }
}

/// Runs the cases natively twice and through the connector, and records what came of each.
fn compare_all(
    context: &Context,
    log: &mut Log,
    hdf5: &Hdf5,
    programs: &Programs,
    ranks: usize,
    cases: &[Case],
) -> Result<()> {
    let on = On::hdf5(hdf5);
    let label = format!("{}-{ranks}", programs.label);
    let dir = context.scratch.join(&label);
    fs::create_dir_all(&dir)?;
    let connector = context.connector(&label)?;
    let launch = Launch { programs, mpi: hdf5.mpi, ranks, dir: &dir, cases };
    let trial = Trial {
        native: launch.native(NATIVE)?,
        again: launch.native(AGAIN)?,
        through: launch.through(THROUGH, &connector)?,
        launch,
        connector: &connector,
    };
    let files = Files::new(programs, &dir, [NATIVE, AGAIN, THROUGH]);
    let mut equal = 0;
    let mut skipped: BTreeMap<&str, usize> = BTreeMap::new();
    for case in cases {
        if let Some(Ended::Skipped(reason)) = trial.native.get(case.name()) {
            *skipped.entry(reason).or_default() += 1;
            continue;
        }
        match trial.compare(case, &files) {
            Ok(()) => equal += 1,
            Err(e) => log.case(&on, format!("{ranks} ranks: {}", case.name()), Err(e)),
        }
    }
    for (reason, count) in skipped {
        log.record(&on, format!("{ranks} ranks"), count, Verdict::Skip(reason.to_owned()));
    }
    log.case(&on, format!("{ranks} ranks: the connector was active"), assert_active(&connector, ranks));
    if equal > 0 {
        log.record(&on, format!("{ranks} ranks: cases, {}", files.tally()), equal, Verdict::Pass);
    }
    Ok(())
}

const NATIVE: &str = "native";
const AGAIN: &str = "native-again";
const THROUGH: &str = "connector";
/// Further runs before bytes that differ are believed to differ always.
const RETRIES: usize = 4;

/// The three runs of a set of cases.
struct Trial<'a> {
    launch: Launch<'a>,
    connector: &'a Connector,
    native: Results,
    again: Results,
    through: Results,
}

impl Trial<'_> {
    fn compare(&self, case: &Case, files: &Files) -> Result<()> {
        let name = case.name();
        for (how, run) in [
            ("natively", &self.native),
            ("natively, again", &self.again),
            ("through the connector", &self.through),
        ] {
            match run.get(name) {
                Some(Ended::Normally) => {}
                Some(Ended::Skipped(reason)) => bail!("skipped {how}: {reason}"),
                Some(Ended::Badly(why)) => bail!("failed {how}: {why}"),
                None => bail!("did not run {how}"),
            }
        }
        let mut problems = self.transcripts(name, THROUGH)?;
        match files.compare(name) {
            Ok(None) => {}
            Ok(Some(bytes)) if problems.is_empty() => problems.extend(self.try_again(case, bytes)?),
            Ok(Some(bytes)) => problems.push(bytes),
            Err(e) => problems.push(format!("{e:#}")),
        }
        let place = self.launch.dir.join("*").join(name);
        ensure!(problems.is_empty(), "{}\n  see {}", problems.join("\n"), place.display());
        Ok(())
    }

    /// What is wrong with the transcripts of all ranks.
    fn transcripts(&self, name: &str, through: &str) -> Result<Vec<String>> {
        let mut problems = Vec::new();
        for rank in 0..self.launch.ranks {
            let read = |run: &str| -> Result<String> {
                let path = self.launch.dir.join(run).join(name).join(format!("transcript.{rank}"));
                Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned())
            };
            let (native, again, through) = (read(NATIVE)?, read(AGAIN)?, read(through)?);
            if let Some(difference) = transcript::first_difference(&native, &again) {
                problems.push(format!(
                    "rank {rank}: two native runs differ, so the case proves nothing\n{difference}"
                ));
            }
            if let Some(difference) = transcript::compare(&native, &through) {
                problems.push(format!("rank {rank}: {difference}"));
            }
        }
        Ok(problems)
    }

    /// Bytes differ and content does not. If that is a matter of which rank came first, or of memory that MPI never
    /// set, then another native run has other bytes as well, or another run through the connector has the native ones;
    /// if it is the connector's doing, neither happens.
    fn try_again(&self, case: &Case, bytes: String) -> Result<Vec<String>> {
        let name = case.name();
        let alone = Launch { cases: std::slice::from_ref(case), ..self.launch };
        let settled = |runs: [&str; 3]| -> Result<bool> {
            Ok(Files::new(alone.programs, alone.dir, runs).compare(name)?.is_none())
        };
        for n in 1..=if alone.ranks > 1 { RETRIES } else { 0 } {
            let (native, through) = (format!("native-{name}-{n}"), format!("connector-{name}-{n}"));
            alone.native(&native)?;
            alone.through(&through, self.connector)?;
            if !self.transcripts(name, &through)?.is_empty() {
                return Ok(vec![bytes]);
            }
            if settled([NATIVE, &native, THROUGH])? || settled([NATIVE, AGAIN, &through])? {
                return Ok(Vec::new());
            }
        }
        // With several ranks bytes that belong to nothing are as chance has it; object by object the files are the same.
        Ok(if alone.ranks > 1 { Vec::new() } else { vec![bytes] })
    }
}

/// Every process of the last launch reports, and each went through the connector to its files. One process reports
/// more than once if its program closes the library and goes on.
fn assert_active(connector: &Connector, ranks: usize) -> Result<()> {
    let mut file_calls: BTreeMap<u64, u64> = BTreeMap::new();
    for one in connector.activities()? {
        *file_calls.entry(one.pid).or_default() += one.count("file ");
    }
    ensure!(
        file_calls.len() >= ranks,
        "the connector reported from {} processes of at least {ranks}",
        file_calls.len()
    );
    if let Some((pid, _)) = file_calls.iter().find(|(_, calls)| **calls == 0) {
        bail!("the connector saw no file call in process {pid}");
    }
    Ok(())
}
