//! A rank's own extents, written or read without an exchange: one window at a time, so that packing one and storing the
//! one before it can overlap, two are let out at once.

use super::{Action, Misuse};
use crate::declare::Direction;
use crate::schedule::RankSchedule;
use std::collections::VecDeque;

#[derive(Debug)]
pub(super) struct OwnWork {
    windows: VecDeque<Action>,
    storing: u32,
}

impl OwnWork {
    const AT_ONCE: u32 = 2;

    pub fn new(direction: Direction, schedule: &RankSchedule) -> Self {
        let action = |own: usize, (window, bytes): (usize, u64)| {
            let (own, window) = (own as u32, window as u32);
            match direction {
                Direction::Write => Action::WriteOwn { own, window, bytes },
                Direction::Read => Action::ReadOwn { own, window, bytes },
            }
        };
        let numbered = schedule.own.iter().enumerate();
        let windows =
            numbered.flat_map(|(number, own)| own.windows().enumerate().map(move |w| action(number, w)));
        Self { windows: windows.collect(), storing: 0 }
    }

    pub fn windows(&self) -> u64 {
        self.windows.len() as u64
    }

    /// The next window; after a failure, none is stored any more.
    pub fn next(&mut self, good: bool, open: &mut u64) -> Option<Action> {
        if !good {
            *open -= self.windows.len() as u64;
            self.windows.clear();
        }
        if self.storing >= Self::AT_ONCE {
            return None;
        }
        let action = self.windows.pop_front()?;
        self.storing += 1;
        Some(action)
    }

    pub fn stored(&mut self, open: &mut u64) -> Result<(), Misuse> {
        self.storing = self.storing.checked_sub(1).ok_or(Misuse::NotBegun)?;
        *open -= 1;
        Ok(())
    }
}
