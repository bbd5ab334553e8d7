//! Reads that a rank does by itself, without any other. Small pieces are taken out of whole blocks of the file: one system call
//! for many of them, where each by itself would cost one.

use crate::store::fill;
use sago_core::extent::Run;
use sago_mpi::copy;
use sago_storage::{Error, Storage};
use std::collections::{HashMap, HashSet};

/// Longer pieces are read straight to where they are wanted.
const LONG_BYTES: u64 = 32 << 10;
const BLOCK_BYTES: usize = 64 << 10;
const BLOCK: u64 = BLOCK_BYTES as u64;
/// For each piece that is wanted so many bytes may be read: more cost more than a call for each.
const SPACING_BYTES_MAX: u64 = 4096;
/// For each byte that is wanted so many may be read, if other ranks could read them for us.
const EXCESS_MAX: u64 = 16;

/// Blocks of the file in memory, as long as a read takes.
pub struct Shelf<'m> {
    storage: &'m dyn Storage,
    /// As many as there is room for; the first blocks make room for others.
    slots: Vec<&'m mut [u8]>,
    places: HashMap<u64, usize>,
    /// What is in the slots.
    numbers: Vec<u64>,
    next: usize,
    last: Option<(u64, usize)>,
}

/// How a rank would read by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Small pieces out of blocks.
    Blocks {
        /// Without reading far more than is wanted.
        frugal: bool,
    },
    /// Every piece with a call of its own.
    Pieces {
        /// None of them small.
        long: bool,
    },
}

impl Way {
    /// With memory for so many bytes of blocks.
    pub fn of<'r>(runs: impl Iterator<Item = &'r Run> + Clone, room_bytes: usize) -> Self {
        let small = || runs.clone().filter(|run| run.len() < LONG_BYTES);
        let (wanted, pieces) = small().fold((0, 0), |(b, p), run| (b + run.bytes(), p + run.count()));
        if pieces == 0 {
            return Self::Pieces { long: true };
        }
        let (most, slots) = ((pieces * SPACING_BYTES_MAX).div_ceil(BLOCK), room_bytes / BLOCK_BYTES);
        let (mut touched, mut last, mut ascending) = (HashSet::new(), None, true);
        for run in small() {
            let mut visit = Visit::of(*run);
            while let Some((number, _)) = visit.next_block() {
                if last == Some(number) {
                    continue;
                }
                ascending &= last < Some(number);
                last = Some(number);
                touched.insert(number);
                if touched.len() as u64 > most {
                    return Self::Pieces { long: false };
                }
            }
        }
        if slots == 0 || (!ascending && touched.len() > slots) {
            return Self::Pieces { long: false };
        }
        let read = touched.len() as u64 * BLOCK;
        Self::Blocks { frugal: read <= (wanted * EXCESS_MAX).max(2 * BLOCK) }
    }
}

/// The blocks that a run has bytes in, in its order.
struct Visit {
    run: Run,
    /// Bytes of the run that lie in the blocks before.
    done: u64,
}

impl Visit {
    const fn of(run: Run) -> Self {
        Self { run, done: 0 }
    }

    /// The number of the next block, and where in the file the bytes of the run in it begin.
    fn next_block(&mut self) -> Option<(u64, u64)> {
        let Self { run, done } = self;
        if *done == run.bytes() {
            return None;
        }
        let at = run.offset() + *done / run.len() * run.stride() + *done % run.len();
        let number = at / BLOCK;
        *done += run.bytes_in(at, (number + 1) * BLOCK);
        Some((number, at))
    }
}

impl<'m> Shelf<'m> {
    pub fn new(storage: &'m dyn Storage, way: Way, room: &'m mut [u8]) -> Self {
        let room = if matches!(way, Way::Blocks { .. }) { room } else { &mut [] };
        let slots = room.chunks_exact_mut(BLOCK_BYTES).collect();
        Self { storage, slots, places: HashMap::new(), numbers: Vec::new(), next: 0, last: None }
    }

    /// Reads the runs, one after another, into memory of the same length. Bytes beyond the end of the file read as zeros.
    pub fn read(&mut self, runs: &[Run], mut into: &mut [u8]) -> Result<(), Error> {
        for run in runs {
            if run.len() >= LONG_BYTES || self.slots.is_empty() {
                for block in run.blocks() {
                    let piece = cut(&mut into, block.len);
                    fill(self.storage, block.file, piece)?;
                }
                continue;
            }
            let mut visit = Visit::of(*run);
            while let Some((number, at)) = visit.next_block() {
                let (start, bytes) = (number * BLOCK, self.block(number)?);
                for piece in run.clip(at, start + BLOCK) {
                    let from = &bytes[(piece.offset() - start) as usize..];
                    let place = cut(&mut into, piece.bytes());
                    copy::gather(from, piece.len() as usize, piece.stride() as usize, place);
                }
            }
        }
        Ok(())
    }

