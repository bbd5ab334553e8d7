//! Bytes that several ranks wrote before a commit. In one collective write that is the program's mistake; in two of them
//! the later one counts, as it does when each is carried out at once, and so does an independent write after one. So before a commit the ranks look whether there are
//! any, unless all their writes are of one epoch, or the answer is known from a commit with the same pattern.

use super::window::Waiting;
use sago_core::declare::{Declaration, Declared, Direction, Shift};
use sago_core::extent::Run;
use sago_exec::{Error, contain};
use sago_mpi::{Parts, Reduce, Transport};
use std::iter::StepBy;
use std::ops::RangeInclusive;

/// Ranks tell each other at most so many ranges.
const RANGES_MAX: usize = 32;

/// What a rank says of the writes that wait on it; what all say is the greatest of each number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ballot(pub [u64; Self::NUMBERS]);

/// What this rank wrote when the ranks last compared, and whether there were bytes that several wrote.
pub type Compared = Option<(Declared, bool)>;

impl Ballot {
    pub const NUMBERS: usize = 6;

    /// Of a commit whose order does not matter: all its writes are of one epoch.
    pub const NONE: Self = Self([0; Self::NUMBERS]);

    pub fn of(writes: &[Waiting<'_>], declared: &Declared, compared: &Compared) -> Self {
        let shift = compared.as_ref().map_or(Shift::None, |(before, _)| before.shift_to(declared));
        // Ranks that have moved by different distances may have come to the same place.
        let (unknown, by, not_by) = match shift {
            Shift::None => (1, 0, 0),
            Shift::By(by) => (0, by, !by),
            Shift::Any => (0, 0, 0),
        };
        let latest = writes.iter().map(|write| write.epoch).max().unwrap_or(0);
        let earliest = writes.iter().map(|write| write.epoch).min().unwrap_or(u64::MAX);
        let odd = writes.iter().any(|write| write.epoch % 2 == 1);
        Self([latest, !earliest, unknown, u64::from(odd), by, not_by])
    }

    /// Whether the answer of the last comparison holds.
    const fn is_known(&self) -> bool {
        let [_, _, unknown, _, most, not_least] = self.0;
        unknown == 0 && (most == !not_least || (most == 0 && not_least == 0))
    }
}

/// The epochs in whose order writes must be carried out; `None` if their order does not matter. Collective: `all` is the ballot of
/// all ranks.
pub fn epochs(
    ranks: &dyn Transport,
    all: Ballot,
    declared: &Declared,
    compared: &mut Compared,
) -> Result<Option<StepBy<RangeInclusive<u64>>>, Error> {
    let Ballot([last, first, _, odd, ..]) = all;
    let first = !first;
    if first >= last {
        return Ok(None);
    }
    let shared = match &compared {
        Some((_, shared)) if all.is_known() => *shared,
        _ => {
            let shared = shared_bytes(ranks, declared)?;
            *compared = Some((declared.clone(), shared));
            shared
        }
    };
    // Without independent writes there are no odd ones.
    Ok(shared.then(|| (first..=last).step_by(if odd == 0 { 2 } else { 1 })))
}

/// Whether two ranks have a byte in common. Collective, and the same answer everywhere. A rank that fails takes part with
/// nothing, and is the only one to know.
fn shared_bytes(ranks: &dyn Transport, declared: &Declared) -> Result<bool, Error> {
    let mine = contain(|| Ok(encode(&ranges(declared))));
    let everybody = ranks.allgather(mine.as_deref().unwrap_or_default())?;
    let mut all: Vec<(u64, u64, usize)> = Vec::new();
    for (rank, bytes) in everybody.iter().enumerate() {
        all.extend(decode(bytes).map(|[lo, hi]| (lo, hi, rank)));
    }
    all.sort_unstable();
    if !ranges_meet(&all) {
        return mine.map(|_| false);
    }
    let (lo, hi) = (all[0].0, all.iter().map(|range| range.1).max().unwrap_or(0));
    let shares = mine.and_then(|_| contain(|| Ok(shares(declared, lo, hi, ranks.size()))));
    let none = || Parts::zeroed(vec![0; ranks.size()]);
    let told = ranks.alltoall(&shares.as_ref().map_or_else(|_| none(), Clone::clone))?;
    let found = shares.and_then(|_| contain(|| Ok(bytes_meet(&told))));
    let mut shared = [u64::from(found.as_ref().is_ok_and(|found| *found))];
    ranks.allreduce(Reduce::Max, &mut shared)?;
    found.map(|_| shared[0] != 0)
}

/// Whether ranks have told of the same bytes.
fn bytes_meet(told: &Parts) -> bool {
    let mut meeting = Declaration::new(Direction::Write);
    let mut bytes = 0;
    for part in told.iter() {
        let runs =
            decode(part).filter_map(|[offset, len, stride, count]| Run::strided(offset, len, stride, count));
        let runs: Vec<Run> = runs.collect();
        bytes += runs.iter().map(|run| run.bytes()).sum::<u64>();
        meeting.variable(runs);
    }
    // A rank has each byte once; what is dropped here as written before was written by another.
    meeting.finish().bytes() < bytes
}

/// Whether ranges of different ranks meet; they are sorted.
fn ranges_meet(all: &[(u64, u64, usize)]) -> bool {
    let mut end = 0;
    let mut whose = usize::MAX;
    for &(lo, hi, rank) in all {
        if lo < end && rank != whose {
            return true;
        }
        if hi > end {
            (end, whose) = (hi, rank);
        }
    }
    false
}

/// A few ranges that hold all bytes of this rank.
fn ranges(declared: &Declared) -> Vec<u64> {
    let mut list: Vec<(u64, u64)> = Vec::new();
    for run in declared.coverage() {
        match list.last_mut() {
            Some(last) if run.offset() <= last.1 => last.1 = last.1.max(run.end()),
            _ => list.push((run.offset(), run.end())),
        }
    }
    let joined = list.chunks(list.len().div_ceil(RANGES_MAX).max(1));
    joined.flat_map(|group| [group[0].0, group.iter().map(|range| range.1).max().unwrap_or(0)]).collect()
}

/// This rank's runs in each rank's share of the range, which holds them all.
fn shares(declared: &Declared, lo: u64, hi: u64, ranks: usize) -> Parts {
    let step = (hi - lo).div_ceil(ranks as u64).max(1);
    let mut shares = vec![Vec::new(); ranks];
    for run in declared.coverage() {
        let share = |place: u64| (place.saturating_sub(lo) / step).min(ranks as u64 - 1);
        for rank in share(run.offset())..=share(run.end() - 1) {
            let from = lo + step * rank;
            let runs = run.clip(from, from + step);
            shares[rank as usize]
                .extend(runs.flat_map(|run| [run.offset(), run.len(), run.stride(), run.count()]));
        }
    }
    let mut parts = Parts::default();
    shares.iter().for_each(|share| parts.push(&encode(share)));
    parts
}

fn encode(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn decode<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u64; N]> {
    bytes.chunks_exact(8 * N).map(|chunk| {
        std::array::from_fn(|i| chunk[8 * i..8 * i + 8].try_into().map_or(0, u64::from_le_bytes))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sago_core::random::Random;
    use sago_mpi::threads;
    use std::collections::BTreeSet;

    #[test]
    fn bytes_of_two_ranks_are_found() {
        for seed in 0..300 {
            let shared = threads::run(3, threads::Options::default(), |ranks| {
                let mut random = Random::new(seed * 10 + ranks.rank() as u64);
                let mut declaration = Declaration::new(Direction::Write);
                let base = ranks.rank() as u64 * (seed % 40);
                declaration.variable((0..random.below(4)).filter_map(|_| {
                    let len = 1 + random.below(4);
                    Run::strided(base + random.below(60), len, len + random.below(9), 1 + random.below(5))
                }));
                let declared = declaration.finish();
                let mine: BTreeSet<u64> = declared
                    .runs()
                    .iter()
                    .flat_map(|sourced| sourced.run.blocks())
                    .flat_map(|block| block.file..block.file + block.len)
                    .collect();
                (shared_bytes(ranks, &declared).unwrap(), mine)
            });
            let sets: Vec<_> = shared.iter().map(|(_, mine)| mine).collect();
            let expected = !sets[0].is_disjoint(sets[1])
                || !sets[0].is_disjoint(sets[2])
                || !sets[1].is_disjoint(sets[2]);
            assert!(shared.iter().all(|(found, _)| *found == expected), "seed {seed}");
        }
    }
}
