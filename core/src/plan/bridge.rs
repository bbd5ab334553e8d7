//! Route-aware bridge assignment for independent writes, from "Improving independent I/O on BG/Q" (network load- and
//! route-aware algorithm). When a machine boots, each bridge node gets an equal share of the compute nodes, not always
//! the nearest ones, and messages to one bridge pass through others. Here each bridge is the root of a tree of the nodes
//! whose route to it, in the machine's routing order, meets no other bridge. All trees are traversed level by level; a
//! node is assigned to the bridge whose tree shows it first, if that is nearer than its default bridge (or is its
//! default bridge, and the way there is free) and the bridge's weight, the number of nodes it has got, is below the
//! average. A node that finds none goes to a bridge that it reaches freely, for which others may move on to bridges with
//! room; if there is no such chain, it stays where it was.
//!
//! Nodes that keep their default bridge write for themselves; the others send to a rank on their new bridge node, which
//! writes on their behalf. Option: `exchange=bridge`.

use crate::ids::NodeId;
use crate::topology::Machine;
use std::collections::{BTreeMap, VecDeque};

/// A bridge for each node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    bridges: Vec<NodeId>,
    of: Vec<NodeId>,
}

/// How many messages pass through each bridge node.
#[derive(Clone, Debug, PartialEq)]
pub struct BridgeLoad {
    pub messages: BTreeMap<NodeId, u64>,
}

impl Assignment {
    /// What the machine does by itself; `None` if it has no bridge nodes.
    pub fn default_of(machine: &Machine) -> Option<Self> {
        let of = (0..machine.nodes()).map(|node| machine.io().default_bridge(NodeId(node)));
        Some(Self { bridges: bridges(machine)?, of: of.collect::<Option<_>>()? })
    }

    /// The route-aware one.
    pub fn route_aware(machine: &Machine) -> Option<Self> {
        let default = Self::default_of(machine)?;
        let trees = Trees::new(machine, &default.bridges);
        let mut traversal = Traversal::new(machine, &default);
        for level in 0..=trees.depth() {
            traversal.level(level, &trees);
        }
        Some(traversal.finish(&trees))
    }

    pub fn bridge_of(&self, node: NodeId) -> NodeId {
        self.of[node.index()]
    }

    pub fn bridges(&self) -> &[NodeId] {
        &self.bridges
    }

    /// Messages through each bridge when each node sends `messages(node)`, those on their way to another one included.
    pub fn load(&self, machine: &Machine, messages: impl Fn(NodeId) -> u64) -> BridgeLoad {
        let mut through: BTreeMap<NodeId, u64> = self.bridges.iter().map(|bridge| (*bridge, 0)).collect();
        for node in (0..machine.nodes()).map(NodeId) {
            let bridge = self.bridge_of(node);
            let mut count = |at: NodeId| {
                if let Some(sum) = through.get_mut(&at) {
                    *sum += messages(node);
                }
            };
            count(node);
            machine.route(node, bridge).iter().for_each(|link| count(NodeId(link.to)));
        }
        BridgeLoad { messages: through }
    }
}

impl BridgeLoad {
    pub fn mean(&self) -> f64 {
        self.messages.values().sum::<u64>() as f64 / self.messages.len() as f64
    }

    /// The standard deviation as a share of the mean.
    pub fn deviation(&self) -> f64 {
        let mean = self.mean();
        let square = |messages: &u64| (*messages as f64 - mean).powi(2);
        let variance = self.messages.values().map(square).sum::<f64>() / self.messages.len() as f64;
        variance.sqrt() / mean
    }
}

fn bridges(machine: &Machine) -> Option<Vec<NodeId>> {
    let bridges: Vec<NodeId> = machine.io_nodes()?.iter().flat_map(|io| io.gates.iter().copied()).collect();
    (!bridges.is_empty()).then_some(bridges)
}

/// For each bridge, the nodes of its tree by level. A suffix of a static route is the route of the node it starts at, so
/// the nodes with free routes form a tree.
struct Trees {
    levels: Vec<Vec<Vec<NodeId>>>,
    /// For each node, the bridges whose tree it is in, nearest first.
    reach: Vec<Vec<(u32, usize)>>,
}

impl Trees {
    fn new(machine: &Machine, bridges: &[NodeId]) -> Self {
        let mut levels = vec![Vec::new(); bridges.len()];
        let mut reach = vec![Vec::new(); machine.nodes() as usize];
        for (tree, bridge) in bridges.iter().enumerate() {
            for node in (0..machine.nodes()).map(NodeId) {
                let route = machine.route(node, *bridge);
                let stops = route.iter().map(|link| NodeId(link.from));
                let meets_another = stops.into_iter().any(|stop| stop != *bridge && bridges.contains(&stop));
                if meets_another {
                    continue;
                }
                let level = route.len();
                if levels[tree].len() <= level {
                    levels[tree].resize(level + 1, Vec::new());
                }
                levels[tree][level].push(node);
                reach[node.index()].push((level as u32, tree));
            }
        }
        reach.iter_mut().for_each(|list| list.sort_unstable());
        Self { levels, reach }
    }

