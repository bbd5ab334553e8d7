//! The n-dimensional torus (IBM BG/Q: five dimensions), with dimension-ordered routing: a message first travels along
//! the first dimension of the routing order, the short way round, then along the next one. Bridge nodes and psets are
//! described by [`super::IoSide`].

use super::{Fabric, Link, LinkClass};
use crate::ids::NodeId;
use crate::text::{Fields, TextError, bytes_per_s, bytes_per_s_text};
use std::fmt;

#[derive(Clone, Debug)]
pub struct Torus {
    dims: Vec<u32>,
    /// Dimensions in the order in which a route crosses them.
    order: Vec<usize>,
    link_bytes_per_s: f64,
}

impl Torus {
    const DIMS: &'static str = "the sizes of 1 to 8 dimensions, for example 4x4x4x4x2";

    pub(super) fn parse(fields: &Fields<'_>) -> Result<Self, TextError> {
        let dims = fields.required("dims", Self::DIMS, parse_dims)?;
        let last = (b'A' + dims.len() as u8 - 1) as char;
        let expects = format!("each letter from A to {last} once, in the order of routing");
        let order = fields
            .optional("order", &expects, |text| parse_order(text, dims.len()))?
            .unwrap_or_else(|| (0..dims.len()).collect());
        let link_bytes_per_s = fields.required("link", super::machine::RATE, bytes_per_s)?;
        Ok(Self { dims, order, link_bytes_per_s })
    }

    /// The next node on the way, and how many steps there are along each dimension.
    fn step(&self, from: NodeId, to: NodeId) -> Option<NodeId> {
        let mut stride = vec![1; self.dims.len()];
        for dim in (0..self.dims.len().saturating_sub(1)).rev() {
            stride[dim] = stride[dim + 1] * self.dims[dim + 1];
        }
        self.order.iter().find_map(|&dim| {
            let size = self.dims[dim];
            let here = from.0 / stride[dim] % size;
            let there = to.0 / stride[dim] % size;
            let forward = (there + size - here) % size;
            if forward == 0 {
                return None;
            }
            let next = if forward * 2 <= size { (here + 1) % size } else { (here + size - 1) % size };
            Some(NodeId(from.0 - here * stride[dim] + next * stride[dim]))
        })
    }
}

fn parse_dims(text: &str) -> Option<Vec<u32>> {
    let dims: Vec<u32> = text.split('x').map(|size| size.parse().ok()).collect::<Option<_>>()?;
    let nodes = dims.iter().try_fold(1_u32, |product, &size| product.checked_mul(size))?;
    (dims.len() <= 8 && (1..=super::machine::NODES_MAX).contains(&nodes)).then_some(dims)
}

fn parse_order(text: &str, dims: usize) -> Option<Vec<usize>> {
    let order: Vec<usize> = text.bytes().map(|letter| usize::from(letter.wrapping_sub(b'A'))).collect();
    let each_once = (0..dims).all(|dim| order.iter().filter(|d| **d == dim).count() == 1);
    (order.len() == dims && each_once).then_some(order)
}

impl fmt::Display for Torus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dims: Vec<_> = self.dims.iter().map(u32::to_string).collect();
        let order: String = self.order.iter().map(|dim| (b'A' + *dim as u8) as char).collect();
        let link = bytes_per_s_text(self.link_bytes_per_s);
        write!(f, "torus dims={} order={order} link={link}", dims.join("x"))
    }
}

impl Fabric for Torus {
    fn nodes(&self) -> u32 {
        self.dims.iter().product()
    }

    fn dimensions(&self) -> Vec<u32> {
        self.dims.clone()
    }

    fn coordinates(&self, node: NodeId) -> Vec<u32> {
        let mut rest = node.0;
        let mut coordinates = vec![0; self.dims.len()];
        for (place, size) in coordinates.iter_mut().zip(&self.dims).rev() {
            (*place, rest) = (rest % size, rest / size);
        }
        coordinates
    }

    fn classes(&self) -> Vec<LinkClass> {
        vec![LinkClass { name: "torus", bytes_per_s: self.link_bytes_per_s }]
    }

    fn distance(&self, from: NodeId, to: NodeId) -> u32 {
        let (mut a, mut b) = (from.0, to.0);
        let mut hops = 0;
        for size in self.dims.iter().rev() {
            let apart = (a % size).abs_diff(b % size);
            hops += apart.min(size - apart);
            (a, b) = (a / size, b / size);
        }
        hops
    }

    fn route(&self, from: NodeId, to: NodeId) -> Vec<Link> {
        let mut route = Vec::new();
        let mut here = from;
        while let Some(next) = self.step(here, to) {
            route.push(Link { from: here.0, to: next.0, class: 0 });
            here = next;
        }
        route
    }

    fn bytes_per_s(&self, _: NodeId, _: NodeId) -> f64 {
        self.link_bytes_per_s
    }
}
