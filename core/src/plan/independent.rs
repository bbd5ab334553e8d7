//! Areas for independent writes: where each node writes when nobody has to wait for the others. A node that the
//! route-aware assignment gives to another bridge than its default one sends to a rank on that bridge node; every other
//! node gathers its own ranks' pieces and writes them as one (per-node coalescing, which the paper found to matter most).
//! Each of these is an area with one aggregator, so the engine needs to know nothing of bridges.

use super::area::Area;
use super::bridge::Assignment;
use super::distribute::Candidate;
use super::{AreaFrame, Frame, Job, PlanError};
use crate::ids::{NodeId, Rank};
use std::collections::BTreeMap;

pub(super) fn areas(job: &Job<'_>, active: &[Rank], frame: &mut Frame) -> Result<(), PlanError> {
    let default = Assignment::default_of(job.machine).ok_or(PlanError::NoBridges)?;
    let aware = Assignment::route_aware(job.machine).ok_or(PlanError::NoBridges)?;
    let writers = first_ranks(job);
    // Keyed by the node that writes; a bridge node writes its own bytes with those that it is sent.
    let mut members: BTreeMap<NodeId, Vec<Rank>> = BTreeMap::new();
    for rank in active {
        let node = job.machine.node(*rank);
        let bridge = aware.bridge_of(node);
        let moved = bridge != default.bridge_of(node) && writers.contains_key(&bridge);
        members.entry(if moved { bridge } else { node }).or_default().push(*rank);
    }
    for (node, members) in members {
        let candidates = vec![Candidate { node, rank: writers[&node] }];
        if members == [writers[&node]] {
            frame.direct.extend(members);
        } else {
            let area = Area { members, lo: 0, hi: u64::MAX };
            frame.areas.push(AreaFrame { area, candidates, parts_max: 1 });
        }
    }
    frame.direct.sort_unstable();
    frame.aggregators = frame.areas.len() as u32;
    Ok(())
}

fn first_ranks(job: &Job<'_>) -> BTreeMap<NodeId, Rank> {
    let mut first = BTreeMap::new();
    for rank in (0..job.machine.ranks()).map(Rank) {
        first.entry(job.machine.node(rank)).or_insert(rank);
    }
    first
}
