//! Bytes that one rank declares twice: the last declaration is kept. Declarations that merely interleave, as columns of
//! a table do, are recognised by arithmetic; only runs that may really overlap are taken apart block by block.

use super::SourcedRun;
use crate::extent::Run;
use std::collections::BTreeMap;

/// `runs` sorted by offset; the result is, too, and no byte is in it twice. `starts` is where the variables start in the stream: no
/// run is of two of them, whose bytes lie in different places.
pub(super) fn last_wins(runs: Vec<SourcedRun>, starts: &[u64]) -> Vec<SourcedRun> {
    let mut kept = Vec::with_capacity(runs.len());
    for cluster in clusters(&runs) {
        if cluster.len() == 1 || interleave(cluster) {
            kept.extend_from_slice(cluster);
        } else {
            kept.extend(take_apart(cluster, starts));
        }
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

/// Whether all runs have one stride and places of their own in it.
fn interleave(cluster: &[SourcedRun]) -> bool {
    let base = cluster[0].run.offset();
    let Some(stride) = cluster.iter().map(|s| s.run).find(|run| !run.is_contiguous()).map(Run::stride) else {
        return false;
    };
    let mut places = Vec::with_capacity(cluster.len() + 1);
    for SourcedRun { run, .. } in cluster {
        if (!run.is_contiguous() && run.stride() != stride) || run.len() > stride {
            return false;
        }
        let start = (run.offset() - base) % stride;
        let end = start + run.len();
        places.push((start, end.min(stride)));
        if end > stride {
            places.push((0, end - stride));
        }
    }
    places.sort_unstable();
    places.windows(2).all(|pair| pair[0].1 <= pair[1].0)
}

fn take_apart(cluster: &[SourcedRun], starts: &[u64]) -> Vec<SourcedRun> {
    let mut declared: Vec<SourcedRun> = cluster.to_vec();
    declared.sort_by_key(|sourced| std::cmp::Reverse(sourced.source));
    let mut taken = Taken::default();
    let mut pieces = Vec::new();
    for SourcedRun { run, source } in declared {
        for block in run.blocks() {
            taken.free_parts(block.file, block.file + block.len, |from, to| {
                pieces.push((from, to - from, source + block.before + (from - block.file)));
            });
        }
    }
    pieces.sort_unstable();
    let mut runs = Vec::new();
    for (file, len, source) in pieces {
        let starts_variable = starts.binary_search(&source).is_ok();
        if starts_variable || !join(runs.last_mut(), file, len, source) {
            runs.push(SourcedRun { run: Run::contiguous(file, len), source });
        }
    }
    runs
}

/// Adds a piece to the last run if it continues it in the file and in the stream; whether it does.
fn join(last: Option<&mut SourcedRun>, file: u64, len: u64, source: u64) -> bool {
    if let Some(last) = last {
        let run = last.run;
        let follows = last.source + run.bytes() == source;
        let grown = if !follows {
            None
        } else if run.is_contiguous() && run.end() == file {
            Some(Run::contiguous(run.offset(), run.len() + len))
        } else if run.len() == len && run.is_contiguous() {
            Run::strided(run.offset(), len, file - run.offset(), 2)
        } else if run.len() == len && file == run.offset() + run.count() * run.stride() {
            Run::strided(run.offset(), len, run.stride(), run.count() + 1)
        } else {
            None
        };
        if let Some(grown) = grown {
            last.run = grown;
            return true;
        }
    }
    false
}

/// Bytes that a later declaration has; start -> end, never touching.
#[derive(Default)]
struct Taken(BTreeMap<u64, u64>);

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
