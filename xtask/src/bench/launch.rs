//! Building the kernels and running one of them, natively or through the connector: used by the benchmark and by
//! the correctness suite. Every run through the connector proves that it was active.

use super::variants::{self, Mode};
use crate::connector::{Connector, native};
use crate::mpi;
use crate::place;
use crate::proc::{Done, Run};
use crate::world::{Hdf5, Mpi, Python};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The MPI-IO implementation below HDF5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Io {
    Romio,
    Ompio,
}

impl Io {
    pub fn name(self) -> &'static str {
        match self {
            Io::Romio => "romio",
            Io::Ompio => "ompio",
        }
    }

    pub fn parse(name: &str) -> Result<Self> {
        let all = [Io::Romio, Io::Ompio];
        all.into_iter()
            .find(|io| io.name() == name)
            .with_context(|| format!("no MPI-IO `{name}`: it is romio or ompio"))
    }

    /// Those that an MPI has, its default first.
    pub fn of(mpi: Mpi) -> &'static [Io] {
        match mpi {
            Mpi::Mpich => &[Io::Romio],
            Mpi::OpenMpi => &[Io::Ompio, Io::Romio],
        }
    }

    /// What chooses it.
    fn env(self, mpi: Mpi) -> Option<(&'static str, &'static str)> {
        match (mpi, self) {
            (Mpi::Mpich, _) => None,
            (Mpi::OpenMpi, Io::Ompio) => Some(("OMPI_MCA_io", "ompio")),
            (Mpi::OpenMpi, Io::Romio) => Some(("OMPI_MCA_io", "^ompio")),
        }
    }
}

/// The programs for one HDF5, and where they may write reports.
pub struct Kernels {
    pub hdf5: Hdf5,
    program: PathBuf,
    plugins: PathBuf,
    scratch: PathBuf,
    /// Makes ranks that wait give way; see `crowd.c`.
    crowd: PathBuf,
    polling: bool,
    timed: bool,
}

/// One run of a kernel.
#[derive(Clone, Debug)]
pub struct Job {
    pub ranks: usize,
    pub io: Io,
    pub kernel: String,
    pub args: Vec<String>,
    pub file: PathBuf,
    pub env: Vec<(String, String)>,
    /// Through the connector, with these words after its name.
    pub connector: Option<String>,
    pub limit: Duration,
}

impl Kernels {
    /// Compiles `examples/kernels` against an HDF5 into the scratch folder.
    pub fn build(hdf5: &Hdf5, plugins: &Path, scratch: &Path) -> Result<Self> {
        let dir = place::root().join("examples/kernels");
        let mut sources: Vec<PathBuf> = fs::read_dir(&dir)
            .with_context(|| format!("no kernels in {}", dir.display()))?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|e| e == "c"))
            .collect();
        sources.sort();
        let program = scratch.join(format!("kernels-{}-{}", hdf5.version, hdf5.mpi));
        let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
        mpi::compile(hdf5, &sources, &program).context("compiling the kernels")?;
        Ok(Self {
            hdf5: hdf5.clone(),
            program,
            plugins: plugins.to_owned(),
            scratch: scratch.to_owned(),
            crowd: crowd(scratch)?,
            polling: false,
            timed: false,
        })
    }

    /// Lets ranks poll without pause even if there are more of them than cores.
    pub fn polling(mut self, polling: bool) -> Self {
        self.polling = polling;
        self
    }

    /// For runs whose time matters: the connector proves that it was active, and collects nothing else.
    pub fn timed(mut self) -> Self {
        self.timed = true;
        self
    }

    /// Runs a job and returns its result line. An error if it failed, if its data was wrong, or if it should
    /// have gone through the connector and did not.
    pub fn run(&self, job: &Job) -> Result<Value> {
        self.execute(&[], job)
    }

    /// The same under `strace -f -c`: system calls by name, of all processes. Slow, so never a run that is timed.
    pub fn count_calls(&self, job: &Job) -> Result<Vec<(String, u64)>> {
        let counts = self.scratch.join("strace");
        let file = counts.to_string_lossy();
        self.execute(&["strace", "-f", "-qq", "-c", "-U", "calls,name", "-o", &file], job)?;
        Ok(fs::read_to_string(&counts)?.lines().filter_map(call_count).collect())
    }

    /// Its result, and the lines of strace on some system calls of all processes, with the paths of files.
    pub fn trace(&self, job: &Job, calls: &str) -> Result<(Value, String)> {
        let lines = self.scratch.join("strace");
        let (file, calls) = (lines.to_string_lossy(), format!("trace={calls}"));
        let result =
            self.execute(&["strace", "-f", "-qq", "-y", "-s", "8", "-e", &calls, "-o", &file], job)?;
        Ok((result, fs::read_to_string(&lines)?))
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Where the connector reports.
    pub fn report(&self) -> PathBuf {
        self.scratch.join("kernels.report")
    }

    /// The launcher under `prefix`, the program under the launcher.
    fn execute(&self, prefix: &[&str], job: &Job) -> Result<Value> {
        let (mpi, connector) = (self.hdf5.mpi, self.connector(job)?);
        let run = match prefix {
            [] => Run::new(mpi.mpiexec()),
            [program, args @ ..] => Run::new(program).args(args).arg(mpi.mpiexec()),
        };
        let preload = (!self.polling).then_some(("LD_PRELOAD", &self.crowd));
        let run = native(run.args(mpi::mpiexec_args(mpi)).envs(mpi::mpiexec_env(mpi)));
        let run = run.envs(preload).envs(job.io.env(mpi)).envs(job.env.iter().map(|(k, v)| (k, v)));
        let run = through(run, connector.as_ref()).arg("-n").arg(job.ranks.to_string());
        let run = run.arg(&self.program).arg(&job.kernel).arg("--file").arg(&job.file).args(&job.args);
        finish(run.limit(job.limit), connector.as_ref(), job.ranks)
    }

    /// The connector's modes, by asking the plugin: a word that it does not know makes it refuse the file. And those that
    /// it refused, with its answer.
    pub fn modes(&self, dir: &Path) -> (Vec<Mode>, Vec<(String, String)>) {
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        for &mode in variants::MODES {
            match self.probe(dir, mode) {
                Ok(()) => known.push(mode),
                Err(e) => unknown.push((mode.0.to_owned(), reason(&e))),
            }
        }
        if known.is_empty() {
            known.push(variants::PLAIN);
        }
        (known, unknown)
    }

    fn probe(&self, dir: &Path, (_, words): Mode) -> Result<()> {
        let file = dir.join("probe.h5");
        let job = Job {
            ranks: 1,
            io: Io::of(self.hdf5.mpi)[0],
            kernel: "vpic".to_owned(),
            args: ["--size", "64"].map(str::to_owned).to_vec(),
            file: file.clone(),
            env: Vec::new(),
            connector: Some(words.to_owned()),
            limit: Duration::from_secs(60),
        };
        self.run(&job)?;
        Ok(fs::remove_file(file)?)
    }

    fn connector(&self, job: &Job) -> Result<Option<Connector>> {
        let report = self.report();
        let brief = if self.timed { " report_of=processes" } else { "" };
        let with =
            |words: &String| Ok(Connector::new(&self.plugins, &report)?.options(&format!("{words}{brief}")));
        job.connector.as_ref().map(with).transpose()
    }
}

