//! The modelled machine in motion: a virtual clock, messages on links, requests at storage targets. A strategy starts
//! transfers with a token of its own and gets the token back when they end; it sees nothing of what happens in between.
//! Invariant: every transfer that was started ends, and what went in comes out (see [`World::finish`]).

mod flow;
mod network;
mod queue;
mod slab;
mod storage;
#[cfg(test)]
mod tests;

use crate::outcome::{Broken, ClassLoad, GateLoad, TargetLoad};
use crate::scenario::{LockHolder, Scenario};
use crate::time::Time;
use flow::{End, Flow, Stage, stripes};
use network::{EDGE, Network};
use queue::Queue;
use sago_core::ids::NodeId;
use sago_core::topology::Machine;
use slab::Slab;
use std::ops::Range;
use storage::{Chunk, Storage};

/// A stretch of a file: all of it, or `requests` pieces of it with `bytes` in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    pub offset: u64,
    pub span: u64,
    pub bytes: u64,
    pub requests: u64,
}

/// A request to storage.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub file: u32,
    pub rank: u32,
    pub node: NodeId,
    pub write: bool,
    pub stretches: &'a [Stretch],
    /// Pretend that it fails.
    pub fails: Option<i32>,
}

#[derive(Debug)]
pub struct World<'a, T> {
    machine: &'a Machine,
    scenario: &'a Scenario,
    now: Time,
    queue: Queue<Event<T>>,
    network: Network<'a>,
    storage: Storage<'a>,
    flows: Slab<Flow<T>>,
    requests: Slab<Pending<T>>,
    pub counts: Counts,
}

/// What went through the world, for the checks and the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub messages: u64,
    pub message_bytes: u64,
    pub arrived_bytes: u64,
    pub requests: u64,
    pub asked_bytes: u64,
    pub written_bytes: u64,
    pub read_bytes: u64,
}

#[derive(Debug)]
enum Event<T> {
    Head(u32),
    Tell(T, Result<(), i32>),
    /// The end of a transfer.
    End(u32),
}

#[derive(Clone, Copy, Debug)]
struct Pending<T> {
    token: T,
    left: u32,
    result: Result<(), i32>,
}

impl<'a, T: Copy> World<'a, T> {
    pub fn new(scenario: &'a Scenario) -> Self {
        let (machine, system) = (&scenario.machine, &scenario.storage);
        let rates = (system.io_node_bytes_per_s, system.client_bytes_per_s);
        Self {
            machine,
            scenario,
            now: Time::ZERO,
            queue: Queue::new(),
            network: Network::new(machine, &scenario.faults, rates.0, rates.1),
            storage: Storage::new(system, &scenario.faults, scenario.seed),
            flows: Slab::new(),
            requests: Slab::new(),
            counts: Counts::default(),
        }
    }

    pub fn now(&self) -> Time {
        self.now
    }

    pub fn events(&self) -> u64 {
        self.queue.foreseen()
    }

    pub fn tell(&mut self, at: Time, token: T) {
        self.queue.push(at.max(self.now), Event::Tell(token, Ok(())));
    }

    /// A message over the network, or a copy inside a node.
    pub fn send(&mut self, at: Time, from: NodeId, to: NodeId, bytes: u64, token: T) {
        self.counts.messages += 1;
        self.counts.message_bytes += bytes;
        let Range { start, end } = self.network.between(from, to);
        let flow = Flow {
            end: End::Token(token),
            bytes,
            before: None,
            route: (start, end),
            after: [None; 2],
            stage: Stage::Route(start),
            tail: Time::ZERO,
            chunk: None,
        };
        self.launch(at, flow);
    }

