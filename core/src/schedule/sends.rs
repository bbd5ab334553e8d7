//! What a rank sends to the windows of an area, and what it writes by itself.

use super::blocks::{Blocks, blocks};
use super::index::WindowIndex;
use super::{BufferExtent, WindowId};
use crate::declare::{Declared, Span};
use crate::extent::{Extent, ExtentSet};
use crate::ids::Rank;
use crate::plan::{AreaPlan, Layout, Settings};

/// Some bytes on their way: from a place in the rank's stream to a place in a window's buffer (or, for reads, back).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub source: u64,
    pub file: u64,
    pub buffer: u64,
    pub len: u64,
}

/// What a rank sends to an area's aggregators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sends {
    area: u32,
    lo: u64,
    hi: u64,
    index: WindowIndex,
    ids: Vec<(WindowId, Rank)>,
}

impl Sends {
    pub(super) fn new(area: u32, plan: &AreaPlan, (lo, hi): (u64, u64), declared: &Declared) -> Self {
        let index =
            WindowIndex::new(&plan.layout, (lo, hi), declared.runs().iter().map(|sourced| sourced.run));
        let id = |window: u32| {
            let (part, round) = plan.layout.place(window);
            (WindowId { area, part, round }, plan.parts[part as usize].rank)
        };
        let ids = index.entries().iter().map(|entry| id(entry.window)).collect();
        Self { area, lo, hi, index, ids }
    }

    pub const fn area(&self) -> u32 {
        self.area
    }

    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The windows that this rank has bytes for, with the aggregator and the number of bytes.
    pub fn windows(&self) -> impl Iterator<Item = (WindowId, Rank, u64)> {
        self.ids.iter().zip(self.index.entries()).map(|((id, to), entry)| (*id, *to, entry.bytes))
    }

    /// The pieces for one window, one run after the other.
    pub fn pieces<'a>(
        &'a self,
        layout: &'a Layout,
        declared: &'a Declared,
        id: WindowId,
    ) -> impl Iterator<Item = Piece> + 'a {
        let window = layout.parts()[id.part as usize].start + id.round;
        pieces(&self.index, layout, declared, window, (self.lo, self.hi))
    }

    /// The same in bulk.
    pub fn blocks<'a>(
        &'a self,
        layout: &'a Layout,
        declared: &'a Declared,
        id: WindowId,
    ) -> impl Iterator<Item = Blocks> + 'a {
        let window = layout.parts()[id.part as usize].start + id.round;
        blocks(&self.index, layout, declared, window, (self.lo, self.hi))
    }
}

pub(super) fn pieces<'a>(
    index: &'a WindowIndex,
    layout: &'a Layout,
    declared: &'a Declared,
    window: u32,
    (lo, hi): (u64, u64),
) -> impl Iterator<Item = Piece> + 'a {
    let at = &layout.windows()[window as usize];
    let (lo, hi) = (at.lo.max(lo), at.hi.min(hi));
    let segments = layout.segments(window);
    let mut current = 0;
    index
        .runs(window)
        .iter()
        .flat_map(move |number| {
            let sourced = declared.runs()[*number as usize];
            sourced.run.blocks_in(lo, hi).map(move |block| (sourced.source + block.before, block))
        })
        .map(move |(source, block)| {
            // A block lies in one segment, and mostly in the same one as the block before it.
            let inside = |segment: &crate::plan::Segment| block.file.wrapping_sub(segment.file) < segment.len;
            if !inside(&segments[current]) {
                current = segments.partition_point(|segment| segment.file + segment.len <= block.file);
            }
            let segment = segments[current];
            Piece {
                source,
                file: block.file,
                buffer: segment.buffer + (block.file - segment.file),
                len: block.len,
            }
        })
}

/// What a rank writes or reads by itself: its own merged extents, in windows, packed there if they are not contiguous in its
/// memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own {
    layout: Layout,
    index: WindowIndex,
    lo: u64,
    hi: u64,
    room: u64,
}

/// Shorter pieces of a rank's memory are packed.
pub const STRAIGHT_BYTES_MIN: u64 = 64 << 10;

impl Own {
    /// All that a rank declares.
    pub fn whole(settings: &Settings, declared: &Declared) -> Self {
        Self::new(settings, (0, u64::MAX), declared)
    }

    pub(super) fn new(settings: &Settings, (lo, hi): (u64, u64), declared: &Declared) -> Self {
        let blocks = declared.coverage().iter().flat_map(|run| run.blocks_in(lo, hi));
        let covered: ExtentSet = blocks.map(|block| Extent::new(block.file, block.len)).collect();
        let span = |e: &Extent| Span { start: e.offset.0, end: e.end(), bytes: e.len.0 };
        let spans: Vec<Span> = covered.as_slice().iter().map(span).collect();
        let pieces: u64 = declared.runs().iter().map(|sourced| sourced.run.count()).sum();
        let packed = declared.bytes() / pieces.max(1) < STRAIGHT_BYTES_MIN;
        let window = if packed { settings.pack_bytes } else { settings.buffer_bytes };
        let layout = Layout::build(&spans, window, settings.stripe_bytes, 1);
        let index = WindowIndex::new(&layout, (lo, hi), declared.runs().iter().map(|sourced| sourced.run));
        Self { layout, index, lo, hi, room: window }
    }

    /// Room enough for any window.
    pub const fn room(&self) -> u64 {
        self.room
    }

    /// The number of bytes of each window.
    pub fn windows(&self) -> impl ExactSizeIterator<Item = u64> {
        self.index.entries().iter().map(|entry| entry.bytes)
    }

    /// The extents of the file that a window covers.
    pub fn extents(&self, window: u32) -> impl Iterator<Item = BufferExtent> {
        let segments = self.layout.segments(window).iter();
        segments.map(|segment| BufferExtent { file: segment.file, buffer: segment.buffer, len: segment.len })
    }

    pub fn pieces<'a>(&'a self, declared: &'a Declared, window: u32) -> impl Iterator<Item = Piece> + 'a {
        pieces(&self.index, &self.layout, declared, window, (self.lo, self.hi))
    }

    /// The same in bulk.
    pub fn blocks<'a>(&'a self, declared: &'a Declared, window: u32) -> impl Iterator<Item = Blocks> + 'a {
        blocks(&self.index, &self.layout, declared, window, (self.lo, self.hi))
    }
}
