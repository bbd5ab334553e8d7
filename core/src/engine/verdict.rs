//! How a commit ended. Verdicts of all ranks are joined into one, the same whatever the order: the lowest failing rank's
//! fault is the one that everybody reports.

use crate::ids::Rank;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    Good,
    Failed(Fault),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fault {
    pub rank: Rank,
    pub kind: FaultKind,
    /// The driver's code, an `errno` for storage; 0 to 2^24 - 1.
    pub code: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    Put,
    Get,
    Write,
    Read,
}

impl Verdict {
    const CODE: u64 = 0xFF_FFFF;
    const KINDS: [FaultKind; 4] = [FaultKind::Put, FaultKind::Get, FaultKind::Write, FaultKind::Read];

    pub fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Good, verdict) | (verdict, Self::Good) => verdict,
            (Self::Failed(a), Self::Failed(b)) => Self::Failed(a.min(b)),
        }
    }

    /// As a number, so that a reduction to the minimum joins verdicts.
    pub fn encode(self) -> u64 {
        match self {
            Self::Good => u64::MAX,
            Self::Failed(Fault { rank, kind, code }) => {
                u64::from(rank.0) << 32 | (kind as u64) << 24 | (code as u64 & Self::CODE)
            }
        }
    }

    pub fn decode(number: u64) -> Self {
        if number == u64::MAX {
            return Self::Good;
        }
        let kind = Self::KINDS[(number >> 24 & 3) as usize];
        Self::Failed(Fault { rank: Rank((number >> 32) as u32), kind, code: (number & Self::CODE) as i32 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_number_is_the_joined_verdict() {
        let fault = |rank, kind, code| Verdict::Failed(Fault { rank: Rank(rank), kind, code });
        let all = [
            Verdict::Good,
            fault(0, FaultKind::Read, 5),
            fault(7, FaultKind::Put, 28),
            fault(7, FaultKind::Write, 5),
            fault(u32::MAX, FaultKind::Read, 0xFF_FFFE),
        ];
        for a in all {
            assert_eq!(Verdict::decode(a.encode()), a);
            for b in all {
                assert_eq!(a.join(b), b.join(a));
                assert_eq!(Verdict::decode(a.encode().min(b.encode())), a.join(b));
            }
        }
    }
}