    fn block(&mut self, number: u64) -> Result<&[u8], Error> {
        let known = self.last.filter(|(last, _)| *last == number).map(|(_, slot)| slot);
        let slot = match known.or_else(|| self.places.get(&number).copied()) {
            Some(slot) => slot,
            None => self.load(number)?,
        };
        self.last = Some((number, slot));
        Ok(self.slots[slot])
    }

    fn load(&mut self, number: u64) -> Result<usize, Error> {
        let slot = self.next;
        self.next = (slot + 1) % self.slots.len();
        match self.numbers.get_mut(slot) {
            Some(before) => drop(self.places.remove(&std::mem::replace(before, number))),
            None => self.numbers.push(number),
        }
        fill(self.storage, number * BLOCK, self.slots[slot])?;
        self.places.insert(number, slot);
        Ok(slot)
    }
}

/// The next bytes of a slice.
fn cut<'s>(slice: &mut &'s mut [u8], bytes: u64) -> &'s mut [u8] {
    let (first, rest) = std::mem::take(slice).split_at_mut(bytes as usize);
    *slice = rest;
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use sago_core::random::Random;
    use sago_storage::{Counted, Memory};

    const SIZE: u64 = 5 * BLOCK + 777;

    fn file() -> (Vec<u8>, Counted<Memory>) {
        let bytes: Vec<u8> = (0..SIZE).map(|i| (i * 31 / 7) as u8).collect();
        let storage = Counted::new(Memory::default());
        storage.write(0, &bytes).unwrap();
        (bytes, storage)
    }

    fn random_runs(random: &mut Random) -> Vec<Run> {
        let count = 1 + random.below(8);
        let run = |random: &mut Random| {
            let (longest, widest) = (random.below(3) as usize, random.below(3) as usize);
            let len = 1 + random.below([8, 600, 90_000][longest]);
            let stride = len + random.below([1, 40, 300_000][widest]);
            Run::strided(random.below(SIZE), len, stride, 1 + random.below(40))
        };
        (0..count).filter_map(|_| run(random)).collect()
    }

    #[test]
    fn reads_what_is_in_the_file_and_zeros_beyond() {
        let (bytes, storage) = file();
        for seed in 0..60 {
            let mut random = Random::new(seed);
            let runs = random_runs(&mut random);
            let expected: Vec<u8> = runs
                .iter()
                .flat_map(|run| run.blocks())
                .flat_map(|block| block.file..block.file + block.len)
                .map(|at| bytes.get(at as usize).copied().unwrap_or(0))
                .collect();
            let mut room = vec![9; random.below(4) as usize * BLOCK_BYTES + 5];
            for way in [Way::of(runs.iter(), room.len()), Way::Blocks { frugal: false }] {
                let mut into = vec![1; expected.len()];
                Shelf::new(&storage, way, &mut room).read(&runs, &mut into).unwrap();
                assert!(into == expected, "seed {seed}, {way:?}");
            }
        }
    }

    #[test]
    fn many_small_pieces_cost_one_call_for_each_block() {
        let (_, storage) = file();
        let columns = [Run::strided(0, 4, 36, 5 * BLOCK / 36).unwrap()];
        let mut room = vec![0; BLOCK_BYTES];
        let mut into = vec![0; columns[0].bytes() as usize];
        let way = Way::of(columns.iter(), room.len());
        Shelf::new(&storage, way, &mut room).read(&columns, &mut into).unwrap();
        assert_eq!(storage.counts().read_calls, 5);
    }

    #[test]
    fn blocks_where_pieces_are_close_together() {
        let room = 4 * BLOCK_BYTES;
        let way = |runs: &[Run], room| Way::of(runs.iter(), room);
        let (blocks, pieces) = (|frugal| Way::Blocks { frugal }, |long| Way::Pieces { long });
        let column = Run::strided(0, 4, 36, 1 << 20).unwrap();
        assert_eq!(way(&[column], room), blocks(true));
        assert_eq!(way(&[column], BLOCK_BYTES - 1), pieces(false));
        assert_eq!(way(&[Run::strided(0, 4, 4 * 17, 1 << 20).unwrap()], room), blocks(false));
        assert_eq!(way(&[Run::contiguous(5, 1 << 30)], 0), pieces(true));
        assert_eq!(way(&[], 0), pieces(true));
        assert_eq!(way(&[Run::strided(0, 4, 8192, 1000).unwrap()], room), pieces(false));
        // To and fro, more than there is room for.
        let rows = |blocks: u64| {
            let row = move |i: u64| (0..blocks).map(move |b| Run::contiguous(b * BLOCK + i * 1024, 1024));
            (0..60).flat_map(row).collect::<Vec<_>>()
        };
        assert_eq!(way(&rows(4), room), blocks(true));
        assert_eq!(way(&rows(5), room), pieces(false));
    }
}
