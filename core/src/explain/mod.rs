//! A plan as a person would check it: what was chosen, what it costs, and why. [`Explanation`] is plain data; `Display`
//! makes text of it (golden tests hold that text), and the command line makes JSON of it.

mod text;
mod traffic;
mod why;

pub use traffic::{ClassBytes, crossed};
pub use why::Why;

use crate::declare::{Declared, Direction};
use crate::ids::{NodeId, Rank};
use crate::plan::bridge::Assignment;
use crate::plan::{FilePattern, Job, PlaceCost, Plan};
use crate::schedule::{Duty, Schedule, WindowId};

#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    pub machine: String,
    pub ranks: u32,
    pub nodes: u32,
    pub direction: Direction,
    pub pattern: String,
    pub file_pattern: FilePattern,
    pub bytes: u64,
    pub pieces: u64,
    pub buffer_bytes: u64,
    pub stripe_bytes: u64,
    pub targets: u32,
    pub direct_ranks: u32,
    pub areas: Vec<AreaText>,
    pub aggregators: Vec<AggregatorText>,
    pub classes: Vec<ClassBytes>,
    pub requests: u64,
    pub bridges: Option<BridgeText>,
    pub why: Vec<Why>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AreaText {
    pub members: Vec<Rank>,
    pub lo: u64,
    pub hi: u64,
    pub bytes: u64,
    pub aggregators: u32,
    pub windows: u32,
    pub too_sparse: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AggregatorText {
    pub area: u32,
    pub part: u32,
    pub rank: Rank,
    pub node: NodeId,
    pub lo: u64,
    pub hi: u64,
    pub bytes: u64,
    pub cost: PlaceCost,
    pub runner_up: Option<(NodeId, PlaceCost)>,
    /// For each round, the bytes that are written and the requests that it takes.
    pub rounds: Vec<RoundText>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundText {
    pub lo: u64,
    pub hi: u64,
    pub bytes: u64,
    pub requests: u32,
}

/// Messages through a bridge node, by default and as assigned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BridgeText {
    pub bridges: u32,
    pub moved_nodes: u32,
    pub default_mean: f64,
    pub default_deviation: f64,
    pub mean: f64,
    pub deviation: f64,
}

impl Explanation {
    pub fn new(job: &Job<'_>, plan: &Plan, schedule: &Schedule, declared: &[Declared]) -> Self {
        let frame = &plan.frame;
        let duties = || {
            schedule.ranks.iter().enumerate().flat_map(|(rank, of)| of.duties.iter().map(move |d| (rank, d)))
        };
        let mut aggregators: Vec<AggregatorText> =
            duties().map(|(rank, duty)| aggregator(plan, Rank(rank as u32), duty)).collect();
        aggregators.sort_by_key(|a| (a.area, a.part));
        let own_requests: usize = schedule.ranks.iter().flat_map(|of| &of.own).map(own_extents).sum();
        let requests: u64 =
            aggregators.iter().flat_map(|a| &a.rounds).map(|round| u64::from(round.requests)).sum();
        Self {
            machine: job.machine.to_string(),
            ranks: job.machine.ranks(),
            nodes: frame.load.nodes,
            direction: schedule.direction,
            pattern: frame.pattern.map_or_else(|| "mixed".to_owned(), |pattern| pattern.to_string()),
            file_pattern: frame.file_pattern,
            bytes: declared.iter().map(Declared::bytes).sum(),
            pieces: frame.load.pieces,
            buffer_bytes: frame.settings.buffer_bytes,
            stripe_bytes: frame.settings.stripe_bytes,
            targets: frame.settings.targets,
            direct_ranks: frame.direct.len() as u32,
            areas: areas(plan),
            aggregators,
            classes: traffic::classes(job.machine, schedule),
            requests: requests + own_requests as u64,
            bridges: bridges(job),
            why: why::reasons(job, plan),
        }
    }
}

fn own_extents(own: &crate::schedule::Own) -> usize {
    (0..own.windows().len() as u32).map(|window| own.extents(window).count()).sum()
}

fn areas(plan: &Plan) -> Vec<AreaText> {
    let text = |(framed, area): (&crate::plan::AreaFrame, &crate::plan::AreaPlan)| {
        let windows = area.layout.windows();
        AreaText {
            members: framed.area.members.clone(),
            lo: windows.first().map_or(framed.area.lo, |window| window.lo),
            hi: windows.last().map_or(framed.area.hi, |window| window.hi),
            bytes: area.bytes,
            aggregators: area.parts.len() as u32,
            windows: windows.len() as u32,
            too_sparse: area.too_sparse,
        }
    };
    plan.frame.areas.iter().zip(&plan.areas).map(text).collect()
}

fn aggregator(plan: &Plan, rank: Rank, duty: &Duty) -> AggregatorText {
    let area = &plan.areas[duty.area() as usize];
    let part = &area.parts[duty.part() as usize];
    let (lo, hi) = area.layout.part_range(duty.part());
    let first = area.layout.parts()[duty.part() as usize].start;
    let round = |round: u32| {
        let extents = duty.extents(&area.layout, round);
        let window = &area.layout.windows()[(first + round) as usize];
        let bytes = extents.iter().map(|extent| extent.len).sum();
        RoundText { lo: window.lo, hi: window.hi, bytes, requests: extents.len() as u32 }
    };
    let rounds: Vec<RoundText> = (0..duty.expected().len() as u32).map(round).collect();
    AggregatorText {
        area: duty.area(),
        part: duty.part(),
        rank,
        node: part.node,
        lo,
        hi,
        bytes: rounds.iter().map(|round| round.bytes).sum(),
        cost: part.cost,
        runner_up: part.runner_up,
        rounds,
    }
}

fn bridges(job: &Job<'_>) -> Option<BridgeText> {
    if job.config.exchange != crate::config::Exchange::Bridge {
        return None;
    }
    let (default, aware) = (Assignment::default_of(job.machine)?, Assignment::route_aware(job.machine)?);
    let nodes = (0..job.machine.nodes()).map(NodeId);
    let moved = nodes.filter(|node| default.bridge_of(*node) != aware.bridge_of(*node)).count();
    let (usual, assigned) = (default.load(job.machine, |_| 1), aware.load(job.machine, |_| 1));
    Some(BridgeText {
        bridges: aware.bridges().len() as u32,
        moved_nodes: moved as u32,
        default_mean: usual.mean(),
        default_deviation: usual.deviation(),
        mean: assigned.mean(),
        deviation: assigned.deviation(),
    })
}

impl AggregatorText {
    /// How full the buffers are when they are written, on average.
    pub fn fill(&self, buffer_bytes: u64) -> f64 {
        self.bytes as f64 / (self.rounds.len() as f64 * buffer_bytes as f64)
    }

    pub fn window(&self, round: u32) -> WindowId {
        WindowId { area: self.area, part: self.part, round }
    }
}
