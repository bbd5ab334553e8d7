//! Virtual time: whole picoseconds since the start, so that sums do not depend on the order of additions and two runs
//! of one scenario are the same on every computer. 2^64 ps are 213 days.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

impl Time {
    pub const ZERO: Self = Self(0);
    const PER_S: f64 = 1e12;

    pub fn from_s(seconds: f64) -> Self {
        Self((seconds * Self::PER_S).round() as u64)
    }

    pub fn as_s(self) -> f64 {
        self.0 as f64 / Self::PER_S
    }

    /// How long `bytes` take at a rate.
    pub fn of_bytes(bytes: u64, bytes_per_s: f64) -> Self {
        Self::from_s(bytes as f64 / bytes_per_s)
    }

    /// This many times as long, by a factor that need not be whole.
    pub fn scaled(self, factor: f64) -> Self {
        Self((self.0 as f64 * factor).round() as u64)
    }
}

impl Add for Time {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Time {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Time {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Mul<u64> for Time {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }
}

impl Sum for Time {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::ZERO, Add::add)
    }
}
