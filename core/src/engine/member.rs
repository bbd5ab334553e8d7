//! A rank as one of those that send to (or receive from) an aggregator: it moves its windows in the order of rounds, as
//! far as the aggregator has released buffers.

use super::{Action, Misuse};
use crate::declare::Direction;
use crate::ids::Rank;
use crate::schedule::WindowId;
use std::collections::VecDeque;

#[derive(Debug)]
pub(super) struct Member {
    direction: Direction,
    aggregator: Rank,
    /// (round, bytes), in order; those before `next` have been begun.
    windows: Vec<(u32, u64)>,
    next: usize,
    moving: VecDeque<(u32, u64)>,
    released: u32,
    poisoned: bool,
}

impl Member {
    pub fn new(direction: Direction, aggregator: Rank) -> Self {
        let (windows, moving) = (Vec::new(), VecDeque::new());
        Self { direction, aggregator, windows, next: 0, moving, released: 0, poisoned: false }
    }

    pub fn add(&mut self, round: u32, bytes: u64) {
        self.windows.push((round, bytes));
    }

    pub fn windows(&self) -> u64 {
        self.windows.len() as u64
    }

    pub const fn poisoned(&self) -> bool {
        self.poisoned
    }

    pub fn released(&mut self, rounds: u32, ok: bool) {
        self.released = self.released.max(rounds);
        self.poisoned |= !ok;
    }

    /// The next window, if its buffer is released to this rank.
    pub fn next(&mut self, (area, part): (u32, u32)) -> Option<Action> {
        let (round, bytes) = *self.windows.get(self.next)?;
        let may = match self.direction {
            // Both buffers are free at first, later when the round before the last has been written.
            Direction::Write => round < self.released.saturating_add(2),
            Direction::Read => round < self.released,
        };
        if !may {
            return None;
        }
        self.next += 1;
        self.moving.push_back((round, bytes));
        let window = WindowId { area, part, round };
        Some(match self.direction {
            Direction::Write => Action::Put { window, to: self.aggregator, bytes },
            Direction::Read => Action::Get { window, from: self.aggregator, bytes },
        })
    }

    pub fn moved(&mut self, window: WindowId) -> Result<(Rank, u64), Misuse> {
        let at = self.moving.iter().position(|(round, _)| *round == window.round).ok_or(Misuse::NotBegun)?;
        let (_, bytes) = self.moving.remove(at).ok_or(Misuse::NotBegun)?;
        Ok((self.aggregator, bytes))
    }

    /// A window that was begun will not be moved.
    pub fn skipped(&mut self, round: u32) {
        self.moving.retain(|(moving, _)| *moving != round);
    }
}
