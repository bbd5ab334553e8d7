//! Suite `cargo`: the sources themselves: format, lints, and the crates' own tests.

use super::{Context, Log, On, Suite, Verdict};
use crate::place;
use crate::proc::{Done, Run};
use crate::world::Mpi;
use anyhow::Result;

pub struct Sources;

impl Suite for Sources {
    fn name(&self) -> &'static str {
        "cargo"
    }

    fn about(&self) -> &'static str {
        "rustfmt, clippy without warnings, and the tests of the crates"
    }

    fn run(&self, context: &Context, log: &mut Log) -> Result<()> {
        let on = On::nothing();
        log.case(&on, "cargo fmt --check", cargo(&["fmt", "--all", "--check"]).ok().map(|_| ()));
        let clippy = ["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"];
        log.case(&on, "cargo clippy -D warnings", cargo(&clippy).ok().map(|_| ()));
        let done = cargo(&["test", "--quiet", "--workspace", "--no-fail-fast", "--", "--format=pretty"])
            .env("SAGO_LIBHDF5", libraries(context))
            .run()?;
        tests(&done, log);
        Ok(())
    }
}

/// The libhdf5 that tests of crates load into their process: of one MPI, since two in a process do not go together.
fn libraries(context: &Context) -> String {
    let ours = context.world.hdf5.iter().filter(|hdf5| hdf5.mpi == Mpi::Mpich);
    ours.map(|hdf5| hdf5.lib().join("libhdf5.so").display().to_string()).collect::<Vec<_>>().join(":")
}

fn cargo(args: &[&str]) -> Run {
    Run::new(place::cargo()).args(args).dir(place::root())
}

/// One outcome for all tests that passed, one for each that failed. A run that failed without a failing test did
/// not compile, or crashed.
fn tests(done: &Done, log: &mut Log) {
    let on = On::nothing();
    let ended = |how: &str| {
        let lines = done.stdout.lines().filter(|l| l.starts_with("test ") && !l.starts_with("test result"));
        lines.filter(|l| l.ends_with(how)).map(str::to_owned).collect::<Vec<_>>()
    };
    let (passed, failed, ignored) = (ended("... ok"), ended("... FAILED"), ended("... ignored"));
    if !passed.is_empty() {
        log.record(&on, "cargo test", passed.len(), Verdict::Pass);
    }
    if !ignored.is_empty() {
        log.record(&on, "cargo test", ignored.len(), Verdict::Skip("marked #[ignore]".to_owned()));
    }
    for line in &failed {
        log.record(&on, line, 1, Verdict::Fail(done.explain()));
    }
    if failed.is_empty() && !done.success() {
        log.record(&on, "cargo test", 1, Verdict::Fail(done.explain()));
    }
}
