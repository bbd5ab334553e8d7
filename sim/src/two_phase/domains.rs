//! How a collective call's range of the file is divided among aggregators and rounds, and what each rank has in each.

use crate::scenario::{Domains, Holes, TwoPhaseOptions};
use crate::world::Stretch;
use sago_core::declare::Declared;
use sago_core::extent::{Run, fuse};
use sago_core::ids::Rank;

/// What a rank and an aggregator exchange in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exchange {
    pub round: u64,
    pub aggregator: u32,
    pub rank: Rank,
    pub bytes: u64,
}

/// What an aggregator stores in a round: the touched range, which may have holes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub round: u64,
    pub aggregator: u32,
    pub bytes: u64,
    pub lo: u64,
    pub hi: u64,
}

/// A call, ready to be carried out.
#[derive(Clone, Debug, Default)]
pub(super) struct Call {
    pub rounds: u64,
    /// Sorted by round.
    pub exchanges: Vec<Exchange>,
    /// Sorted by round.
    pub stored: Vec<Stored>,
    /// What all ranks have together, where only that is to be written and holes are left alone.
    pieces: Option<Vec<Run>>,
}

impl Call {
    /// `declared` is what each rank has in this call. A subgroup has an intermediate view of its own bytes, which others'
    /// bytes interleave with in the file.
    pub fn new(declared: &[Declared], aggregators: u32, stripe: u64, options: &TwoPhaseOptions) -> Self {
        let runs = || declared.iter().flat_map(|d| d.runs()).map(|sourced| sourced.run);
        let (Some(lo), Some(hi)) = (runs().map(|run| run.offset()).min(), runs().map(|run| run.end()).max())
        else {
            return Self::default();
        };
        let view = (options.groups > 1).then(|| View::new(fuse(runs()), aggregators, options));
        let division = Division::new(lo, hi, aggregators, stripe, options);
        let place = |at: u64| view.as_ref().map_or_else(|| division.place(at), |view| view.place(at));
        let mut call = Self::default();
        for (rank, declared) in declared.iter().enumerate() {
            for run in declared.runs().iter().map(|sourced| sourced.run) {
                let mut at = run.offset();
                while at < run.end() {
                    let (round, aggregator, end) = place(at);
                    let bytes = run.bytes_in(at, end);
                    let end = end.min(run.end());
                    if bytes > 0 {
                        call.exchanges.push(Exchange { round, aggregator, rank: Rank(rank as u32), bytes });
                        let (lo, hi) = (at, end);
                        call.stored.push(Stored { round, aggregator, bytes, lo, hi });
                    }
                    at = run.blocks_in(end, run.end()).next().map_or(run.end(), |block| block.file);
                }
            }
        }
        call.pieces = match (view, options.holes) {
            (Some(view), _) => Some(view.runs),
            (None, Holes::Pieces) => Some(fuse(runs())),
            (None, Holes::Sieve) => None,
        };
        call.merge();
        call
    }

    /// What is written for a window: all of its range, or its pieces where the rest is not to be touched.
    pub fn stretches(&self, stored: &Stored) -> Vec<Stretch> {
        let whole = |offset: u64, len: u64| Stretch { offset, span: len, bytes: len, requests: 1 };
        match &self.pieces {
            None => vec![whole(stored.lo, stored.hi - stored.lo)],
            Some(runs) => {
                let first = runs.partition_point(|run| run.end() <= stored.lo && run.is_contiguous());
                let blocks = runs[first..]
                    .iter()
                    .take_while(|run| run.offset() < stored.hi)
                    .flat_map(|run| run.blocks_in(stored.lo, stored.hi));
                blocks.map(|block| whole(block.file, block.len)).collect()
            }
        }
    }

    /// Whether a window must be read before it is written.
    pub fn has_holes(&self, stored: &Stored) -> bool {
        self.pieces.is_none() && stored.bytes < stored.hi - stored.lo
    }

    /// What an aggregator exchanges in a round.
    pub fn exchanges_of(&self, round: u64, aggregator: u32) -> &[Exchange] {
        let key = |e: &Exchange| (e.round, e.aggregator);
        let from = self.exchanges.partition_point(|e| key(e) < (round, aggregator));
        let to = self.exchanges.partition_point(|e| key(e) <= (round, aggregator));
        &self.exchanges[from..to]
    }

    /// One message for each pair and round, one window for each aggregator and round.
    fn merge(&mut self) {
        self.exchanges.sort_unstable_by_key(|e| (e.round, e.aggregator, e.rank));
        self.exchanges.dedup_by(|next, kept| {
            let same = (next.round, next.aggregator, next.rank) == (kept.round, kept.aggregator, kept.rank);
            kept.bytes += if same { next.bytes } else { 0 };
            same
        });
        self.stored.sort_unstable_by_key(|s| (s.round, s.aggregator));
        self.stored.dedup_by(|next, kept| {
            let same = (next.round, next.aggregator) == (kept.round, kept.aggregator);
            if same {
                kept.bytes += next.bytes;
                (kept.lo, kept.hi) = (kept.lo.min(next.lo), kept.hi.max(next.hi));
            }
            same
        });
        self.rounds = self.stored.last().map_or(0, |last| last.round + 1);
    }
}

/// The bytes of a subgroup joined together, and cut into windows there.
#[derive(Clone, Debug)]
struct View {
    runs: Vec<Run>,
    /// Where each window begins in the file, and after the last one where it ends.
    edges: Vec<u64>,
    windows_per_domain: u64,
}

