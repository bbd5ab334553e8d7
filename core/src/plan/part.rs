//! The second step of planning, for one area: its rounds and its aggregators, from the outlines of its members. A rank
//! does this for the areas that it is a member of, and for no other.

use super::baseline;
use super::distribute::Candidate;
use super::elect::PlaceCost;
use super::frame::{AreaFrame, Settings};
use super::rounds::Layout;
use super::{Job, elect::Elected};
use crate::config::Placement;
use crate::cost::NodeLoad;
use crate::declare::{Outline, Span, merge_spans};
use crate::ids::{NodeId, Rank};
use std::collections::BTreeMap;

/// The rounds and the aggregators of an area.
#[derive(Clone, Debug, PartialEq)]
pub struct AreaPlan {
    pub layout: Layout,
    /// One for each part of the layout.
    pub parts: Vec<PartPlan>,
    /// Bytes of the area, as far as its members' outlines tell.
    pub bytes: u64,
    /// The members' data is so thin that buffers would be nearly empty: every member writes its own bytes instead.
    pub too_sparse: bool,
}

/// An aggregator and its part of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct PartPlan {
    pub rank: Rank,
    pub node: NodeId,
    pub bytes: u64,
    pub cost: PlaceCost,
    pub runner_up: Option<(NodeId, PlaceCost)>,
}

/// `outlines` has one entry for each member, in the members' order.
pub fn area(
    job: &Job<'_>,
    settings: &Settings,
    framed: &AreaFrame,
    outlines: &[(Rank, Outline)],
) -> AreaPlan {
    let (lo, hi) = (framed.area.lo, framed.area.hi);
    let clipped = outlines.iter().flat_map(|(_, outline)| outline.clip(lo, hi));
    let spans = merge_spans(clipped.collect(), Outline::GAP_MAX);
    let bytes = spans.iter().map(|span| span.bytes).fold(0, u64::saturating_add);
    if too_sparse(&spans, bytes, settings.buffer_bytes) {
        return AreaPlan { layout: Layout::default(), parts: Vec::new(), bytes, too_sparse: true };
    }
    let layout = Layout::build(&spans, settings.buffer_bytes, settings.stripe_bytes, framed.parts_max);
    let loads = loads(job, framed, &layout, outlines);
    let parts = elect(job, framed, &loads);
    AreaPlan { layout, parts, bytes, too_sparse: false }
}

/// Buffers that are less than one in 64 full on average, and many of them, cost more than they save.
fn too_sparse(spans: &[Span], bytes: u64, buffer: u64) -> bool {
    const WINDOWS_FREE: u64 = 1024;
    const FILL_MIN: u64 = 64;
    Layout::windows_estimate(spans, buffer)
        > WINDOWS_FREE.saturating_add((bytes / buffer).saturating_mul(FILL_MIN))
}

/// For each part, what each node brings to it.
fn loads(
    job: &Job<'_>,
    framed: &AreaFrame,
    layout: &Layout,
    outlines: &[(Rank, Outline)],
) -> Vec<Vec<NodeLoad>> {
    let ranges: Vec<(u64, u64)> =
        (0..layout.parts().len() as u32).map(|part| layout.part_range(part)).collect();
    let mut loads: Vec<Vec<NodeLoad>> = vec![Vec::new(); ranges.len()];
    let mut by_node: Vec<(NodeId, &Outline)> =
        outlines.iter().map(|(rank, outline)| (job.machine.node(*rank), outline)).collect();
    by_node.sort_by_key(|(node, _)| *node);
    let mut seen: Vec<usize> = vec![usize::MAX; ranges.len()];
    for (member, (node, outline)) in by_node.into_iter().enumerate() {
        for span in outline.clip(framed.area.lo, framed.area.hi) {
            let first = ranges.partition_point(|(_, end)| *end <= span.start);
            let touched =
                ranges.iter().enumerate().skip(first).take_while(|(_, (start, _))| *start < span.end);
            for (part, (start, end)) in touched {
                let Some(bytes) = span.clip(*start, *end).map(|span| span.bytes) else { continue };
                if loads[part].last().is_none_or(|load| load.node != node) {
                    loads[part].push(NodeLoad { node, ranks: 0, bytes: 0 });
                }
                if let Some(load) = loads[part].last_mut() {
                    load.bytes += bytes;
                    load.ranks += u32::from(seen[part] != member);
                    seen[part] = member;
                }
            }
        }
    }
    loads
}

/// One aggregator for each part; nodes serve a second part only when all have one, and then with another rank.
fn elect(job: &Job<'_>, framed: &AreaFrame, loads: &[Vec<NodeLoad>]) -> Vec<PartPlan> {
    let members = &framed.area.members;
    let mut on_node: BTreeMap<NodeId, Vec<Rank>> = BTreeMap::new();
    members.iter().for_each(|rank| on_node.entry(job.machine.node(*rank)).or_default().push(*rank));
    let mut free: Vec<Candidate> = framed.candidates.clone();
    let mut uses: BTreeMap<NodeId, usize> = BTreeMap::new();
    let mut parts = Vec::with_capacity(loads.len());
    for (part, from) in loads.iter().enumerate() {
        let Elected { candidate, cost, runner_up } =
            baseline::choose(job.config.placement, job.machine, from, &free, members, part as u32);
        let used = uses.entry(candidate.node).or_default();
        let rank = match on_node.get(&candidate.node) {
            Some(ranks) if job.config.placement != Placement::RankOrder => ranks[*used % ranks.len()],
            _ => candidate.rank,
        };
        *used += 1;
        free.retain(|other| other.node != candidate.node);
        if free.is_empty() {
            free.clone_from(&framed.candidates);
        }
        let bytes = from.iter().map(|load| load.bytes).sum();
        let runner_up = runner_up.map(|(candidate, cost)| (candidate.node, cost));
        parts.push(PartPlan { rank, node: candidate.node, bytes, cost, runner_up });
    }
    parts
}
