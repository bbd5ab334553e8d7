//! The machine: where ranks sit, how far apart they are, over which links bytes travel, and where the I/O nodes are.
//! The questions are those of the TAPIOCA paper's topology interface (bandwidth per level, latency, dimensions,
//! coordinates, I/O nodes, distances), plus routes as lists of links. A machine is one line of text, parsed and printed
//! back in a normal form. Invariant: `distance(a, b)` is the number of links of `route(a, b)`.

mod dragonfly;
mod fattree;
mod flat;
mod io;
mod machine;
mod ranks;
pub mod slurm;
mod torus;
mod tree;

pub use dragonfly::Dragonfly;
pub use fattree::FatTree;
pub use flat::Flat;
pub use io::{IoNode, IoSide};
pub use machine::Machine;
pub use ranks::RankMap;
pub use torus::Torus;
pub use tree::Tree;

use crate::ids::NodeId;
use std::fmt;

/// One kind of network. `Display` is its words in the machine's text, in normal form.
pub trait Fabric: fmt::Debug + fmt::Display + Send + Sync {
    fn nodes(&self) -> u32;

    /// The sizes of the coordinates.
    fn dimensions(&self) -> Vec<u32>;

    fn coordinates(&self, node: NodeId) -> Vec<u32>;

    /// The classes of links, the nearest to the node first.
    fn classes(&self) -> Vec<LinkClass>;

    /// Hops from node to node; 0 from a node to itself.
    fn distance(&self, from: NodeId, to: NodeId) -> u32;

    /// The links that the machine's routing takes.
    fn route(&self, from: NodeId, to: NodeId) -> Vec<Link>;

    /// The narrowest link on the way; the node must differ.
    fn bytes_per_s(&self, from: NodeId, to: NodeId) -> f64 {
        let classes = self.classes();
        let rates = self.route(from, to).into_iter().map(|link| classes[usize::from(link.class)].bytes_per_s);
        rates.fold(f64::INFINITY, f64::min)
    }
}

/// A level of the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkClass {
    pub name: &'static str,
    pub bytes_per_s: f64,
}

/// A directed link. Vertices are the nodes, and after them the switches or routers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Link {
    pub from: u32,
    pub to: u32,
    /// An index into [`Fabric::classes`].
    pub class: u8,
}

/// Links from vertex to vertex along `path`, given as (vertex, class of the link that leads to it).
fn links(start: u32, path: impl IntoIterator<Item = (u32, u8)>) -> Vec<Link> {
    let mut from = start;
    let mut route = Vec::new();
    for (to, class) in path {
        if to != from {
            route.push(Link { from, to, class });
        }
        from = to;
    }
    route
}
