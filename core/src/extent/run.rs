//! Regular patterns of runs: `count` blocks of `len` bytes, one every `stride` bytes. A column of a million records,
//! or the rows of a tile, is one [`Run`]; everything that the planner asks of it (how many bytes lie in a window,
//! which block is the first one there) is arithmetic and does not depend on `count`.
//!
//! Invariant: `len > 0`, `count > 0`, blocks do not overlap (`stride >= len`), and a run without gaps has one block.

use super::{Extent, ExtentList};
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Run {
    offset: u64,
    len: u64,
    stride: u64,
    count: u64,
}

/// One block of a run, or the part of it inside a window: where it lies in the file, and how many bytes of the run
/// come before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub file: u64,
    pub before: u64,
    pub len: u64,
}

impl Run {
    /// One block. `len` must not be 0.
    pub const fn contiguous(offset: u64, len: u64) -> Self {
        debug_assert!(len > 0);
        Self { offset, len, stride: len, count: 1 }
    }

    /// `None` if it makes no run: nothing in it, or blocks that overlap, or an end beyond 2^63.
    pub fn strided(offset: u64, len: u64, stride: u64, count: u64) -> Option<Self> {
        if len == 0 || count == 0 || (count > 1 && stride < len) {
            return None;
        }
        let end = stride.checked_mul(count - 1)?.checked_add(len)?.checked_add(offset)?;
        if end > i64::MAX as u64 + 1 {
            return None;
        }
        if count == 1 || stride == len {
            return Some(Self::contiguous(offset, len * count));
        }
        Some(Self { offset, len, stride, count })
    }

    pub const fn offset(self) -> u64 {
        self.offset
    }

    /// Bytes of one block.
    pub const fn len(self) -> u64 {
        self.len
    }

    pub const fn is_empty(self) -> bool {
        false
    }

    pub const fn stride(self) -> u64 {
        self.stride
    }

    pub const fn count(self) -> u64 {
        self.count
    }

    /// One past the last byte of the last block.
    pub const fn end(self) -> u64 {
        self.offset + self.stride * (self.count - 1) + self.len
    }

    pub const fn bytes(self) -> u64 {
        self.len * self.count
    }

    /// The hole between two blocks.
    pub const fn gap(self) -> u64 {
        self.stride - self.len
    }

    pub const fn is_contiguous(self) -> bool {
        self.count == 1
    }

    /// How many bytes of the run lie in `lo .. hi`.
    pub fn bytes_in(self, lo: u64, hi: u64) -> u64 {
        self.bytes_before(hi).saturating_sub(self.bytes_before(lo))
    }

    /// The blocks inside `lo .. hi`, cut at its ends.
    pub fn blocks_in(self, lo: u64, hi: u64) -> impl Iterator<Item = Block> {
        self.indices_in(lo, hi).map(move |index| {
            let start = self.offset + index * self.stride;
            let from = start.max(lo);
            let len = (start + self.len).min(hi) - from;
            Block { file: from, before: index * self.len + (from - start), len }
        })
    }

    pub fn blocks(self) -> impl Iterator<Item = Block> {
        self.blocks_in(0, u64::MAX)
    }

    /// The part of the run inside `lo .. hi`: at most a cut block, whole blocks, and a cut block.
    pub fn clip(self, lo: u64, hi: u64) -> impl Iterator<Item = Self> {
        let Range { start: first, end } = self.indices_in(lo, hi);
        let (mut head, mut middle, mut tail) = (None, None, None);
        if first < end {
            let start_of = |index: u64| self.offset + index * self.stride;
            let head_cut = start_of(first) < lo;
            let tail_cut = start_of(end - 1) + self.len > hi;
            let cut = |index: u64| {
                let from = start_of(index).max(lo);
                Self::contiguous(from, (start_of(index) + self.len).min(hi) - from)
            };
            let (mut whole_from, mut whole_to) = (first, end);
            if head_cut {
                head = Some(cut(first));
                whole_from += 1;
            }
            if tail_cut && whole_from < whole_to {
                tail = Some(cut(end - 1));
                whole_to -= 1;
            }
            if whole_from < whole_to {
                middle = Self::strided(start_of(whole_from), self.len, self.stride, whole_to - whole_from);
            }
        }
        [head, middle, tail].into_iter().flatten()
    }

    /// The first `count` blocks and the rest.
    pub(super) fn split(self, count: u64) -> (Self, Option<Self>) {
        let part = |offset, count| Self::strided(offset, self.len, self.stride, count);
        let rest = part(self.offset + count * self.stride, self.count - count);
        (part(self.offset, count).unwrap_or(self), rest)
    }

    fn bytes_before(self, at: u64) -> u64 {
        if at <= self.offset {
            return 0;
        }
        let past = at - self.offset;
        let index = (past / self.stride).min(self.count - 1);
        index * self.len + (past - index * self.stride).min(self.len)
    }

    /// The blocks that have a byte in `lo .. hi`.
    fn indices_in(self, lo: u64, hi: u64) -> Range<u64> {
        let first = self.first_ending_after(lo);
        first..if lo < hi { self.first_from(hi) } else { first }
    }

