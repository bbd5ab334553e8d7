//! What a rank will write or read in one commit: any number of variables, each a list of runs. The rank's memory is
//! spoken of as a stream: the bytes of all its runs in the order in which they were declared; so a piece is named by its
//! place in that stream and its place in the file, never by an address.
//!
//! Invariant: the runs of a [`Declared`] are sorted by file offset, and those of a write do not overlap. Where a rank
//! declared a byte twice, the later declaration is kept and the earlier one dropped, so the order in which pieces travel
//! no longer matters. Overlapping reads are kept: each place in memory gets its bytes. A run is of one variable: the bytes
//! of two lie in different places.

mod overlap;
mod summary;

pub(crate) use summary::merge_spans;
pub use summary::{Outline, Pattern, Span, Summary};

use crate::extent::{Run, fuse};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    Write,
    Read,
}

/// A run, and where its first byte is in the rank's stream; the others follow it there without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourcedRun {
    pub run: Run,
    pub source: u64,
}

/// What one rank declared, ready to be planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    direction: Direction,
    runs: Vec<SourcedRun>,
    coverage: Vec<Run>,
    pattern: Pattern,
    stream_bytes: u64,
}

/// How two declarations differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    /// In more than their place in the file.
    None,
    /// Every offset by this much, modulo 2^64.
    By(u64),
    /// Both are empty.
    Any,
}

/// Collects the variables of a commit.
#[derive(Clone, Debug)]
pub struct Declaration {
    direction: Direction,
    runs: Vec<SourcedRun>,
    /// Where each variable's runs start.
    variables: Vec<usize>,
    stream_bytes: u64,
}

impl Declaration {
    pub const fn new(direction: Direction) -> Self {
        Self { direction, runs: Vec::new(), variables: Vec::new(), stream_bytes: 0 }
    }

    /// Adds one variable; its bytes follow those of the one before in the rank's stream.
    pub fn variable(&mut self, runs: impl IntoIterator<Item = Run>) -> &mut Self {
        self.variables.push(self.runs.len());
        for run in runs {
            self.runs.push(SourcedRun { run, source: self.stream_bytes });
            self.stream_bytes += run.bytes();
        }
        self
    }

    /// Bytes of the rank's stream so far.
    pub const fn stream_bytes(&self) -> u64 {
        self.stream_bytes
    }

    /// Each variable as a declaration of its own.
    pub fn finish_each(self) -> Vec<Declared> {
        let ends = self.variables.iter().skip(1).copied().chain([self.runs.len()]);
        let alone = |(start, end): (&usize, usize)| {
            let mut one = Self::new(self.direction);
            one.variable(self.runs[*start..end].iter().map(|sourced| sourced.run));
            one.finish()
        };
        self.variables.iter().zip(ends).map(alone).collect()
    }

    pub fn finish(self) -> Declared {
        let pattern = Pattern::recognise(&self.runs, &self.variables);
        let first_of = |at: &usize| self.runs.get(*at).map_or(self.stream_bytes, |first| first.source);
        let starts: Vec<u64> = self.variables.iter().map(first_of).collect();
        let mut runs = self.runs;
        runs.sort_by_key(|sourced| sourced.run.offset());
        if self.direction == Direction::Write {
            runs = overlap::last_wins(runs, &starts);
        }
        let coverage = fuse(runs.iter().map(|sourced| sourced.run));
        Declared { direction: self.direction, runs, coverage, pattern, stream_bytes: self.stream_bytes }
    }
}

impl Declared {
    /// Nothing at all: what a rank without data declares.
    pub const fn nothing(direction: Direction) -> Self {
        Self { direction, runs: Vec::new(), coverage: Vec::new(), pattern: Pattern::Nothing, stream_bytes: 0 }
    }

    pub const fn direction(&self) -> Direction {
        self.direction
    }

    /// Sorted by file offset.
    pub fn runs(&self) -> &[SourcedRun] {
        &self.runs
    }

    /// The same bytes of the file in as few runs as possible; this is what other ranks need to know.
    pub fn coverage(&self) -> &[Run] {
        &self.coverage
    }

    pub const fn pattern(&self) -> Pattern {
        self.pattern
    }

    /// Bytes of the rank's stream, those that a later declaration replaced included.
    pub const fn stream_bytes(&self) -> u64 {
        self.stream_bytes
    }

