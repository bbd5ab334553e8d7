//! `cargo xtask test`: suites, their outcomes, and the summary of what ran on what.
//!
//! A suite is a module here with one type that implements [`Suite`]. It runs real programs on every configuration
//! of [`Context::world`] that it covers, and records one [`Outcome`] per case and configuration.

mod arrows;
mod bound;
mod broken;
mod cluster;
mod conform;
mod consistency;
mod differ;
mod doctor;
mod examples;
pub mod exec;
mod faults;
mod kernels;
mod latency;
mod layout;
mod leak;
mod mpi;
mod options;
mod panics;
mod python;
mod report;
mod sources;
mod staged;
mod summary;
mod traps;
mod two_hdf5;

use crate::connector::Connector;
use crate::world::{Hdf5, Mpi, Python, World, plugin_dir};
use crate::{place, stage};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// A family of tests.
pub trait Suite {
    /// One word, for `--only`.
    fn name(&self) -> &'static str;
    /// One line, for `--list`.
    fn about(&self) -> &'static str;
    /// Too long for every run: it runs when it is named, or with `--full`.
    fn on_request(&self) -> bool {
        false
    }
    /// Runs the cases and records each. An error means that the suite itself could not go on; it counts as a failure.
    fn run(&self, context: &Context, log: &mut Log) -> Result<()>;
}

/// All suites, quick ones first.
fn suites() -> Vec<Box<dyn Suite>> {
    vec![
        Box::new(sources::Sources),
        Box::new(arrows::Arrows),
        Box::new(bound::Bound),
        Box::new(layout::Layout),
        Box::new(staged::Staged),
        Box::new(options::Options),
        Box::new(doctor::Doctor),
        Box::new(examples::Examples),
        Box::new(panics::Panics),
        Box::new(mpi::Transport),
        Box::new(exec::Exec),
        Box::new(cluster::Cluster),
        Box::new(two_hdf5::TwoHdf5),
        Box::new(conform::Conform),
        Box::new(consistency::Consistency),
        Box::new(traps::Traps),
        Box::new(faults::Faults),
        Box::new(differ::Differ),
        Box::new(broken::Broken),
        Box::new(leak::Leak),
        Box::new(latency::Latency),
        Box::new(python::Python),
        Box::new(report::Report),
        Box::new(kernels::KernelSuite),
    ]
}

/// What suites run with.
#[derive(Clone, Debug)]
pub struct Context {
    pub world: World,
    /// The folder with the plugin under test; not always the staged one.
    pub plugins: PathBuf,
    /// Empty folder of the suite's own, kept after the run for inspection.
    pub scratch: PathBuf,
    /// Only as much as shows whether the plugin works at all: one configuration, the first cases.
    pub brief: bool,
    /// All combinations, however long they take.
    pub full: bool,
    /// Where drawn programs begin.
    pub seed: u64,
}

impl Context {
    /// A way through the plugin under test that reports to `NAME.report` in the scratch folder.
    pub fn connector(&self, name: &str) -> Result<Connector> {
        Connector::new(&self.plugins, &self.scratch.join(format!("{name}.report")))
    }

    /// For a brief run of another suite with another plugin, with a scratch folder below ours.
    fn nested(&self, name: &str, plugins: &Path) -> Result<Self> {
        let scratch = empty(self.scratch.join(name))?;
        let plugins = plugins.to_owned();
        Ok(Self { world: self.world.clone(), plugins, scratch, brief: true, full: false, seed: self.seed })
    }
}

/// The configuration that a case ran on.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct On {
    pub hdf5: Option<String>,
    pub mpi: Option<Mpi>,
    /// Name of the Python environment, or its h5py version.
    pub python: Option<String>,
}

impl On {
    /// No HDF5 at all: checks of the sources.
    pub fn nothing() -> Self {
        Self::default()
    }

    pub fn hdf5(hdf5: &Hdf5) -> Self {
        Self { hdf5: Some(hdf5.version.clone()), mpi: Some(hdf5.mpi), python: None }
    }

