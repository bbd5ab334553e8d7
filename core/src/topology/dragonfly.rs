//! The dragonfly (Cray XC40): routers in groups, each group a grid whose rows and columns are fully connected, and a
//! link from each group to each other one. Routing is minimal. The link from group `i` to group `j` leaves from router
//! `j mod routers` of group `i`, so that a group's global links spread over its routers.

use super::{Fabric, Link, LinkClass, links};
use crate::ids::NodeId;
use crate::text::{Fields, TextError, bytes_per_s, bytes_per_s_text};
use std::fmt;

#[derive(Clone, Debug)]
pub struct Dragonfly {
    groups: u32,
    rows: u32,
    columns: u32,
    nodes_per_router: u32,
    node_bytes_per_s: f64,
    local_bytes_per_s: f64,
    global_bytes_per_s: f64,
}

const INJECT: u8 = 0;
const LOCAL: u8 = 1;
const GLOBAL: u8 = 2;

impl Dragonfly {
    pub(super) fn parse(fields: &Fields<'_>) -> Result<Self, TextError> {
        let count = |text: &str| super::machine::node_count(text);
        let groups = fields.required("groups", "a number of groups from 1", count)?;
        let (rows, columns) =
            fields.required("routers", "rows x columns of routers in a group: 6x16", grid)?;
        let nodes_per_router = fields.required("nodes", "a number of nodes on each router from 1", count)?;
        let total =
            [groups, rows, columns, nodes_per_router].iter().try_fold(1_u32, |n, k| n.checked_mul(*k));
        if total.is_none_or(|nodes| nodes > super::machine::NODES_MAX) {
            return Err(fields.bad("nodes", super::machine::NODES));
        }
        let local_bytes_per_s = fields.required("local", super::machine::RATE, bytes_per_s)?;
        let global_bytes_per_s = fields.required("global", super::machine::RATE, bytes_per_s)?;
        let inject = fields.optional("inject", super::machine::RATE, bytes_per_s)?;
        let node_bytes_per_s = inject.unwrap_or(local_bytes_per_s);
        Ok(Self {
            groups,
            rows,
            columns,
            nodes_per_router,
            node_bytes_per_s,
            local_bytes_per_s,
            global_bytes_per_s,
        })
    }

    fn routers_per_group(&self) -> u32 {
        self.rows * self.columns
    }

    fn router_of(&self, node: NodeId) -> u32 {
        node.0 / self.nodes_per_router
    }

    fn vertex(&self, router: u32) -> u32 {
        self.nodes() + router
    }

    /// The router of `group` that has the link to `other`.
    fn exit(&self, group: u32, other: u32) -> u32 {
        group * self.routers_per_group() + other % self.routers_per_group()
    }

    /// Routers after `from` up to `to`, in one group: along the row, then along the column.
    fn inside(&self, from: u32, to: u32) -> impl Iterator<Item = u32> {
        let row = |router: u32| router / self.columns;
        let corner = (row(from) != row(to) && from % self.columns != to % self.columns)
            .then(|| row(from) * self.columns + to % self.columns);
        corner.into_iter().chain((from != to).then_some(to))
    }
}

fn grid(text: &str) -> Option<(u32, u32)> {
    let (rows, columns) = text.split_once('x').unwrap_or(("1", text));
    let (rows, columns) = (rows.parse().ok()?, columns.parse().ok()?);
    (rows > 0 && columns > 0 && rows <= 1024 && columns <= 1024).then_some((rows, columns))
}

impl fmt::Display for Dragonfly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { groups, rows, columns, nodes_per_router, .. } = self;
        write!(f, "dragonfly groups={groups} routers={rows}x{columns} nodes={nodes_per_router}")?;
        let rates = [
            ("inject", self.node_bytes_per_s),
            ("local", self.local_bytes_per_s),
            ("global", self.global_bytes_per_s),
        ];
        rates.iter().try_for_each(|(name, rate)| write!(f, " {name}={}", bytes_per_s_text(*rate)))
    }
}

impl Fabric for Dragonfly {
    fn nodes(&self) -> u32 {
        self.groups * self.routers_per_group() * self.nodes_per_router
    }

    fn dimensions(&self) -> Vec<u32> {
        vec![self.groups, self.rows, self.columns, self.nodes_per_router]
    }

    fn coordinates(&self, node: NodeId) -> Vec<u32> {
        let router = self.router_of(node);
        let inside = router % self.routers_per_group();
        let group = router / self.routers_per_group();
        vec![group, inside / self.columns, inside % self.columns, node.0 % self.nodes_per_router]
    }

    fn classes(&self) -> Vec<LinkClass> {
        vec![
            LinkClass { name: "inject", bytes_per_s: self.node_bytes_per_s },
            LinkClass { name: "local", bytes_per_s: self.local_bytes_per_s },
            LinkClass { name: "global", bytes_per_s: self.global_bytes_per_s },
        ]
    }

    fn distance(&self, from: NodeId, to: NodeId) -> u32 {
        if from == to {
            return 0;
        }
        let (start, end) = (self.router_of(from), self.router_of(to));
        let group = |router: u32| router / self.routers_per_group();
        let inside = |a, b| self.inside(a, b).count() as u32;
        2 + if group(start) == group(end) {
            inside(start, end)
        } else {
            let (exit, entry) = (self.exit(group(start), group(end)), self.exit(group(end), group(start)));
            inside(start, exit) + 1 + inside(entry, end)
        }
    }

    fn route(&self, from: NodeId, to: NodeId) -> Vec<Link> {
        if from == to {
            return Vec::new();
        }
        let (start, end) = (self.router_of(from), self.router_of(to));
        let group = |router: u32| router / self.routers_per_group();
        let mut path = vec![(self.vertex(start), INJECT)];
        let local = |router| (self.vertex(router), LOCAL);
        if group(start) == group(end) {
            path.extend(self.inside(start, end).map(local));
        } else {
            let (exit, entry) = (self.exit(group(start), group(end)), self.exit(group(end), group(start)));
            path.extend(self.inside(start, exit).map(local));
            path.push((self.vertex(entry), GLOBAL));
            path.extend(self.inside(entry, end).map(local));
        }
        path.push((to.0, INJECT));
        links(from.0, path)
    }

    fn bytes_per_s(&self, from: NodeId, to: NodeId) -> f64 {
        let group = |node| self.router_of(node) / self.routers_per_group();
        let near = self.node_bytes_per_s.min(self.local_bytes_per_s);
        if self.router_of(from) == self.router_of(to) {
            self.node_bytes_per_s
        } else if group(from) == group(to) {
            near
        } else {
            near.min(self.global_bytes_per_s)
        }
    }
}
