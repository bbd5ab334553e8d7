//! The first step of planning, from what everybody knows of everybody: who writes directly, which areas there are, how
//! many aggregators each may have and on which nodes. Costs O(ranks log ranks); the result is the same on every rank.

use super::area::{Area, FilePattern, file_areas};
use super::distribute::{Candidate, distribute, even_counts};
use super::{Job, PlanError, StorageFacts, independent};
use crate::config::{Config, Exchange};
use crate::cost::Load;
use crate::declare::{Pattern, Summary};
use crate::ids::{NodeId, Rank};
use std::collections::BTreeSet;

/// Sizes in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    pub stripe_bytes: u64,
    pub buffer_bytes: u64,
    /// How much a rank packs before it writes it itself.
    pub pack_bytes: u64,
    pub targets: u32,
}

/// What all ranks agree on before they look at details.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    pub settings: Settings,
    /// How the ranks' data lies in the file, where they all agree.
    pub pattern: Option<Pattern>,
    pub file_pattern: FilePattern,
    pub load: Load,
    /// Ranks that write their own bytes without an exchange, sorted.
    pub direct: Vec<Rank>,
    /// How long a rank's runs must be on average for that; `None`: no length is enough.
    pub direct_bytes_min: Option<u64>,
    /// How many aggregators were asked for, or found best.
    pub aggregators: u32,
    pub areas: Vec<AreaFrame>,
}

/// An area, and who may serve it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AreaFrame {
    pub area: Area,
    pub candidates: Vec<Candidate>,
    pub parts_max: u32,
}

impl Frame {
    pub fn is_direct(&self, rank: Rank) -> bool {
        self.direct.binary_search(&rank).is_ok()
    }
}

impl Settings {
    const STRIPE_UNKNOWN: u64 = 1 << 20;
    const BUFFER_UNKNOWN: u64 = 4 << 20;
    /// What has been packed is still in the processor's cache when it is written, and while one rank writes the next one
    /// packs: a fifth faster than with 4 MiB (columns of 50k particles, tmpfs).
    const PACK_UNKNOWN: u64 = 256 << 10;

    pub fn of(config: &Config, storage: &StorageFacts) -> Self {
        let stripe = config.stripe_bytes.or(storage.stripe_bytes);
        let buffer = config.buffer_bytes.or(stripe);
        let targets = config.targets.or(storage.targets).unwrap_or(1).max(1);
        Self {
            stripe_bytes: stripe.unwrap_or(Self::STRIPE_UNKNOWN).max(1),
            buffer_bytes: buffer.unwrap_or(Self::BUFFER_UNKNOWN).max(1),
            pack_bytes: buffer.unwrap_or(Self::PACK_UNKNOWN).max(1),
            targets,
        }
    }
}

/// `summaries` has one entry for each rank.
pub fn frame(job: &Job<'_>, summaries: &[Summary]) -> Result<Frame, PlanError> {
    check(job, summaries)?;
    let settings = Settings::of(job.config, &job.storage);
    let active: Vec<Rank> = ranks_where(summaries, |summary| !summary.is_empty());
    let load = load(job, summaries, &active, &settings);
    let aggregators = aggregators(job, &load);
    let direct_bytes_min = job.calibration.direct_bytes_min(job.machine, &load, aggregators);
    let mut frame = Frame {
        settings,
        pattern: common_pattern(summaries, &active),
        file_pattern: file_areas(summaries, &active, 1, 1, settings.stripe_bytes).0,
        load,
        direct: Vec::new(),
        direct_bytes_min,
        aggregators,
        areas: Vec::new(),
    };
    if job.config.exchange == Exchange::Bridge {
        independent::areas(job, &active, &mut frame)?;
        return Ok(frame);
    }
    let writes_directly = |rank: &Rank| match job.config.exchange {
        Exchange::Direct => true,
        Exchange::Auto => {
            let Summary { bytes, pieces, .. } = summaries[rank.index()];
            direct_bytes_min.is_some_and(|least| bytes / pieces.max(1) >= least)
        }
        Exchange::Aggregate | Exchange::Bridge => false,
    };
    let (direct, exchanged): (Vec<Rank>, Vec<Rank>) = active.into_iter().partition(writes_directly);
    frame.direct = direct;
    if !exchanged.is_empty() {
        add_areas(job, summaries, &exchanged, &mut frame);
    }
    Ok(frame)
}

