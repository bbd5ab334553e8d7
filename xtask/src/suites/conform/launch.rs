//! Launches: many cases in one `mpiexec`, because launching costs more than most cases. The program says in a progress
//! file which case it is at, so a crash, a hang or an abort is blamed on its case, and a new launch goes on after it.

use super::programs::{Case, Programs};
use crate::connector::{Connector, native};
use crate::mpi;
use crate::proc::{Done, Run, tail};
use crate::world::Mpi;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// The program ends each case that takes too long by itself; this is for a launch that does not even do that.
const LIMIT: Duration = Duration::from_secs(1800);
/// Something is wrong with everything when so many cases end badly, and every one of them costs a launch.
const BAD_MAX: usize = 25;

/// A set of cases on a number of ranks; results go to folders in `dir`.
#[derive(Clone, Copy)]
pub struct Launch<'a> {
    pub programs: &'a Programs,
    pub mpi: Mpi,
    pub ranks: usize,
    pub dir: &'a Path,
    pub cases: &'a [Case],
}

/// How a case ended.
pub enum Ended {
    Normally,
    /// With the reason that the program gave.
    Skipped(String),
    /// It crashed, hung, or ended the program.
    Badly(String),
}

pub type Results = BTreeMap<String, Ended>;

impl Launch<'_> {
    /// With a folder for plugins as well, but nothing in it: where HDF5 looks for them shows in error stacks.
    pub fn native(&self, name: &str) -> Result<Results> {
        let no_plugins = self.dir.join("no-plugins");
        fs::create_dir_all(&no_plugins)?;
        self.run(name, |run| native(run).env("HDF5_PLUGIN_PATH", &no_plugins))
    }

    pub fn through(&self, name: &str, connector: &Connector) -> Result<Results> {
        self.run(name, |run| connector.apply(run))
    }

    /// All runs happen in a folder of the same name, which is renamed afterwards: paths find their way into files.
    fn run(&self, name: &str, apply: impl Fn(Run) -> Run) -> Result<Results> {
        let place = self.dir.join("run");
        fs::create_dir(&place).with_context(|| format!("cannot make {}", place.display()))?;
        let mut results = Results::new();
        let mut left: Vec<&str> = self.cases.iter().map(Case::name).collect();
        while !left.is_empty() {
            let list = self.dir.join("cases");
            fs::write(&list, left.join("\n"))?;
            let mpiexec = mpi::mpiexec(self.mpi, self.ranks).arg(&self.programs.conform);
            let run = mpiexec.arg("run").arg(&place).arg(format!("@{}", list.display())).limit(LIMIT);
            let done = apply(run).run()?;
            progress(&place, &mut results, &done)?;
            let before = left.len();
            left.retain(|case| !results.contains_key(*case));
            if left.len() == before {
                bail!("no case began: {}", done.explain());
            }
            if results.values().filter(|e| matches!(e, Ended::Badly(_))).count() > BAD_MAX {
                break;
            }
        }
        fs::rename(&place, self.dir.join(name))?;
        Ok(results)
    }
}

/// Reads how the cases ended so far. A case that began and did not end was ended by whatever ended the launch.
fn progress(place: &Path, results: &mut Results, done: &Done) -> Result<()> {
    let text = match fs::read_to_string(place.join("progress")) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(e.into()),
    };
    let mut running = None;
    for line in text.lines() {
        let mut words = line.splitn(3, ' ');
        let (what, case) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let ended = match what {
            "begin" => {
                running = Some(case);
                continue;
            }
            "end" => Ended::Normally,
            "skip" => Ended::Skipped(words.next().unwrap_or("no reason given").to_owned()),
            _ => bail!("not a line of progress: {line}"),
        };
        running = None;
        results.insert(case.to_owned(), ended);
    }
    if let Some(case) = running.filter(|case| !results.contains_key(*case)) {
        results.insert(case.to_owned(), Ended::Badly(why(&place.join(case), done)));
    }
    Ok(())
}

/// How the launch ended, and the last lines that each rank of the case wrote.
fn why(case: &Path, done: &Done) -> String {
    let mut text = format!("the launch {}", done.ending());
    let last = |rank: usize| fs::read(case.join(format!("transcript.{rank}"))).ok();
    for rank in 0.. {
        let Some(bytes) = last(rank) else { break };
        text += &format!("\nrank {rank} last:\n{}", tail(&String::from_utf8_lossy(&bytes), 4));
    }
    text += &format!("\nstandard error:\n{}", tail(done.stderr.trim_end(), 8));
    text
}