    fn first_ending_after(self, lo: u64) -> u64 {
        let first_end = self.offset + self.len;
        if lo < first_end { 0 } else { ((lo - first_end) / self.stride + 1).min(self.count) }
    }

    fn first_from(self, hi: u64) -> u64 {
        if hi <= self.offset { 0 } else { ((hi - self.offset - 1) / self.stride + 1).min(self.count) }
    }
}

impl From<Extent> for Run {
    fn from(extent: Extent) -> Self {
        Self::contiguous(extent.offset.0, extent.len.0)
    }
}

/// Runs in a program's order; regular sequences of extents become one run as they are pushed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunList {
    runs: Vec<Run>,
}

impl RunList {
    pub const fn new() -> Self {
        Self { runs: Vec::new() }
    }

    pub fn as_slice(&self) -> &[Run] {
        &self.runs
    }

    pub fn into_vec(self) -> Vec<Run> {
        self.runs
    }

    pub fn push_run(&mut self, run: Run) {
        if run.is_contiguous() {
            self.push(Extent::new(run.offset, run.len));
        } else {
            self.runs.push(run);
        }
    }

    pub fn push(&mut self, extent: Extent) {
        let (offset, len) = (extent.offset.0, extent.len.0);
        if len == 0 {
            return;
        }
        let Some(last) = self.runs.last_mut() else {
            self.runs.push(extent.into());
            return;
        };
        if last.end() == offset {
            let (whole, tail) = last.split(last.count - 1);
            if let (false, Some(tail)) = (last.is_contiguous(), tail) {
                *last = whole;
                self.runs.push(Run::contiguous(tail.offset, tail.len + len));
            } else {
                *last = Run::contiguous(last.offset, last.len + len);
            }
        } else if last.len == len && last.continues_at(offset) {
            last.stride = if last.count == 1 { offset - last.offset } else { last.stride };
            last.count += 1;
        } else {
            self.runs.push(extent.into());
        }
    }
}

impl Run {
    fn continues_at(self, offset: u64) -> bool {
        if self.count == 1 { offset > self.end() } else { offset == self.offset + self.count * self.stride }
    }
}

impl FromIterator<Extent> for RunList {
    fn from_iter<I: IntoIterator<Item = Extent>>(iter: I) -> Self {
        let mut list = Self::new();
        iter.into_iter().for_each(|e| list.push(e));
        list
    }
}

impl From<&ExtentList> for RunList {
    fn from(list: &ExtentList) -> Self {
        list.as_slice().iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn any(random: &mut Random) -> Run {
        let len = 1 + random.below(6);
        Run::strided(random.below(30), len, len + random.below(9), 1 + random.below(9)).unwrap()
    }

    #[test]
    fn arithmetic_agrees_with_counting() {
        for seed in 0..5000 {
            let mut random = Random::new(seed);
            let run = any(&mut random);
            let (a, b) = (random.below(150), random.below(150));
            let (lo, hi) = (a.min(b), a.max(b));
            let counted: u64 = run
                .blocks()
                .filter_map(|k| Extent::new(k.file, k.len).overlap(Extent::new(lo, hi - lo)))
                .map(|e| e.len.0)
                .sum();
            assert_eq!(run.bytes_in(lo, hi), counted, "seed {seed}");
            assert_eq!(run.blocks_in(lo, hi).map(|k| k.len).sum::<u64>(), counted, "seed {seed}");
            assert_eq!(run.clip(lo, hi).map(Run::bytes).sum::<u64>(), counted, "seed {seed}");
            let clipped: Vec<_> = run.clip(lo, hi).flat_map(Run::blocks).map(|k| (k.file, k.len)).collect();
            let blocks: Vec<_> = run.blocks_in(lo, hi).map(|k| (k.file, k.len)).collect();
            assert_eq!(clipped, blocks, "seed {seed}");
        }
    }

    #[test]
    fn pushed_extents_come_back_in_order() {
        for seed in 0..5000 {
            let mut random = Random::new(seed);
            let mut list = RunList::new();
            let mut plain = ExtentList::new();
            for _ in 0..random.below(20) {
                let extent = Extent::new(random.below(6) * 4, random.below(3) * 2);
                list.push(extent);
                plain.push(extent);
            }
            let again: ExtentList = list
                .as_slice()
                .iter()
                .flat_map(|run| run.blocks())
                .map(|k| Extent::new(k.file, k.len))
                .collect();
            assert_eq!(again, plain, "seed {seed}");
        }
    }

    #[test]
    fn a_column_is_one_run() {
        let column: RunList = (0..1000).map(|i| Extent::new(8 + i * 36, 4)).collect();
        assert_eq!(column.as_slice(), [Run::strided(8, 4, 36, 1000).unwrap()]);
    }

    #[test]
    fn what_makes_no_run_is_refused() {
        assert_eq!(Run::strided(0, 0, 1, 1), None);
        assert_eq!(Run::strided(0, 8, 4, 2), None);
        assert_eq!(Run::strided(1 << 62, 1, 1 << 62, 3), None);
        assert!(Run::strided((1 << 63) - 1, 1, 1, 1).is_some());
    }
}
