//! Who is in step with whom, and which ranks are aggregators.

use crate::files::File;
use crate::scenario::{Order, Scenario};
use sago_core::ids::{NodeId, Rank};
use sago_core::topology::Machine;
use std::collections::{BTreeMap, BTreeSet};

/// The ranks that are in step with each other: all of a file, or a subgroup of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub number: u32,
    pub file: File,
    first_rank: u32,
    pub ranks: u32,
}

impl Group {
    pub fn all(scenario: &Scenario) -> Vec<Self> {
        let mut all = Vec::new();
        for file in File::all(scenario) {
            let groups = scenario.two_phase.groups.min(file.ranks);
            let edge = |at: u32| (u64::from(file.ranks) * u64::from(at) / u64::from(groups)) as u32;
            for at in 0..groups {
                let (number, first_rank) = (all.len() as u32, edge(at));
                all.push(Self { number, file, first_rank, ranks: edge(at + 1) - first_rank });
            }
        }
        all
    }

    /// A rank of the group as a rank of its file.
    pub fn in_file(&self, rank: Rank) -> Rank {
        Rank(self.first_rank + rank.0)
    }

    /// And as one of all ranks.
    pub fn in_all(&self, rank: Rank) -> u32 {
        self.file.first_rank + self.first_rank + rank.0
    }

    pub fn node(&self, machine: &Machine, rank: Rank) -> NodeId {
        self.file.node(machine, self.in_file(rank))
    }
}

/// The first rank of each node, one node after the other, and from the start if there are more aggregators than nodes.
pub(super) fn aggregators(scenario: &Scenario, group: &Group) -> Vec<Rank> {
    let machine = &scenario.machine;
    let mut seen = BTreeSet::new();
    let mut by_node: Vec<Rank> =
        (0..group.ranks).map(Rank).filter(|rank| seen.insert(group.node(machine, *rank))).collect();
    if scenario.two_phase.order == Order::BridgeFirst {
        bridges_in_turn(machine, group, &mut by_node);
    }
    let count = scenario.two_phase.aggregators.unwrap_or(by_node.len() as u32).min(group.ranks);
    let nodes = by_node.len() as u32;
    let nth =
        |number: u32| Rank((by_node[(number % nodes) as usize].0 + number / nodes).min(group.ranks - 1));
    (0..count).map(nth).collect()
}

fn bridges_in_turn(machine: &Machine, group: &Group, ranks: &mut [Rank]) {
    let mut taken: BTreeMap<NodeId, u32> = BTreeMap::new();
    let mut place = |rank: &Rank| {
        let node = group.node(machine, *rank);
        let bridge = machine.io().default_bridge(node)?;
        let turn = taken.entry(bridge).or_insert(1);
        *turn += 1;
        Some((if bridge == node { 0 } else { *turn }, bridge))
    };
    let mut placed: Vec<_> = ranks.iter().map(|rank| (place(rank), *rank)).collect();
    placed.sort();
    ranks.iter_mut().zip(placed).for_each(|(rank, (_, sorted))| *rank = sorted);
}
