//! Suite `cargo`: the sources themselves: format, lints, and the crates' own tests.

use super::{Context, Log, On, Suite, Verdict};
use crate::place;
use crate::proc::{Done, Run};
use anyhow::Result;

pub struct Sources;

impl Suite for Sources {
    fn name(&self) -> &'static str {
        "cargo"
    }

    fn about(&self) -> &'static str {
        "rustfmt, clippy without warnings, and the tests of the crates"
    }

    fn run(&self, _: &Context, log: &mut Log) -> Result<()> {
        let on = On::nothing();
        log.case(&on, "cargo fmt --check", cargo(&["fmt", "--all", "--check"]).ok().map(|_| ()));
        let clippy = ["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"];
        log.case(&on, "cargo clippy -D warnings", cargo(&clippy).ok().map(|_| ()));
        let done =
            cargo(&["test", "--quiet", "--workspace", "--no-fail-fast", "--", "--format=pretty"]).run()?;
        tests(&done, log);
        Ok(())
    }
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
