//! What other ranks need to know of a rank, in two sizes. A [`Summary`] is a few words and goes to everybody; an
//! [`Outline`] is a bounded list of spans and goes to the rank's own subgroup. The exact runs go to the aggregators that
//! get their bytes, and to nobody else. So planning at 64K ranks never needs all ranks' extents.

use super::{Declared, SourcedRun};
use crate::extent::{Extent, Run, fuse};
use std::fmt;

/// How a rank's data lies in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pattern {
    #[default]
    Nothing,
    /// One run of bytes.
    Contiguous,
    /// Several variables that lie side by side and fill one run of bytes.
    ArrayOfStructures,
    /// Several variables, each one run of bytes, apart from each other.
    StructureOfArrays,
    /// Regular runs with gaps.
    Strided,
    Irregular,
}

/// What everybody knows of a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
    pub bytes: u64,
    /// In how many runs of bytes, after merging what touches.
    pub pieces: u64,
    pub pattern: Pattern,
}

/// A stretch of the file of which a rank has `bytes`, more or less evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    pub start: u64,
    pub end: u64,
    pub bytes: u64,
}

/// What a rank's subgroup knows of it: sorted spans that do not touch, at most [`Outline::SPANS_MAX`] of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    spans: Vec<Span>,
}

impl Declared {
    pub fn summary(&self) -> Summary {
        let (Some(first), Some(end)) =
            (self.coverage().first(), self.coverage().iter().map(|run| run.end()).max())
        else {
            return Summary::default();
        };
        Summary {
            start: first.offset(),
            end,
            bytes: self.bytes(),
            pieces: self.coverage().iter().map(|run| run.count()).sum(),
            pattern: self.pattern(),
        }
    }
}

impl Summary {
    pub const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    pub const fn range(&self) -> Extent {
        Extent::new(self.start, self.end - self.start)
    }
}

impl Span {
    /// The part inside `lo .. hi`, with its share of the bytes.
    pub fn clip(self, lo: u64, hi: u64) -> Option<Self> {
        let (start, end) = (self.start.max(lo), self.end.min(hi));
        (start < end).then(|| {
            let share = u128::from(self.bytes) * u128::from(end - start) / u128::from(self.end - self.start);
            Self { start, end, bytes: share as u64 }
        })
    }
}

impl Outline {
    pub const SPANS_MAX: usize = 1024;
    /// Gaps up to a page cost less as room in a buffer than as entries in a list.
    pub const GAP_MAX: u64 = 4096;

    pub fn of(declared: &Declared) -> Self {
        let mut gap = Self::GAP_MAX;
        loop {
            let spans = spans_with_gaps_closed(declared.coverage(), gap);
            if spans.len() <= Self::SPANS_MAX {
                return Self { spans };
            }
            gap = gap.saturating_mul(4);
        }
    }

    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// The spans inside `lo .. hi`.
    pub fn clip(&self, lo: u64, hi: u64) -> impl Iterator<Item = Span> {
        let from = self.spans.partition_point(|span| span.end <= lo);
        self.spans[from..]
            .iter()
            .take_while(move |span| span.start < hi)
            .filter_map(move |span| span.clip(lo, hi))
    }
}

fn spans_with_gaps_closed(coverage: &[Run], gap: u64) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for run in coverage {
        if run.gap() <= gap || run.count() > Outline::SPANS_MAX as u64 {
            spans.push(Span { start: run.offset(), end: run.end(), bytes: run.bytes() });
        } else {
            spans.extend(run.blocks().map(|k| Span { start: k.file, end: k.file + k.len, bytes: k.len }));
        }
    }
    merge_spans(spans, gap)
}

/// Sorted, with gaps up to `gap` closed.
pub(crate) fn merge_spans(mut spans: Vec<Span>, gap: u64) -> Vec<Span> {
    if !spans.is_sorted() {
        spans.sort_unstable();
    }
    let mut merged: Vec<Span> = Vec::new();
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start <= last.end.saturating_add(gap) => {
                last.end = last.end.max(span.end);
                last.bytes = (last.bytes + span.bytes).min(last.end - last.start);
            }
            _ => merged.push(span),
        }
    }
    merged
}

impl Pattern {
    pub(super) fn recognise(runs: &[SourcedRun], starts: &[usize]) -> Self {
        let ends = starts.iter().skip(1).copied().chain([runs.len()]);
        let variable = |(start, end): (usize, usize)| fuse(runs[start..end].iter().map(|s| s.run));
        let variables: Vec<Vec<Run>> =
            starts.iter().copied().zip(ends).map(variable).filter(|runs| !runs.is_empty()).collect();
        let all = fuse(runs.iter().map(|s| s.run));
        let one_run = |runs: &Vec<Run>| matches!(runs[..], [run] if run.is_contiguous());
        match variables.len() {
            0 => Self::Nothing,
            1 if one_run(&all) => Self::Contiguous,
            _ if one_run(&all) => Self::ArrayOfStructures,
            2.. if variables.iter().all(one_run) => Self::StructureOfArrays,
            _ if variables.iter().all(|runs| runs.len() == 1) => Self::Strided,
            _ => Self::Irregular,
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "nothing",
            Self::Contiguous => "contiguous",
            Self::ArrayOfStructures => "array of structures",
            Self::StructureOfArrays => "structure of arrays",
            Self::Strided => "strided",
            Self::Irregular => "irregular",
        })
    }
}