    pub fn python(python: &Python) -> Self {
        Self { hdf5: Some(python.hdf5.join("+")), mpi: python.mpi, python: Some(python.name.clone()) }
    }
}

#[derive(Clone, Debug)]
pub enum Verdict {
    Pass,
    /// With all that is needed to understand it: command, output, difference.
    Fail(String),
    /// With the reason.
    Skip(String),
}

#[derive(Clone, Debug)]
pub struct Outcome {
    pub suite: &'static str,
    pub on: On,
    pub case: String,
    /// How many tests this stands for: one, or as many as a foreign test suite counted.
    pub tests: usize,
    pub verdict: Verdict,
}

/// Collects outcomes and shows progress.
pub struct Log {
    suite: &'static str,
    quiet: bool,
    outcomes: Vec<Outcome>,
}

impl Log {
    pub fn new(suite: &'static str) -> Self {
        Self { suite, quiet: false, outcomes: Vec::new() }
    }

    /// Collects without a line per case.
    pub fn quiet(suite: &'static str) -> Self {
        Self { suite, quiet: true, outcomes: Vec::new() }
    }

    /// Records a case: `Ok` passes, an error fails with its text.
    pub fn case(&mut self, on: &On, case: impl Into<String>, result: Result<()>) {
        match result {
            Ok(()) => self.record(on, case, 1, Verdict::Pass),
            Err(e) => self.record(on, case, 1, Verdict::Fail(format!("{e:#}"))),
        }
    }

    pub fn skip(&mut self, on: &On, case: impl Into<String>, reason: impl Into<String>) {
        self.record(on, case, 1, Verdict::Skip(reason.into()));
    }

    /// Records a case that stands for `tests` tests.
    pub fn record(&mut self, on: &On, case: impl Into<String>, tests: usize, verdict: Verdict) {
        let outcome = Outcome { suite: self.suite, on: on.clone(), case: case.into(), tests, verdict };
        if !self.quiet {
            println!("{}", summary::line(&outcome));
        }
        self.outcomes.push(outcome);
    }

    /// A line of progress or measurement that is not an outcome.
    pub fn note(&self, text: impl AsRef<str>) {
        if !self.quiet {
            println!("      {}", text.as_ref());
        }
    }
}

/// Names and purposes of all suites.
pub fn list() {
    for suite in suites() {
        println!("{:<10} {}", suite.name(), suite.about());
    }
}

/// Sets up, stages, and runs the suites (all, or those named).
pub fn test(only: &[String], full: bool, seed: u64) -> Result<ExitCode> {
    let all = suites();
    if let Some(unknown) = only.iter().find(|o| !all.iter().any(|s| s.name() == o.as_str())) {
        bail!("no suite `{unknown}`; `cargo xtask test --list` names them");
    }
    let world = World::ready()?;
    stage::stage(None)?;
    let started = Instant::now();
    let mut outcomes = Vec::new();
    let wanted = |s: &dyn Suite| match only {
        [] => full || !s.on_request(),
        named => named.iter().any(|o| o == s.name()),
    };
    for suite in all.iter().filter(|s| wanted(s.as_ref())) {
        let scratch = scratch(suite.name())?;
        let (world, plugins) = (world.clone(), plugin_dir());
        let context = Context { world, plugins, scratch, brief: false, full, seed };
        println!("test: {}: {}", suite.name(), suite.about());
        let mut log = Log::new(suite.name());
        if let Err(e) = suite.run(&context, &mut log) {
            log.case(&On::nothing(), "the suite itself", Err(e));
        }
        outcomes.append(&mut log.outcomes);
    }
    Ok(summary::print(&outcomes, started.elapsed()))
}

/// The folder `target/xtask/SUITE`, emptied.
fn scratch(suite: &str) -> Result<PathBuf> {
    empty(place::target()?.join("xtask").join(suite))
}

fn empty(dir: PathBuf) -> Result<PathBuf> {
    match fs::remove_dir_all(&dir) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e.into()),
        _ => {}
    }
    fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    Ok(dir)
}
