//! A rank as the aggregator of one part: two buffers in turn, each filled, written and released (or read, released and
//! emptied) round after round.

use super::{Action, Misuse};
use crate::declare::Direction;
use crate::schedule::WindowId;
use std::collections::VecDeque;

#[derive(Debug)]
pub(super) struct Aggregator {
    direction: Direction,
    /// Bytes of each round that members put or get.
    expected: Vec<u64>,
    buffers: [Buffer; 2],
    /// Rounds begun with, released to the members, and finished.
    begun: u32,
    released: u32,
    finished: u32,
    poisoned: bool,
}

#[derive(Debug, Default)]
struct Buffer {
    arrived: u64,
    storing: bool,
    stored: bool,
}

impl Aggregator {
    pub fn new(direction: Direction, expected: Vec<u64>) -> Self {
        let buffers = [Buffer::default(), Buffer::default()];
        Self { direction, expected, buffers, begun: 0, released: 0, finished: 0, poisoned: false }
    }

    pub fn rounds(&self) -> u64 {
        self.expected.len() as u64
    }

    pub fn arrived(&mut self, window: WindowId, bytes: u64, ok: bool) -> Result<(), Misuse> {
        let expected = *self.expected.get(window.round as usize).ok_or(Misuse::UnknownWindow(window))?;
        let first_open = self.finished;
        if !(first_open..first_open.saturating_add(2)).contains(&window.round) {
            return Err(Misuse::NotBegun);
        }
        let buffer = &mut self.buffers[window.buffer() as usize];
        buffer.arrived += bytes;
        self.poisoned |= !ok;
        if buffer.arrived > expected { Err(Misuse::TooManyBytes(window)) } else { Ok(()) }
    }

    pub fn stored(&mut self, window: WindowId, ok: bool) -> Result<(), Misuse> {
        let buffer = &mut self.buffers[window.buffer() as usize];
        if !buffer.storing {
            return Err(Misuse::NotBegun);
        }
        (buffer.storing, buffer.stored) = (false, true);
        self.poisoned |= !ok;
        Ok(())
    }

    /// Goes on as far as it can.
    pub fn serve(&mut self, key: (u32, u32), actions: &mut VecDeque<Action>, open: &mut u64) {
        match self.direction {
            Direction::Write => self.serve_write(key, actions, open),
            Direction::Read => self.serve_read(key, actions, open),
        }
    }

    fn serve_write(&mut self, key: (u32, u32), actions: &mut VecDeque<Action>, open: &mut u64) {
        loop {
            let rounds = self.expected.len() as u32;
            // Begin to write what is complete, in order; at most two rounds are open.
            while self.begun < rounds && self.begun < self.finished + 2 && self.complete(self.begun) {
                self.begin(key, self.begun, actions);
                self.begun += 1;
            }
            let before = self.finished;
            while self.finished < self.begun && self.buffer(self.finished).stored {
                *self.buffer(self.finished) = Buffer::default();
                self.finished += 1;
                *open -= 1;
            }
            if self.finished == before {
                break;
            }
            self.release(key, self.finished, actions);
        }
    }

    fn serve_read(&mut self, key: (u32, u32), actions: &mut VecDeque<Action>, open: &mut u64) {
        loop {
            let rounds = self.expected.len() as u32;
            let before = (self.begun, self.released, self.finished);
            while self.begun < rounds && self.begun < self.finished + 2 {
                self.begin(key, self.begun, actions);
                self.begun += 1;
            }
            while self.released < self.begun && self.buffer(self.released).stored {
                self.release(key, self.released + 1, actions);
            }
            while self.finished < self.released && self.complete(self.finished) {
                *self.buffer(self.finished) = Buffer::default();
                self.finished += 1;
                *open -= 1;
            }
            if before == (self.begun, self.released, self.finished) {
                break;
            }
        }
    }

    /// Writes or reads a round, unless there is nothing in it or no use in doing it.
    fn begin(&mut self, (area, part): (u32, u32), round: u32, actions: &mut VecDeque<Action>) {
        let skip = self.poisoned || self.expected[round as usize] == 0;
        let buffer = self.buffer(round);
        (buffer.storing, buffer.stored) = (!skip, skip);
        if !skip {
            let window = WindowId { area, part, round };
            actions.push_back(match self.direction {
                Direction::Write => Action::Write { window },
                Direction::Read => Action::Read { window },
            });
        }
    }

    fn release(&mut self, (area, part): (u32, u32), rounds: u32, actions: &mut VecDeque<Action>) {
        self.released = rounds;
        actions.push_back(Action::Release { area, part, rounds, ok: !self.poisoned });
    }

    fn buffer(&mut self, round: u32) -> &mut Buffer {
        &mut self.buffers[(round % 2) as usize]
    }

    fn complete(&mut self, round: u32) -> bool {
        self.buffer(round).arrived == self.expected[round as usize]
    }
}
