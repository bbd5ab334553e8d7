//! Which bytes are covered, without looking at every block: runs that fill each other's gaps become longer runs, and
//! at last contiguous ones. Nine columns of a table of records, or the rows of all tiles side by side, become one
//! extent in time that depends on the number of runs, not of records.

use super::Run;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The same bytes in as few runs as adjacent gaps allow, sorted by their first byte. Runs that overlap or interleave
/// without touching are left as they are, so the result may still name a byte twice.
pub fn fuse(runs: impl IntoIterator<Item = Run>) -> Vec<Run> {
    let mut runs: Vec<Run> = runs.into_iter().collect();
    // Most callers have them in order.
    runs.sort_unstable();
    let mut runs = runs.into_iter().peekable();
    // What has come of those before, and is next again.
    let mut pending: BinaryHeap<Reverse<Run>> = BinaryHeap::new();
    let mut fused: Vec<Run> = Vec::new();
    loop {
        let again = pending.peek().is_some_and(|Reverse(run)| runs.peek().is_none_or(|next| run <= next));
        let next = if again { pending.pop().map(|Reverse(run)| run) } else { runs.next() };
        let Some(run) = next else { break };
        match fused.last_mut() {
            Some(last) if last.is_contiguous() && run.is_contiguous() && run.offset() <= last.end() => {
                let end = last.end().max(run.end());
                *last = Run::contiguous(last.offset(), end - last.offset());
            }
            Some(last) if fills_gap(*last, run) => {
                let common = last.count().min(run.count());
                let ((left, left_rest), (right, right_rest)) = (last.split(common), run.split(common));
                let len = left.len() + right.len();
                // A run whose blocks have grown together is contiguous, and may meet the one before it.
                match Run::strided(left.offset(), len, left.stride(), common) {
                    Some(joined) if joined.is_contiguous() => {
                        fused.pop();
                        pending.push(Reverse(joined));
                    }
                    Some(joined) => *last = joined,
                    None => pending.push(Reverse(right)),
                }
                pending.extend([left_rest, right_rest].into_iter().flatten().map(Reverse));
            }
            _ => fused.push(run),
        }
    }
    fused
}

/// Whether each block of `next` starts where a block of `last` ends, and has room there.
fn fills_gap(last: Run, next: Run) -> bool {
    !last.is_contiguous()
        && !next.is_contiguous()
        && last.stride() == next.stride()
        && next.offset() == last.offset() + last.len()
        && last.len() + next.len() <= last.stride()
}

#[cfg(test)]
mod tests {
    use super::super::{Extent, ExtentSet};
    use super::*;
    use crate::random::Random;

    fn flat(runs: &[Run]) -> ExtentSet {
        runs.iter().flat_map(|run| run.blocks()).map(|k| Extent::new(k.file, k.len)).collect()
    }

    #[test]
    fn columns_become_one_extent() {
        let columns = (0..9).map(|c| Run::strided(100 + 4 * c, 4, 36, 50_000).unwrap());
        assert_eq!(fuse(columns), [Run::contiguous(100, 36 * 50_000)]);
    }

    #[test]
    fn blocks_dealt_out_in_turn_become_one_extent_even_when_they_do_not_come_out_even() {
        let dealt = (0..4).map(|r| Run::strided(r * 10, 10, 40, if r < 3 { 26 } else { 25 }).unwrap());
        assert_eq!(flat(&fuse(dealt)).as_slice(), [Extent::new(0, 25 * 40 + 30)]);
        // A window that starts inside a stride sees the same runs, turned.
        let turned =
            (0..4).flat_map(|r| Run::strided(r * 10, 10, 40, 25).unwrap().clip(25, 900)).collect::<Vec<_>>();
        let fused = fuse(turned);
        assert_eq!(flat(&fused).as_slice(), [Extent::new(25, 875)]);
        assert!(fused.len() <= 6, "{fused:?}");
    }

    #[test]
    fn no_byte_is_lost_or_added() {
        for seed in 0..5000 {
            let mut random = Random::new(seed);
            let stride = 4 + random.below(8);
            let runs: Vec<Run> = (0..random.below(10))
                .filter_map(|_| {
                    Run::strided(random.below(40), 1 + random.below(4), stride, 1 + random.below(8))
                })
                .collect();
            assert_eq!(flat(&fuse(runs.clone())), flat(&runs), "seed {seed}");
        }
    }
}
