//! The end of a test run: what ran on what, what failed and why, and one line that scripts can read.

use super::{On, Outcome, Verdict};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

#[derive(Default)]
struct Count {
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl Count {
    fn add(&mut self, outcome: &Outcome) {
        match outcome.verdict {
            Verdict::Pass => self.passed += outcome.tests,
            Verdict::Fail(_) => self.failed += outcome.tests,
            Verdict::Skip(_) => self.skipped += outcome.tests,
        }
    }
}

/// One outcome as a line of progress.
pub fn line(outcome: &Outcome) -> String {
    let word = match &outcome.verdict {
        Verdict::Pass => "pass",
        Verdict::Fail(_) => "FAIL",
        Verdict::Skip(_) => "skip",
    };
    let tests = if outcome.tests == 1 { String::new() } else { format!(" ({} tests)", outcome.tests) };
    format!("{word}  {:<9} {:<32} {}{tests}", outcome.suite, place(&outcome.on), outcome.case)
}

/// Prints the whole summary; fails if something failed or nothing ran.
pub fn print(outcomes: &[Outcome], elapsed: Duration) -> ExitCode {
    matrix(outcomes);
    skips(outcomes);
    failures(outcomes);
    let mut total = Count::default();
    outcomes.iter().for_each(|o| total.add(o));
    println!("\ntook {:.0} s", elapsed.as_secs_f64());
    match total.skipped {
        0 => println!("{} passed, {} failed", total.passed, total.failed),
        skipped => println!("{} passed, {} failed, {skipped} skipped", total.passed, total.failed),
    }
    if total.failed == 0 && total.passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn matrix(outcomes: &[Outcome]) {
    let mut rows: BTreeMap<(&On, &str), Count> = BTreeMap::new();
    for outcome in outcomes {
        rows.entry((&outcome.on, outcome.suite)).or_default().add(outcome);
    }
    println!(
        "\n{:<14} {:<8} {:<10} {:<10} {:>7} {:>7} {:>7}",
        "HDF5", "MPI", "Python", "suite", "passed", "failed", "skipped"
    );
    for ((on, suite), count) in rows {
        let dash = |text: Option<&str>| text.unwrap_or("-").to_owned();
        println!(
            "{:<14} {:<8} {:<10} {:<10} {:>7} {:>7} {:>7}",
            dash(on.hdf5.as_deref()),
            dash(on.mpi.map(|m| m.name())),
            dash(on.python.as_deref()),
            suite,
            count.passed,
            count.failed,
            count.skipped
        );
    }
}

fn skips(outcomes: &[Outcome]) {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for outcome in outcomes {
        if let Verdict::Skip(reason) = &outcome.verdict {
            *reasons.entry(reason).or_default() += outcome.tests;
        }
    }
    for (reason, count) in reasons {
        println!("skipped {count}: {reason}");
    }
}

fn failures(outcomes: &[Outcome]) {
    for outcome in outcomes {
        if let Verdict::Fail(detail) = &outcome.verdict {
            println!("\n{}\n{}", line(outcome), indent(detail));
        }
    }
}

fn indent(text: &str) -> String {
    text.lines().map(|l| format!("      {l}\n")).collect()
}

fn place(on: &On) -> String {
    let parts = [on.hdf5.as_deref(), on.mpi.map(|m| m.name()), on.python.as_deref()];
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "-".to_owned() } else { parts.join(" ") }
}
