//! Runs of different strides that overlap, or so many small ones that arithmetic does not pay: each block is looked at.

use super::{SourcedRun, Taken, pieces};
use crate::extent::Run;
use std::cmp::Reverse;
use std::collections::HashSet;

/// The parts of runs that no later one replaces, in no order.
pub fn visible(runs: &[SourcedRun]) -> Vec<SourcedRun> {
    let mut declared: Vec<SourcedRun> = runs.to_vec();
    declared.sort_unstable_by_key(|sourced| Reverse(sourced.source));
    // Nothing is seen of what a later run replaces as a whole.
    let mut seen = HashSet::new();
    declared.retain(|sourced| sourced.run.is_contiguous() || seen.insert(sourced.run));
    let mut taken = Taken::default();
    let mut visible = Vec::new();
    for SourcedRun { run, source } in declared {
        let first = visible.len();
        for block in run.blocks() {
            taken.free_parts(block.file, block.file + block.len, |from, to| {
                let source = source + block.before + (from - block.file);
                let piece = SourcedRun { run: Run::contiguous(from, to - from), source };
                pieces::add(&mut visible, first, piece);
            });
        }
    }
    visible
}
