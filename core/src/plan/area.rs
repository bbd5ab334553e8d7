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
    (pattern, aligned(summaries, &gather(&clusters, wanted, least), stripe))
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

fn aligned(summaries: &[Summary], groups: &[&[Cluster<'_>]], stripe: u64) -> Vec<Area> {
    let range = |group: &[Cluster<'_>]| (group[0].start, group[group.len() - 1].end);
    let mut cuts = vec![0];
    for pair in groups.windows(2) {
        let ((before_start, before_end), (after_start, after_end)) = (range(pair[0]), range(pair[1]));
        let floor = cuts[cuts.len() - 1].max(before_start);
        // A boundary in the hole between the groups if there is one, else the nearest one inside them.
        let up = before_end.div_ceil(stripe).saturating_mul(stripe);
        let down = after_start / stripe * stripe;
        let inside = |cut: &u64| *cut > floor && *cut < after_end;
        let nearest = [up, down].into_iter().filter(inside).min_by_key(|cut| cut.abs_diff(before_end));
        cuts.push(nearest.unwrap_or(after_start));
    }
    cuts.push(u64::MAX);
    let members_of =
        |group: &[Cluster<'_>]| group.iter().flat_map(|c| c.ranks.iter().copied()).collect::<Vec<_>>();
    (0..groups.len())
        .map(|at| {
            let (lo, hi) = (cuts[at], cuts[at + 1]);
            let near = at.saturating_sub(1)..(at + 2).min(groups.len());
            let touches = |rank: &Rank| {
                let summary = &summaries[rank.index()];
                summary.start < hi && summary.end > lo
            };
            let mut members: Vec<Rank> = near.flat_map(|g| members_of(groups[g])).filter(touches).collect();
            members.sort_unstable();
            Area { members, lo, hi }
        })
        .collect()
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
