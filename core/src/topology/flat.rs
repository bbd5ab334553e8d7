//! Every node on one switch: what is assumed where nothing is known, and what a small cluster is.

use super::{Fabric, Link, LinkClass, links};
use crate::ids::NodeId;
use crate::text::{Fields, TextError, bytes_per_s, bytes_per_s_text};
use std::fmt;

#[derive(Clone, Debug)]
pub struct Flat {
    nodes: u32,
    link_bytes_per_s: f64,
}

impl Flat {
    pub const fn new(nodes: u32, link_bytes_per_s: f64) -> Self {
        Self { nodes, link_bytes_per_s }
    }

    pub(super) fn parse(fields: &Fields<'_>) -> Result<Self, TextError> {
        let nodes = fields.required("nodes", super::machine::NODES, super::machine::node_count)?;
        Ok(Self::new(nodes, fields.required("link", super::machine::RATE, bytes_per_s)?))
    }
}

impl fmt::Display for Flat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "flat nodes={} link={}", self.nodes, bytes_per_s_text(self.link_bytes_per_s))
    }
}

impl Fabric for Flat {
    fn nodes(&self) -> u32 {
        self.nodes
    }

    fn dimensions(&self) -> Vec<u32> {
        vec![self.nodes]
    }

    fn coordinates(&self, node: NodeId) -> Vec<u32> {
        vec![node.0]
    }

    fn classes(&self) -> Vec<LinkClass> {
        vec![LinkClass { name: "link", bytes_per_s: self.link_bytes_per_s }]
    }

    fn distance(&self, from: NodeId, to: NodeId) -> u32 {
        if from == to { 0 } else { 2 }
    }

    fn route(&self, from: NodeId, to: NodeId) -> Vec<Link> {
        if from == to { Vec::new() } else { links(from.0, [(self.nodes, 0), (to.0, 0)]) }
    }

    fn bytes_per_s(&self, _: NodeId, _: NodeId) -> f64 {
        self.link_bytes_per_s
    }
}
