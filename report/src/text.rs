//! Sizes, times and a few lines for people.

use crate::schema::*;
use std::collections::BTreeMap;
use std::fmt::Write;

/// `1.5 GiB`
pub fn size_text(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        (value, unit) = (value / 1024.0, unit + 1);
    }
    let digits = if unit == 0 || value >= 100.0 { 0 } else { 1 };
    let number = format!("{value:.digits$}");
    format!("{} {}", number.strip_suffix(".0").unwrap_or(&number), UNITS[unit])
}

/// `12 ms`
pub fn duration_text(us: u64) -> String {
    let (value, unit) = match us {
        0..=999 => return format!("{us} us"),
        1_000..=999_999 => (us as f64 / 1e3, "ms"),
        _ => (us as f64 / 1e6, "s"),
    };
    let digits = if value >= 100.0 { 0 } else { 1 };
    format!("{value:.digits$} {unit}")
}

/// `43 %`
pub fn share_text(part: f64) -> String {
    let percent = part * 100.0;
    if percent > 0.0 && percent < 0.05 {
        return "under 0.1 %".to_owned();
    }
    let digits = usize::from(percent > 0.0 && percent < 1.0);
    format!("{percent:.digits$} %")
}

/// `1 commit`, `2 commits`
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// `24 collective and 3 independent calls`
pub(crate) fn calls_text(calls: Calls) -> String {
    match (calls.collective, calls.independent) {
        (0, alone) => counted(alone, "independent call"),
        (all, 0) => counted(all, "collective call"),
        (all, alone) => format!("{all} collective and {}", counted(alone, "independent call")),
    }
}

/// What went where, in a few lines: for standard error, and at the head of `sago report`.
pub fn summary(report: &Report) -> String {
    let Report { file, mode, ranks, machine, .. } = report;
    let (ranks, nodes) = (counted(u64::from(*ranks), "rank"), counted(u64::from(machine.nodes), "node"));
    let mut text =
        format!("{file}: {ranks} on {nodes}, mode {mode}, open {}\n", duration_text(report.open_us));
    for (direction, did) in [(Direction::Write, "wrote"), (Direction::Read, "read")] {
        let calls = report.captured(direction);
        if calls.count() > 0 {
            let _ = writeln!(text, "  {did} {}: {}", size_text(calls.bytes), calls_text(calls));
        }
    }
    let (commits, rounds, storage) = (report.commits, report.rounds, report.storage);
    if commits.together + commits.alone > 0 {
        let _ = write!(text, "  carried out in {}", counted(commits.together, "commit"));
        if commits.alone > 0 {
            let _ = write!(text, " and {} of single ranks", commits.alone);
        }
        if rounds.count > 0 {
            let _ = write!(text, ", {} {} full", counted(rounds.count, "round"), share_text(rounds.fill()));
        }
        let _ = write!(text, ", {}", counted(storage.write_calls + storage.read_calls, "storage call"));
        if storage.ahead_bytes > 0 {
            let _ = write!(text, "; {} went ahead", size_text(storage.ahead_bytes));
        }
        text.push('\n');
    }
    for ((direction, reason), calls) in passed(report) {
        let what = if direction == Direction::Write { "write" } else { "read" };
        let _ = writeln!(
            text,
            "  left to HDF5 ({what}): {}, {}: {reason}",
            calls_text(calls),
            size_text(calls.bytes)
        );
    }
    let mut longest: Vec<&Phase> = report.phases.iter().filter(|phase| phase.max_us > 0).collect();
    longest.sort_by_key(|phase| std::cmp::Reverse(phase.median_us));
    let phase = |phase: &&Phase| format!("{} {}", phase.name, duration_text(phase.median_us));
    if !longest.is_empty() {
        let longest: Vec<String> = longest.iter().take(4).map(phase).collect();
        let _ = writeln!(text, "  median of ranks: {}", longest.join(", "));
    }
    text
}

/// What was left to HDF5, by direction and reason.
pub(crate) fn passed(report: &Report) -> BTreeMap<(Direction, &str), Calls> {
    let mut sums: BTreeMap<(Direction, &str), Calls> = BTreeMap::new();
    for passed in report.datasets.iter().flat_map(|dataset| &dataset.passed) {
        let sum = sums.entry((passed.direction, passed.reason.as_str())).or_default();
        *sum = sum.and(passed.calls);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_short() {
        assert_eq!(size_text(0), "0 B");
        assert_eq!(size_text(999), "999 B");
        assert_eq!(size_text(1000), "1 KiB");
        assert_eq!(size_text(3 << 20), "3 MiB");
        assert_eq!(size_text(5 << 29), "2.5 GiB");
        assert_eq!(duration_text(999), "999 us");
        assert_eq!(duration_text(12_340), "12.3 ms");
        assert_eq!(duration_text(2_500_000), "2.5 s");
        assert_eq!(share_text(0.004), "0.4 %");
        assert_eq!(share_text(0.0001), "under 0.1 %");
        assert_eq!(share_text(0.98), "98 %");
    }

    #[test]
    fn the_summary_says_what_was_left_to_hdf5() {
        let calls = Calls { collective: 2, independent: 0, bytes: 2048 };
        let passed = Passed { direction: Direction::Write, reason: "the dataset has filters".into(), calls };
        let dataset =
            Dataset { name: "/x".into(), written: calls, passed: vec![passed], ..Dataset::default() };
        let report = Report {
            file: "a.h5".into(),
            mode: "window".into(),
            ranks: 1,
            machine: Machine { nodes: 1, ..Machine::default() },
            datasets: vec![dataset],
            commits: Commits { together: 1, ..Commits::default() },
            storage: Storage { write_calls: 3, ahead_bytes: 1024, ..Storage::default() },
            ..Report::default()
        };
        let text = "a.h5: 1 rank on 1 node, mode window, open 0 us\n  wrote 2 KiB: 2 collective calls\n  \
                    carried out in 1 commit, 3 storage calls; 1 KiB went ahead\n  \
                    left to HDF5 (write): 2 collective calls, 2 KiB: the dataset has filters\n";
        assert_eq!(summary(&report), text);
    }
}
