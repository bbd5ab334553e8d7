//! Rounds: the touched part of a file area, cut into windows of one buffer each.
//!
//! From TAPIOCA: a buffer is as large as a stripe unless told otherwise (its table I: 1:1 is best), windows end at
//! stripe boundaries, and a buffer is filled before it is flushed, across the boundaries of variables, so that three
//! nearly empty buffers become one full one. Holes that nobody touches take no room. An aggregator has two buffers and
//! uses them in turn: even rounds the first, odd rounds the second.
//!
//! Invariant: windows are disjoint, in file order, and cover every span; no window needs more than the buffer.

use crate::declare::Span;
use std::ops::Range;

/// A stretch of the file inside a window, and its place in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    pub file: u64,
    pub len: u64,
    pub buffer: u64,
}

/// What one buffer holds once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// All that the area's members have in `lo .. hi` goes into this window.
    pub lo: u64,
    pub hi: u64,
    pub segments: Range<u32>,
}

/// The windows of an area, and which aggregator has which of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    windows: Vec<Window>,
    segments: Vec<Segment>,
    /// Consecutive windows for each aggregator of the area.
    parts: Vec<Range<u32>>,
}

impl Layout {
    /// `spans` sorted and apart from each other. The windows are dealt out in order to at most `parts_max` parts.
    pub fn build(spans: &[Span], buffer: u64, stripe: u64, parts_max: u32) -> Self {
        let mut fill = Fill { buffer, align: stripe.min(buffer), layout: Self::default(), used: 0 };
        spans.iter().for_each(|span| fill.span(span.start, span.end));
        fill.close();
        let mut layout = fill.layout;
        let windows = layout.windows.len() as u64;
        let parts = windows.min(u64::from(parts_max));
        let edge = |part: u64| (windows * part / parts) as u32;
        layout.parts = (0..parts).map(|part| edge(part)..edge(part + 1)).collect();
        layout
    }

    /// About how many windows [`Layout::build`] would make; cheap, and never too few by more than the spans.
    pub fn windows_estimate(spans: &[Span], buffer: u64) -> u64 {
        let room: u64 = spans.iter().map(|span| span.end - span.start).fold(0, u64::saturating_add);
        room / buffer + 1
    }

    pub fn windows(&self) -> &[Window] {
        &self.windows
    }

    pub fn parts(&self) -> &[Range<u32>] {
        &self.parts
    }

    pub fn segments(&self, window: u32) -> &[Segment] {
        let Range { start, end } = self.windows[window as usize].segments;
        &self.segments[start as usize..end as usize]
    }

    /// How much of the buffer a window needs.
    pub fn room(&self, window: u32) -> u64 {
        self.segments(window).last().map_or(0, |segment| segment.buffer + segment.len)
    }

    /// The first window that ends after `offset`.
    pub fn window_at(&self, offset: u64) -> u32 {
        self.windows.partition_point(|window| window.hi <= offset) as u32
    }

    /// The part and the round of a window.
    pub fn place(&self, window: u32) -> (u32, u32) {
        let part = self.parts.partition_point(|windows| windows.end <= window);
        (part as u32, window - self.parts[part].start)
    }

    /// The file range of a part.
    pub fn part_range(&self, part: u32) -> (u64, u64) {
        let Range { start, end } = self.parts[part as usize];
        (self.windows[start as usize].lo, self.windows[end as usize - 1].hi)
    }
}

struct Fill {
    buffer: u64,
    align: u64,
    layout: Layout,
    used: u64,
}

impl Fill {
    fn span(&mut self, start: u64, end: u64) {
        let mut at = start;
        while at < end {
            // A long span gets windows of its own, so that all but its first and last are whole stripes.
            if self.used > 0 && end - at >= self.buffer && at.is_multiple_of(self.align) {
                self.close();
            }
            let room = self.buffer - self.used;
            let cut = if end - at <= room { end } else { self.cut(at, room) };
            if cut > at {
                self.push(at, cut - at);
                at = cut;
            }
            if self.used == self.buffer || at < end {
                self.close();
            }
        }
    }

    /// Where to cut a span that does not fit: at the last stripe boundary, or, if there is none, where the buffer is
    /// full; unless the buffer is half full already, then not at all.
    fn cut(&self, at: u64, room: u64) -> u64 {
        let aligned = at.saturating_add(room) / self.align * self.align;
        if aligned > at {
            aligned
        } else if self.used * 2 >= self.buffer {
            at
        } else {
            at + room
        }
    }

    fn push(&mut self, file: u64, len: u64) {
        self.layout.segments.push(Segment { file, len, buffer: self.used });
        self.used += len;
    }

    fn close(&mut self) {
        let from = self.layout.windows.last().map_or(0, |window| window.segments.end);
        let to = self.layout.segments.len() as u32;
        if from < to {
            let (first, last) = (self.layout.segments[from as usize], self.layout.segments[to as usize - 1]);
            self.layout.windows.push(Window { lo: first.file, hi: last.file + last.len, segments: from..to });
        }
        self.used = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn spans(list: &[(u64, u64)]) -> Vec<Span> {
        list.iter().map(|(start, end)| Span { start: *start, end: *end, bytes: end - start }).collect()
    }

    fn edges(layout: &Layout) -> Vec<(u64, u64)> {
        layout.windows().iter().map(|w| (w.lo, w.hi)).collect()
    }

    #[test]
    fn a_long_span_is_cut_at_stripes() {
        let layout = Layout::build(&spans(&[(30, 470)]), 100, 100, 2);
        assert_eq!(edges(&layout), [(30, 100), (100, 200), (200, 300), (300, 400), (400, 470)]);
        assert_eq!(layout.parts(), [0..2, 2..5]);
        assert_eq!(layout.place(3), (1, 1));
    }

    #[test]
    fn short_spans_share_a_buffer() {
        let layout = Layout::build(&spans(&[(0, 20), (1000, 1030), (5000, 5050)]), 100, 100, 4);
        assert_eq!(edges(&layout), [(0, 5050)]);
        assert_eq!(layout.segments(0)[2], Segment { file: 5000, len: 50, buffer: 50 });
    }

    #[test]
    fn windows_cover_all_spans_once_and_fit_the_buffer() {
        for seed in 0..5000 {
            let mut random = Random::new(seed);
            let mut at = random.below(50);
            let mut list = Vec::new();
            for _ in 0..random.below(12) {
                let len = 1 + random.below(90);
                list.push((at, at + len));
                at += len + 1 + random.below(60);
            }
            let (buffer, stripe) = (1 + random.below(64), 1 + random.below(64));
            let layout = Layout::build(&spans(&list), buffer, stripe, 1 + random.below(5) as u32);
            let mut covered: Vec<(u64, u64)> = Vec::new();
            for window in 0..layout.windows().len() as u32 {
                assert!(layout.room(window) <= buffer, "seed {seed}");
                let mut next = 0;
                for segment in layout.segments(window) {
                    assert_eq!(segment.buffer, next, "seed {seed}");
                    next += segment.len;
                    match covered.last_mut() {
                        Some(last) if last.1 == segment.file => last.1 += segment.len,
                        _ => covered.push((segment.file, segment.file + segment.len)),
                    }
                }
            }
            assert_eq!(covered, list, "seed {seed}");
            assert!(layout.windows().windows(2).all(|w| w[0].hi <= w[1].lo), "seed {seed}");
            let dealt: u32 = layout.parts().iter().map(|p| p.end - p.start).sum();
            assert_eq!(dealt as usize, layout.windows().len(), "seed {seed}");
        }
    }
}