fn check(job: &Job<'_>, summaries: &[Summary]) -> Result<(), PlanError> {
    let (ranks, nodes) = (job.machine.ranks(), job.machine.nodes());
    if summaries.len() != ranks as usize {
        return Err(PlanError::Ranks { machine: ranks, declared: summaries.len() });
    }
    match job.config.aggregator_nodes.iter().find(|node| **node >= nodes) {
        Some(node) => Err(PlanError::NoSuchNode { node: *node, nodes }),
        None => Ok(()),
    }
}

fn ranks_where(summaries: &[Summary], keep: impl Fn(&Summary) -> bool) -> Vec<Rank> {
    let numbered = summaries.iter().enumerate();
    numbered.filter(|(_, summary)| keep(summary)).map(|(rank, _)| Rank(rank as u32)).collect()
}

fn common_pattern(summaries: &[Summary], active: &[Rank]) -> Option<Pattern> {
    let first = summaries[active.first()?.index()].pattern;
    active.iter().all(|rank| summaries[rank.index()].pattern == first).then_some(first)
}

fn load(job: &Job<'_>, summaries: &[Summary], active: &[Rank], settings: &Settings) -> Load {
    let nodes: BTreeSet<NodeId> = active.iter().map(|rank| job.machine.node(*rank)).collect();
    let sum = |of: fn(&Summary) -> u64| {
        active.iter().map(|rank| of(&summaries[rank.index()])).fold(0, u64::saturating_add)
    };
    Load {
        ranks: active.len() as u32,
        nodes: nodes.len() as u32,
        bytes: sum(|summary| summary.bytes),
        pieces: sum(|summary| summary.pieces),
        targets: settings.targets,
        stripe_bytes: settings.stripe_bytes,
        buffer_bytes: settings.buffer_bytes,
    }
}

/// How many aggregators in all: as told, or the number that costs least; one node needs no second one, and no storage
/// target gets more writers than the option allows.
fn aggregators(job: &Job<'_>, load: &Load) -> u32 {
    if let Some(count) = job.config.aggregators {
        return count.min(load.ranks.max(1));
    }
    if !job.config.aggregator_nodes.is_empty() {
        return job.config.aggregator_nodes.len() as u32;
    }
    let targets_known = job.config.targets.or(job.storage.targets).is_some();
    let writers =
        if targets_known { load.targets.saturating_mul(job.config.writers_per_target()) } else { u32::MAX };
    let buffers = u32::try_from(load.bytes.div_ceil(load.buffer_bytes)).unwrap_or(u32::MAX);
    let most = load.nodes.min(writers).min(buffers).max(1);
    let powers = (0..32).map(|power| 1_u32 << power).take_while(|count| *count < most);
    let cost = |count: &u32| job.calibration.aggregated_s_per_byte(job.machine, load, *count);
    powers.chain([most]).min_by(|a, b| cost(a).total_cmp(&cost(b))).unwrap_or(1)
}

fn groups(job: &Job<'_>, load: &Load, aggregators: u32) -> u32 {
    if let Some(groups) = job.config.groups {
        return groups;
    }
    let most = load.nodes.min(aggregators).min(load.ranks / job.config.group_ranks_min()).max(1);
    let powers = (0..32).map(|power| 1_u32 << power).take_while(|groups| *groups <= most);
    let cost = |groups: &u32| job.calibration.groups_s(load, aggregators, *groups);
    powers.min_by(|a, b| cost(a).total_cmp(&cost(b))).unwrap_or(1)
}

fn add_areas(job: &Job<'_>, summaries: &[Summary], ranks: &[Rank], frame: &mut Frame) {
    let wanted = groups(job, &frame.load, frame.aggregators);
    let least = job.config.group_ranks_min();
    let (pattern, areas) = file_areas(summaries, ranks, wanted, least, frame.settings.stripe_bytes);
    frame.file_pattern = pattern;
    let members: Vec<&[Rank]> = areas.iter().map(|area| area.members.as_slice()).collect();
    let listed: Vec<NodeId> = job.config.aggregator_nodes.iter().copied().map(NodeId).collect();
    let allowed = (!listed.is_empty()).then_some(listed.as_slice());
    let given = distribute(&members, |rank| job.machine.node(rank), allowed, None);
    // A count that was asked for may need several aggregators on a node; otherwise a node has one.
    let places =
        |at: usize| if job.config.aggregators.is_some() { members[at].len() } else { given[at].len() };
    let places: Vec<u32> = (0..areas.len()).map(|at| places(at) as u32).collect();
    let counts = even_counts(frame.aggregators, &places);
    let framed = areas.into_iter().zip(given).zip(counts);
    frame.areas =
        framed.map(|((area, candidates), parts_max)| AreaFrame { area, candidates, parts_max }).collect();
}