    /// Requests to storage, stripe by stripe; the token comes back when all have been answered.
    pub fn request(&mut self, at: Time, request: &Request<'_>, token: T) {
        let gate = self.network.gate(request.node);
        let client = match (self.scenario.storage.lock_holder, gate) {
            (LockHolder::IoNode, Some((_, io_node))) => io_node,
            _ => request.node.0,
        };
        let pending = Pending { token, left: 0, result: request.fails.map_or(Ok(()), Err) };
        let id = self.requests.add(pending);
        let mut left = 0;
        for stretch in request.stretches {
            for (offset, bytes) in stripes(stretch, self.storage.stripe_bytes()) {
                let stripe = offset / self.storage.stripe_bytes();
                let requests = if bytes == stretch.bytes { stretch.requests } else { 1 };
                let (file, write) = (request.file, request.write);
                let target = self.storage.target(file, stripe);
                let whole =
                    Chunk { file, stripe, target, offset, bytes, useful: bytes, requests, client, write };
                self.counts.requests += requests;
                for chunk in self.storage.fragments(whole) {
                    self.launch_chunk(at, request, gate, id, chunk);
                    left += 1;
                }
            }
        }
        self.requests.at(id).left = left;
        if left == 0 {
            let Pending { token, result, .. } = self.requests.take(id);
            self.queue.push(at.max(self.now), Event::Tell(token, result));
        }
    }

    /// On its way through the node's gate, or to the node that its target is on.
    fn launch_chunk(
        &mut self,
        at: Time,
        request: &Request<'_>,
        gate: Option<(NodeId, u32)>,
        id: u32,
        chunk: Chunk,
    ) {
        let server = self.storage.server(chunk.target);
        let out = server.or(gate.map(|(gate, _)| gate)).unwrap_or(request.node);
        let io_node = gate.map(|(_, io_node)| io_node).filter(|_| server.is_none());
        let (from, to) = if chunk.write { (request.node, out) } else { (out, request.node) };
        let route = if from == to { 0..0 } else { self.network.between(from, to) };
        self.counts.asked_bytes += chunk.bytes;
        let flow = Flow {
            end: End::Request(id),
            bytes: chunk.bytes,
            before: self.network.client(request.rank),
            route: (route.start, route.end),
            after: self.network.way_out(out, io_node),
            stage: if chunk.write { Stage::Before } else { Stage::Lock },
            tail: Time::ZERO,
            chunk: Some(chunk),
        };
        self.launch(at, flow);
    }

    /// The next token that comes back, with how its transfer went.
    pub fn next(&mut self) -> Option<(T, Result<(), i32>)> {
        while let Some((at, event)) = self.queue.pop() {
            self.now = at;
            match event {
                Event::Tell(token, result) => return Some((token, result)),
                Event::Head(flow) => self.advance(flow),
                Event::End(flow) => {
                    if let Some(told) = self.end(flow) {
                        return Some(told);
                    }
                }
            }
        }
        None
    }

    fn launch(&mut self, at: Time, flow: Flow<T>) {
        let id = self.flows.add(flow);
        self.queue.push(at.max(self.now), Event::Head(id));
    }

    /// A flow's head is at its next stage.
    fn advance(&mut self, id: u32) {
        let now = self.now;
        let mut flow = *self.flows.at(id);
        let mut head = now;
        let server = match (flow.stage, &flow.chunk) {
            (Stage::Before, _) => flow.before,
            (Stage::Route(at), _) if at < flow.route.1 => Some(self.network.stop(at)),
            (Stage::After(at), _) => flow.after[at],
            (Stage::Lock, Some(chunk)) => {
                head = self.storage.admit(chunk, now);
                None
            }
            (Stage::Target, Some(chunk)) => {
                flow.tail = flow.tail.max(self.storage.serve(chunk, now));
                // A read's bytes leave when the target has them.
                head = flow.tail;
                None
            }
            _ => None,
        };
        if let Some(server) = server {
            let (goes_on, tail) = self.network.pass(server, flow.bytes, now);
            (head, flow.tail) = (goes_on, flow.tail.max(tail));
        }
        flow.stage = flow.after_stage();
        *self.flows.at(id) = flow;
        if flow.stage == Stage::Done {
            self.queue.push(flow.tail.max(head), Event::End(id));
        } else if server.is_some() || head > now {
            self.queue.push(head, Event::Head(id));
        } else {
            self.advance(id);
        }
    }