    /// How far `other` lies from here, if it is the same otherwise.
    pub fn shift_to(&self, other: &Self) -> Shift {
        let same = self.direction == other.direction
            && self.stream_bytes == other.stream_bytes
            && self.runs.len() == other.runs.len();
        let (Some(here), Some(there)) = (self.runs.first(), other.runs.first()) else {
            return if same { Shift::Any } else { Shift::None };
        };
        let by = there.run.offset().wrapping_sub(here.run.offset());
        let mut pairs = self.runs.iter().zip(&other.runs);
        let moved = |(a, b): (&SourcedRun, &SourcedRun)| {
            a.source == b.source
                && a.run.offset().wrapping_add(by) == b.run.offset()
                && (a.run.len(), a.run.stride(), a.run.count())
                    == (b.run.len(), b.run.stride(), b.run.count())
        };
        if same && pairs.all(moved) { Shift::By(by) } else { Shift::None }
    }

    /// Bytes that will travel.
    pub fn bytes(&self) -> u64 {
        self.runs.iter().map(|sourced| sourced.run.bytes()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::collections::BTreeMap;

    #[test]
    fn the_last_declaration_of_a_byte_is_the_one_kept() {
        for seed in 0..4000 {
            let mut random = Random::new(seed);
            let mut declaration = Declaration::new(Direction::Write);
            let mut expected = BTreeMap::new();
            let (mut source, mut starts) = (0, vec![0]);
            for _ in 0..random.below(7) {
                let stride = 1 + random.below(9);
                let len = 1 + random.below(stride);
                let Some(run) = Run::strided(random.below(50), len, stride, 1 + random.below(7)) else {
                    continue;
                };
                declaration.variable([run]);
                for block in run.blocks() {
                    expected.extend((0..block.len).map(|i| (block.file + i, source + block.before + i)));
                }
                source += run.bytes();
                starts.push(source);
            }
            let declared = declaration.finish();
            let mut found = BTreeMap::new();
            for sourced in declared.runs() {
                // Each variable's bytes are lent by themselves.
                let last = sourced.source + sourced.run.bytes() - 1;
                let of = |byte: u64| starts.partition_point(|start| *start <= byte);
                assert_eq!(of(sourced.source), of(last), "seed {seed}: {sourced:?} is of two variables");
                for block in sourced.run.blocks() {
                    for i in 0..block.len {
                        let twice = found.insert(block.file + i, sourced.source + block.before + i);
                        assert_eq!(twice, None, "seed {seed}: byte {} twice", block.file + i);
                    }
                }
            }
            assert_eq!(found, expected, "seed {seed}");
        }
    }

    #[test]
    fn interleaved_columns_are_left_as_they_are() {
        let mut declaration = Declaration::new(Direction::Write);
        for column in 0..9 {
            declaration.variable([Run::strided(4 * column, 4, 36, 1_000_000).unwrap()]);
        }
        let declared = declaration.finish();
        assert_eq!(declared.runs().len(), 9);
        assert_eq!(declared.coverage(), [Run::contiguous(0, 36_000_000)]);
        assert_eq!(declared.pattern(), Pattern::ArrayOfStructures);
    }

    #[test]
    fn variables_one_by_one_are_all_the_bytes() {
        let mut declaration = Declaration::new(Direction::Write);
        let rows = Run::strided(100, 4, 10, 5).unwrap();
        declaration.variable([Run::contiguous(0, 7)]).variable([]).variable([rows, Run::contiguous(200, 3)]);
        let each = declaration.clone().finish_each();
        assert_eq!(each.iter().map(Declared::bytes).collect::<Vec<_>>(), [7, 0, 23]);
        assert_eq!(each.iter().map(Declared::bytes).sum::<u64>(), declaration.finish().bytes());
    }

    #[test]
    fn patterns_have_names() {
        let pattern = |variables: &[&[Run]]| {
            let mut declaration = Declaration::new(Direction::Write);
            for runs in variables {
                declaration.variable(runs.iter().copied());
            }
            declaration.finish().pattern()
        };
        let at = Run::contiguous;
        let strided = |offset| Run::strided(offset, 4, 64, 10).unwrap();
        assert_eq!(pattern(&[]), Pattern::Nothing);
        assert_eq!(pattern(&[&[]]), Pattern::Nothing);
        assert_eq!(pattern(&[&[at(8, 8)]]), Pattern::Contiguous);
        assert_eq!(pattern(&[&[at(0, 20)], &[at(20, 20)], &[at(40, 20)]]), Pattern::ArrayOfStructures);
        assert_eq!(pattern(&[&[at(0, 20)], &[at(1000, 20)]]), Pattern::StructureOfArrays);
        assert_eq!(pattern(&[&[strided(0)]]), Pattern::Strided);
        assert_eq!(pattern(&[&[strided(0)], &[strided(10_000)]]), Pattern::Strided);
        assert_eq!(pattern(&[&[at(0, 1), at(10, 2), at(40, 3)]]), Pattern::Irregular);
    }
}
