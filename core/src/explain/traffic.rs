//! How many bytes cross which class of links: for each pair of nodes that exchange bytes, its route.

use crate::ids::{NodeId, Rank};
use crate::schedule::Schedule;
use crate::topology::Machine;
use std::collections::BTreeMap;

/// The bytes over one class of links; a message that crosses two links of a class counts twice.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassBytes {
    pub name: &'static str,
    pub bytes: u64,
    /// On the busiest single link; inside nodes, in the busiest node.
    pub busiest_bytes: u64,
}

pub(super) fn classes(machine: &Machine, schedule: &Schedule) -> Vec<ClassBytes> {
    let mut by_pair: BTreeMap<(NodeId, NodeId), u64> = BTreeMap::new();
    let mut to_io: BTreeMap<NodeId, u64> = BTreeMap::new();
    for (rank, of) in schedule.ranks.iter().enumerate() {
        let node = machine.node(Rank(rank as u32));
        for (_, to, bytes) in of.sends.iter().flat_map(|sends| sends.windows()) {
            *by_pair.entry((node, machine.node(to))).or_default() += bytes;
            *to_io.entry(machine.node(to)).or_default() += bytes;
        }
        *to_io.entry(node).or_default() += of.own.iter().flat_map(|own| own.windows()).sum::<u64>();
    }
    crossed(machine, &by_pair, &to_io)
}

/// What bytes between pairs of nodes, and from nodes to storage, are on each class of links.
pub fn crossed(
    machine: &Machine,
    by_pair: &BTreeMap<(NodeId, NodeId), u64>,
    to_io: &BTreeMap<NodeId, u64>,
) -> Vec<ClassBytes> {
    let mut traffic = Traffic { links: BTreeMap::new(), machine };
    by_pair.iter().for_each(|((from, to), bytes)| traffic.send(*from, *to, *bytes));
    to_io.iter().for_each(|(from, bytes)| traffic.drain(*from, *bytes));
    traffic.classes()
}

struct Traffic<'a> {
    machine: &'a Machine,
    /// (class, from, to) -> bytes
    links: BTreeMap<(u8, u32, u32), u64>,
}

impl Traffic<'_> {
    fn send(&mut self, from: NodeId, to: NodeId, bytes: u64) {
        if from == to {
            *self.links.entry((0, from.0, from.0)).or_default() += bytes;
        }
        for link in self.machine.route(from, to) {
            *self.links.entry((link.class, link.from, link.to)).or_default() += bytes;
        }
    }

    /// To storage: over the machine's links to the nearest gate of the node's I/O node, and out there.
    fn drain(&mut self, from: NodeId, bytes: u64) {
        let out = self.machine.classes().len() as u8 - 1;
        let gates = self.machine.io_node_of(from).map_or(&[][..], |io| io.gates.as_slice());
        let gate =
            gates.iter().copied().min_by_key(|gate| self.machine.distance(from, *gate)).unwrap_or(from);
        if gate != from {
            self.send(from, gate, bytes);
        }
        *self.links.entry((out, gate.0, u32::MAX)).or_default() += bytes;
    }

    fn classes(self) -> Vec<ClassBytes> {
        let classes = self.machine.classes();
        let class = |number: usize| {
            let links = || self.links.iter().filter(move |((class, ..), _)| usize::from(*class) == number);
            ClassBytes {
                name: classes[number].name,
                bytes: links().map(|(_, bytes)| bytes).sum(),
                busiest_bytes: links().map(|(_, bytes)| *bytes).max().unwrap_or(0),
            }
        };
        (0..classes.len()).map(class).collect()
    }
}
