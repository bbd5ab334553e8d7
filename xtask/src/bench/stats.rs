//! Medians, quartiles, a seeded shuffle, and whether a measurement can be trusted.

/// First quartile, median, third quartile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quartiles {
    pub low: f64,
    pub median: f64,
    pub high: f64,
}

impl Quartiles {
    /// Of at least one value; between two values by linear interpolation.
    pub fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = share * (sorted.len() - 1) as f64;
            let (below, part) = (place.floor() as usize, place.fract());
            let above = sorted[(below + 1).min(sorted.len() - 1)];
            sorted[below] + (above - sorted[below]) * part
        };
        Self { low: at(0.25), median: at(0.5), high: at(0.75) }
    }
}

pub fn median(values: &[f64]) -> f64 {
    Quartiles::of(values).median
}

/// SplitMix64: enough to shuffle, and the same everywhere for a seed.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = (self.next() % (i as u64 + 1)) as usize;
            items.swap(i, j);
        }
    }
}

/// What the second run of the limit says about the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    Calm,
    /// Differences under a third mean nothing.
    Noisy,
    /// Do not use these figures.
    Useless,
}

impl Noise {
    /// From the ratio of the limit to itself, and the share of the machine that other processes used.
    pub fn of(again: Quartiles, others: f64) -> Self {
        let spread = (again.high - again.low).max(2.0 * (again.median - 1.0).abs()).max(2.0 * others);
        match spread {
            s if s <= 0.25 => Noise::Calm,
            s if s <= 0.6 => Noise::Noisy,
            _ => Noise::Useless,
        }
    }

    pub fn sentence(self) -> &'static str {
        match self {
            Noise::Calm => "calm enough: differences above 15 % mean something",
            Noise::Noisy => "NOISY: only differences above a third mean something",
            Noise::Useless => "TOO NOISY TO TRUST: run it again on a quiet machine",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_interpolate() {
        let q = Quartiles::of(&[4.0, 1.0, 3.0, 2.0]);
        assert_eq!((q.low, q.median, q.high), (1.75, 2.5, 3.25));
        assert_eq!(Quartiles::of(&[7.0]), Quartiles { low: 7.0, median: 7.0, high: 7.0 });
    }

    #[test]
    fn the_shuffle_repeats_and_keeps_everything() {
        let shuffled = |seed| {
            let mut items: Vec<u32> = (0..20).collect();
            Random(seed).shuffle(&mut items);
            items
        };
        assert_eq!(shuffled(7), shuffled(7));
        assert_ne!(shuffled(7), shuffled(8));
        let mut sorted = shuffled(7);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<u32>>());
    }

    #[test]
    fn noise_is_judged_by_spread_and_by_bias() {
        let q = |low, median, high| Noise::of(Quartiles { low, median, high }, 0.02);
        assert_eq!(q(0.95, 1.0, 1.05), Noise::Calm);
        assert_eq!(q(0.8, 1.0, 1.2), Noise::Noisy);
        assert_eq!(q(1.3, 1.4, 1.5), Noise::Useless);
        assert_eq!(Noise::of(Quartiles { low: 1.0, median: 1.0, high: 1.0 }, 0.5), Noise::Useless);
    }
}