    fn depth(&self) -> usize {
        self.levels.iter().map(Vec::len).max().unwrap_or(0)
    }
}

struct Traversal<'a> {
    machine: &'a Machine,
    default: &'a Assignment,
    /// An index into the bridges.
    chosen: Vec<Option<usize>>,
    weight: Vec<u32>,
    average: u32,
}

impl<'a> Traversal<'a> {
    fn new(machine: &'a Machine, default: &'a Assignment) -> Self {
        let bridges = default.bridges.len();
        let average = machine.nodes().div_ceil(bridges as u32);
        let chosen = vec![None; machine.nodes() as usize];
        Self { machine, default, chosen, weight: vec![0; bridges], average }
    }

    /// One node of each tree in turn, so that no tree takes a level for itself.
    fn level(&mut self, level: usize, trees: &Trees) {
        let lists: Vec<&[NodeId]> =
            trees.levels.iter().map(|levels| levels.get(level).map_or(&[][..], Vec::as_slice)).collect();
        let longest = lists.iter().map(|list| list.len()).max().unwrap_or(0);
        for at in 0..longest {
            for (tree, list) in lists.iter().enumerate() {
                let Some(node) = list.get(at) else { continue };
                let bridge = self.default.bridges[tree];
                let usual = self.default.bridge_of(*node);
                let nearer = (level as u32) < self.machine.distance(*node, usual) || bridge == usual;
                if self.chosen[node.index()].is_none() && nearer && self.weight[tree] < self.average {
                    self.take(*node, tree);
                }
            }
        }
    }

    fn take(&mut self, node: NodeId, tree: usize) {
        self.chosen[node.index()] = Some(tree);
        self.weight[tree] += 1;
    }

    fn finish(mut self, trees: &Trees) -> Assignment {
        for node in 0..self.chosen.len() {
            if self.chosen[node].is_none() {
                self.make_room(NodeId(node as u32), trees);
            }
        }
        let usual = |(node, chosen): (usize, &Option<usize>)| match chosen {
            Some(tree) => self.default.bridges[*tree],
            None => self.default.of[node],
        };
        let of = self.chosen.iter().enumerate().map(usual).collect();
        Assignment { bridges: self.default.bridges.clone(), of }
    }

    /// Finds a bridge with room that the node reaches freely; where those are full, nodes of theirs move on to other
    /// bridges that they reach, along the shortest such chain.
    fn make_room(&mut self, node: NodeId, trees: &Trees) {
        let mut came_by: Vec<Option<(NodeId, Option<usize>)>> = vec![None; self.weight.len()];
        let mut queue = VecDeque::new();
        let mut look = |mover: NodeId, from: Option<usize>, queue: &mut VecDeque<usize>| {
            for (_, tree) in &trees.reach[mover.index()] {
                if came_by[*tree].is_none() {
                    came_by[*tree] = Some((mover, from));
                    queue.push_back(*tree);
                }
            }
        };
        look(node, None, &mut queue);
        while let Some(tree) = queue.pop_front() {
            if self.weight[tree] < self.average {
                self.weight[tree] += 1;
                let mut to = Some(tree);
                while let Some((at, (mover, from))) = to.and_then(|at| came_by[at].map(|step| (at, step))) {
                    self.chosen[mover.index()] = Some(at);
                    to = from;
                }
                return;
            }
            for mover in (0..self.chosen.len()).filter(|n| self.chosen[*n] == Some(tree)) {
                look(NodeId(mover as u32), Some(tree), &mut queue);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages through each bridge by default, and by the route-aware assignment; one message from each node.
    fn loads(dims: &str) -> (BridgeLoad, BridgeLoad) {
        // Two bridges for 128 nodes, neighbours in the last dimension of the torus, or in the one before it.
        let text = format!("torus dims={dims} link=1.8GB/s pset=128 bridges=10,11/10,12");
        let machine: Machine = text.parse().unwrap();
        let default = Assignment::default_of(&machine).unwrap();
        let aware = Assignment::route_aware(&machine).unwrap();
        for node in (0..machine.nodes()).map(NodeId) {
            let route = machine.route(node, aware.bridge_of(node));
            let passes = |link: &crate::topology::Link| aware.bridges.contains(&NodeId(link.from));
            assert!(!route.iter().skip(1).any(passes), "{node} is routed through another bridge");
        }
        (default.load(&machine, |_| 1), aware.load(&machine, |_| 1))
    }

    /// The paper's tables 1 and 2: fewer messages through a bridge (1.4 times), deviation an order of magnitude smaller.
    #[test]
    fn fewer_messages_pass_through_bridges_and_evenly() {
        for dims in ["4x4x4x4x2", "4x4x4x8x2", "4x4x4x16x2"] {
            let (default, aware) = loads(dims);
            assert!(default.mean() > 1.3 * aware.mean(), "{dims}: {} {}", default.mean(), aware.mean());
            assert!(default.deviation() > 10.0 * aware.deviation(), "{dims}: {aware:?}");
        }
    }

    #[test]
    fn a_machine_without_bridges_has_no_assignment() {
        let machine: Machine = "flat nodes=4 link=1GB/s".parse().unwrap();
        assert_eq!(Assignment::route_aware(&machine), None);
    }
}
