//! Independent I/O on BG/Q (SC 2015): strong and weak scaling on Mira, and the load of the bridge nodes. One number of the
//! paper is an input: 4,096 processes needed 24.02 s for as many requests of 1 MB to one file, so a request to a file that
//! all share costs 5.86 ms at one place. All other numbers follow from it and the machine.

use super::{Comparison, PaperError, Runs, Unit};
use crate::Outcome;
use crate::Strategy::{Independent, Sago};

const NAME: &str = "mira-independent";

const SERIAL: &str =
    "requests to the shared file are served one after the other at the input cost; fewer, larger ones win";

pub(super) fn scaling(runs: &mut Runs) -> Result<Vec<Comparison>, PaperError> {
    let seconds = |source, what: &str, paper, ours: &Outcome, why| Comparison {
        source,
        what: what.into(),
        unit: Unit::Seconds,
        paper,
        ours: ours.time_s,
        why,
    };
    let input = [("machine.dims", "8x4x4x16x2"), ("machine.ranks_per_node", "1"), ("pattern.bytes", "1MiB")];
    let mut to_io_nodes = input.to_vec();
    to_io_nodes.extend([("storage.file_request", "0"), ("storage.seek", "0"), ("storage.target", "1TB/s")]);
    let weak = |dims: &'static str| [("machine.dims", dims), ("pattern.bytes", "64KiB")];
    let (small, large) = (weak("4x4x4x2x2"), weak("4x4x4x16x2"));
    let strong = [runs.get(NAME, &[], Independent)?, runs.get(NAME, &[], Sago)?];
    Ok(vec![
        seconds(
            "Independent I/O, file system times",
            "4 GB from 4,096 processes, one per node",
            Some(24.02),
            &runs.get(NAME, &input, Independent)?,
            "the input",
        ),
        seconds(
            "Independent I/O, I/O node times",
            "the same to the I/O nodes only, the slowest",
            Some(0.72),
            &runs.get(NAME, &to_io_nodes, Independent)?,
            "links and I/O nodes alone would be that fast; the forwarding software on them is not modelled",
        ),
        seconds(
            "Independent I/O, strong scaling",
            "4 GB from 32,768 ranks, default",
            Some(298.8),
            &strong[0],
            SERIAL,
        ),
        seconds(
            "Independent I/O, strong scaling",
            "4 GB from 32,768 ranks, coalesced and route-aware",
            Some(20.2),
            &strong[1],
            SERIAL,
        ),
        Comparison {
            source: "Independent I/O, strong scaling",
            what: "4 GB from 32,768 ranks: gain".into(),
            unit: Unit::Times,
            paper: Some(15.0),
            ours: strong[0].time_s / strong[1].time_s,
            why: "16 requests of a node become one",
        },
        seconds(
            "Independent I/O, weak scaling",
            "64 KB each from 4,096 ranks, default",
            Some(19.0),
            &runs.get(NAME, &small, Independent)?,
            SERIAL,
        ),
        seconds(
            "Independent I/O, weak scaling",
            "64 KB each from 32,768 ranks, default",
            Some(213.0),
            &runs.get(NAME, &large, Independent)?,
            SERIAL,
        ),
        seconds(
            "Independent I/O, weak scaling",
            "64 KB each from 4,096 ranks, coalesced and route-aware",
            Some(1.0),
            &runs.get(NAME, &small, Sago)?,
            SERIAL,
        ),
        seconds(
            "Independent I/O, weak scaling",
            "64 KB each from 32,768 ranks, coalesced and route-aware",
            Some(16.0),
            &runs.get(NAME, &large, Sago)?,
            SERIAL,
        ),
    ])
}

const PLACES: &str = "where Mira's bridge nodes sit is not in the paper; here the two of a pset are neighbours, a layout \
    chosen among about ten because its default is about as uneven as the paper's (docs/PLANNER.md)";

pub(super) fn bridges(runs: &mut Runs) -> Result<Vec<Comparison>, PaperError> {
    let mut all = Vec::new();
    // Ranks per node, and the paper's default and optimised numbers of messages for 64 KB.
    for (ranks, default, optimised) in [("4", 12.7, 8.5), ("8", 25.6, 17.5)] {
        let changes = [("machine.ranks_per_node", ranks), ("pattern.bytes", "64KiB")];
        let (own, aware) = (runs.get(NAME, &changes, Independent)?, runs.get(NAME, &changes, Sago)?);
        all.push(Comparison {
            source: "Independent I/O, table 1",
            what: format!(
                "2,048 nodes, {ranks} ranks each: bytes through a bridge, default against route-aware"
            ),
            unit: Unit::Times,
            paper: Some(default / optimised),
            ours: mean_bytes(&own) / mean_bytes(&aware),
            why: PLACES,
        });
    }
    let rows = [
        ("4x4x4x4x2", "512", 0.09, 0.02),
        ("4x4x4x8x2", "1,024", 0.05, 0.01),
        ("4x4x4x16x2", "2,048", 0.08, 0.007),
    ];
    for (dims, nodes, default, coalesced) in rows {
        let changes = [("machine.dims", dims), ("machine.ranks_per_node", "1"), ("pattern.bytes", "64KiB")];
        for (what, strategy, paper) in
            [("default", Independent, default), ("coalesced, route-aware", Sago, coalesced)]
        {
            let outcome = runs.get(NAME, &changes, strategy)?;
            all.push(Comparison {
                source: "Independent I/O, table 2",
                what: format!("{nodes} nodes, 1 rank each: deviation of bytes through bridges, {what}"),
                unit: Unit::Share,
                paper: Some(paper),
                ours: deviation(&outcome),
                why: PLACES,
            });
        }
    }
    Ok(all)
}

/// Bytes that pass each bridge, its own included.
fn loads(outcome: &Outcome) -> Vec<f64> {
    outcome.gates.iter().map(|gate| gate.in_bytes as f64).collect()
}

fn mean_bytes(outcome: &Outcome) -> f64 {
    let loads = loads(outcome);
    loads.iter().sum::<f64>() / loads.len() as f64
}

/// The standard deviation as a share of the mean.
fn deviation(outcome: &Outcome) -> f64 {
    let mean = mean_bytes(outcome);
    let loads = loads(outcome);
    let variance = loads.iter().map(|load| (load - mean).powi(2)).sum::<f64>() / loads.len() as f64;
    variance.sqrt() / mean
}
