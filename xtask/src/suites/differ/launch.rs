//! Runs seeds in as few launches as can be. A crash or a hang is blamed on its seed, and a new launch goes on after it.

use super::super::Context;
use crate::connector::{Connector, native};
use crate::mpi;
use crate::proc::tail;
use crate::world::Mpi;
use anyhow::{Context as _, Result, bail, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The program gives up on a seed after this time.
const SEED_SECONDS: u64 = 30;
/// For a launch that does not even do that.
const LIMIT: Duration = Duration::from_secs(1800);
/// Something is wrong with everything when so many seeds of a batch crash, and every one of them costs a launch.
const CRASHES_MAX: usize = 5;
/// Lines shown of what went wrong on a rank.
const LINES_MAX: usize = 4;

const OMPI_IO: (&str, &str) = ("OMPI_MCA_io", "^ompio");

#[derive(Clone, Copy)]
pub enum Way<'a> {
    Native,
    /// The same without the barriers where native HDF5 races with itself.
    Careless,
    /// Through the connector, with these options.
    Through(&'a str),
}

pub struct Launch<'a> {
    pub context: &'a Context,
    pub mpi: Mpi,
    pub program: &'a Path,
    pub ranks: usize,
    pub way: Way<'a>,
}

/// How a seed ended on one rank.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    hash: String,
    wrongs: u64,
}

/// How all seeds of a batch ended.
pub struct Results {
    /// By seed and rank.
    seen: BTreeMap<(u64, usize), Seen>,
    crashed: BTreeMap<u64, String>,
    ranks: usize,
    connector: Option<Connector>,
    /// How to see one seed again, up to the seed's number.
    replay: String,
    dir: PathBuf,
    launches: usize,
}

impl Launch<'_> {
    pub fn run(&self, seeds: Range<u64>) -> Result<Results> {
        let name = unique_name();
        let dir = fast_folder(self.context, &name)?;
        let connector = match self.way {
            Way::Native | Way::Careless => None,
            Way::Through(options) => Some(self.context.connector(&name)?.options(options)),
        };
        let mut results = Results {
            seen: BTreeMap::new(),
            crashed: BTreeMap::new(),
            ranks: self.ranks,
            replay: self.replay(connector.as_ref()),
            connector,
            dir,
            launches: 0,
        };
        let mut next = seeds.start;
        while next < seeds.end && results.crashed.len() < CRASHES_MAX {
            next = self.launch(&mut results, next..seeds.end)?;
        }
        Ok(results)
    }

    /// One launch; says which seed comes next.
    fn launch(&self, results: &mut Results, seeds: Range<u64>) -> Result<u64> {
        let run = mpi::mpiexec(self.mpi, self.ranks)
            .arg(self.program)
            .arg("--dir")
            .arg(&results.dir)
            .arg("--seeds")
            .arg(format!("{}..{}", seeds.start, seeds.end))
            .args(["--seconds", &SEED_SECONDS.to_string()])
            .limit(LIMIT);
        // Open MPI's own MPI-IO corrupts memory and loses data natively with the selections that these programs make.
        let run = if self.mpi == Mpi::OpenMpi { run.env(OMPI_IO.0, OMPI_IO.1) } else { run };
        // Barriers where native HDF5 races with itself; the connector's modes must do without where they capture.
        let gentle = matches!(self.way, Way::Native | Way::Through("mode=off"));
        let run = if gentle { run.arg("--gentle") } else { run };
        let done = match &results.connector {
            Some(connector) => connector.apply(run),
            None => native(run),
        }
        .run()?;
        results.launches += 1;
        results.read(self.ranks)?;
        if done.success() {
            return Ok(seeds.end);
        }
        let last = last_begun(&results.dir)?.filter(|last| seeds.contains(last));
        let Some(last) = last else { bail!("no program began: {}", done.explain()) };
        results
            .crashed
            .insert(last, format!("the launch {}\n{}", done.ending(), tail(done.stderr.trim_end(), 12)));
        Ok(last + 1)
    }

    /// The command that shows one program, but for the seed.
    fn replay(&self, connector: Option<&Connector>) -> String {
        let mut env = match self.mpi {
            Mpi::OpenMpi => format!("{}={} ", OMPI_IO.0, OMPI_IO.1),
            Mpi::Mpich => String::new(),
        };
        for (key, value) in connector.map(Connector::env).into_iter().flatten() {
            env += &format!("{key}='{value}' ");
        }
        format!(
            "{env}mpiexec.{} -n {} {} --dir DIR --show --seed",
            self.mpi,
            self.ranks,
            self.program.display()
        )
    }
}

