//! What an aggregator does in each round: how many bytes it waits for, and which extents it writes. Only bytes that
//! somebody declared are written; holes inside a window are never touched.

use super::index::{WindowIndex, for_each_window};
use crate::extent::{Extent, ExtentSet, Run, fuse};
use crate::plan::Layout;

/// Bytes of the file, and where they are in the window's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferExtent {
    pub file: u64,
    pub buffer: u64,
    pub len: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duty {
    area: u32,
    part: u32,
    first_window: u32,
    expected: Vec<u64>,
    coverage: Vec<Run>,
    index: WindowIndex,
}

impl Duty {
    /// `runs` are what the members send to this part, clipped to it.
    pub fn new(area: u32, part: u32, layout: &Layout, runs: Vec<Run>) -> Self {
        let windows = layout.parts()[part as usize].clone();
        let range = layout.part_range(part);
        let mut expected = vec![0; windows.len()];
        for run in &runs {
            for_each_window(layout, range, *run, |window, bytes| {
                expected[(window - windows.start) as usize] += bytes;
            });
        }
        let coverage = fuse(runs);
        let index = WindowIndex::new(layout, range, coverage.iter().copied());
        Self { area, part, first_window: windows.start, expected, coverage, index }
    }

    pub const fn area(&self) -> u32 {
        self.area
    }

    pub const fn part(&self) -> u32 {
        self.part
    }

    /// How many bytes the members send in each round (or, for reads, take).
    pub fn expected(&self) -> &[u64] {
        &self.expected
    }

    /// What to write (or read) in a round, sorted, with as few requests as the coverage allows.
    pub fn extents(&self, layout: &Layout, round: u32) -> Vec<BufferExtent> {
        let window = self.first_window + round;
        let at = &layout.windows()[window as usize];
        let runs = self.index.runs(window).iter().map(|number| self.coverage[*number as usize]);
        let blocks = runs.flat_map(|run| run.blocks_in(at.lo, at.hi));
        let covered: ExtentSet = blocks.map(|block| Extent::new(block.file, block.len)).collect();
        let mut extents = Vec::new();
        let mut segments = layout.segments(window).iter().peekable();
        for extent in covered.as_slice() {
            while segments.next_if(|segment| segment.file + segment.len <= extent.offset.0).is_some() {}
            if let Some(segment) = segments.peek() {
                let file = extent.offset.0;
                extents.push(BufferExtent {
                    file,
                    buffer: segment.buffer + (file - segment.file),
                    len: extent.len.0,
                });
            }
        }
        extents
    }
}
