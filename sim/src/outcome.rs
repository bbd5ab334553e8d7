//! What a simulated run says of itself.

use crate::scenario::Scenario;
use crate::strategy::Strategy;
use crate::time::Time;
use crate::world::{Counts, Loads, World};
use sago_core::engine::Verdict;
use sago_core::plan::PlanError;
use std::fmt;

#[derive(Clone, Debug)]
pub struct Outcome {
    pub strategy: Strategy,
    pub ranks: u32,
    pub nodes: u32,
    pub files: u32,
    /// Bytes that the program writes or reads.
    pub bytes: u64,
    pub time_s: f64,
    pub verdict: Verdict,
    /// Collective calls, or commits, of one file.
    pub calls: u32,
    pub aggregators: u32,
    pub groups: u32,
    /// Mean time of a rank inside operations that wait for all ranks of its file.
    pub waiting_s: f64,
    pub counts: Counts,
    pub classes: Vec<ClassLoad>,
    pub gates: Vec<GateLoad>,
    pub targets: Vec<TargetLoad>,
    pub lock_changes: u64,
    pub seeks: u64,
    pub rounds: Vec<RoundTime>,
    pub events: u64,
}

/// The load on the links of one class.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassLoad {
    pub name: &'static str,
    /// How many links carried something.
    pub links: u64,
    pub bytes: u64,
    pub busiest_bytes: u64,
    pub busiest_busy_s: f64,
}

/// The load on a gate: a bridge node, or a router to storage.
#[derive(Clone, Debug, PartialEq)]
pub struct GateLoad {
    pub node: u32,
    pub out_bytes: u64,
    /// What came in over the network, on its way out here or to another gate.
    pub in_bytes: u64,
    pub in_messages: u64,
    pub busy_s: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TargetLoad {
    pub bytes: u64,
    pub requests: u64,
    pub busy_s: f64,
}

/// One round of an aggregator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundTime {
    /// A number for the aggregator.
    pub lane: u32,
    pub call: u32,
    pub round: u32,
    pub bytes: u64,
    /// The first bytes are sent, all are there, they are stored.
    pub filling: Time,
    pub storing: Time,
    pub stored: Time,
}

impl Outcome {
    pub fn bytes_per_s(&self) -> f64 {
        self.bytes as f64 / self.time_s
    }

    /// The share of a rank's time that it spends in operations that wait for all.
    pub fn waiting_share(&self) -> f64 {
        self.waiting_s / self.time_s
    }

    /// Messages through a gate on average, and their deviation as a share of that.
    pub fn gate_messages(&self) -> Option<(f64, f64)> {
        if self.gates.is_empty() {
            return None;
        }
        let count = self.gates.len() as f64;
        let mean = self.gates.iter().map(|gate| gate.in_messages as f64).sum::<f64>() / count;
        let square = |gate: &GateLoad| (gate.in_messages as f64 - mean).powi(2);
        let deviation = (self.gates.iter().map(square).sum::<f64>() / count).sqrt();
        Some((mean, deviation / mean))
    }

    /// What the world tells of a run that ended at `end`; the strategy adds what it knows.
    pub(crate) fn new<T: Copy>(
        scenario: &Scenario,
        strategy: Strategy,
        world: &World<'_, T>,
        end: Time,
    ) -> Result<Self, Broken> {
        let Loads { classes, gates, targets, lock_changes, seeks } = world.finish()?;
        Ok(Self {
            strategy,
            ranks: scenario.machine.ranks(),
            nodes: scenario.machine.nodes(),
            files: scenario.files(),
            bytes: 0,
            time_s: end.as_s(),
            verdict: Verdict::Good,
            calls: 1,
            aggregators: 0,
            groups: 0,
            waiting_s: 0.0,
            counts: world.counts,
            classes,
            gates,
            targets,
            lock_changes,
            seeks,
            rounds: Vec::new(),
            events: world.events(),
        })
    }
}

/// Why there is no outcome.
#[derive(Clone, Debug, PartialEq)]
pub enum SimError {
    Plan(PlanError),
    /// A mistake of ours.
    Broken(Broken),
}

/// A promise of the simulation that did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    Unfinished,
    Bytes { what: &'static str, expected: u64, found: u64 },
    Misuse(String),
    Schedule(String),
}

impl Broken {
    pub(crate) fn unless_equal(what: &'static str, expected: u64, found: u64) -> Result<(), Self> {
        if expected == found { Ok(()) } else { Err(Self::Bytes { what, expected, found }) }
    }
}

impl fmt::Display for SimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(error) => write!(f, "{error}"),
            Self::Broken(Broken::Unfinished) => f.write_str("the simulation ended before the job did"),
            Self::Broken(Broken::Bytes { what, expected, found }) => {
                write!(f, "bytes were not conserved: {what}: {expected} bytes went in, {found} came out")
            }
            Self::Broken(Broken::Misuse(text) | Broken::Schedule(text)) => f.write_str(text),
        }
    }
}

impl std::error::Error for SimError {}

impl From<Broken> for SimError {
    fn from(broken: Broken) -> Self {
        Self::Broken(broken)
    }
}