impl Results {
    /// The seed ended well through the connector, and on every rank as natively.
    pub fn compare(&self, through: &Results, seed: u64) -> Result<()> {
        through.well(seed)?;
        for rank in 0..self.ranks {
            ensure!(
                self.seen.get(&(seed, rank)) == through.seen.get(&(seed, rank)),
                "rank {rank} did not see what it sees natively; to see it again:\n{} {seed}",
                through.replay
            );
        }
        Ok(())
    }

    pub fn well(&self, seed: u64) -> Result<()> {
        if let Some(how) = self.crashed.get(&seed) {
            bail!("{how}\nto see it again:\n{} {seed}", self.replay);
        }
        for rank in 0..self.ranks {
            let seen =
                self.seen.get(&(seed, rank)).with_context(|| format!("rank {rank} did not get to it"))?;
            ensure!(
                seen.wrongs == 0,
                "{} things wrong on rank {rank}:\n{}\nto see it again:\n{} {seed}",
                seen.wrongs,
                self.what_was_wrong(seed, rank),
                self.replay
            );
        }
        Ok(())
    }

    fn what_was_wrong(&self, seed: u64, rank: usize) -> String {
        let text = fs::read_to_string(self.dir.join(format!("wrong.{rank}"))).unwrap_or_default();
        let mine =
            text.split("\nseed ").find(|t| t.trim_start_matches("seed ").starts_with(&format!("{seed},")));
        let lines = mine.unwrap_or_default().lines().filter(|l| l.starts_with("WRONG"));
        lines.take(LINES_MAX).collect::<Vec<_>>().join("\n")
    }

    pub fn has_crashed_at(&self, seed: u64) -> bool {
        self.crashed.contains_key(&seed)
    }

    pub fn has_crashed(&self) -> bool {
        !self.crashed.is_empty()
    }

    /// Every process of every launch went through the connector; those of a launch that crashed could not say so.
    pub fn assert_active(&self) -> Result<()> {
        let Some(connector) = &self.connector else { return Ok(()) };
        connector
            .assert_active(self.ranks * (self.launches - self.crashed.len().min(self.launches)))
            .map(|_| ())
    }

    /// Adds what the programs did.
    pub fn add_coverage(&self, to: &mut BTreeMap<String, u64>) {
        for line in fs::read_to_string(self.dir.join("coverage")).unwrap_or_default().lines() {
            if let Some((kind, times)) = line.split_once(' ') {
                *to.entry(kind.to_owned()).or_default() += times.parse().unwrap_or(0);
            }
        }
    }

    /// Reads the lines that the ranks left so far.
    fn read(&mut self, ranks: usize) -> Result<()> {
        for rank in 0..ranks {
            let text = fs::read_to_string(self.dir.join(format!("results.{rank}"))).unwrap_or_default();
            for line in text.lines() {
                let words: Vec<&str> = line.split(' ').collect();
                let [seed, hash, wrongs] = words[..] else { bail!("not a result: {line}") };
                let seen = Seen { hash: hash.to_owned(), wrongs: wrongs.parse()? };
                self.seen.insert((seed.parse()?, rank), seen);
            }
        }
        Ok(())
    }
}

impl Drop for Results {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
        if let Some(connector) = &self.connector {
            let _ = fs::remove_file(connector.report());
        }
    }
}

/// Launches run at once.
fn unique_name() -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    format!("sago-differ-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// A new folder, in memory where there is such a place: programs flush often, and a disk makes them wait for it.
fn fast_folder(context: &Context, name: &str) -> Result<PathBuf> {
    let in_memory = Path::new("/dev/shm").join(name);
    if fs::create_dir(&in_memory).is_ok() {
        return Ok(in_memory);
    }
    let on_disk = context.scratch.join(name);
    fs::create_dir_all(&on_disk)?;
    Ok(on_disk)
}

fn last_begun(dir: &Path) -> Result<Option<u64>> {
    let text = fs::read_to_string(dir.join("progress")).unwrap_or_default();
    text.lines().last().map(|line| line.parse().context("not a seed")).transpose()
}
