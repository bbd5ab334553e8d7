//! The memory that a caller lends for a commit or a fetch. Each variable's bytes are one slice; one after another they are
//! the rank's stream, in which the schedule names places.

use std::ops::Range;

/// What a rank writes.
#[derive(Debug)]
pub struct Lent<'a> {
    slices: Vec<(u64, &'a [u8])>,
    stored: Vec<Range<u64>>,
}

/// Where a rank's bytes are to be read into.
#[derive(Debug)]
pub struct Taken<'a> {
    slices: Vec<(u64, &'a mut [u8])>,
}

impl<'a> Lent<'a> {
    pub fn new(variables: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut start = 0;
        let place = |slice: &'a [u8]| {
            let at = start;
            start += slice.len() as u64;
            (at, slice)
        };
        let slices = variables.into_iter().map(place).filter(|(_, slice)| !slice.is_empty()).collect();
        Self { slices, stored: Vec::new() }
    }

    /// Says which parts of the stream are in the file already, in order and apart from each other: where a rank writes its
    /// own bytes itself, it leaves them out.
    pub fn except(mut self, stored: Vec<Range<u64>>) -> Self {
        self.stored = stored;
        self
    }

    pub fn bytes(&self) -> u64 {
        self.slices.last().map_or(0, |(start, slice)| start + slice.len() as u64)
    }

    /// How many bytes from `source` on are in the file already.
    pub fn stored(&self, source: u64) -> u64 {
        let number = self.stored.partition_point(|range| range.end <= source);
        self.stored.get(number).filter(|range| range.start <= source).map_or(0, |range| range.end - source)
    }

    /// How many bytes from `source` on are not.
    pub fn unstored(&self, source: u64) -> u64 {
        let number = self.stored.partition_point(|range| range.end <= source);
        self.stored.get(number).map_or(u64::MAX, |range| range.start.saturating_sub(source))
    }

    /// `len` bytes from `source` on; they lie in one variable.
    pub fn at(&self, source: u64, len: u64) -> Option<&'a [u8]> {
        let number = self.slices.partition_point(|(start, _)| *start <= source).checked_sub(1)?;
        let (start, slice) = self.slices[number];
        let from = usize::try_from(source - start).ok()?;
        slice.get(from..from.checked_add(usize::try_from(len).ok()?)?)
    }
}

impl<'a> Taken<'a> {
    pub fn new(variables: impl IntoIterator<Item = &'a mut [u8]>) -> Self {
        let mut start = 0;
        let place = |slice: &'a mut [u8]| {
            let at = start;
            start += slice.len() as u64;
            (at, slice)
        };
        Self { slices: variables.into_iter().map(place).filter(|(_, slice)| !slice.is_empty()).collect() }
    }

    pub fn bytes(&self) -> u64 {
        self.slices.last().map_or(0, |(start, slice)| start + slice.len() as u64)
    }

    /// `len` bytes from `source` on; they lie in one variable.
    pub fn at(&mut self, source: u64, len: u64) -> Option<&mut [u8]> {
        let number = self.slices.partition_point(|(start, _)| *start <= source).checked_sub(1)?;
        let (start, slice) = &mut self.slices[number];
        let from = usize::try_from(source - *start).ok()?;
        slice.get_mut(from..from.checked_add(usize::try_from(len).ok()?)?)
    }
}
