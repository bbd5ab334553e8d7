//! A machine: a network, the ranks on it, and its I/O side; as text, one line.

use super::{Dragonfly, Fabric, FatTree, Flat, IoNode, IoSide, Link, LinkClass, RankMap, Torus, Tree};
use crate::ids::{NodeId, Rank};
use crate::text::{
    Fields, TextError, bytes_per_s, bytes_per_s_text, count_list, duration_s, duration_s_text,
};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

pub(super) const NODES_MAX: u32 = 1 << 22;
pub(super) const NODES: &str = "a number of nodes from 1 to 4194304";
pub(super) const RATE: &str = "a rate with its unit, for example 1.8GB/s or 400Mbit/s";

const KINDS: &[&str] = &["flat", "torus", "dragonfly", "fattree", "tree"];

#[derive(Clone, Debug)]
pub struct Machine {
    fabric: Arc<dyn Fabric>,
    ranks: RankMap,
    latency_s: f64,
    memory_bytes_per_s: f64,
    io: IoSide,
    io_bytes_per_s: f64,
}

impl Machine {
    /// One node, or a few on one switch: what is assumed where nothing is known.
    pub fn unknown(ranks: Vec<NodeId>) -> Self {
        let nodes = ranks.iter().map(|node| node.0 + 1).max().unwrap_or(1);
        let fabric = Arc::new(Flat::new(nodes, 10e9));
        let (latency_s, memory_bytes_per_s, io_bytes_per_s) = (1e-6, 8e9, 10e9);
        let (ranks, io) = (RankMap::Listed(ranks), IoSide::Unknown);
        Self { fabric, ranks, latency_s, memory_bytes_per_s, io, io_bytes_per_s }
    }

    /// The same machine with the ranks where they were found.
    pub fn with_ranks(mut self, nodes: Vec<NodeId>) -> Self {
        self.ranks = RankMap::Listed(nodes);
        self
    }

    pub fn fabric(&self) -> &dyn Fabric {
        &*self.fabric
    }

    pub fn io(&self) -> &IoSide {
        &self.io
    }

    pub fn nodes(&self) -> u32 {
        self.fabric.nodes()
    }

    pub fn ranks(&self) -> u32 {
        self.ranks.ranks(self.nodes())
    }

    pub fn node(&self, rank: Rank) -> NodeId {
        self.ranks.node(rank)
    }

    /// Of one hop.
    pub fn latency_s(&self) -> f64 {
        self.latency_s
    }

    /// The classes of links: memory inside a node, the network's own, and the links to the I/O nodes.
    pub fn classes(&self) -> Vec<LinkClass> {
        let mut classes = vec![LinkClass { name: "memory", bytes_per_s: self.memory_bytes_per_s }];
        classes.extend(self.fabric.classes());
        classes.push(LinkClass { name: "io", bytes_per_s: self.io_bytes_per_s });
        classes
    }

    pub fn distance(&self, from: NodeId, to: NodeId) -> u32 {
        self.fabric.distance(from, to)
    }

    /// The links between two nodes, with classes as in [`Machine::classes`].
    pub fn route(&self, from: NodeId, to: NodeId) -> Vec<Link> {
        let mut route = self.fabric.route(from, to);
        route.iter_mut().for_each(|link| link.class += 1);
        route
    }

    /// The narrowest link from node to node; inside a node, memory.
    pub fn bytes_per_s(&self, from: NodeId, to: NodeId) -> f64 {
        if from == to { self.memory_bytes_per_s } else { self.fabric.bytes_per_s(from, to) }
    }

    /// Seconds per byte between two different nodes, on average over a fixed sample of pairs.
    pub fn mean_s_per_byte(&self) -> f64 {
        const PAIRS: u32 = 64;
        let nodes = self.nodes();
        if nodes < 2 {
            return 0.0;
        }
        let apart = |pair: u32| 1 + (u64::from(pair) * 7919 % u64::from(nodes - 1)) as u32;
        let from = |pair: u32| (u64::from(pair) * 104_729 % u64::from(nodes)) as u32;
        let cost = |pair: u32| {
            let to = (u64::from(from(pair)) + u64::from(apart(pair))) % u64::from(nodes);
            1.0 / self.bytes_per_s(NodeId(from(pair)), NodeId(to as u32))
        };
        (0..PAIRS).map(cost).sum::<f64>() / f64::from(PAIRS)
    }

