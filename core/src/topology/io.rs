//! The way out of the machine: I/O nodes and the compute nodes that lead to them (BG/Q bridge nodes, XC40 LNET routers).
//! Where their place is not known, distances to them are not known either, and the planner leaves C2 out, as the TAPIOCA
//! paper does on Theta.

use crate::ids::NodeId;

/// An I/O node, and the compute nodes that have a link to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoNode {
    pub gates: Vec<NodeId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IoSide {
    Unknown,
    /// Any node may use any gateway; it takes the nearest.
    Gateways(Vec<IoNode>),
    /// Nodes in blocks (psets) of `nodes`, each with an I/O node of its own and bridge nodes at these places in it; the
    /// places are given pset by pset, and from the start again when the list ends.
    Psets {
        nodes: u32,
        bridges: Vec<Vec<u32>>,
        io_nodes: Vec<IoNode>,
    },
}

impl IoSide {
    pub fn psets(machine_nodes: u32, nodes: u32, bridges: Vec<Vec<u32>>) -> Self {
        let gates = |pset: u32| {
            let places = &bridges[pset as usize % bridges.len()];
            places.iter().map(|at| NodeId(pset * nodes + at)).collect()
        };
        let io_nodes = (0..machine_nodes.div_ceil(nodes)).map(|pset| IoNode { gates: gates(pset) }).collect();
        Self::Psets { nodes, bridges, io_nodes }
    }

    pub fn io_nodes(&self) -> Option<&[IoNode]> {
        match self {
            Self::Unknown => None,
            Self::Gateways(io_nodes) | Self::Psets { io_nodes, .. } => Some(io_nodes),
        }
    }

    /// The bridge that the machine gives to a node when it boots: each bridge of a pset gets an equal share of its
    /// nodes, in order, not always the nearest.
    pub fn default_bridge(&self, node: NodeId) -> Option<NodeId> {
        let Self::Psets { nodes, io_nodes, .. } = self else {
            return None;
        };
        let gates = &io_nodes[(node.0 / nodes) as usize].gates;
        let share = nodes.div_ceil(gates.len() as u32);
        Some(gates[(node.0 % nodes / share) as usize])
    }
}
