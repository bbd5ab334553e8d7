//! What can be said of a report in plain words, and what to set. Advice follows from the numbers alone, so it is the same
//! wherever the report is read.

use crate::schema::*;
use crate::text::{calls_text, counted, duration_text, share_text, size_text};
use sago_core::text::size_bytes_text;
use std::collections::BTreeMap;

/// A sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Something went well.
    Good(String),
    /// Something that explains the numbers.
    Note(String),
    /// Something to change.
    Change(String),
}

impl Advice {
    pub fn sentence(&self) -> &str {
        match self {
            Self::Good(text) | Self::Note(text) | Self::Change(text) => text,
        }
    }
}

/// What to do about calls that were left to HDF5, by how the reason begins.
const REMEDIES: &[(&str, &str)] = &[
    ("independent, in immediate mode", "mode=window collects independent writes too"),
    ("small pieces with holes", "mode=window waits for the calls that fill the holes"),
    ("chunked, with metadata read", "do without H5Pset_all_coll_metadata_ops for this file"),
    ("space in the file is not", "create the dataset with H5Pset_alloc_time(..., H5D_ALLOC_TIME_EARLY)"),
    ("the file is in MPI's atomic mode", "H5Fset_mpi_atomicity(file, false) if nobody reads meanwhile"),
    ("the layout is compact", "compact datasets are small; this costs nothing"),
    ("an independent read", "collective reads (H5Pset_dxpl_mpio) are captured"),
    ("one call for datasets", "write datasets that are treated differently in calls of their own"),
];

const NAMES_MAX: usize = 3;
/// Rounds emptier than this could be fewer.
const FILL_LOW: f64 = 0.5;

const MEMORY_CLOSED: &str = "the ranks of a node may not read each other's memory, so that what they write together waits for the commit \
    and is exchanged there: `sysctl kernel.yama.ptrace_scope=0` allows it to all processes of a user";

pub fn advice(report: &Report) -> Vec<Advice> {
    let mut all = Vec::new();
    calls(report, &mut all);
    passed(report, &mut all);
    buffers(report, &mut all);
    window(report, &mut all);
    if report.memory_closed {
        all.push(Advice::Change(MEMORY_CLOSED.to_owned()));
    }
    time(report, &mut all);
    all
}

fn calls(report: &Report, all: &mut Vec<Advice>) {
    let written = report.captured(Direction::Write);
    let carried_out = written.count() + report.captured(Direction::Read).count();
    if carried_out == 0 {
        all.push(Advice::Note("Sago carried out no call of this file".to_owned()));
    }
    let commits = report.commits.together;
    if commits > 0 && written.count() > commits {
        let became = counted(commits, "commit");
        all.push(Advice::Good(format!("{} became {became}", calls_text(written))));
    }
    let Storage { ahead_bytes, write_bytes, .. } = report.storage;
    if ahead_bytes > 0 {
        let (ahead, whole) = (size_text(ahead_bytes), size_text(write_bytes));
        all.push(Advice::Good(format!("{ahead} of {whole} were written while the program went on")));
    }
    if report.mode == "immediate" && commits > 1 {
        let (calls, commits) = (calls_text(written), counted(commits, "commit"));
        all.push(Advice::Change(format!("{calls} took {commits}: mode=window carries them out together")));
    }
    if report.commits.reused > 0 {
        let (reused, commits) = (report.commits.reused, counted(commits, "commit"));
        all.push(Advice::Good(format!("{reused} of {commits} used a plan made before")));
    }
}

