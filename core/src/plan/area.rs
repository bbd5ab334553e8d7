//! File areas and subgroups, from ParColl (partitioned collective I/O): the ranks are divided into subgroups, each with
//! a part of the file of its own, so that nothing has to be synchronised across all ranks. Its patterns: (a) ranks one
//! after the other in the file; (b) ranks whose ranges intersect, but in clusters that do not; (c) ranks spread over the
//! whole file, for which `view` joins each rank's pieces. Options: `groups`, `group_ranks_min`.
//!
//! Areas end at stripe boundaries, so that no stripe is written by two subgroups; a rank whose data straddles such a
//! boundary is a member of both. Invariant: every byte of every rank is in exactly one area that the rank is a member of.

use super::view;
use crate::declare::Summary;
use crate::ids::Rank;
use std::fmt;

/// The ranks of a subgroup, and what they have in `lo .. hi`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Area {
    pub members: Vec<Rank>,
    pub lo: u64,
    /// One past the last byte.
    pub hi: u64,
}

/// ParColl's figure 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePattern {
    /// (a)
    Serial,
    /// (b)
    Tiled,
    /// (c)
    Scattered,
}

/// Neighbouring ranks whose ranges are connected.
struct Cluster<'a> {
    ranks: &'a [Rank],
    start: u64,
    end: u64,
    bytes: u64,
}

/// Divides the `active` ranks into at most `wanted` areas of at least `least` ranks.
pub fn file_areas(
    summaries: &[Summary],
    active: &[Rank],
    wanted: u32,
    least: u32,
    stripe: u64,
) -> (FilePattern, Vec<Area>) {
    let mut order = active.to_vec();
    order.sort_by_key(|rank| (summaries[rank.index()].start, summaries[rank.index()].end, *rank));
    let clusters = clusters(summaries, &order);
    let wanted = wanted.min(active.len() as u32 / least.max(1)).max(1);
    let pattern = match clusters.len() {
        n if n == order.len() => FilePattern::Serial,
        n if n > 1 && (wanted == 1 || even_enough(&clusters, wanted)) => FilePattern::Tiled,
        _ => FilePattern::Scattered,
    };
    if wanted == 1 {
        return (pattern, vec![whole(active)]);
    }
    if pattern == FilePattern::Scattered {
        return (pattern, view::joined_areas(summaries, &order, wanted, least));
    }
    (pattern, aligned(summaries, &gather(&clusters, wanted, least), stripe, least as usize))
}

fn whole(active: &[Rank]) -> Area {
    Area { members: active.to_vec(), lo: 0, hi: u64::MAX }
}

fn clusters<'a>(summaries: &[Summary], order: &'a [Rank]) -> Vec<Cluster<'a>> {
    let mut clusters: Vec<Cluster<'a>> = Vec::new();
    for (at, rank) in order.iter().enumerate() {
        let Summary { start, end, bytes, .. } = summaries[rank.index()];
        match clusters.last_mut() {
            Some(last) if start < last.end => {
                last.ranks = &order[at - last.ranks.len()..=at];
                last.end = last.end.max(end);
                last.bytes += bytes;
            }
            _ => clusters.push(Cluster { ranks: &order[at..=at], start, end, bytes }),
        }
    }
    clusters
}

/// Whether no cluster is much more than a group's share.
fn even_enough(clusters: &[Cluster<'_>], wanted: u32) -> bool {
    let total: u64 = clusters.iter().map(|c| c.bytes).sum();
    let largest = clusters.iter().map(|c| c.bytes).max().unwrap_or(0);
    u128::from(largest) * u128::from(wanted) * 2 <= u128::from(total) * 3
}

/// Neighbouring clusters put together: as many groups as wanted, even in bytes, none too small.
fn gather<'a, 'b>(clusters: &'b [Cluster<'a>], wanted: u32, least: u32) -> Vec<&'b [Cluster<'a>]> {
    let bytes = |c: &Cluster<'_>| c.bytes;
    let ranks = |c: &Cluster<'_>| c.ranks.len();
    super::even_shares(clusters, wanted, bytes, ranks, least)
}

/// Areas for the groups, cut at stripe boundaries where that leaves each group its least number of ranks.
fn aligned(summaries: &[Summary], groups: &[&[Cluster<'_>]], stripe: u64, least: usize) -> Vec<Area> {
    let mut cuts = vec![0];
    for pair in groups.windows(2) {
        let before = cuts[cuts.len() - 1];
        cuts.push(cut(summaries, pair[0], pair[1], before, stripe, least));
    }
    cuts.push(u64::MAX);
    let area = |at: usize| {
        let (lo, hi) = (cuts[at], cuts[at + 1]);
        let near = &groups[at.saturating_sub(1)..(at + 2).min(groups.len())];
        let mut members: Vec<Rank> =
            near.iter().flat_map(|group| touching(summaries, group, lo, hi)).collect();
        members.sort_unstable();
        Area { members, lo, hi }
    };
    (0..groups.len()).map(area).collect()
}

/// Where the area of `group` ends and that of `next` begins: at a stripe boundary in the hole between them if there is
/// one, else at the nearest one inside them, else where `next` starts.
fn cut(
    summaries: &[Summary],
    group: &[Cluster<'_>],
    next: &[Cluster<'_>],
    before: u64,
    stripe: u64,
    least: usize,
) -> u64 {
    let end = group[group.len() - 1].end;
    let up = end.div_ceil(stripe).saturating_mul(stripe);
    let down = next[0].start / stripe * stripe;
    let fits = |cut: &u64| {
        *cut > before
            && touching(summaries, group, before, *cut).count() >= least
            && touching(summaries, next, *cut, u64::MAX).count() >= least
    };
    [up, down].into_iter().filter(fits).min_by_key(|cut| cut.abs_diff(end)).unwrap_or(next[0].start)
}

/// The ranks of a group with a range that reaches into `lo .. hi`.
fn touching<'a>(
    summaries: &'a [Summary],
    group: &'a [Cluster<'_>],
    lo: u64,
    hi: u64,
) -> impl Iterator<Item = Rank> + 'a {
    let reaches = move |rank: &Rank| {
        let summary = &summaries[rank.index()];
        summary.start < hi && summary.end > lo
    };
    group.iter().flat_map(|cluster| cluster.ranks.iter().copied()).filter(reaches)
}

impl fmt::Display for FilePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Serial => "(a) one rank after the other",
            Self::Tiled => "(b) clusters of intersecting ranks",
            Self::Scattered => "(c) ranks spread over the file",
        })
    }
}
