//! The memory that the ranks of a node have in common: every rank's buffers as an aggregator, the counters that say how
//! full they are and which rounds are done, and a doorbell per rank, on which it sleeps when it has nothing to do.
//!
//! Invariants: who may touch a buffer is the engine's business. There are two sets of counters, which attempts to carry
//! something out use in turn, and in which they only grow; at the start of an attempt its owner clears the set of the next
//! one, which is also that of the one before, when nobody can be inside either: all meet at the end of every attempt.

use crate::Error;
use sago_core::ids::Rank;
use sago_core::schedule::Blocks;
use sago_mpi::{Shared, Signal, Transport};
use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::Ordering;

const LINE: usize = 64;
/// Beside a rank's doorbell, for each set: how many ranks of the node have given up, and how far the rank's bytes are from the
/// plan (plus one; zero if it has not said so).
const ALARMS: [usize; 2] = [16, 24];
const ENTERED: [usize; 2] = [32, 40];
/// The attempt that the rank has announced, whatever it has to do in it.
const BEGUN: usize = 48;
/// A part that a rank is the aggregator of: for each set two lines of counters.
const SLOT: usize = 2 * SET;
const SET: usize = 2 * LINE;
const ARRIVED: [usize; 2] = [0, 8];
const REFUSED: [usize; 2] = [16, 24];
const RELEASED: usize = LINE;
const SPOILED: usize = LINE + 8;

/// How much room the ranks of the node have. A rank that is no aggregator has no buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// For each rank of the node, of how many parts it can be the aggregator at the same time.
    pub slots: Vec<usize>,
    pub buffer_bytes: usize,
}

pub struct Arena {
    shared: Shared,
    room: Room,
    /// This rank's number on the node.
    me: usize,
    /// For each rank of the job, its number on this node.
    local: Vec<Option<usize>>,
    /// The counters of this attempt.
    set: Cell<usize>,
}

impl Room {
    const PAGE: usize = 4096;

    /// Where the buffers of a rank with so many slots begin.
    const fn data(slots: usize) -> usize {
        (LINE + slots * SLOT).next_multiple_of(Self::PAGE)
    }

    /// What a rank holds.
    pub fn bytes(&self, number: usize) -> usize {
        let slots = self.slots.get(number).copied().unwrap_or(0);
        Self::data(slots) + slots * 2 * self.buffer_bytes
    }

    /// Large enough for both.
    pub fn union(&self, other: &Self) -> Self {
        let slots = |room: &Self, number: usize| room.slots.get(number).copied().unwrap_or(0);
        let ranks = self.slots.len().max(other.slots.len());
        Self {
            slots: (0..ranks).map(|number| slots(self, number).max(slots(other, number))).collect(),
            buffer_bytes: self.buffer_bytes.max(other.buffer_bytes),
        }
    }
}

impl Arena {
    /// Collective among the ranks of the node. `local` gives each rank of the job its number on this node.
    pub fn new(node: &dyn Transport, room: Room, local: Vec<Option<usize>>) -> Result<Self, Error> {
        Ok(Self {
            shared: node.share(room.bytes(node.rank()))?,
            room,
            me: node.rank(),
            local,
            set: Cell::new(0),
        })
    }

    pub const fn room(&self) -> &Room {
        &self.room
    }

    /// What this rank holds.
    pub fn memory_bytes(&self) -> usize {
        self.room.bytes(self.me)
    }

    pub fn doorbell(&self) -> Result<&Signal, Error> {
        Ok(self.shared.signal(self.me, 0)?)
    }

    pub fn ring(&self, rank: Rank) -> Result<(), Error> {
        self.shared.signal(self.number(rank)?, 0)?.add(1);
        Ok(())
    }

    /// Copies this rank's blocks into an aggregator's buffer.
    pub fn put(
        &self,
        to: Rank,
        slot: usize,
        buffer: u32,
        blocks: &Blocks,
        bytes: &[u8],
    ) -> Result<(), Error> {
        let number = self.number(to)?;
        let at = self.place(number, slot, buffer) + blocks.buffer as usize;
        self.shared.scatter(number, at, blocks.len as usize, blocks.stride as usize, bytes)?;
        Ok(())
    }

    /// Copies this rank's blocks out of an aggregator's buffer.
    pub fn get(
        &self,
        from: Rank,
        slot: usize,
        buffer: u32,
        blocks: &Blocks,
        into: &mut [u8],
    ) -> Result<(), Error> {
        let number = self.number(from)?;
        let at = self.place(number, slot, buffer) + blocks.buffer as usize;
        self.shared.gather(number, at, blocks.len as usize, blocks.stride as usize, into)?;
        Ok(())
    }

    /// Copies bytes that came from another node into a buffer of ours.
    pub fn put_own(&self, slot: usize, buffer: u32, blocks: &Blocks, bytes: &[u8]) -> Result<(), Error> {
        let at = self.place(self.me, slot, buffer).saturating_add(blocks.buffer as usize);
        self.shared.scatter(self.me, at, blocks.len as usize, blocks.stride as usize, bytes)?;
        Ok(())
    }

    /// Copies bytes that another node wants out of a buffer of ours.
    pub fn get_own(&self, slot: usize, buffer: u32, blocks: &Blocks, into: &mut [u8]) -> Result<(), Error> {
        let at = self.place(self.me, slot, buffer).saturating_add(blocks.buffer as usize);
        self.shared.gather(self.me, at, blocks.len as usize, blocks.stride as usize, into)?;
        Ok(())
    }

    /// Whether a rank is on this node.
    pub fn is_near(&self, rank: Rank) -> bool {
        self.local[rank.index()].is_some()
    }

