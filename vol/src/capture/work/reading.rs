//! What a rank reads by itself: out of the file, in pieces or blocks, and out of its window.

use super::{READING_ROOM_MIN, Read, STAGING_BYTES, Taken, Work, count_rounds, filled};
use crate::capture::crew::Crew;
use crate::capture::stream::Scratch;
use sago_core::config::Exchange;
use sago_core::extent::{Cursor, Run};
use sago_exec::{Shelf, Way};
use sago_mpi::Transport;
use std::time::Instant;

impl Work {
    /// Whether ranks may read by themselves: then all bytes of the file are as near to each as to any other, and there is
    /// memory for blocks of it. The same on all ranks.
    pub fn may_read_alone(&self) -> bool {
        let Crew { config, ranks, window, .. } = &self.crew;
        config.exchange == Exchange::Auto && ranks.one_node() && window.capacity() >= READING_ROOM_MIN
    }

    /// How this rank would read these by itself.
    pub fn way_alone(&self, reads: &[Read<'_>]) -> Way {
        let room = (self.crew.window.room() / 2) as usize;
        Way::of(reads.iter().flat_map(|read| read.runs), room)
    }

    /// Reads these without the others. What is not as the program wants it, and blocks of the file, pass through the window.
    pub fn read_alone(&mut self, reads: &mut [Read<'_>], way: Way) -> Result<Taken, sago_storage::Error> {
        let start = Instant::now();
        let Self { crew: Crew { window, .. }, scratch, storage, reading, .. } = self;
        let room = window.spare(window.room());
        let (staging, blocks) = room.split_at_mut(room.len() / 2);
        let mut shelf = Shelf::new(&**storage, way, blocks);
        let taken = read_each(&mut shelf, reads, staging, scratch, |_, _| ())?;
        *reading += start.elapsed();
        Ok(taken)
    }

    /// Whether anything waits that these would read.
    pub fn waits_for(&mut self, reads: &[Read<'_>]) -> bool {
        let window = &mut self.crew.window;
        reads.iter().any(|read| {
            let lo = read.runs.iter().map(|run| run.offset()).min();
            let hi = read.runs.iter().map(|run| run.end()).max();
            lo.zip(hi).is_some_and(|(lo, hi)| window.touches(lo, hi))
        })
    }

    /// The same where some of it waits: from the file, with what waits over it.
    pub fn read_over(&mut self, reads: &mut [Read<'_>]) -> Result<Taken, sago_storage::Error> {
        let start = Instant::now();
        let Self { crew: Crew { window, .. }, scratch, storage, reading, .. } = self;
        let way = Way::of(reads.iter().flat_map(|read| read.runs), STAGING_BYTES);
        let blocks = if matches!(way, Way::Blocks { .. }) { STAGING_BYTES } else { 0 };
        let staged = reads.iter().filter(|read| read.direct.is_none());
        let most =
            staged.map(|read| read.bytes.left().min(read.bytes.unit().max(STAGING_BYTES as u64))).max();
        let (mut staging, mut blocks) = (vec![0; most.unwrap_or(0) as usize], vec![0; blocks]);
        let mut shelf = Shelf::new(&**storage, way, &mut blocks);
        let over = |runs: &[Run], bytes: &mut [u8]| window.lay_over(runs, bytes);
        let taken = read_each(&mut shelf, reads, &mut staging, scratch, over)?;
        *reading += start.elapsed();
        Ok(taken)
    }

    /// How many fetches it takes until these are read.
    pub fn reading_rounds(&self, reads: &[Read<'_>]) -> u64 {
        let lengths = reads.iter().filter(|read| read.direct.is_none());
        count_rounds(
            self.crew.window.room(),
            self.crew.window.capacity(),
            lengths.map(|read| (read.bytes.left(), read.bytes.unit())),
        )
    }
}

/// Reads all, by way of `staging` where HDF5 converts; `over` sees what has been read.
fn read_each(
    shelf: &mut Shelf<'_>,
    reads: &mut [Read<'_>],
    staging: &mut [u8],
    scratch: &mut Scratch,
    mut over: impl FnMut(&[Run], &mut [u8]),
) -> Result<Taken, sago_storage::Error> {
    for read in reads {
        if let Some(direct) = &mut read.direct {
            shelf.read(read.runs, direct)?;
            over(read.runs, direct);
            continue;
        }
        let mut places = Cursor::new(read.runs);
        while read.bytes.left() > 0 {
            let bytes = read.bytes.step(staging.len() as u64);
            if bytes == 0 {
                // An element that is larger than all the room: HDF5 has more.
                return Ok(Taken::NotConverted);
            }
            let mut runs = Vec::new();
            places.take_all(bytes, |run| runs.push(run));
            let staged = &mut staging[..bytes as usize];
            shelf.read(&runs, staged)?;
            over(&runs, staged);
            if !filled(|| read.bytes.put(staged, scratch)) {
                return Ok(Taken::NotConverted);
            }
        }
    }
    Ok(Taken::All)
}