/// What the plugin says of the option, without where HDF5 was when it said so.
fn reason(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    let refusal = text.lines().find_map(|line| line.find("unknown option").map(|at| &line[at..]));
    let sentence = refusal.or_else(|| text.lines().next()).unwrap_or("no reason");
    sentence.split(';').next().unwrap_or(sentence).trim().to_owned()
}

/// Runs one of `examples/python`: on its environment's MPI if it has one, else as a single process.
pub fn python(
    python: &Python,
    script: &str,
    ranks: usize,
    args: &[&str],
    connector: Option<&Connector>,
    scratch: &Path,
) -> Result<Value> {
    let script = place::root().join("examples/python").join(script);
    let run = match python.mpi {
        Some(mpi) => mpi::mpiexec(mpi, ranks).env("LD_PRELOAD", crowd(scratch)?).arg(python.python()),
        None => Run::new(python.python()),
    };
    let run = native(run).envs(python.env.iter().map(|(k, v)| (k, v))).env("PYTHONDONTWRITEBYTECODE", "1");
    let run = through(run, connector);
    finish(run.arg(script).args(args).limit(Duration::from_secs(120)), connector, ranks)
}

/// Compiles the library that `LD_PRELOAD` brings into MPI programs.
fn crowd(scratch: &Path) -> Result<PathBuf> {
    let library = scratch.join("crowd.so");
    let source = place::root().join("xtask/src/bench/crowd.c");
    Run::new("cc").args(["-O2", "-shared", "-fPIC", "-o"]).arg(&library).arg(source).arg("-ldl").ok()?;
    Ok(library)
}

fn through(run: Run, connector: Option<&Connector>) -> Run {
    match connector {
        Some(connector) => connector.apply(run),
        None => run,
    }
}

fn finish(run: Run, connector: Option<&Connector>, processes: usize) -> Result<Value> {
    let done = run.ok()?;
    let result = result_line(&done)?;
    ensure!(result["verified"] != Value::Bool(false), "wrong data: {}", done.explain());
    if let Some(connector) = connector {
        connector.assert_active(processes)?;
    }
    Ok(result)
}

/// The one line of JSON that rank 0 prints.
fn result_line(done: &Done) -> Result<Value> {
    let line = done.stdout.lines().rev().find(|l| l.starts_with('{'));
    let line = line.with_context(|| format!("no result: {}", done.explain()))?;
    serde_json::from_str(line).with_context(|| format!("not a result: {line}"))
}

/// `     1234 pwrite64`, as strace prints it under two lines of heading.
fn call_count(line: &str) -> Option<(String, u64)> {
    let mut words = line.split_whitespace();
    let count = words.next()?.parse().ok()?;
    let name = words.next()?;
    (name != "total").then(|| (name.to_owned(), count))
}

#[cfg(test)]
mod tests {
    use super::call_count;

    #[test]
    fn strace_lines() {
        assert_eq!(call_count("      384 pwrite64"), Some(("pwrite64".to_owned(), 384)));
        assert_eq!(call_count("--------- ----------------"), None);
        assert_eq!(call_count("    calls syscall"), None);
        assert_eq!(call_count("     1000 total"), None);
    }
}
