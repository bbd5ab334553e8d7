//! Reports for a terminal.

use super::compare;
use sago_report::{Advice, By, Calls, Report, advice, duration_text, share_text, size_text, summary};
use std::fmt::Write;

/// More of a kind are left out, and counted.
const LINES_MAX: usize = 24;

pub fn text(reports: &[Report]) -> String {
    let mut text = String::new();
    if reports.len() > 1 {
        comparison(reports, &mut text);
    }
    for report in reports {
        text += &summary(report);
        datasets(report, &mut text);
        phases(report, &mut text);
        aggregators(report, &mut text);
        traffic(report, &mut text);
        surroundings(report, &mut text);
        sentences(report, &mut text);
        text.push('\n');
    }
    text
}

fn comparison(reports: &[Report], text: &mut String) {
    for (number, report) in reports.iter().enumerate() {
        let _ = writeln!(text, "{:>3}  {}", number + 1, report.file);
    }
    let _ = write!(text, "\n{:<30}", "");
    (1..=reports.len()).for_each(|number| _ = write!(text, " {number:>12}"));
    text.push('\n');
    for (name, value) in compare::ROWS {
        let _ = write!(text, "{name:<30}");
        reports.iter().for_each(|report| _ = write!(text, " {:>12}", value(report)));
        text.push('\n');
    }
    text.push('\n');
}

/// Calls `line` for as many as are shown, and says how many are not.
fn some<T>(items: &[T], text: &mut String, line: impl Fn(&T, &mut String)) {
    items.iter().take(LINES_MAX).for_each(|item| line(item, text));
    if items.len() > LINES_MAX {
        let _ = writeln!(text, "  ... and {} more", items.len() - LINES_MAX);
    }
}

fn datasets(report: &Report, text: &mut String) {
    let _ = writeln!(text, "\n  {:<32} {:>10} {:>10} {:>10}", "dataset", "written", "read", "to HDF5");
    some(&report.datasets, text, |dataset, text| {
        let passed: u64 = dataset.passed.iter().map(|passed| passed.calls.bytes).sum();
        let bytes = |calls: Calls| if calls.count() == 0 { String::new() } else { size_text(calls.bytes) };
        let left = if dataset.passed.is_empty() { String::new() } else { size_text(passed) };
        let name = if dataset.name.is_empty() { "(name not known)" } else { &dataset.name };
        let (written, read) = (bytes(dataset.written), bytes(dataset.read));
        let _ = writeln!(text, "  {name:<32} {written:>10} {read:>10} {left:>10}");
    });
}

fn phases(report: &Report, text: &mut String) {
    let _ = writeln!(text, "\n  {:<32} {:>10} {:>10} {:>10}", "time of ranks", "min", "median", "max");
    for phase in report.phases.iter().filter(|phase| phase.max_us > 0) {
        let [min, median, max] = [phase.min_us, phase.median_us, phase.max_us].map(duration_text);
        let _ = writeln!(text, "  {:<32} {min:>10} {median:>10} {max:>10}", phase.name);
    }
    let share = report.collecting_us as f64 / report.open_us.max(1) as f64;
    let (took, share) = (duration_text(report.collecting_us), share_text(share));
    let _ = writeln!(
        text,
        "  {:<32} {took:>10} on rank 0, {share} of the time that the file was open",
        "this report"
    );
}

fn aggregators(report: &Report, text: &mut String) {
    if report.aggregators.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "\n  {:<18} {:>6} {:>6} {:>10} {:>6} {:>14}",
        "aggregator", "node", "rounds", "bytes", "fill", "expected cost"
    );
    some(&report.aggregators, text, |one, text| {
        let fill = share_text(one.bytes as f64 / one.room_bytes.max(1) as f64);
        let cost = duration_text((one.gather_us + one.drain_us) as u64);
        let _ = writeln!(
            text,
            "  rank {:<13} {:>6} {:>6} {:>10} {fill:>6} {cost:>14}",
            one.rank,
            one.node,
            one.rounds,
            size_text(one.bytes)
        );
    });
}

fn traffic(report: &Report, text: &mut String) {
    let unit = if report.traffic.by == By::Rank { "rank" } else { "node" };
    let mut cells = report.traffic.cells.clone();
    cells.sort_by_key(|(from, to, bytes)| (std::cmp::Reverse(*bytes), *from, *to));
    let sent: u64 = cells.iter().map(|(.., bytes)| bytes).sum();
    let own = size_text(report.traffic.own_bytes);
    let _ = writeln!(
        text,
        "\n  {} went to aggregators, {own} were stored by the ranks that had them",
        size_text(sent)
    );
    cells.truncate(4);
    for (from, to, bytes) in cells {
        let _ = writeln!(text, "  {unit} {from} to {unit} {to}: {}", size_text(bytes));
    }
    let links: Vec<String> =
        report.links.iter().map(|link| format!("{} {}", link.class, size_text(link.bytes))).collect();
    if !links.is_empty() {
        let _ = writeln!(text, "  over links: {}", links.join(", "));
    }
}

fn surroundings(report: &Report, text: &mut String) {
    let memory = report.memory;
    let _ = writeln!(
        text,
        "\n  memory: window {} a rank ({} used at most), buffers {} in all",
        size_text(memory.window_bytes),
        size_text(memory.collected_bytes_max),
        size_text(memory.buffers_bytes)
    );
    if let Some(system) = &report.file_system {
        let stripes = match (system.stripe_bytes, system.targets) {
            (Some(bytes), Some(targets)) => format!(", stripes of {} on {targets} targets", size_text(bytes)),
            (Some(bytes), None) => format!(", stripes of {}", size_text(bytes)),
            _ => String::new(),
        };
        let _ = writeln!(
            text,
            "  file system: {}, blocks of {}{stripes}",
            system.kind,
            size_text(system.block_bytes)
        );
    }
    let set: Vec<String> = report
        .options
        .iter()
        .filter(|option| option.source != "default")
        .map(|option| format!("{}={} ({})", option.name, option.value, option.source))
        .collect();
    if !set.is_empty() {
        let _ = writeln!(text, "  options: {}", set.join(", "));
    }
}

fn sentences(report: &Report, text: &mut String) {
    text.push('\n');
    for advice in advice(report) {
        let mark = match advice {
            Advice::Good(_) => '+',
            Advice::Note(_) => '-',
            Advice::Change(_) => '!',
        };
        let _ = writeln!(text, "  {mark} {}", advice.sentence());
    }
}
