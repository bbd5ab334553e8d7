//! Collectives of ranks that have memory in common, without MPI: ranks that wait sleep, and leave the core to others.
//!
//! Everything is made of one step: each rank lays a note of at most [`NOTE_BYTES_MAX`] on its place, all arrive, all
//! read. Places alternate between two notes. Invariant: a rank writes the note of step k only after everybody has
//! arrived in step k-1, which each does after it has read the notes of step k-2, which lay in the same place.

use crate::error::Error;
use crate::memory::Shared;
use crate::signal::Signal;
use crate::transport::{Parts, Reduce, check_rank};
use crate::wait::Wait;
use std::cell::Cell;
use std::rc::Rc;

/// How much a rank can say in one step.
pub const NOTE_BYTES_MAX: usize = PLACE - HEAD;
const HEAD: usize = 8;
const PLACE: usize = 16 << 10;
/// The first rank's segment starts with the count of arrivals, the number of the last complete step, and one more than the
/// number of a rank that has abandoned the others.
const ARRIVED: usize = 0;
const STEP: usize = 64;
const ABANDONED: usize = STEP + Signal::BYTES;
const NOTES: usize = 128;

pub struct Board {
    shared: Shared,
    rank: usize,
    size: usize,
    step: Cell<u32>,
    wait: Rc<dyn Wait>,
}

impl Board {
    /// The size of each rank's segment of the shared memory.
    pub const SEGMENT_BYTES: usize = NOTES + 2 * PLACE;

    /// On zeroed memory that all ranks have.
    pub fn new(shared: Shared, rank: usize, size: usize, wait: Rc<dyn Wait>) -> Self {
        Self { shared, rank, size, step: Cell::new(0), wait }
    }

    pub fn barrier(&self) -> Result<(), Error> {
        self.step(&[], |_| Ok(()))
    }

    pub fn broadcast(&self, root: usize, bytes: &mut [u8]) -> Result<(), Error> {
        check_rank(root, self.size)?;
        for chunk in bytes.chunks_mut(NOTE_BYTES_MAX) {
            let mine = if self.rank == root { &*chunk } else { &[] };
            let note = mine.to_vec();
            self.step(
                &note,
                |notes| if self.rank == root { Ok(()) } else { notes.read_exactly(root, chunk) },
            )?;
        }
        Ok(())
    }

    pub fn allreduce(&self, op: Reduce, values: &mut [u64]) -> Result<(), Error> {
        for chunk in values.chunks_mut(NOTE_BYTES_MAX / 8) {
            let note: Vec<u8> = chunk.iter().flat_map(|v| v.to_le_bytes()).collect();
            let mut other = vec![0; note.len()];
            self.step(&note, |notes| {
                for rank in (0..self.size).filter(|&r| r != self.rank) {
                    notes.read_exactly(rank, &mut other)?;
                    let numbers = other.chunks_exact(8).map(|b| b.try_into().map_or(0, u64::from_le_bytes));
                    chunk.iter_mut().zip(numbers).for_each(|(v, o)| *v = op.apply(*v, o));
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The first step tells the lengths, with as many bytes as fit; further ones carry the rest.
    pub fn allgather(&self, mine: &[u8]) -> Result<Parts, Error> {
        let first = NOTE_BYTES_MAX - 8;
        let mut note = (mine.len() as u64).to_le_bytes().to_vec();
        note.extend_from_slice(&mine[..mine.len().min(first)]);
        let mut all = Parts::default();
        self.step(&note, |notes| {
            let mut texts = Vec::with_capacity(self.size);
            for rank in 0..self.size {
                texts.push(notes.read(rank)?);
            }
            let length = |t: &Vec<u8>| t[..8].try_into().map_or(0, u64::from_le_bytes);
            all = Parts::zeroed(texts.iter().map(|t| usize::try_from(length(t)).unwrap_or(usize::MAX)));
            for (rank, text) in texts.iter().enumerate() {
                all.part_mut(rank)[..text.len() - 8].copy_from_slice(&text[8..]);
            }
            Ok(())
        })?;
        let longest = all.lengths().max().unwrap_or(0);
        for from in (first..longest).step_by(NOTE_BYTES_MAX) {
            let mine = &mine[from.min(mine.len())..(from + NOTE_BYTES_MAX).min(mine.len())];
            self.step(mine, |notes| {
                for rank in 0..self.size {
                    let part = all.part_mut(rank);
                    let end = (from + NOTE_BYTES_MAX).min(part.len());
                    if from < end {
                        notes.read_exactly(rank, &mut part[from..end])?;
                    }
                }
                Ok(())
            })?;
        }
        Ok(all)
    }

    /// This rank comes to no step any more: all that wait for it, or will, fail.
    pub fn abandon(&self) -> Result<(), Error> {
        let rank = u32::try_from(self.rank).unwrap_or(u32::MAX - 1);
        self.shared.signal(0, ABANDONED)?.set(rank + 1);
        Ok(())
    }

    fn step(&self, note: &[u8], read: impl FnOnce(&Notes<'_>) -> Result<(), Error>) -> Result<(), Error> {
        let step = self.step.get().wrapping_add(1);
        self.step.set(step);
        let place = NOTES + (step as usize & 1) * PLACE;
        self.shared.put(self.rank, place, &(note.len() as u64).to_le_bytes())?;
        self.shared.put(self.rank, place + HEAD, note)?;
        self.arrive(step)?;
        read(&Notes { board: self, place })
    }

    fn arrive(&self, step: u32) -> Result<(), Error> {
        let (arrived, done) = (self.shared.signal(0, ARRIVED)?, self.shared.signal(0, STEP)?);
        // The last one resets the count before it lets the others go on to the next step.
        if arrived.add(1) as usize == self.size {
            arrived.set(0);
            done.set(step);
            return Ok(());
        }
        // Who sleeps looks from time to time.
        let abandoned = self.shared.signal(0, ABANDONED)?;
        self.wait.until(done, &|value| value == step || abandoned.get() != 0)?;
        match abandoned.get() {
            // A step that was complete before counts.
            rank if rank != 0 && done.get() != step => Err(Error::Abandoned { rank: rank as usize - 1 }),
            _ => Ok(()),
        }
    }
}

/// Everybody's note of one step.
struct Notes<'a> {
    board: &'a Board,
    place: usize,
}

impl Notes<'_> {
    fn len(&self, rank: usize) -> Result<usize, Error> {
        let mut len = [0; 8];
        self.board.shared.get(rank, self.place, &mut len)?;
        Ok(usize::try_from(u64::from_le_bytes(len)).unwrap_or(usize::MAX).min(NOTE_BYTES_MAX))
    }

    fn read(&self, rank: usize) -> Result<Vec<u8>, Error> {
        let mut text = vec![0; self.len(rank)?];
        self.board.shared.get(rank, self.place + HEAD, &mut text)?;
        Ok(text)
    }

    fn read_exactly(&self, rank: usize, into: &mut [u8]) -> Result<(), Error> {
        let len = self.len(rank)?;
        if len != into.len() {
            return Err(Error::Mismatch { rank, len, expected: into.len() });
        }
        self.board.shared.get(rank, self.place + HEAD, into)
    }
}

/// Signals lie on cache lines of their own.
const _: () = assert!(STEP - ARRIVED >= 64 && ABANDONED + Signal::BYTES <= NOTES && PLACE.is_multiple_of(8));