impl View {
    fn new(runs: Vec<Run>, aggregators: u32, options: &TwoPhaseOptions) -> Self {
        let bytes: u64 = runs.iter().map(|run| run.bytes()).sum();
        let domain = bytes.div_ceil(u64::from(aggregators)).max(1);
        let windows_per_domain = domain.div_ceil(options.buffer_bytes);
        let buffer = domain.div_ceil(windows_per_domain);
        let end = runs.iter().map(|run| run.end()).max().unwrap_or(0);
        let count = bytes.div_ceil(buffer);
        let edge = |number: u64| offset_at(&runs, end, number * buffer);
        let edges = (0..count).map(edge).chain([end]).collect();
        Self { runs, edges, windows_per_domain }
    }

    fn place(&self, offset: u64) -> (u64, u32, u64) {
        let window = self.edges.partition_point(|edge| *edge <= offset) - 1;
        let number = window as u64;
        let (round, aggregator) = (number % self.windows_per_domain, number / self.windows_per_domain);
        (round, aggregator as u32, self.edges[window + 1])
    }
}

/// The offset in the file that has `before` of the runs' bytes before it.
fn offset_at(runs: &[Run], end: u64, before: u64) -> u64 {
    let (mut lo, mut hi) = (0, end);
    while lo < hi {
        let middle = lo + (hi - lo).div_ceil(2);
        let passed: u64 = runs.iter().map(|run| run.bytes_in(0, middle)).sum();
        if passed <= before { lo = middle } else { hi = middle - 1 }
    }
    lo
}

struct Division {
    lo: u64,
    aggregators: u64,
    buffer: u64,
    /// The size of a domain, or of a stripe where stripes are dealt out.
    domain: u64,
    dealt: bool,
}

impl Division {
    fn new(lo: u64, hi: u64, aggregators: u32, stripe: u64, options: &TwoPhaseOptions) -> Self {
        let aggregators = u64::from(aggregators);
        let even = |lo: u64| (hi - lo).div_ceil(aggregators).max(1);
        let down = lo / stripe * stripe;
        let (lo, domain, dealt) = match options.domains {
            Domains::Even => (lo, even(lo), false),
            Domains::Aligned => (down, even(down).div_ceil(stripe) * stripe, false),
            Domains::Striped => (down, stripe, true),
        };
        Self { lo, aggregators, buffer: options.buffer_bytes, domain, dealt }
    }

    /// The round and aggregator of a byte, and where that window ends.
    fn place(&self, offset: u64) -> (u64, u32, u64) {
        let number = (offset - self.lo) / self.domain;
        let inside = (offset - self.lo) % self.domain;
        let windows = self.domain.div_ceil(self.buffer);
        let window = inside / self.buffer;
        let start = self.lo + number * self.domain;
        let end = (start + (window + 1) * self.buffer).min(start + self.domain);
        let (turn, aggregator) =
            if self.dealt { (number / self.aggregators, number % self.aggregators) } else { (0, number) };
        (turn * windows + window, aggregator as u32, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sago_core::declare::Direction;
    use sago_core::pattern::AccessPattern;

    #[test]
    fn every_byte_is_exchanged_once_and_stored_once() {
        let all = [Domains::Even, Domains::Aligned, Domains::Striped];
        for (domains, groups) in all.into_iter().flat_map(|domains| [(domains, 1), (domains, 2)]) {
            for text in ["soa vars=3 bytes=1000", "aos vars=3 bytes=70", "interleaved block=13 count=50"] {
                let pattern: AccessPattern = text.parse().unwrap();
                let each: Vec<Vec<Declared>> = (0..8)
                    .map(|rank| pattern.declare_each(Rank(rank), 8, Direction::Write).unwrap())
                    .collect();
                let options =
                    TwoPhaseOptions { buffer_bytes: 64, domains, groups, ..TwoPhaseOptions::default() };
                for call in 0..each[0].len() {
                    let declared: Vec<Declared> = each.iter().map(|list| list[call].clone()).collect();
                    let bytes: u64 = declared.iter().map(Declared::bytes).sum();
                    let call = Call::new(&declared, 3, 100, &options);
                    assert_eq!(call.exchanges.iter().map(|e| e.bytes).sum::<u64>(), bytes, "{text}");
                    assert_eq!(call.stored.iter().map(|s| s.bytes).sum::<u64>(), bytes, "{text}");
                    assert!(call.stored.iter().all(|s| s.bytes <= 64 && s.aggregator < 3), "{text}");
                    let written = |s: &Stored| call.stretches(s).iter().map(|k| k.bytes).sum::<u64>();
                    if groups > 1 {
                        assert!(call.stored.iter().all(|s| written(s) == s.bytes), "{text}");
                    }
                    assert!(call.stored.iter().all(|s| s.bytes <= s.hi - s.lo), "{text}");
                }
            }
        }
    }

    #[test]
    fn stripes_are_dealt_out_in_turn() {
        let options =
            TwoPhaseOptions { buffer_bytes: 100, domains: Domains::Striped, ..TwoPhaseOptions::default() };
        let division = Division::new(250, 1000, 3, 100, &options);
        assert_eq!(division.place(250), (0, 0, 300));
        assert_eq!(division.place(450), (0, 2, 500));
        assert_eq!(division.place(500), (1, 0, 600));
    }
}
