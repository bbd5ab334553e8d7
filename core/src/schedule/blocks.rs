//! The pieces of a window in bulk: regular runs stay regular on their way into a buffer, so that a driver can copy a
//! million blocks with one loop.

use super::index::WindowIndex;
use crate::declare::Declared;
use crate::plan::Layout;

/// Blocks of equal length: one after another in the rank's stream, one every `stride` bytes in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    pub source: u64,
    pub buffer: u64,
    pub len: u64,
    pub stride: u64,
    pub count: u64,
}

impl Blocks {
    pub const fn bytes(self) -> u64 {
        self.len * self.count
    }
}

/// All that the runs of `index` have in `window`, within `lo .. hi`.
pub(super) fn blocks<'a>(
    index: &'a WindowIndex,
    layout: &'a Layout,
    declared: &'a Declared,
    window: u32,
    (lo, hi): (u64, u64),
) -> impl Iterator<Item = Blocks> + 'a {
    let at = &layout.windows()[window as usize];
    let (lo, hi) = (at.lo.max(lo), at.hi.min(hi));
    let segments = layout.segments(window);
    index.runs(window).iter().flat_map(move |number| {
        let sourced = declared.runs()[*number as usize];
        let (start, end) = (sourced.run.offset().max(lo), sourced.run.end().min(hi));
        let first = segments.partition_point(|segment| segment.file + segment.len <= start);
        let touched = segments[first..].iter().take_while(move |segment| segment.file < end);
        touched.flat_map(move |segment| {
            let (from, to) = (segment.file.max(lo), (segment.file + segment.len).min(hi));
            sourced.run.clip(from, to).map(move |part| Blocks {
                source: sourced.source + sourced.run.bytes_in(0, part.offset()),
                buffer: segment.buffer + (part.offset() - segment.file),
                len: part.len(),
                stride: part.stride(),
                count: part.count(),
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declare::{Declaration, Direction, Span};
    use crate::extent::Run;
    use crate::random::Random;
    use std::collections::BTreeSet;

    #[test]
    fn blocks_are_the_pieces_in_bulk() {
        for seed in 0..2000 {
            let mut random = Random::new(seed);
            let mut declaration = Declaration::new(Direction::Write);
            for _ in 0..1 + random.below(6) {
                let stride = 1 + random.below(12);
                let len = 1 + random.below(stride);
                declaration.variable(Run::strided(random.below(200), len, stride, 1 + random.below(20)));
            }
            let declared = declaration.finish();
            let spans: Vec<Span> = declared
                .coverage()
                .iter()
                .flat_map(|run| run.blocks())
                .map(|block| Span { start: block.file, end: block.file + block.len, bytes: block.len })
                .collect();
            let spans = crate::declare::merge_spans(spans, random.below(8));
            let layout = Layout::build(&spans, 1 + random.below(60), 1 + random.below(40), 1);
            let index = WindowIndex::new(&layout, (0, u64::MAX), declared.runs().iter().map(|s| s.run));
            for window in 0..layout.windows().len() as u32 {
                let bytes =
                    |source: u64, buffer: u64, len: u64| (0..len).map(move |i| (source + i, buffer + i));
                let pieces: BTreeSet<_> =
                    super::super::sends::pieces(&index, &layout, &declared, window, (0, u64::MAX))
                        .flat_map(|p| bytes(p.source, p.buffer, p.len))
                        .collect();
                let mut bulk = BTreeSet::new();
                for b in blocks(&index, &layout, &declared, window, (0, u64::MAX)) {
                    for i in 0..b.count {
                        for byte in bytes(b.source + i * b.len, b.buffer + i * b.stride, b.len) {
                            assert!(bulk.insert(byte), "seed {seed}");
                        }
                    }
                }
                assert_eq!(bulk, pieces, "seed {seed} window {window}");
            }
        }
    }
}
