//! Where runs lie in a stride: runs whose places there do not meet have no byte in common, whatever their counts. Places
//! are on a circle, since a block may reach into the next stride.

use super::SourcedRun;
use crate::extent::Run;

/// The places of one run. The end may lie beyond the stride: then it goes on at its beginning.
pub struct Arc {
    pub start: u64,
    end: u64,
    index: usize,
}

/// By which group of places each run is, and how many groups there are. The stride is what all strides are multiples of.
pub fn groups(cluster: &[SourcedRun]) -> (Vec<usize>, usize) {
    let strides = cluster.iter().filter(|sourced| !sourced.run.is_contiguous());
    let stride = strides.fold(0, |common, sourced| common_divisor(common, sourced.run.stride()));
    let mut groups = vec![0; cluster.len()];
    if cluster.iter().any(|sourced| sourced.run.len() > stride) {
        return (groups, 1);
    }
    let arcs = arcs(cluster.iter().map(|sourced| sourced.run), stride);
    let mut cuts = 0;
    for (arc, cut) in arcs.iter().zip(cuts_before(&arcs, stride)) {
        cuts += usize::from(cut);
        groups[arc.index] = cuts;
    }
    // What comes before the first cut is one with what comes after the last.
    groups.iter_mut().filter(|group| **group == 0).for_each(|group| *group = cuts);
    (groups, cuts.max(1))
}

/// Sorted by where they start.
pub fn arcs(runs: impl Iterator<Item = Run>, stride: u64) -> Vec<Arc> {
    let arc = |(index, run): (usize, Run)| {
        let start = run.offset() % stride;
        Arc { start, end: start + run.len(), index }
    };
    let mut arcs: Vec<Arc> = runs.enumerate().map(arc).collect();
    arcs.sort_unstable_by_key(|arc| arc.start);
    arcs
}

/// For each arc whether no other reaches its start.
pub fn cuts_before(arcs: &[Arc], stride: u64) -> impl Iterator<Item = bool> {
    let furthest = arcs.iter().map(|arc| arc.end).max().unwrap_or(0);
    let mut reached = furthest.saturating_sub(stride);
    arcs.iter().map(move |arc| {
        let cut = arc.start >= reached;
        reached = reached.max(arc.end);
        cut
    })
}

const fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
