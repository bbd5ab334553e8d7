//! Which runs have bytes in which window, as numbers of runs: small even where the pieces would be many millions.

use crate::extent::Run;
use crate::plan::Layout;
use std::ops::Range;

/// The windows that some runs touch, in order, each with its bytes and its runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WindowIndex {
    entries: Vec<Entry>,
    runs: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub window: u32,
    pub bytes: u64,
    runs: Range<u32>,
}

impl WindowIndex {
    /// `runs` as a list; only what lies in `lo .. hi` counts.
    pub fn new(layout: &Layout, (lo, hi): (u64, u64), runs: impl Iterator<Item = Run>) -> Self {
        let mut touched: Vec<(u32, u32, u64)> = Vec::new();
        for (number, run) in runs.enumerate() {
            for_each_window(layout, (lo, hi), run, |window, bytes| {
                touched.push((window, number as u32, bytes))
            });
        }
        touched.sort_unstable();
        let mut index = Self::default();
        for (window, run, bytes) in touched {
            let end = index.runs.len() as u32 + 1;
            match index.entries.last_mut() {
                Some(last) if last.window == window => {
                    last.bytes += bytes;
                    last.runs.end = end;
                }
                _ => index.entries.push(Entry { window, bytes, runs: end - 1..end }),
            }
            index.runs.push(run);
        }
        index
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The numbers of the runs with bytes in a window.
    pub fn runs(&self, window: u32) -> &[u32] {
        let at = self.entries.binary_search_by_key(&window, |entry| entry.window);
        at.map_or(&[], |at| {
            let Range { start, end } = self.entries[at].runs;
            &self.runs[start as usize..end as usize]
        })
    }
}

/// Calls `found` with each window in which the run has bytes, and how many.
pub(super) fn for_each_window(
    layout: &Layout,
    (lo, hi): (u64, u64),
    run: Run,
    mut found: impl FnMut(u32, u64),
) {
    let windows = layout.windows();
    let end = run.end().min(hi);
    let mut window = layout.window_at(run.offset().max(lo));
    while let Some(at) = windows.get(window as usize).filter(|at| at.lo < end) {
        let bytes = run.bytes_in(at.lo.max(lo), at.hi.min(hi));
        if bytes > 0 {
            found(window, bytes);
            window += 1;
        } else {
            // The run has a gap here: go on where its next block is.
            match run.blocks_in(at.hi, end).next() {
                Some(block) => window = layout.window_at(block.file).max(window + 1),
                None => break,
            }
        }
    }
}