    /// How many links lead out to storage: those of the gates, or one for each node where they are unknown.
    pub fn io_links(&self) -> u32 {
        let gates = |io_nodes: &[IoNode]| io_nodes.iter().map(|io| io.gates.len() as u32).sum();
        self.io_nodes().map_or(self.nodes(), gates)
    }

    pub fn io_link_bytes_per_s(&self) -> f64 {
        self.io_bytes_per_s
    }

    /// The I/O nodes that serve a file, if their place is known.
    pub fn io_nodes(&self) -> Option<&[IoNode]> {
        self.io.io_nodes()
    }

    /// Hops from a node through the nearest gate to an I/O node.
    pub fn distance_to_io(&self, from: NodeId, io: &IoNode) -> u32 {
        1 + io.gates.iter().map(|gate| self.distance(from, *gate)).min().unwrap_or(0)
    }

    /// The I/O node that a node's writes go to: its pset's, or else the nearest.
    pub fn io_node_of(&self, node: NodeId) -> Option<&IoNode> {
        match &self.io {
            IoSide::Unknown => None,
            IoSide::Psets { nodes, io_nodes, .. } => io_nodes.get((node.0 / nodes) as usize),
            IoSide::Gateways(io_nodes) => io_nodes.iter().min_by_key(|io| self.distance_to_io(node, io)),
        }
    }

    /// The narrowest link from a node to its I/O node.
    pub fn io_bytes_per_s(&self, from: NodeId, io: &IoNode) -> f64 {
        let nearest = io.gates.iter().copied().min_by_key(|gate| self.distance(from, *gate));
        match nearest {
            Some(gate) if gate != from => self.fabric.bytes_per_s(from, gate).min(self.io_bytes_per_s),
            _ => self.io_bytes_per_s,
        }
    }
}

impl FromStr for Machine {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let fields = Fields::parse("machine", "flat nodes=4 link=10GB/s", text)?;
        let fabric: Arc<dyn Fabric> = match fields.kind {
            "flat" => Arc::new(Flat::parse(&fields)?),
            "torus" => Arc::new(Torus::parse(&fields)?),
            "dragonfly" => Arc::new(Dragonfly::parse(&fields)?),
            "fattree" => Arc::new(FatTree::parse(&fields)?),
            "tree" => Arc::new(Tree::parse(&fields)?),
            _ => return Err(fields.unknown_kind("machine", KINDS)),
        };
        let nodes = fabric.nodes();
        let latency_s = fields
            .optional("latency", "a time with its unit, for example 600ns", duration_s)?
            .unwrap_or(1e-6);
        let memory_bytes_per_s = fields.optional("memory", RATE, bytes_per_s)?.unwrap_or(8e9);
        let io = parse_io(&fields, nodes)?;
        let io_link = fields.optional("io_link", RATE, bytes_per_s)?;
        let io_bytes_per_s = io_link.unwrap_or_else(|| fabric.classes()[0].bytes_per_s);
        let ranks = parse_ranks(&fields, nodes)?;
        fields.finish()?;
        Ok(Self { fabric, ranks, latency_s, memory_bytes_per_s, io, io_bytes_per_s })
    }
}

pub(super) fn node_count(text: &str) -> Option<u32> {
    text.parse().ok().filter(|nodes| (1..=NODES_MAX).contains(nodes))
}

