//! The ranks of a scenario by file: each file is written by a block of ranks, which plan and agree among themselves, on
//! a machine that they share with the others.

use crate::scenario::{Costs, Scenario};
use crate::time::Time;
use sago_core::ids::{NodeId, Rank};
use sago_core::topology::Machine;

#[derive(Clone, Copy, Debug)]
pub(crate) struct File {
    pub number: u32,
    pub first_rank: u32,
    pub ranks: u32,
}

impl File {
    pub fn all(scenario: &Scenario) -> impl Iterator<Item = Self> {
        let ranks = scenario.ranks_per_file();
        (0..scenario.files()).map(move |number| Self { number, first_rank: number * ranks, ranks })
    }

    pub fn node(&self, machine: &Machine, rank: Rank) -> NodeId {
        machine.node(Rank(self.first_rank + rank.0))
    }

    /// The machine as these ranks see it.
    pub fn machine(&self, machine: &Machine) -> Machine {
        if self.ranks == machine.ranks() {
            return machine.clone();
        }
        let nodes = (0..self.ranks).map(|rank| self.node(machine, Rank(rank)));
        machine.clone().with_ranks(nodes.collect())
    }
}

/// The time of operations among all ranks of a file, when the last one has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Collectives {
    costs: Costs,
    link_bytes_per_s: f64,
}

impl Collectives {
    pub fn of(scenario: &Scenario) -> Self {
        let classes = scenario.machine.classes();
        Self { costs: scenario.costs, link_bytes_per_s: classes[1.min(classes.len() - 1)].bytes_per_s }
    }

    /// One small value, reduced and told to all.
    pub fn reduce(&self, ranks: u32) -> Time {
        Time::from_s(2.0 * steps(ranks) * self.costs.message_s)
    }

    /// `bytes` of every rank to every rank.
    pub fn gather(&self, ranks: u32, bytes: u64) -> Time {
        let data = f64::from(ranks) * bytes as f64 / self.link_bytes_per_s;
        Time::from_s(steps(ranks) * self.costs.message_s + data)
    }

    /// One count from every rank to every other, as each round of two-phase I/O begins.
    pub fn counts(&self, ranks: u32) -> Time {
        Time::from_s(steps(ranks) * self.costs.message_s + f64::from(ranks) * self.costs.sync_s)
    }
}

fn steps(ranks: u32) -> f64 {
    f64::from(ranks.max(1)).log2().ceil()
}
