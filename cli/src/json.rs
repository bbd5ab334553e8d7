//! The explanation as JSON, for programs.

use sago_core::declare::Direction;
use sago_core::explain::{AggregatorText, AreaText, Explanation};
use sago_core::plan::PlaceCost;
use serde_json::{Value, json};

pub fn explanation(e: &Explanation) -> Value {
    json!({
        "machine": e.machine,
        "ranks": e.ranks,
        "nodes": e.nodes,
        "direction": if e.direction == Direction::Write { "write" } else { "read" },
        "pattern": e.pattern,
        "file_pattern": e.file_pattern.to_string(),
        "bytes": e.bytes,
        "pieces": e.pieces,
        "buffer_bytes": e.buffer_bytes,
        "stripe_bytes": e.stripe_bytes,
        "targets": e.targets,
        "direct_ranks": e.direct_ranks,
        "requests": e.requests,
        "areas": e.areas.iter().map(area).collect::<Vec<_>>(),
        "aggregators": e.aggregators.iter().map(|a| aggregator(a, e.buffer_bytes)).collect::<Vec<_>>(),
        "links": e.classes.iter().map(|class| json!({
            "class": class.name, "bytes": class.bytes, "busiest_bytes": class.busiest_bytes,
        })).collect::<Vec<_>>(),
        "bridges": e.bridges.map(|b| json!({
            "bridges": b.bridges,
            "moved_nodes": b.moved_nodes,
            "messages_mean": b.mean,
            "messages_deviation": b.deviation,
            "default_messages_mean": b.default_mean,
            "default_messages_deviation": b.default_deviation,
        })),
        "why": e.why.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn area(a: &AreaText) -> Value {
    json!({
        "members": a.members.iter().map(|rank| rank.0).collect::<Vec<_>>(),
        "lo": a.lo,
        "hi": a.hi,
        "bytes": a.bytes,
        "aggregators": a.aggregators,
        "rounds": a.windows,
        "too_sparse": a.too_sparse,
    })
}

fn aggregator(a: &AggregatorText, buffer_bytes: u64) -> Value {
    json!({
        "area": a.area,
        "part": a.part,
        "rank": a.rank.0,
        "node": a.node.0,
        "lo": a.lo,
        "hi": a.hi,
        "bytes": a.bytes,
        "fill": a.fill(buffer_bytes),
        "cost": cost(&a.cost),
        "runner_up": a.runner_up.map(|(node, second)| json!({ "node": node.0, "cost": cost(&second) })),
        "rounds": a.rounds.iter().map(|round| json!({
            "lo": round.lo, "hi": round.hi, "bytes": round.bytes, "requests": round.requests,
        })).collect::<Vec<_>>(),
    })
}

fn cost(c: &PlaceCost) -> Value {
    json!({ "c1_s": c.gather_s, "c2_s": c.drain_s })
}
