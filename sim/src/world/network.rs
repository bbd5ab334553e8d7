//! The links of a machine, each a server that passes one message at a time, first come first served. A message's head
//! moves on to the next link of its route after one hop's latency, while its tail still crosses this one (cut-through),
//! so a route costs one transfer and not one per link; where routes share a link, they wait for each other.

use crate::scenario::Fault;
use crate::time::Time;
use sago_core::ids::NodeId;
use sago_core::topology::{IoSide, Link, Machine};
use std::collections::HashMap;
use std::ops::Range;

/// Something that bytes go through one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Server {
    free: Time,
    bytes_per_s: f64,
    /// Its class is an index into [`Machine::classes`], or [`EDGE`].
    pub link: Link,
    pub bytes: u64,
    pub messages: u64,
    pub busy: Time,
    faulty: bool,
}

/// The class of servers that are no links of the machine: I/O nodes, and the client software of a rank.
pub(super) const EDGE: u8 = u8::MAX;

const NOWHERE: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct Network<'a> {
    machine: &'a Machine,
    faults: &'a [Fault],
    pub servers: Vec<Server>,
    rates: Vec<f64>,
    links: HashMap<Link, u32>,
    routes: HashMap<(NodeId, NodeId), (u32, u32)>,
    /// Routes, one after the other.
    stops: Vec<u32>,
    io_node_bytes_per_s: Option<f64>,
    client_bytes_per_s: Option<f64>,
    clients: HashMap<u32, u32>,
}

impl<'a> Network<'a> {
    pub fn new(
        machine: &'a Machine,
        faults: &'a [Fault],
        io_node_bytes_per_s: Option<f64>,
        client_bytes_per_s: Option<f64>,
    ) -> Self {
        Self {
            machine,
            faults,
            servers: Vec::new(),
            links: HashMap::new(),
            routes: HashMap::new(),
            stops: Vec::new(),
            rates: machine.classes().iter().map(|class| class.bytes_per_s).collect(),
            io_node_bytes_per_s,
            client_bytes_per_s,
            clients: HashMap::new(),
        }
    }

    /// The way from node to node; inside a node, its memory.
    pub fn between(&mut self, from: NodeId, to: NodeId) -> Range<u32> {
        if let Some((start, end)) = self.routes.get(&(from, to)) {
            return *start..*end;
        }
        let links = if from == to {
            vec![Link { from: from.0, to: to.0, class: 0 }]
        } else {
            self.machine.route(from, to)
        };
        let start = self.stops.len() as u32;
        for link in links {
            let server = self.link(link);
            self.stops.push(server);
        }
        self.routes.insert((from, to), (start, self.stops.len() as u32));
        start..self.stops.len() as u32
    }

    /// The gate that a node's requests leave the machine by, and the number of its I/O node: its own link if it is a gate,
    /// else as assigned when the machine booted, or the nearest; `None` where gates are unknown and every node has a link
    /// of its own.
    pub fn gate(&self, node: NodeId) -> Option<(NodeId, u32)> {
        let io_nodes = self.machine.io_nodes()?;
        if let Some(own) = io_nodes.iter().position(|io| io.gates.contains(&node)) {
            return Some((node, own as u32));
        }
        if let Some(bridge) = self.machine.io().default_bridge(node) {
            let IoSide::Psets { nodes, .. } = self.machine.io() else { return None };
            return Some((bridge, node.0 / nodes));
        }
        let all = io_nodes.iter().enumerate();
        let gates = all.flat_map(|(number, io)| io.gates.iter().map(move |gate| (*gate, number as u32)));
        gates.min_by_key(|(gate, number)| (self.machine.distance(node, *gate), *number))
    }

    /// From a gate (or node) to the storage network: its link, and the I/O node behind it.
    pub fn way_out(&mut self, gate: NodeId, io_node: Option<u32>) -> [Option<u32>; 2] {
        let out = self.link(Link { from: gate.0, to: NOWHERE, class: self.out_class() });
        let behind = io_node.zip(self.io_node_bytes_per_s).map(|(number, rate)| {
            let key = Link { from: NOWHERE, to: number, class: EDGE };
            self.server(key, rate)
        });
        [Some(out), behind]
    }

    /// The client software of a rank, where it limits the rate.
    pub fn client(&mut self, rank: u32) -> Option<u32> {
        let rate = self.client_bytes_per_s?;
        if let Some(server) = self.clients.get(&rank) {
            return Some(*server);
        }
        let server = self.add(rate, Link { from: NOWHERE, to: NOWHERE, class: EDGE }, false);
        self.clients.insert(rank, server);
        Some(server)
    }

    pub fn stop(&self, at: u32) -> u32 {
        self.stops[at as usize]
    }

    /// A message's head arrives: when it goes on, and when its tail has passed.
    pub fn pass(&mut self, server: u32, bytes: u64, now: Time) -> (Time, Time) {
        let latency = Time::from_s(self.machine.latency_s());
        let server = &mut self.servers[server as usize];
        let begin = now.max(server.free);
        let mut takes = Time::of_bytes(bytes, server.bytes_per_s);
        if server.faulty {
            let slow = self.faults.iter().filter_map(|fault| fault.slows_link(server.link, begin));
            takes = slow.fold(takes, Time::scaled);
        }
        server.free = begin + takes;
        server.busy += takes;
        server.bytes += bytes;
        server.messages += 1;
        (begin + latency, server.free + latency)
    }

    /// The class of the links to storage.
    pub fn out_class(&self) -> u8 {
        self.rates.len() as u8 - 1
    }

    fn link(&mut self, link: Link) -> u32 {
        self.server(link, self.rates[usize::from(link.class)])
    }

    fn server(&mut self, key: Link, rate: f64) -> u32 {
        if let Some(server) = self.links.get(&key) {
            return *server;
        }
        let faulty = self.faults.iter().any(|fault| fault.concerns_link(key));
        let server = self.add(rate, key, faulty);
        self.links.insert(key, server);
        server
    }

    fn add(&mut self, bytes_per_s: f64, link: Link, faulty: bool) -> u32 {
        let (free, busy) = (Time::ZERO, Time::ZERO);
        self.servers.push(Server { free, bytes_per_s, link, bytes: 0, messages: 0, busy, faulty });
        self.servers.len() as u32 - 1
    }
}
