//! Outcomes as tables.

use crate::complaint::{Complaint, printed};
use sago_core::engine::Verdict;
use sago_core::text::{bytes_per_s_text, duration_s_text};
use sago_sim::{Outcome, Scenario};
use std::io::Write;

pub fn run(scenario: &Scenario, outcomes: &[(Outcome, f64)], out: &mut impl Write) -> Result<(), Complaint> {
    let mut text = || -> std::io::Result<()> {
        if !scenario.about.is_empty() {
            writeln!(out, "{}", scenario.about)?;
        }
        writeln!(out, "machine     {}", scenario.machine)?;
        writeln!(out, "storage     {}", scenario.storage)?;
        writeln!(out, "pattern     {}", scenario.pattern)?;
        writeln!(out, "options     {}", options(scenario))?;
        let (ranks, files) = (scenario.machine.ranks(), scenario.files());
        writeln!(out, "ranks       {ranks} in {files} file(s); seed {}", scenario.seed)?;
        writeln!(out)?;
        writeln!(
            out,
            "{:<12} {:>9} {:>10} {:>6} {:>7} {:>8} {:>9} {:>10} {:>8}  result",
            "strategy", "time", "bandwidth", "calls", "groups", "writers", "requests", "stored", "waiting"
        )?;
        for (o, _) in outcomes {
            row(o, out)?;
        }
        for (o, wall_s) in outcomes {
            writeln!(out)?;
            details(o, *wall_s, out)?;
        }
        Ok(())
    };
    printed(text())
}

/// Without those that concern the connector below.
fn options(scenario: &Scenario) -> String {
    let text = scenario.config.to_string();
    text.split(';').filter(|word| !word.starts_with("under_")).collect::<Vec<_>>().join(" ")
}

fn row(o: &Outcome, out: &mut impl Write) -> std::io::Result<()> {
    let writers = if o.aggregators == 0 { o.ranks } else { o.aggregators };
    writeln!(
        out,
        "{:<12} {:>9} {:>10} {:>6} {:>7} {:>8} {:>9} {:>10} {:>7.0}%  {}",
        o.strategy.name(),
        seconds(o.time_s),
        rate(o.bytes_per_s()),
        o.calls,
        o.groups,
        writers,
        o.counts.requests,
        size(o.counts.written_bytes + o.counts.read_bytes),
        100.0 * o.waiting_share(),
        verdict(o.verdict),
    )
}

fn details(o: &Outcome, wall_s: f64, out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "{}", o.strategy.name())?;
    for class in o.classes.iter().filter(|class| class.bytes > 0) {
        writeln!(
            out,
            "  links {:<9} {:>10} over {} links, the busiest {} and {:.0}% of the time",
            class.name,
            size(class.bytes),
            class.links,
            size(class.busiest_bytes),
            100.0 * class.busiest_busy_s / o.time_s,
        )?;
    }
    if let Some((mean, deviation)) = o.gate_messages() {
        let busiest = o.gates.iter().map(|gate| gate.out_bytes).max().unwrap_or(0);
        writeln!(
            out,
            "  gates           {} of them, {mean:.1} messages each, deviation {deviation:.3}; the busiest {} out",
            o.gates.len(),
            size(busiest),
        )?;
    }
    let used: Vec<_> = o.targets.iter().filter(|target| target.requests > 0).collect();
    let most = used.iter().map(|target| target.bytes).max().unwrap_or(0);
    let busy = used.iter().map(|target| target.busy_s).fold(0.0, f64::max);
    writeln!(
        out,
        "  targets         {} used, the busiest {} and {:.0}% of the time; {} seeks, {} lock changes",
        used.len(),
        size(most),
        100.0 * busy / o.time_s,
        o.seeks,
        o.lock_changes,
    )?;
    writeln!(
        out,
        "  bytes           {} of the program; {} in {} messages; {} written, {} read: conserved",
        size(o.bytes),
        size(o.counts.message_bytes),
        o.counts.messages,
        size(o.counts.written_bytes),
        size(o.counts.read_bytes),
    )?;
    writeln!(out, "  simulated in    {} with {} events", seconds(wall_s), o.events)
}

pub fn verdict(verdict: Verdict) -> String {
    match verdict {
        Verdict::Good => "good".into(),
        Verdict::Failed(fault) => format!("failed: {} {:?} error {}", fault.rank, fault.kind, fault.code),
    }
}

/// Three digits are enough to compare.
pub fn seconds(time_s: f64) -> String {
    if time_s <= 0.0 { "0".into() } else { duration_s_text(rounded(time_s)) }
}

pub fn rate(bytes_per_s: f64) -> String {
    if bytes_per_s.is_finite() { bytes_per_s_text(rounded(bytes_per_s)) } else { "-".into() }
}

pub fn size(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let power = (bytes.max(1).ilog2() / 10).min(5) as usize;
    let value = bytes as f64 / (1_u64 << (10 * power)) as f64;
    let digits = if value.fract() == 0.0 { 0 } else { 1 };
    format!("{value:.digits$}{}", units[power])
}

fn rounded(value: f64) -> f64 {
    let scale = 10_f64.powi(2 - value.log10().floor() as i32);
    (value * scale).round() / scale
}
