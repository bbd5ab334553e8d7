//! What was measured, as a table for people and as JSON for programs.

use super::latency::Latency;
use super::measure::{Row, Table};
use super::stats::Quartiles;
use super::variants::LIMIT;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The machine and the software, once per run.
pub struct Machine {
    pub cores: usize,
    pub kernel: String,
    pub load: String,
    pub seed: u64,
    pub command: String,
}

/// All tables of one configuration.
pub struct Group {
    /// "mpich romio, HDF5 2.2.0, 4 ranks, /dev/shm (tmpfs), write"
    pub title: String,
    pub tables: Vec<Table>,
    pub latency: Option<Latency>,
    /// Connector modes that the plugin does not know, with its answer.
    pub unavailable: Vec<(String, String)>,
}

/// System calls worth a column of their own.
pub const SHOWN_CALLS: [&str; 4] = ["pwrite64", "pread64", "fcntl", "sched_yield"];

pub fn table(table: &Table) -> String {
    let mut text = format!(
        "\n{}: {}; {:.1} MB in {} steps; limit against itself {}, others used {:.0} % of the machine: {}\n",
        table.case.name,
        table.case.about,
        table.bytes / 1e6,
        table.case.steps(),
        quartiles(table.again),
        100.0 * table.others,
        table.noise().sentence()
    );
    let counted = table.rows.iter().any(|r| !r.system_calls.is_empty());
    let _ = write!(
        text,
        "  {:<26} {:>6} {:>13} {:>7} {:>6} {:>9} {:>7} {:>9} {:>9} {:>7}",
        "", "ratio", "quartiles", "end-end", "GB/s", "calls ms", "% limit", "phase ms", "total ms", "+MiB"
    );
    if counted {
        SHOWN_CALLS.iter().for_each(|c| {
            let _ = write!(text, " {c:>11}");
        });
    }
    text.push('\n');
    let limit = table.rows.iter().find(|r| r.name == LIMIT).map_or(1.0, |r| r.median(|p| p.total));
    for row in &table.rows {
        text += &line(row, table.bytes, limit);
        text.push('\n');
    }
    for row in table.rows.iter().filter(|r| !r.detail.is_empty()) {
        let _ = writeln!(text, "  {}: {}", row.name, row.detail);
    }
    for (name, why) in &table.left_out {
        let _ = writeln!(text, "  {name}: left out, {why}");
    }
    text
}

fn line(row: &Row, bytes: f64, limit: f64) -> String {
    let (calls, phase, total) = (row.median(|p| p.calls), row.median(|p| p.phase), row.median(|p| p.total));
    let mut text = format!(
        "  {:<26} {:>6} {:>13} {:>7} {:>6.2} {:>9.2} {:>7.0} {:>9.2} {:>9.2} {:>7.1}",
        row.name,
        short(row.ratio.median),
        format!("{}-{}", short(row.ratio.low), short(row.ratio.high)),
        short(row.total_ratio.median),
        bytes / phase / 1e9,
        calls * 1e3,
        100.0 * calls / limit,
        phase * 1e3,
        total * 1e3,
        row.extra_bytes / f64::from(1 << 20)
    );
    if !row.system_calls.is_empty() {
        for call in SHOWN_CALLS {
            let _ = write!(text, " {:>11}", count(row, call));
        }
    }
    text
}

pub fn count(row: &Row, call: &str) -> u64 {
    row.system_calls.iter().find(|(name, _)| name == call).map_or(0, |(_, n)| *n)
}

/// Two digits that count: 1.07, 0.66, 0.0031.
pub fn short(ratio: f64) -> String {
    if ratio >= 0.1 { format!("{ratio:.2}") } else { format!("{ratio:.4}") }
}

fn quartiles(q: Quartiles) -> String {
    format!("{} ({}-{})", short(q.median), short(q.low), short(q.high))
}

pub fn json(machine: &Machine, groups: &[Group]) -> Value {
    json!({
        "command": machine.command,
        "seed": machine.seed,
        "cores": machine.cores,
        "kernel": machine.kernel,
        "load": machine.load,
        "groups": groups.iter().map(group_json).collect::<Vec<_>>(),
    })
}

fn group_json(group: &Group) -> Value {
    json!({
        "title": group.title,
        "cases": group.tables.iter().map(table_json).collect::<Vec<_>>(),
        "latency_us": group.latency.as_ref().map(Latency::json),
        "unavailable": group.unavailable.iter().map(|(n, why)| json!({"name": n, "reason": why})).collect::<Vec<_>>(),
    })
}

fn table_json(table: &Table) -> Value {
    json!({
        "case": table.case.name,
        "about": table.case.about,
        "program": format!("{} {}", table.case.kernel, table.case.args),
        "bytes": table.bytes,
        "noise": format!("{:?}", table.noise()).to_lowercase(),
        "others_share": table.others,
        "limit_against_itself": quartiles_json(table.again),
        "variants": table.rows.iter().map(row_json).collect::<Vec<_>>(),
        "left_out": table.left_out.iter().map(|(n, why)| json!({"name": n, "reason": why})).collect::<Vec<_>>(),
    })
}

fn row_json(row: &Row) -> Value {
    let pass = |p: &super::measure::Pass| json!({"calls_s": p.calls, "phase_s": p.phase, "total_s": p.total});
    json!({
        "name": row.name,
        "ratio": quartiles_json(row.ratio),
        "end_to_end_ratio": quartiles_json(row.total_ratio),
        "passes": row.passes.iter().map(pass).collect::<Vec<_>>(),
        "extra_bytes": row.extra_bytes,
        "system_calls": row.system_calls.iter().map(|(n, c)| (n.clone(), json!(c))).collect::<serde_json::Map<_, _>>(),
        "settings": row.detail,
    })
}

fn quartiles_json(q: Quartiles) -> Value {
    json!({"low": q.low, "median": q.median, "high": q.high})
}