fn passed(report: &Report, all: &mut Vec<Advice>) {
    let mut by_reason: BTreeMap<&str, (Vec<&str>, Calls)> = BTreeMap::new();
    for dataset in &report.datasets {
        for passed in &dataset.passed {
            let (names, calls) = by_reason.entry(&passed.reason).or_default();
            if names.last() != Some(&dataset.name.as_str()) {
                names.push(&dataset.name);
            }
            *calls = calls.and(passed.calls);
        }
    }
    for (reason, (names, calls)) in by_reason {
        let more = match names.len().saturating_sub(NAMES_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (noun, were) = if names.len() == 1 { ("dataset", "was") } else { ("datasets", "were") };
        let listed = names[..names.len().min(NAMES_MAX)].join(", ");
        let what = format!("{}, {}", calls_text(calls), size_text(calls.bytes));
        let sentence = format!("{noun} {listed}{more} {were} left to HDF5 ({what}): {reason}");
        match REMEDIES.iter().find(|(begins, _)| reason.starts_with(begins)) {
            Some((_, remedy)) => all.push(Advice::Change(format!("{sentence}; {remedy}"))),
            None => all.push(Advice::Note(sentence)),
        }
    }
}

fn buffers(report: &Report, all: &mut Vec<Advice>) {
    let (Some(plan), rounds) = (report.plan, report.rounds) else { return };
    let stripe = report.file_system.as_ref().and_then(|system| system.stripe_bytes);
    if let Some(stripe) = stripe.filter(|stripe| plan.buffer_bytes < *stripe) {
        let share = share_text(plan.buffer_bytes as f64 / stripe as f64);
        let set = size_bytes_text(stripe);
        all.push(Advice::Change(format!(
            "an aggregator's buffer is {share} of the stripe, so stripes are written in pieces: set buffer={set}"
        )));
    }
    let aggregators = report.aggregators.len() as u64;
    if rounds.count > 4 * aggregators && rounds.fill() < FILL_LOW {
        all.push(Advice::Note(format!(
            "buffers were {} full on average: the data has holes, or is spread over more rounds than it fills",
            share_text(rounds.fill())
        )));
    }
}

fn window(report: &Report, all: &mut Vec<Advice>) {
    let Memory { window_bytes, collected_bytes_max, .. } = report.memory;
    let larger = || size_bytes_text(window_bytes.saturating_mul(4).min(16 << 30).next_power_of_two());
    if report.commits.alone > 0 {
        all.push(Advice::Change(format!(
            "single ranks wrote by themselves {} because their windows of {} were full: set window={}",
            counted(report.commits.alone, "time"),
            size_text(window_bytes),
            larger()
        )));
    } else if report.mode == "window"
        && report.commits.together > 1
        && collected_bytes_max > window_bytes / 4 * 3
    {
        all.push(Advice::Change(format!(
            "the window of {} was nearly full: if memory allows, window={} makes fewer commits",
            size_text(window_bytes),
            larger()
        )));
    }
}

fn time(report: &Report, all: &mut Vec<Advice>) {
    let max = |name: &str| report.phase(name).map_or(0, |phase| phase.max_us);
    let storing = max("storing").max(max("background"));
    let others = [("planning", "plans"), ("copying", "copies in memory"), ("exchanging", "the network")];
    let busiest = others.iter().map(|(name, what)| (max(name), *what)).max().unwrap_or_default();
    if storing == 0 {
        return;
    }
    if storing >= busiest.0 {
        let (took, bytes) = (duration_text(storing), report.storage.write_bytes + report.storage.read_bytes);
        all.push(Advice::Note(format!(
            "storage was the slowest part: {took} of calls on the busiest rank, {} in all",
            size_text(bytes)
        )));
    } else {
        let (took, what) = (duration_text(busiest.0), busiest.1);
        all.push(Advice::Note(format!(
            "{what} took longer than storage: {took} on the slowest rank, against {}",
            duration_text(storing)
        )));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dataset(name: &str, collective: u64, reason: Option<&str>) -> Dataset {
        let calls = Calls { collective, independent: 0, bytes: 1 << 20 };
        let passed =
            reason.map(|reason| Passed { direction: Direction::Write, reason: reason.into(), calls });
        let written = if reason.is_none() { calls } else { Calls::default() };
        Dataset { name: name.into(), written, passed: passed.into_iter().collect(), ..Dataset::default() }
    }

    fn sentences(report: &Report) -> Vec<String> {
        advice(report).iter().map(|advice| advice.sentence().to_owned()).collect()
    }

    #[test]
    fn calls_become_commits() {
        let report = Report {
            datasets: vec![dataset("/a", 4, None), dataset("/b", 5, None)],
            commits: Commits { together: 1, ..Commits::default() },
            ..Report::default()
        };
        assert_eq!(sentences(&report), ["9 collective calls became 1 commit"]);
        let commits = Commits { together: 9, ..Commits::default() };
        let at_once = Report { mode: "immediate".into(), commits, ..report };
        assert_eq!(
            sentences(&at_once),
            ["9 collective calls took 9 commits: mode=window carries them out together"]
        );
        assert_eq!(sentences(&Report::default()), ["Sago carried out no call of this file"]);
    }

    #[test]
    fn what_was_left_to_hdf5_has_its_reason_and_a_remedy_where_there_is_one() {
        let report = Report {
            datasets: vec![
                dataset("/x", 1, Some("the dataset has filters")),
                dataset("/y", 1, Some("independent, in immediate mode")),
                dataset("/z", 1, Some("independent, in immediate mode")),
            ],
            commits: Commits { together: 1, ..Commits::default() },
            ..Report::default()
        };
        let said = sentences(&report);
        assert!(said.contains(
            &"dataset /x was left to HDF5 (1 collective call, 1 MiB): the dataset has filters".to_owned()
        ));
        assert!(said.contains(
            &"datasets /y, /z were left to HDF5 (2 collective calls, 2 MiB): independent, in immediate mode; \
              mode=window collects independent writes too"
                .to_owned()
        ));
    }

    #[test]
    fn sizes_that_do_not_fit_are_named_with_what_to_set() {
        let mut report = Report {
            mode: "window".into(),
            datasets: vec![dataset("/a", 1, None)],
            commits: Commits { together: 2, alone: 3, ..Commits::default() },
            plan: Some(Sizes { buffer_bytes: 4 << 20, stripe_bytes: 8 << 20, targets: 1 }),
            file_system: Some(FileSystem { stripe_bytes: Some(8 << 20), ..FileSystem::default() }),
            memory: Memory { window_bytes: 1 << 20, ..Memory::default() },
            ..Report::default()
        };
        let said = sentences(&report).join("\n");
        assert!(said.contains("an aggregator's buffer is 50 % of the stripe"), "{said}");
        assert!(said.contains("set buffer=8MiB"), "{said}");
        assert!(said.contains("by themselves 3 times") && said.contains("set window=4MiB"), "{said}");
        report.commits.alone = 0;
        report.memory.collected_bytes_max = 1 << 20;
        assert!(sentences(&report).join("\n").contains("the window of 1 MiB was nearly full"));
    }
}
