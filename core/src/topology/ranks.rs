//! Which rank sits on which node.

use crate::ids::{NodeId, Rank};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RankMap {
    /// Ranks fill one node after the other.
    Block { ranks_per_node: u32 },
    /// Ranks are dealt out over the nodes in turn.
    Cyclic { ranks_per_node: u32, nodes: u32 },
    /// As found, or as told.
    Listed(Vec<NodeId>),
}

impl RankMap {
    pub fn node(&self, rank: Rank) -> NodeId {
        match self {
            Self::Block { ranks_per_node } => NodeId(rank.0 / ranks_per_node),
            Self::Cyclic { nodes, .. } => NodeId(rank.0 % nodes),
            Self::Listed(list) => list[rank.index()],
        }
    }

    pub fn ranks(&self, nodes: u32) -> u32 {
        match self {
            Self::Block { ranks_per_node } | Self::Cyclic { ranks_per_node, .. } => nodes * ranks_per_node,
            Self::Listed(list) => list.len() as u32,
        }
    }
}