    fn end(&mut self, id: u32) -> Option<(T, Result<(), i32>)> {
        let flow = self.flows.take(id);
        match (flow.end, flow.chunk) {
            (End::Token(token), _) => {
                self.counts.arrived_bytes += flow.bytes;
                Some((token, Ok(())))
            }
            (End::Request(request), chunk) => {
                let pending = self.requests.at(request);
                pending.left -= 1;
                if pending.result.is_ok() {
                    let useful = chunk.map_or(0, |chunk| chunk.useful);
                    match chunk.is_some_and(|chunk| chunk.write) {
                        true => self.counts.written_bytes += useful,
                        false => self.counts.read_bytes += useful,
                    }
                }
                (pending.left == 0).then(|| {
                    let Pending { token, result, .. } = self.requests.take(request);
                    (token, result)
                })
            }
        }
    }

    /// How loaded everything was; or a transfer that has not ended, or bytes that went in and did not come out.
    pub fn finish(&self) -> Result<Loads, Broken> {
        if !(self.flows.is_empty() && self.requests.is_empty()) {
            return Err(Broken::Unfinished);
        }
        let counts = &self.counts;
        Broken::unless_equal("messages", counts.message_bytes, counts.arrived_bytes)?;
        let served: u64 = self.storage.targets.iter().map(|target| target.bytes).sum();
        Broken::unless_equal("requests", counts.asked_bytes, served)?;
        Ok(Loads {
            classes: self.class_loads(),
            gates: self.gate_loads(),
            targets: self
                .storage
                .targets
                .iter()
                .map(|t| TargetLoad { bytes: t.bytes, requests: t.requests, busy_s: t.busy.as_s() })
                .collect(),
            lock_changes: self.storage.lock_changes,
            seeks: self.storage.seeks,
        })
    }

    fn class_loads(&self) -> Vec<ClassLoad> {
        let classes = self.machine.classes();
        let load = |number: usize| {
            let links = || self.network.servers.iter().filter(move |s| usize::from(s.link.class) == number);
            ClassLoad {
                name: classes[number].name,
                links: links().count() as u64,
                bytes: links().map(|s| s.bytes).sum(),
                busiest_bytes: links().map(|s| s.bytes).max().unwrap_or(0),
                busiest_busy_s: links().map(|s| s.busy).max().unwrap_or_default().as_s(),
            }
        };
        (0..classes.len()).map(load).collect()
    }

    /// Through each gate: what leaves there, and what passes on its way to another gate.
    fn gate_loads(&self) -> Vec<GateLoad> {
        let gates =
            self.machine.io_nodes().unwrap_or_default().iter().flat_map(|io| io.gates.iter().copied());
        let load = |gate: NodeId| {
            let into = |s: &&network::Server| s.link.class != EDGE && s.link.class > 0 && s.link.to == gate.0;
            let out = self
                .network
                .servers
                .iter()
                .find(|s| s.link.class == self.network.out_class() && s.link.from == gate.0);
            let servers = || self.network.servers.iter().filter(into);
            GateLoad {
                node: gate.0,
                out_bytes: out.map_or(0, |s| s.bytes),
                in_bytes: servers().map(|s| s.bytes).sum(),
                in_messages: servers().map(|s| s.messages).sum(),
                busy_s: out.map_or(0.0, |s| s.busy.as_s()),
            }
        };
        gates.map(load).collect()
    }
}

#[derive(Clone, Debug)]
pub struct Loads {
    pub classes: Vec<ClassLoad>,
    pub gates: Vec<GateLoad>,
    pub targets: Vec<TargetLoad>,
    pub lock_changes: u64,
    pub seeks: u64,
}
