//! Outcomes as JSON, for programs. Nothing in it depends on the computer that ran it.

use super::table;
use sago_core::engine::Verdict;
use sago_sim::{Outcome, Scenario};
use serde_json::{Value, json};

pub fn run(scenario: &Scenario, outcomes: &[(Outcome, f64)]) -> Value {
    json!({
        "about": scenario.about,
        "machine": scenario.machine.to_string(),
        "storage": scenario.storage.to_string(),
        "pattern": scenario.pattern.to_string(),
        "options": scenario.config.to_string(),
        "seed": scenario.seed,
        "outcomes": outcomes.iter().map(|(o, _)| outcome(o)).collect::<Vec<_>>(),
    })
}

pub fn outcome(o: &Outcome) -> Value {
    let c = &o.counts;
    json!({
        "strategy": o.strategy.name(),
        "ranks": o.ranks,
        "nodes": o.nodes,
        "files": o.files,
        "bytes": o.bytes,
        "time_s": o.time_s,
        "bytes_per_s": o.bytes_per_s(),
        "good": o.verdict == Verdict::Good,
        "result": table::verdict(o.verdict),
        "calls": o.calls,
        "aggregators": o.aggregators,
        "groups": o.groups,
        "waiting_s": o.waiting_s,
        "waiting_share": o.waiting_share(),
        "messages": c.messages,
        "message_bytes": c.message_bytes,
        "requests": c.requests,
        "written_bytes": c.written_bytes,
        "read_bytes": c.read_bytes,
        "lock_changes": o.lock_changes,
        "seeks": o.seeks,
        "events": o.events,
        "links": o.classes.iter().map(|l| json!({
            "class": l.name, "links": l.links, "bytes": l.bytes,
            "busiest_bytes": l.busiest_bytes, "busiest_busy_s": l.busiest_busy_s,
        })).collect::<Vec<_>>(),
        "gates": o.gates.iter().map(|g| json!({
            "node": g.node, "out_bytes": g.out_bytes, "in_bytes": g.in_bytes,
            "in_messages": g.in_messages, "busy_s": g.busy_s,
        })).collect::<Vec<_>>(),
        "targets": o.targets.iter().map(|t| json!({
            "bytes": t.bytes, "requests": t.requests, "busy_s": t.busy_s,
        })).collect::<Vec<_>>(),
        "rounds": o.rounds.iter().map(|r| json!({
            "aggregator": r.lane, "call": r.call, "round": r.round, "bytes": r.bytes,
            "filling_s": r.filling.as_s(), "storing_s": r.storing.as_s(), "stored_s": r.stored.as_s(),
        })).collect::<Vec<_>>(),
    })
}
