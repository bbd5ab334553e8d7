//! Sets of bytes. Invariant: the extents of an [`ExtentSet`] are sorted, never empty, and do not touch each other, so
//! that two sets with the same bytes are equal.

use super::{ByteLen, Extent};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtentSet {
    extents: Vec<Extent>,
}

impl ExtentSet {
    pub const fn new() -> Self {
        Self { extents: Vec::new() }
    }

    pub fn as_slice(&self) -> &[Extent] {
        &self.extents
    }

    pub fn into_vec(self) -> Vec<Extent> {
        self.extents
    }

    pub fn is_empty(&self) -> bool {
        self.extents.is_empty()
    }

    /// How many bytes are in the set.
    pub fn total(&self) -> ByteLen {
        ByteLen(self.extents.iter().map(|e| e.len.0).sum())
    }

    /// From the first byte to the last, holes included.
    pub fn range(&self) -> Option<Extent> {
        let (first, last) = (self.extents.first()?, self.extents.last()?);
        Some(Extent::new(first.offset.0, last.end() - first.offset.0))
    }

    pub fn contains(&self, offset: u64) -> bool {
        let after = self.extents.partition_point(|e| e.end() <= offset);
        self.extents.get(after).is_some_and(|e| e.offset.0 <= offset)
    }

    pub fn union(&self, other: &Self) -> Self {
        self.extents.iter().chain(&other.extents).copied().collect()
    }

    pub fn intersection(&self, other: &Self) -> Self {
        let (mut a, mut b) = (self.extents.iter().peekable(), other.extents.iter().peekable());
        let mut extents = Vec::new();
        while let (Some(&&x), Some(&&y)) = (a.peek(), b.peek()) {
            extents.extend(x.overlap(y));
            if x.end() < y.end() {
                a.next()
            } else {
                b.next()
            };
        }
        Self { extents }
    }

    pub fn difference(&self, other: &Self) -> Self {
        let mut extents = Vec::new();
        let mut holes = other.extents.as_slice();
        for extent in &self.extents {
            holes = &holes[holes.partition_point(|h| h.end() <= extent.offset.0)..];
            let mut start = extent.offset.0;
            for hole in holes.iter().take_while(|h| h.offset.0 < extent.end()) {
                if hole.offset.0 > start {
                    extents.push(Extent::new(start, hole.offset.0 - start));
                }
                start = hole.end();
            }
            if start < extent.end() {
                extents.push(Extent::new(start, extent.end() - start));
            }
        }
        Self { extents }
    }

    /// The part of the set inside one extent.
    pub fn clip(&self, to: Extent) -> Self {
        let from = self.extents.partition_point(|e| e.end() <= to.offset.0);
        let extents = self.extents[from..].iter().map_while(|e| e.overlap(to)).collect();
        Self { extents }
    }
}

impl FromIterator<Extent> for ExtentSet {
    fn from_iter<I: IntoIterator<Item = Extent>>(iter: I) -> Self {
        let mut all: Vec<Extent> = iter.into_iter().filter(|e| e.len.0 > 0).collect();
        if !all.is_sorted() {
            all.sort_unstable();
        }
        let mut extents: Vec<Extent> = Vec::new();
        for extent in all {
            match extents.last_mut() {
                Some(last) if last.end() >= extent.offset.0 => {
                    last.len.0 = last.len.0.max(extent.end() - last.offset.0);
                }
                _ => extents.push(extent),
            }
        }
        Self { extents }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A set as a bit map, the reference for the algebra.
    fn bits(set: &ExtentSet) -> Vec<bool> {
        (0..80).map(|byte| set.contains(byte)).collect()
    }

    fn any(random: &mut Random) -> ExtentSet {
        let count = random.below(8);
        (0..count).map(|_| Extent::new(random.below(64), random.below(12))).collect()
    }

    #[test]
    fn the_algebra_agrees_with_bit_maps() {
        for seed in 0..2000 {
            let mut random = Random::new(seed);
            let (a, b) = (any(&mut random), any(&mut random));
            let (x, y) = (bits(&a), bits(&b));
            let pairs = || x.iter().copied().zip(y.iter().copied());
            assert_eq!(bits(&a.union(&b)), pairs().map(|(p, q)| p | q).collect::<Vec<_>>(), "seed {seed}");
            assert_eq!(
                bits(&a.intersection(&b)),
                pairs().map(|(p, q)| p & q).collect::<Vec<_>>(),
                "seed {seed}"
            );
            assert_eq!(
                bits(&a.difference(&b)),
                pairs().map(|(p, q)| p & !q).collect::<Vec<_>>(),
                "seed {seed}"
            );
            assert_eq!(a.total().0, x.iter().filter(|set| **set).count() as u64, "seed {seed}");
            assert!(a.as_slice().windows(2).all(|w| w[0].end() < w[1].offset.0), "seed {seed}");
            let window = Extent::new(random.below(40), 1 + random.below(40));
            assert_eq!(a.clip(window), a.intersection(&[window].into_iter().collect()), "seed {seed}");
        }
    }
}
