//! Pieces that continue each other, in the file and in the stream, as few runs.

use super::SourcedRun;
use crate::extent::Run;

/// `starts` as of [`super::last_wins`].
pub fn join(mut pieces: Vec<SourcedRun>, starts: &[u64]) -> Vec<SourcedRun> {
    // Those of one run are neighbours in the stream, but perhaps not in the file.
    pieces.sort_unstable_by_key(|piece| piece.source);
    let starts_variable = |piece: &SourcedRun| starts.binary_search(&piece.source).is_ok();
    // Blocks are whole before it is looked at how they lie to each other.
    for continued in [touching, in_step] {
        pieces.dedup_by(|next, last| {
            let grown = if starts_variable(next) { None } else { follow(*last, *next, continued) };
            grown.map(|run| last.run = run).is_some()
        });
    }
    pieces
}

/// Adds a piece of the run whose pieces begin at `first`; they come in order.
pub fn add(pieces: &mut Vec<SourcedRun>, first: usize, piece: SourcedRun) {
    if let Some(last) = pieces[first..].last_mut()
        && let Some(grown) = follow(*last, piece, in_step)
    {
        last.run = grown;
    } else {
        pieces.push(piece);
    }
}

/// The two as one run, if they are one.
fn follow(last: SourcedRun, next: SourcedRun, continued: fn(Run, Run) -> Option<Run>) -> Option<Run> {
    let follows = last.source + last.run.bytes() == next.source && last.run.end() <= next.run.offset();
    follows.then(|| continued(last.run, next.run)).flatten()
}

fn touching(last: Run, next: Run) -> Option<Run> {
    let touching = last.is_contiguous() && next.is_contiguous() && last.end() == next.offset();
    touching.then(|| Run::contiguous(last.offset(), last.len() + next.len()))
}

fn in_step(last: Run, next: Run) -> Option<Run> {
    let apart = next.offset() - last.offset();
    let stride = if last.is_contiguous() { apart } else { last.stride() };
    let fits = last.len() == next.len()
        && apart == last.count() * stride
        && (next.is_contiguous() || next.stride() == stride);
    fits.then(|| Run::strided(last.offset(), last.len(), stride, last.count() + next.count())).flatten()
}
