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
use launch::{Ended, Launch};
use programs::{Case, Programs};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

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
    let launch = Launch { programs, mpi: hdf5.mpi, ranks, dir: &dir, cases };
    let reference = launch.native("native")?;
    let again = launch.native("native-again")?;
    let connector = context.connector(&label)?;
    let through = launch.through("connector", &connector)?;
    let files = Files::new(programs, &dir, ["native", "native-again", "connector"]);

    let mut equal = 0;
    let mut skipped: BTreeMap<String, usize> = BTreeMap::new();
    for case in cases {
        let name = case.name();
        if let Some(Ended::Skipped(reason)) = reference.get(name) {
            *skipped.entry(reason.clone()).or_default() += 1;
            continue;
        }
        let all = [("natively", &reference), ("natively, again", &again), ("through the connector", &through)];
        match compare(all.map(|(how, run)| (how, run.get(name))), &dir, name, ranks, &files) {
            Ok(()) => equal += 1,
            Err(e) => log.case(&on, format!("{ranks} ranks: {name}"), Err(e)),
        }
    }
    for (reason, count) in skipped {
        log.record(&on, format!("{ranks} ranks"), count, Verdict::Skip(reason));
    }
    log.case(&on, format!("{ranks} ranks: the connector was active"), assert_active(&connector, ranks));
    if equal > 0 {
        log.record(&on, format!("{ranks} ranks: cases, {}", files.tally()), equal, Verdict::Pass);
    }
    Ok(())
}

fn compare(
    runs: [(&str, Option<&Ended>); 3],
    dir: &Path,
    name: &str,
    ranks: usize,
    files: &Files,
) -> Result<()> {
    for (how, ended) in runs {
        match ended {
            Some(Ended::Normally) => {}
            Some(Ended::Skipped(reason)) => bail!("skipped {how}: {reason}"),
            Some(Ended::Badly(why)) => bail!("failed {how}: {why}"),
            None => bail!("did not run {how}"),
        }
    }
    let of = |run: &str, rank: usize| dir.join(run).join(name).join(format!("transcript.{rank}"));
    let mut problems = Vec::new();
    for rank in 0..ranks {
        let read = |run: &str| fs::read(of(run, rank)).map(|b| String::from_utf8_lossy(&b).into_owned());
        let (native, again, through) = (read("native")?, read("native-again")?, read("connector")?);
        if let Some(difference) = transcript::first_difference(&native, &again) {
            problems.push(format!("rank {rank}: two native runs differ, so the case proves nothing\n{difference}"));
        }
        if let Some(difference) = transcript::compare(&native, &through) {
            problems.push(format!("rank {rank}: {difference}"));
        }
    }
    if let Err(e) = files.compare(name) {
        problems.push(format!("{e:#}"));
    }
    ensure!(problems.is_empty(), "{}\n  see {}", problems.join("\n"), dir.join("*").join(name).display());
    Ok(())
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
