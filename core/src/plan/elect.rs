//! Aggregator election, from TAPIOCA (IV.B): for each part of the file, every candidate node computes what it would cost
//! to gather the part's bytes there (C1) and to send them on to its I/O node (C2, 0 where that is unknown); the least
//! sum is elected, the lowest node on a tie. Option: `placement`; the baselines to compare with are in `baseline`.

use super::distribute::Candidate;
use crate::cost::{NodeLoad, drain_s, gather_s};
use crate::ids::NodeId;
use crate::topology::Machine;

/// What an aggregator on a node would cost for a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaceCost {
    pub gather_s: f64,
    pub drain_s: f64,
}

/// The elected one, its cost, and who came second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elected {
    pub candidate: Candidate,
    pub cost: PlaceCost,
    pub runner_up: Option<(Candidate, PlaceCost)>,
}

/// How many pairs of candidate and contributor are looked at for one part, so that planning stays linear in ranks.
const PAIRS_MAX: usize = 1 << 16;

impl PlaceCost {
    pub fn of(machine: &Machine, from: &[NodeLoad], node: NodeId) -> Self {
        let bytes = from.iter().map(|load| load.bytes).sum();
        Self { gather_s: gather_s(machine, from, node), drain_s: drain_s(machine, node, bytes) }
    }

    pub fn total_s(&self) -> f64 {
        self.gather_s + self.drain_s
    }
}

/// `candidates` must not be empty.
pub(super) fn by_cost(machine: &Machine, from: &[NodeLoad], candidates: &[Candidate]) -> Elected {
    let most = (PAIRS_MAX / from.len().max(1)).max(16);
    let step = candidates.len().div_ceil(most);
    let costs = candidates.iter().step_by(step).map(|c| (*c, PlaceCost::of(machine, from, c.node)));
    least(costs.collect(), PlaceCost::total_s)
}

/// The least by `measure`, with the one after it.
pub(super) fn least(mut costs: Vec<(Candidate, PlaceCost)>, measure: impl Fn(&PlaceCost) -> f64) -> Elected {
    costs.sort_by(|a, b| measure(&a.1).total_cmp(&measure(&b.1)).then(a.0.node.cmp(&b.0.node)));
    Elected { candidate: costs[0].0, cost: costs[0].1, runner_up: costs.get(1).copied() }
}
