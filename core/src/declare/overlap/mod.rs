//! Bytes that one rank declares twice: the last declaration is kept. What arithmetic can tell apart is left as it is: runs
//! whose ranges do not meet, and those that have places of their own in their common stride, as columns of a table do
//! (`places`). Of the others, those with one stride are resolved by rows and places of that stride, whatever their count
//! (`grid`); only what is left is taken apart block by block (`apart`). Pieces that continue each other become runs again
//! (`pieces`).

mod apart;
mod grid;
mod pieces;
mod places;

use super::SourcedRun;

/// `runs` sorted by offset; the result is, too, and no byte is in it twice. `starts` is where the variables start in the stream: no
/// run is of two of them, whose bytes lie in different places.
pub(super) fn last_wins(runs: Vec<SourcedRun>, starts: &[u64]) -> Vec<SourcedRun> {
    let mut kept = Vec::with_capacity(runs.len());
    for cluster in clusters(&runs) {
        let first = kept.len();
        resolve(cluster, starts, &mut kept);
        kept[first..].sort_unstable_by_key(|sourced| sourced.run.offset());
    }
    kept
}

/// Groups of runs whose ranges intersect, one after the other.
fn clusters(runs: &[SourcedRun]) -> impl Iterator<Item = &[SourcedRun]> {
    let mut rest = runs;
    std::iter::from_fn(move || {
        let mut end = rest.first()?.run.end();
        let inside = rest[1..].iter().take_while(|next| {
            let inside = next.run.offset() < end;
            end = end.max(next.run.end());
            inside
        });
        let (cluster, after) = rest.split_at(1 + inside.count());
        rest = after;
        Some(cluster)
    })
}

fn resolve(cluster: &[SourcedRun], starts: &[u64], kept: &mut Vec<SourcedRun>) {
    if cluster.len() == 1 {
        return kept.extend_from_slice(cluster);
    }
    let (groups, count) = places::groups(cluster);
    if count == cluster.len() {
        return kept.extend_from_slice(cluster);
    }
    let mut sorted: Vec<_> = groups.into_iter().zip(cluster).collect();
    // Those of one group stay sorted by offset.
    sorted.sort_by_key(|(group, _)| *group);
    for group in sorted.chunk_by(|(a, _), (b, _)| a == b) {
        let runs: Vec<SourcedRun> = group.iter().map(|(_, sourced)| **sourced).collect();
        for runs in clusters(&runs) {
            settle(runs, starts, kept);
        }
    }
}

/// Of runs that may really overlap.
fn settle(runs: &[SourcedRun], starts: &[u64], kept: &mut Vec<SourcedRun>) {
    if runs.len() == 1 {
        return kept.extend_from_slice(runs);
    }
    let visible = grid::visible(runs).unwrap_or_else(|| apart::visible(runs));
    kept.extend(pieces::join(visible, starts));
}

/// Some of the places in a row or in the file; start -> end, never touching.
#[derive(Default)]
struct Taken(std::collections::BTreeMap<u64, u64>);

impl Taken {
    /// Takes `from .. to`, and tells which parts of it were still free.
    fn free_parts(&mut self, from: u64, to: u64, mut free: impl FnMut(u64, u64)) {
        let (mut start, mut end) = (from, to);
        if let Some((&before, &before_end)) = self.0.range(..=from).next_back()
            && before_end >= from
        {
            start = before;
            end = end.max(before_end);
        }
        let mut at = from;
        let touched: Vec<(u64, u64)> = self.0.range(start..=to).map(|(s, e)| (*s, *e)).collect();
        for (s, e) in touched {
            if at < s.min(to) {
                free(at, s.min(to));
            }
            at = at.max(e);
            end = end.max(e);
            self.0.remove(&s);
        }
        if at < to {
            free(at, to);
        }
        self.0.insert(start, end);
    }
}

#[cfg(test)]
mod tests;
