//! Suite `traps`: what a connector can get wrong although each call alone seems right. Programs that check themselves
//! (`tests/traps`) run natively and in every mode of the connector.

use super::differ::MODES;
use super::{Context, Log, On, Suite, Verdict};
use crate::connector::native;
use crate::proc::{Done, tail};
use crate::world::{Hdf5, Mpi};
use crate::{mpi, place};
use anyhow::{Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub struct Traps;

const LIMIT: Duration = Duration::from_secs(600);

impl Suite for Traps {
    fn name(&self) -> &'static str {
        "traps"
    }

    fn about(&self) -> &'static str {
        "links, mounts, communicators, allocation, handles: programs that lead a connector astray check themselves"
    }

    fn run(&self, context: &Context, log: &mut Log) -> Result<()> {
        for (place, hdf5) in context.world.hdf5.iter().enumerate() {
            let cases = Cases::new(context, hdf5, "traps")?;
            for ranks in rank_counts(context, place) {
                cases.run_everywhere(log, ranks);
                unclosed(context, hdf5, log, ranks)?;
            }
        }
        Ok(())
    }
}

/// Few and many; all with `--full`.
pub(super) fn rank_counts(context: &Context, place: usize) -> Vec<usize> {
    match (context.full, place) {
        (true, _) => (1..=8).collect(),
        (false, 0) => vec![1, 3],
        (false, _) => vec![2 + place],
    }
}

/// A folder of cases (see `tests/cases/cases.h`) as one executable.
pub(super) struct Cases<'a> {
    context: &'a Context,
    hdf5: &'a Hdf5,
    name: &'static str,
    program: PathBuf,
}

impl<'a> Cases<'a> {
    pub(super) fn new(context: &'a Context, hdf5: &'a Hdf5, name: &'static str) -> Result<Self> {
        let tests = place::root().join("tests");
        let sources =
            [super::differ::sources(&tests.join(name))?, vec![tests.join("cases/cases.c")]].concat();
        let program = context.scratch.join(format!("{name}-{}-{}", hdf5.version, hdf5.mpi));
        mpi::compile(hdf5, &sources.iter().map(PathBuf::as_path).collect::<Vec<_>>(), &program)?;
        Ok(Self { context, hdf5, name, program })
    }

    /// Natively, so that the cases themselves are known to be right, and in every mode.
    pub(super) fn run_everywhere(&self, log: &mut Log, ranks: usize) {
        for mode in std::iter::once(None).chain(MODES.into_iter().map(Some)) {
            if let Err(e) = self.run(log, ranks, mode) {
                log.case(
                    &On::hdf5(self.hdf5),
                    format!("{ranks} ranks, {}", mode.unwrap_or("native")),
                    Err(e),
                );
            }
        }
    }

    fn run(&self, log: &mut Log, ranks: usize, mode: Option<&str>) -> Result<()> {
        let on = On::hdf5(self.hdf5);
        let label = format!("{ranks} ranks, {}", mode.unwrap_or("native"));
        let dir = self.context.scratch.join("run");
        fs::create_dir_all(&dir)?;
        let run = mpi::mpiexec(self.hdf5.mpi, ranks).arg(&self.program).arg(&dir).limit(LIMIT);
        let done = match mode {
            None => native(run.arg("--gentle")).run()?,
            Some(options) => {
                let connector = self.context.connector(self.name)?.options(options);
                let run = if options == "mode=off" { run.arg("--gentle") } else { run };
                let done = connector.apply(run).run()?;
                if done.success() {
                    connector.assert_active(ranks)?;
                }
                done
            }
        };
        fs::remove_dir_all(&dir)?;
        let passed = done.stdout.lines().filter(|l| l.starts_with("ok ")).count();
        let wrong = wrong_cases(&done);
        for (case, why) in &wrong {
            log.record(&on, format!("{label}: {case}"), 1, Verdict::Fail(why.clone()));
        }
        if wrong.is_empty() && !done.success() {
            bail!("{}", done.explain());
        }
        log.record(&on, format!("{label}: cases"), passed, Verdict::Pass);
        Ok(())
    }
}

/// What the program said of each case that went wrong; the last of them may have ended the program.
fn wrong_cases(done: &Done) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for line in done.stdout.lines().filter(|l| !l.starts_with("ok ")) {
        match (line.strip_prefix("wrong ").and_then(|l| l.split_once(": ")), found.last_mut()) {
            (Some((case, why)), _) => found.push((case.to_owned(), why.to_owned())),
            (None, Some((_, why))) => *why += &format!("\n{line}"),
            (None, None) => {}
        }
    }
    let blamed = done.stderr.lines().find(|l| l.starts_with("case "));
    if let Some(case) = blamed.and_then(|l| l["case ".len()..].split(',').next()) {
        found.push((case.to_owned(), tail(done.stderr.trim_end(), 10)));
    }
    found
}

/// A program that never closes its file: HDF5 closes it in MPI_Finalize, and nothing is lost.
fn unclosed(context: &Context, hdf5: &Hdf5, log: &mut Log, ranks: usize) -> Result<()> {
    let program =
        mpi::program(hdf5, &context.scratch, &place::root().join("tests/traps/unclosed/unclosed.c"))?;
    for mode in std::iter::once(None).chain(MODES.into_iter().map(Some)) {
        let label = format!("{ranks} ranks, {}: a file that is never closed", mode.unwrap_or("native"));
        log.case(&On::hdf5(hdf5), label, leave_open(context, hdf5.mpi, &program, ranks, mode));
    }
    Ok(())
}

fn leave_open(context: &Context, mpi: Mpi, program: &Path, ranks: usize, mode: Option<&str>) -> Result<()> {
    let file = context.scratch.join("unclosed.h5");
    let run = mpi::mpiexec(mpi, ranks).arg(program).arg(&file).limit(LIMIT);
    let done = match mode {
        None => native(run).run()?,
        Some(options) => context.connector("unclosed")?.options(options).apply(run).run()?,
    };
    ensure!(done.success(), "{}", done.explain());
    let check = native(mpi::mpiexec(mpi, 1).arg(program).arg(&file).arg("--check").limit(LIMIT)).text()?;
    ensure!(check.starts_with("all "), "{check}");
    fs::remove_file(&file)?;
    Ok(())
}