fn parse_io(fields: &Fields<'_>, nodes: u32) -> Result<IoSide, TextError> {
    let expects =
        format!("`unknown`, or nodes below {nodes}, gates of one I/O node joined by `+`: 3+9,130+137");
    let gateways = fields.optional("gateways", &expects, |text| parse_gateways(text, nodes))?;
    let expects = format!("a number of nodes that divides {nodes}");
    let pset = fields
        .optional("pset", &expects, |text| node_count(text).filter(|size| nodes.is_multiple_of(*size)))?;
    let expects = format!(
        "places of the bridge nodes inside a pset, below {}, pset by pset: 3,9 or 10,11/10,12",
        pset.unwrap_or(nodes)
    );
    let below = |list: &Vec<u32>| !list.is_empty() && list.iter().all(|at| *at < pset.unwrap_or(nodes));
    let bridges = fields.optional("bridges", &expects, |text| {
        text.split('/').map(|places| count_list(places).filter(below)).collect::<Option<Vec<_>>>()
    })?;
    match (gateways, pset, bridges) {
        (Some(_), Some(_), _) => Err(fields.bad("gateways", "no `pset` beside it")),
        (Some(io), None, None) => Ok(io),
        (None, Some(pset), bridges) => {
            Ok(IoSide::psets(nodes, pset, bridges.unwrap_or_else(|| vec![vec![0]])))
        }
        (_, None, Some(_)) => Err(fields.bad("bridges", "a `pset=...` beside it")),
        (None, None, None) => Ok(IoSide::Unknown),
    }
}

fn parse_gateways(text: &str, nodes: u32) -> Option<IoSide> {
    if text == "unknown" {
        return Some(IoSide::Unknown);
    }
    let gate = |text: &str| text.parse().ok().filter(|node| *node < nodes).map(NodeId);
    let io_node = |text: &str| text.split('+').map(gate).collect::<Option<_>>().map(|gates| IoNode { gates });
    text.split(',').map(io_node).collect::<Option<_>>().map(IoSide::Gateways)
}

fn parse_ranks(fields: &Fields<'_>, nodes: u32) -> Result<RankMap, TextError> {
    let expects = "a number of ranks on each node, with at most 16777216 ranks in all";
    let fits = |per_node: &u32| *per_node > 0 && u64::from(*per_node) * u64::from(nodes) <= 1 << 24;
    let ranks_per_node =
        fields.optional("ranks_per_node", expects, |text| text.parse().ok().filter(fits))?.unwrap_or(1);
    let expects = format!("`block`, `cyclic`, or the node (below {nodes}) of each rank: 0,0,1,1");
    let map = fields.optional("map", &expects, |text| match text {
        "block" => Some(RankMap::Block { ranks_per_node }),
        "cyclic" => Some(RankMap::Cyclic { ranks_per_node, nodes }),
        list => count_list(list)
            .filter(|list| list.iter().all(|node| *node < nodes))
            .map(|list| RankMap::Listed(list.into_iter().map(NodeId).collect())),
    })?;
    Ok(map.unwrap_or(RankMap::Block { ranks_per_node }))
}

/// The normal form: every word, in one order and in one set of units.
impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} latency={}", self.fabric, duration_s_text(self.latency_s))?;
        write!(f, " memory={}", bytes_per_s_text(self.memory_bytes_per_s))?;
        let join = |list: Vec<String>, by: &str| list.join(by);
        match &self.io {
            IoSide::Unknown => write!(f, " gateways=unknown")?,
            IoSide::Gateways(io_nodes) => {
                let gates = |io: &IoNode| join(io.gates.iter().map(|n| n.0.to_string()).collect(), "+");
                write!(f, " gateways={}", join(io_nodes.iter().map(gates).collect(), ","))?;
            }
            IoSide::Psets { nodes, bridges, .. } => {
                let places = |list: &Vec<u32>| join(list.iter().map(u32::to_string).collect(), ",");
                let bridges = join(bridges.iter().map(places).collect(), "/");
                write!(f, " pset={nodes} bridges={bridges}")?;
            }
        }
        write!(f, " io_link={}", bytes_per_s_text(self.io_bytes_per_s))?;
        match &self.ranks {
            RankMap::Block { ranks_per_node } => write!(f, " ranks_per_node={ranks_per_node} map=block"),
            RankMap::Cyclic { ranks_per_node, .. } => {
                write!(f, " ranks_per_node={ranks_per_node} map=cyclic")
            }
            RankMap::Listed(list) => {
                write!(f, " map={}", join(list.iter().map(|n| n.0.to_string()).collect(), ","))
            }
        }
    }
}
