//! The two-level fat tree: leaf switches with nodes, every leaf connected to every spine. Oversubscription is the ratio
//! of what the nodes of a leaf can send to what its up-links can carry. The spine follows from the destination, as static
//! routing tables do, so that routes to one node share a spine and routes to different nodes spread.

use super::{Fabric, Link, LinkClass, links};
use crate::ids::NodeId;
use crate::text::{Fields, TextError, bytes_per_s, bytes_per_s_text};
use std::fmt;

#[derive(Clone, Debug)]
pub struct FatTree {
    leaves: u32,
    nodes_per_leaf: u32,
    spines: u32,
    oversubscription: f64,
    link_bytes_per_s: f64,
}

const DOWN: u8 = 0;
const UP: u8 = 1;

impl FatTree {
    pub(super) fn parse(fields: &Fields<'_>) -> Result<Self, TextError> {
        let count = super::machine::node_count;
        let leaves = fields.required("leaves", "a number of leaf switches from 1", count)?;
        let nodes_per_leaf =
            fields.required("nodes", "a number of nodes on each leaf switch from 1", count)?;
        if leaves.checked_mul(nodes_per_leaf).is_none_or(|nodes| nodes > super::machine::NODES_MAX) {
            return Err(fields.bad("nodes", super::machine::NODES));
        }
        let spines = fields.required("spines", "a number of spine switches from 1", count)?;
        let expects = "a ratio from 0.01 to 1000, for example 2";
        let oversubscription = fields.optional("oversubscription", expects, ratio)?.unwrap_or(1.0);
        let link_bytes_per_s = fields.required("link", super::machine::RATE, bytes_per_s)?;
        Ok(Self { leaves, nodes_per_leaf, spines, oversubscription, link_bytes_per_s })
    }

    fn leaf(&self, node: NodeId) -> u32 {
        node.0 / self.nodes_per_leaf
    }

    fn up_bytes_per_s(&self) -> f64 {
        let leaf_bytes_per_s = self.link_bytes_per_s * f64::from(self.nodes_per_leaf);
        leaf_bytes_per_s / self.oversubscription / f64::from(self.spines)
    }
}

fn ratio(text: &str) -> Option<f64> {
    text.parse().ok().filter(|ratio| (0.01..=1000.0).contains(ratio))
}

impl fmt::Display for FatTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { leaves, nodes_per_leaf, spines, oversubscription, .. } = self;
        let link = bytes_per_s_text(self.link_bytes_per_s);
        write!(f, "fattree leaves={leaves} nodes={nodes_per_leaf} spines={spines} ")?;
        write!(f, "oversubscription={oversubscription} link={link}")
    }
}

impl Fabric for FatTree {
    fn nodes(&self) -> u32 {
        self.leaves * self.nodes_per_leaf
    }

    fn dimensions(&self) -> Vec<u32> {
        vec![self.leaves, self.nodes_per_leaf]
    }

    fn coordinates(&self, node: NodeId) -> Vec<u32> {
        vec![self.leaf(node), node.0 % self.nodes_per_leaf]
    }

    fn classes(&self) -> Vec<LinkClass> {
        vec![
            LinkClass { name: "leaf", bytes_per_s: self.link_bytes_per_s },
            LinkClass { name: "spine", bytes_per_s: self.up_bytes_per_s() },
        ]
    }

    fn distance(&self, from: NodeId, to: NodeId) -> u32 {
        match (from == to, self.leaf(from) == self.leaf(to)) {
            (true, _) => 0,
            (_, true) => 2,
            _ => 4,
        }
    }

    fn route(&self, from: NodeId, to: NodeId) -> Vec<Link> {
        let leaf = |node| self.nodes() + self.leaf(node);
        match self.distance(from, to) {
            0 => Vec::new(),
            2 => links(from.0, [(leaf(from), DOWN), (to.0, DOWN)]),
            _ => {
                let spine = self.nodes() + self.leaves + to.0 % self.spines;
                links(from.0, [(leaf(from), DOWN), (spine, UP), (leaf(to), UP), (to.0, DOWN)])
            }
        }
    }

    fn bytes_per_s(&self, from: NodeId, to: NodeId) -> f64 {
        let inside = self.leaf(from) == self.leaf(to);
        if inside { self.link_bytes_per_s } else { self.link_bytes_per_s.min(self.up_bytes_per_s()) }
    }
}
