//! The nodes with their ranks, aggregators marked; where there are many nodes, one mark for each.

use super::{Canvas, HALF};
use sago_report::{Report, size_text};
use std::collections::BTreeMap;

const NODES_DRAWN_MAX: usize = 64;
const RANKS_DRAWN_MAX: u32 = 128;
const DOT: f64 = 12.0;

pub fn machine(report: &Report) -> String {
    let nodes = &report.machine.node_ranks;
    let mut aggregators: BTreeMap<u32, Vec<(u32, u64)>> = BTreeMap::new();
    for one in &report.aggregators {
        aggregators.entry(one.node).or_default().push((one.rank, one.bytes));
    }
    if nodes.len() <= NODES_DRAWN_MAX && nodes.iter().all(|ranks| *ranks <= RANKS_DRAWN_MAX) {
        boxes(nodes, &aggregators)
    } else {
        grid(nodes, &aggregators)
    }
}

fn boxes(nodes: &[u32], aggregators: &BTreeMap<u32, Vec<(u32, u64)>>) -> String {
    let most = nodes.iter().copied().max().unwrap_or(1).max(1);
    let across = f64::from(most.min(16)).max(6.0);
    let rows = f64::from(most.div_ceil(16));
    let (width, height) = (across * DOT + 20.0, rows * DOT + 34.0);
    let columns = ((HALF + 12.0) / (width + 12.0)).floor().max(1.0);
    let mut canvas = Canvas::default();
    canvas.legend(2.0, 12.0, &[("c-agg", "aggregator"), ("c-rank", "other rank")]);
    for (node, ranks) in nodes.iter().enumerate() {
        let (x, y) = (node as f64 % columns * (width + 12.0) + 1.0, (node as f64 / columns).floor());
        let y = 26.0 + y * (height + 12.0);
        let here = aggregators.get(&(node as u32)).map_or(&[][..], Vec::as_slice);
        canvas.rect("c-node", [x, y, width, height], &format!("node {node}: {ranks} ranks"));
        canvas.text(x + 10.0, y + 17.0, "start", &format!("node {node}"));
        for at in 0..*ranks {
            let (dx, dy) = (f64::from(at % 16) * DOT, f64::from(at / 16) * DOT);
            let place = [x + 10.0 + dx + 5.0, y + 32.0 + dy, 4.0];
            match here.get(at as usize) {
                Some((rank, bytes)) => {
                    canvas.dot("c-agg", place, &format!("aggregator rank {rank}: {}", size_text(*bytes)));
                }
                None => canvas.dot("c-rank", place, ""),
            }
        }
    }
    let lines = (nodes.len() as f64 / columns).ceil();
    canvas.finish(HALF, 26.0 + lines * (height + 12.0), "nodes and aggregators")
}

fn grid(nodes: &[u32], aggregators: &BTreeMap<u32, Vec<(u32, u64)>>) -> String {
    const CELL: f64 = 14.0;
    let columns = (HALF / CELL).floor() as usize;
    let mut canvas = Canvas::default();
    canvas.legend(2.0, 12.0, &[("c-agg", "node with an aggregator"), ("c-rank", "other node")]);
    for (node, ranks) in nodes.iter().enumerate() {
        let (x, y) = ((node % columns) as f64 * CELL, 24.0 + (node / columns) as f64 * CELL);
        let here = aggregators.get(&(node as u32)).map_or(0, Vec::len);
        let class = if here > 0 { "c-agg" } else { "c-rank" };
        let title = format!("node {node}: {ranks} ranks, {here} aggregators");
        canvas.rect(class, [x, y, CELL - 2.0, CELL - 2.0], &title);
    }
    canvas.finish(HALF, 26.0 + nodes.len().div_ceil(columns) as f64 * CELL, "nodes and aggregators")
}