    /// Tells an aggregator that bytes are in its buffer, or out of it.
    pub fn arrive(&self, at: Rank, slot: usize, buffer: u32, bytes: u64, ok: bool) -> Result<(), Error> {
        let (number, control) = (self.number(at)?, self.control(slot));
        if !ok {
            self.shared.counter(number, control + REFUSED[buffer as usize])?.fetch_add(1, Ordering::Release);
        }
        self.shared.counter(number, control + ARRIVED[buffer as usize])?.fetch_add(bytes, Ordering::Release);
        self.ring(at)
    }

    /// How many bytes have been announced for a buffer of ours in this attempt, and whether all went well.
    pub fn arrived(&self, slot: usize, buffer: u32) -> Result<(u64, bool), Error> {
        let control = self.control(slot);
        let bytes = self.shared.counter(self.me, control + ARRIVED[buffer as usize])?.load(Ordering::Acquire);
        let refused =
            self.shared.counter(self.me, control + REFUSED[buffer as usize])?.load(Ordering::Acquire);
        Ok((bytes, refused == 0))
    }

    /// Tells everybody how many rounds of a part of ours are released; the members' bells are rung by the caller.
    pub fn release(&self, slot: usize, rounds: u32, ok: bool) -> Result<(), Error> {
        let control = self.control(slot);
        if !ok {
            self.shared.counter(self.me, control + SPOILED)?.store(1, Ordering::Release);
        }
        self.shared.signal(self.me, control + RELEASED)?.set(rounds);
        Ok(())
    }

    /// How many rounds of an aggregator's part are released, and whether all went well.
    pub fn released(&self, of: Rank, slot: usize) -> Result<(u32, bool), Error> {
        let (number, control) = (self.number(of)?, self.control(slot));
        let rounds = self.shared.signal(number, control + RELEASED)?.get();
        let spoiled = self.shared.counter(number, control + SPOILED)?.load(Ordering::Acquire);
        Ok((rounds, spoiled == 0))
    }

    /// Wakes all ranks of the node.
    pub fn ring_all(&self) -> Result<(), Error> {
        for number in self.local.iter().flatten() {
            self.shared.signal(*number, 0)?.add(1);
        }
        Ok(())
    }

    /// Tells all ranks of the node that this one gives up.
    pub fn alarm(&self) -> Result<(), Error> {
        for number in self.local.iter().flatten() {
            self.shared.counter(*number, ALARMS[self.set.get()])?.fetch_add(1, Ordering::Release);
        }
        self.ring_all()
    }

    /// Whether a rank of the node has given up in this attempt.
    pub fn alarmed(&self) -> Result<bool, Error> {
        Ok(self.shared.counter(self.me, ALARMS[self.set.get()])?.load(Ordering::Acquire) > 0)
    }

    /// An attempt begins, with bytes that are so far from the plan. All ranks count attempts in the same way.
    pub fn begin(&self, attempt: u64, shift: Option<u64>) -> Result<(), Error> {
        let (set, next) = ((attempt % 2) as usize, ((attempt + 1) % 2) as usize);
        self.set.set(next);
        self.shared.counter(self.me, ALARMS[next])?.store(0, Ordering::Release);
        self.shared.counter(self.me, ENTERED[next])?.store(0, Ordering::Release);
        for control in (0..self.room.slots[self.me]).map(|slot| self.control(slot)) {
            for offset in ARRIVED.into_iter().chain(REFUSED).chain([SPOILED]) {
                self.shared.counter(self.me, control + offset)?.store(0, Ordering::Release);
            }
            self.shared.signal(self.me, control + RELEASED)?.set(0);
        }
        self.set.set(set);
        let entered = shift.map_or(0, |by| by.wrapping_add(1));
        self.shared.counter(self.me, ENTERED[set])?.store(entered, Ordering::Release);
        Ok(())
    }

    /// This rank has begun, and has given the alarm if it must.
    pub fn announce(&self, attempt: u64) -> Result<(), Error> {
        self.shared.counter(self.me, BEGUN)?.store(attempt, Ordering::Release);
        Ok(())
    }

    /// Whether all ranks of the node have said that they have begun this attempt.
    pub fn all_begun(&self, attempt: u64) -> Result<bool, Error> {
        for number in self.local.iter().flatten() {
            if self.shared.counter(*number, BEGUN)?.load(Ordering::Acquire) < attempt {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// How far a rank's bytes are from the plan, if it has begun and has any.
    pub fn entered(&self, rank: Rank) -> Result<Option<u64>, Error> {
        let entered = self.shared.counter(self.number(rank)?, ENTERED[self.set.get()])?;
        Ok(entered.load(Ordering::Acquire).checked_sub(1))
    }

    /// The bytes of a buffer of ours, for a transfer to or from the file.
    ///
    /// # Safety
    /// While the slice lives, no rank touches this range of the buffer, and there is no other slice of it.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn bytes(&self, slot: usize, buffer: u32, range: Range<usize>) -> Result<&mut [u8], Error> {
        let at = self.place(self.me, slot, buffer);
        // SAFETY: the caller's promise.
        Ok(unsafe { self.shared.bytes_mut(self.me, at + range.start..at + range.end) }?)
    }

    fn place(&self, number: usize, slot: usize, buffer: u32) -> usize {
        Room::data(self.room.slots[number]) + (2 * slot + buffer as usize) * self.room.buffer_bytes
    }

    fn number(&self, rank: Rank) -> Result<usize, Error> {
        self.local[rank.index()].ok_or(Error::Elsewhere { rank })
    }

    /// Where the counters of a slot are.
    const fn control(&self, slot: usize) -> usize {
        LINE + slot * SLOT + self.set.get() * SET
    }
}
