//! Suite `python`: other people's test suites, and Python programs of ours, give the same outcomes natively and
//! through the connector, test by test. `tests/python/run.py` runs and compares them; this module tells it where
//! everything is, and records what it found.

use super::{Context, Log, On, Suite, Verdict};
use crate::connector::native;
use crate::proc::Run;
use crate::world::{self, Mpi};
use crate::{mpi, paths, place};
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::time::Duration;

pub struct Python;

/// The parts, as `run.py` knows them.
const PARTS: [&str; 6] = ["h5py", "unused", "h5py-mpi", "parallel", "mixed", "tables"];
/// What a brief run looks at: our own programs are quick, and compare files to the byte.
const BRIEF: [&str; 2] = ["h5py", "mixed"];
/// The environment whose Python runs the comparison itself.
const RUNNER: &str = "h5py-3.16";
const LIMIT: Duration = Duration::from_secs(3000);

impl Suite for Python {
    fn name(&self) -> &'static str {
        "python"
    }

    fn about(&self) -> &'static str {
        "the tests of h5py and PyTables, netCDF4 with h5py, and parallel h5py: the same outcome of every test"
    }

    fn run(&self, context: &Context, log: &mut Log) -> Result<()> {
        let python = context.world.python(RUNNER)?;
        if !context.brief {
            log.case(&On::python(python), "the harness itself", harness(python, &context.scratch));
        }
        let world = context.scratch.join("world.json");
        fs::write(&world, serde_json::to_vec(&paths::describe(&context.world)?)?)?;
        let parts: &[&str] = if context.brief { &BRIEF } else { &PARTS };
        for part in parts {
            if let Err(e) = compare(part, &world, context, log) {
                log.case(&On::nothing(), *part, Err(e));
            }
        }
        Ok(())
    }
}

/// What runs and compares must itself notice what it is there for.
fn harness(python: &world::Python, scratch: &Path) -> Result<()> {
    let tests = place::root().join("tests/python");
    let run = Run::new(python.python())
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", "--basetemp"])
        .arg(scratch.join("harness"))
        .arg(tests.join("selftest/test_harness.py"))
        .envs(python.env.clone())
        .env("PYTHONPATH", tests);
    native(run).limit(LIMIT).ok().map(|_| ())
}

fn compare(part: &str, world: &Path, context: &Context, log: &mut Log) -> Result<()> {
    let scratch = context.scratch.join(part);
    let mut run = Run::new(context.world.python(RUNNER)?.python())
        .arg(place::root().join("tests/python/run.py"))
        .arg(part)
        .arg("--world")
        .arg(world)
        .arg("--plugins")
        .arg(&context.plugins)
        .arg("--scratch")
        .arg(&scratch)
        .limit(LIMIT);
    if part == "parallel" {
        // Ranks race for the order in which HDF5 uses a file's space, so bytes differ even between native runs.
        let hdf5 = context.world.newest(Mpi::Mpich)?;
        run = run.arg("--contents").arg(mpi::h5same(hdf5, &context.scratch)?);
    }
    if context.brief {
        run = run.arg("--brief");
    }
    let done = run.ok()?;
    let lines: Vec<Value> = done.stdout.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    ensure!(lines.iter().any(|line| line["case"].is_string()), "nothing ran:\n{}", done.explain());
    lines.iter().try_for_each(|line| record(line, context, log))
}

/// One line of `run.py`: a note, or a case that passed or failed.
fn record(line: &Value, context: &Context, log: &mut Log) -> Result<()> {
    if let Some(note) = line["note"].as_str() {
        log.note(note);
        return Ok(());
    }
    let text =
        |key: &str| line[key].as_str().with_context(|| format!("a line of run.py without {key}: {line}"));
    let on = On::python(context.world.python(text("environment")?)?);
    let tests =
        line["tests"].as_u64().and_then(|n| usize::try_from(n).ok()).context("a case without tests")?;
    let verdict = match &line["failure"] {
        Value::String(detail) => Verdict::Fail(detail.clone()),
        _ => Verdict::Pass,
    };
    log.record(&on, text("case")?, tests, verdict);
    Ok(())
}
