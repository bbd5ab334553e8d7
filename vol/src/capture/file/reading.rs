//! Reads of a captured file: by each rank for itself, or together.

use super::CapturedFile;
use crate::capture::crew::Crew;
use crate::capture::provoke;
use crate::capture::work::{EVERYBODY, READING_ROOM_MIN, Read, Taken, Work, filled};
use sago_core::declare::{Declaration, Direction};
use sago_core::extent::Cursor;
use sago_exec::{Way, contain};
use sago_hdf5::Error;
use sago_mpi::{Reduce, Transport};

impl CapturedFile {
    /// An independent read, if it is of what waits on this rank, or of many small pieces in the file or in memory: `None` leaves
    /// it to HDF5.
    pub fn read_alone(&self, reads: &mut [Read<'_>]) -> Result<Option<Taken>, Error> {
        let work = &mut *self.work()?;
        let named = |error| Error::Message(format!("{}: {error}", self.name));
        if work.waits_for(reads) {
            return work.read_over(reads).map(Some).map_err(named);
        }
        // HDF5 makes a call for each piece that is one in the file and in memory.
        let way = work.way_alone(reads);
        let helps = match way {
            Way::Blocks { .. } => true,
            Way::Pieces { long } => long && reads.iter().any(|read| read.direct.is_none()),
        };
        if !helps || !work.may_read_alone() || work.crew.window.room() < READING_ROOM_MIN {
            return Ok(None);
        }
        work.read_alone(reads, way).map(Some).map_err(named)
    }

    /// A collective read: each rank by itself where that is cheap for all, else together. A rank whose part HDF5 must read
    /// itself takes part with nothing. Also whether there is such a rank; it may only go on after the others have
    /// met it, lest what they write next is in what it reads.
    pub fn read_together(
        &self,
        reads: &mut [Read<'_>],
        left_to_hdf5: bool,
        dataset_bytes: u64,
    ) -> Result<(Taken, bool), Error> {
        let work = &mut *self.work()?;
        let alone = work.may_read_alone();
        // Found before the others are met: a rank that cannot must still come to the meeting.
        let way = contain(|| Ok(work.way_alone(reads))).unwrap_or(Way::Pieces { long: false });
        if alone && !self.writable {
            // Nobody changes the file: no rank has to wait for another.
            let read = work.read_alone(reads, way).map(|taken| (taken, false));
            return read.map_err(|error| Error::Message(format!("{}: {error}", self.name)));
        }
        let frugal = matches!(way, Way::Blocks { frugal: true } | Way::Pieces { long: true });
        let questions = [left_to_hdf5, !alone || !frugal];
        let [some_left, some_unable] = self.settle_and_ask(work, questions)?;
        let some_left = some_left && self.writable;
        if some_unable {
            return Ok((self.fetch(work, reads, dataset_bytes)?, some_left));
        }
        let read = contain(|| Ok(work.read_alone(reads, way).map_err(|error| error.to_string())));
        let read = read.unwrap_or_else(|panic| Err(panic.to_string()));
        let told = read.as_ref().map(|_| ()).map_err(String::clone);
        self.checked(work, EVERYBODY, |work| work.crew.ranks.agree(told))?;
        Ok((read.map_err(Error::Message)?, some_left))
    }

    /// Where it does not fit into the window at once, in several rounds.
    fn fetch(&self, work: &mut Work, reads: &mut [Read<'_>], dataset_bytes: u64) -> Result<Taken, Error> {
        let mut rounds = [1];
        if dataset_bytes > work.crew.window.capacity() {
            rounds[0] = work.reading_rounds(reads);
            self.checked(work, EVERYBODY, |work| work.crew.ranks.allreduce(Reduce::Max, &mut rounds))?;
        }
        let mut taken = Taken::All;
        let mut places: Vec<Cursor<'_>> = reads.iter().map(|read| Cursor::new(read.runs)).collect();
        for round in 0..rounds[0] {
            taken = self.read_round(work, reads, &mut places, round == 0, taken)?;
        }
        Ok(taken)
    }

    fn read_round(
        &self,
        work: &mut Work,
        reads: &mut [Read<'_>],
        places: &mut [Cursor<'_>],
        first: bool,
        mut taken: Taken,
    ) -> Result<Taken, Error> {
        let mut into: Vec<&mut [u8]> = Vec::new();
        let mut steps = vec![0; reads.len()];
        self.checked(work, EVERYBODY, |work| work.session(EVERYBODY).map(|_| ()))?;
        let Work { crew: Crew { window, together, .. }, scratch, .. } = &mut *work;
        let mut room = window.spare(window.room());
        let declared = contain(|| {
            provoke::point("declare");
            let mut declaration = Declaration::new(Direction::Read);
            for ((read, runs), step) in reads.iter_mut().zip(places).zip(&mut steps) {
                match &mut read.direct {
                    Some(direct) if first => {
                        declaration.variable(read.runs.iter().copied());
                        into.push(std::mem::take(direct));
                    }
                    Some(_) => {}
                    None if taken == Taken::NotConverted => {}
                    None => {
                        *step = read.bytes.step(room.len() as u64);
                        let mut pieces = Vec::new();
                        runs.take_all(*step, |run| pieces.push(run));
                        declaration.variable(pieces);
                        let (place, rest) = std::mem::take(&mut room).split_at_mut(*step as usize);
                        (room, _) = (rest, into.push(place));
                    }
                }
            }
            Ok(declaration.finish())
        });
        let fetched = match (together.as_mut(), declared) {
            (Some(session), Ok(declared)) => session.fetch(declared, &mut sago_exec::Taken::new(into)),
            (Some(session), Err(error)) => Err(session.decline(&error.to_string())),
            (None, _) => Err(sago_exec::Error::Garbled),
        };
        let mut arrived = window.spare(window.room());
        for (read, step) in reads.iter_mut().zip(steps) {
            let (place, rest) = std::mem::take(&mut arrived).split_at_mut(step as usize);
            arrived = rest;
            if fetched.is_ok() && step > 0 && !filled(|| read.bytes.put(place, scratch)) {
                taken = Taken::NotConverted;
            }
        }
        self.checked(work, EVERYBODY, |_| fetched)?;
        Ok(taken)
    }
}
