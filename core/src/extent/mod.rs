//! Where bytes lie in a file: single runs of bytes, lists in a program's order ([`ExtentList`]), sets with their
//! algebra ([`ExtentSet`]), and regular patterns of runs ([`Run`]). Invariant: the extents of an [`ExtentList`] are
//! never empty, and two neighbours in the list that touch in order are one extent.

mod coverage;
mod cursor;
mod run;
mod set;

pub use coverage::fuse;
pub use cursor::Cursor;
pub use run::{Block, Run, RunList};
pub use set::ExtentSet;

/// A position in a file, in bytes from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileOffset(pub u64);

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteLen(pub u64);

/// A run of bytes: `offset .. offset + len`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Extent {
    pub offset: FileOffset,
    pub len: ByteLen,
}

impl Extent {
    pub const fn new(offset: u64, len: u64) -> Self {
        Self { offset: FileOffset(offset), len: ByteLen(len) }
    }

    /// One past the last byte.
    pub const fn end(self) -> u64 {
        self.offset.0 + self.len.0
    }

    /// The bytes that both have, if any.
    pub fn overlap(self, other: Self) -> Option<Self> {
        let start = self.offset.0.max(other.offset.0);
        let end = self.end().min(other.end());
        (start < end).then(|| Self::new(start, end - start))
    }
}

/// Runs of bytes in the order in which a program named them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtentList {
    extents: Vec<Extent>,
}

impl ExtentList {
    pub const fn new() -> Self {
        Self { extents: Vec::new() }
    }

    /// Appends a run; an empty one is dropped, one that continues the last is joined to it.
    pub fn push(&mut self, extent: Extent) {
        if extent.len.0 == 0 {
            return;
        }
        match self.extents.last_mut() {
            Some(last) if last.end() == extent.offset.0 => last.len.0 += extent.len.0,
            _ => self.extents.push(extent),
        }
    }

    pub fn as_slice(&self) -> &[Extent] {
        &self.extents
    }

    pub fn is_empty(&self) -> bool {
        self.extents.is_empty()
    }

    /// The sum of all lengths.
    pub fn total(&self) -> ByteLen {
        ByteLen(self.extents.iter().map(|e| e.len.0).sum())
    }
}

impl FromIterator<Extent> for ExtentList {
    fn from_iter<I: IntoIterator<Item = Extent>>(iter: I) -> Self {
        let mut list = Self::new();
        iter.into_iter().for_each(|e| list.push(e));
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_runs_are_joined_and_empty_ones_dropped() {
        let list: ExtentList =
            [Extent::new(0, 4), Extent::new(4, 4), Extent::new(9, 0), Extent::new(10, 2), Extent::new(8, 2)]
                .into_iter()
                .collect();
        assert_eq!(list.as_slice(), [Extent::new(0, 8), Extent::new(10, 2), Extent::new(8, 2)]);
        assert_eq!(list.total(), ByteLen(12));
    }
}
