//! A tree of switches of any shape, as Slurm's topology files and small clusters describe it. The shape is written with
//! one pair of parentheses per switch and a number for its nodes: `((2)(2))` is two racks of two nodes under one switch.

use super::{Fabric, Link, LinkClass};
use crate::ids::NodeId;
use crate::text::{Fields, TextError, bytes_per_s, bytes_per_s_text};
use std::fmt;

#[derive(Clone, Debug)]
pub struct Tree {
    shape: Shape,
    /// For each node, its switches from the nearest to the root.
    paths: Vec<Vec<u32>>,
    switches: u32,
    /// Rates of the links by level, the nodes' own first; the last one holds for all levels above.
    rates: Vec<f64>,
}

/// A switch: nodes directly on it, and switches below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    pub nodes: u32,
    pub below: Vec<Shape>,
}

impl Tree {
    pub fn new(shape: Shape, rates: Vec<f64>) -> Self {
        let mut tree = Self { shape: Shape::default(), paths: Vec::new(), switches: 0, rates };
        tree.add(&shape, &mut Vec::new());
        tree.shape = shape;
        tree
    }

    pub(super) fn parse(fields: &Fields<'_>) -> Result<Self, TextError> {
        let expects = "parentheses for switches and numbers of nodes in them, for example ((2)(2))";
        let shape = fields.required("shape", expects, Shape::parse)?;
        let expects = "rates by level, the nodes' own links first, for example 50MB/s,6.25MB/s";
        let read = |text: &str| text.split(',').map(bytes_per_s).collect::<Option<Vec<_>>>();
        Ok(Self::new(shape, fields.required("link", expects, read)?))
    }

    fn add(&mut self, switch: &Shape, above: &mut Vec<u32>) {
        above.push(self.switches);
        self.switches += 1;
        let path: Vec<u32> = above.iter().rev().copied().collect();
        self.paths.extend((0..switch.nodes).map(|_| path.clone()));
        switch.below.iter().for_each(|below| self.add(below, above));
        above.pop();
    }

    fn path(&self, node: NodeId) -> &[u32] {
        &self.paths[node.index()]
    }

    /// How many switches at the top the two have in common.
    fn common(&self, a: NodeId, b: NodeId) -> usize {
        let pairs = self.path(a).iter().rev().zip(self.path(b).iter().rev());
        pairs.take_while(|(x, y)| x == y).count()
    }
}

impl Shape {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (shape, rest) = Self::parse_one(text, 0)?;
        let nodes = shape.total();
        (rest.is_empty() && nodes > 0 && nodes <= u64::from(super::machine::NODES_MAX)).then_some(shape)
    }

    fn parse_one(text: &str, depth: usize) -> Option<(Self, &str)> {
        let mut rest = text.strip_prefix('(').filter(|_| depth < 8)?;
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let nodes = if digits == 0 { 0 } else { rest[..digits].parse().ok()? };
        rest = &rest[digits..];
        let mut shape = Self { nodes, below: Vec::new() };
        while rest.starts_with('(') {
            let (below, after) = Self::parse_one(rest, depth + 1)?;
            shape.below.push(below);
            rest = after;
        }
        Some((shape, rest.strip_prefix(')')?))
    }

    fn total(&self) -> u64 {
        u64::from(self.nodes) + self.below.iter().map(Self::total).sum::<u64>()
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        if self.nodes > 0 || self.below.is_empty() {
            write!(f, "{}", self.nodes)?;
        }
        self.below.iter().try_for_each(|below| write!(f, "{below}"))?;
        f.write_str(")")
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rates: Vec<_> = self.rates.iter().map(|rate| bytes_per_s_text(*rate)).collect();
        write!(f, "tree shape={} link={}", self.shape, rates.join(","))
    }
}

impl Fabric for Tree {
    fn nodes(&self) -> u32 {
        self.paths.len() as u32
    }

    fn dimensions(&self) -> Vec<u32> {
        vec![self.switches, self.nodes()]
    }

    fn coordinates(&self, node: NodeId) -> Vec<u32> {
        vec![self.path(node)[0], node.0]
    }

    fn classes(&self) -> Vec<LinkClass> {
        const NAMES: [&str; 8] =
            ["node", "rack", "row", "level 3", "level 4", "level 5", "level 6", "level 7"];
        let depth = self.paths.iter().map(Vec::len).max().unwrap_or(1);
        let rate = |level: usize| self.rates[level.min(self.rates.len() - 1)];
        (0..depth).map(|level| LinkClass { name: NAMES[level.min(7)], bytes_per_s: rate(level) }).collect()
    }

    fn distance(&self, from: NodeId, to: NodeId) -> u32 {
        if from == to {
            return 0;
        }
        let common = self.common(from, to);
        (self.path(from).len() + self.path(to).len() + 2 - 2 * common) as u32
    }

    fn route(&self, from: NodeId, to: NodeId) -> Vec<Link> {
        if from == to {
            return Vec::new();
        }
        let common = self.common(from, to);
        let climb = |node: NodeId| {
            let path = self.path(node);
            let switches = path[..path.len() - common + 1].iter().map(|switch| self.nodes() + switch);
            [node.0].into_iter().chain(switches).collect::<Vec<_>>()
        };
        let steps = |vertices: &[u32]| {
            let pairs = vertices.windows(2).enumerate();
            pairs.map(|(level, pair)| (pair[0], pair[1], level as u8)).collect::<Vec<_>>()
        };
        let up = steps(&climb(from)).into_iter().map(|(from, to, class)| Link { from, to, class });
        let down = steps(&climb(to)).into_iter().rev().map(|(to, from, class)| Link { from, to, class });
        up.chain(down).collect()
    }

    fn bytes_per_s(&self, from: NodeId, to: NodeId) -> f64 {
        let levels = self.path(from).len().max(self.path(to).len()) - self.common(from, to) + 1;
        let used = &self.rates[..levels.min(self.rates.len())];
        used.iter().copied().fold(f64::INFINITY, f64::min)
    }
}
