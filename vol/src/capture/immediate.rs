//! Immediate mode: a collective write is carried out before it returns. Where its pattern is that of the call before, the ranks
//! meet at its end only; who stores waits until all have come. What has mostly holes is left to HDF5, and calls like it are for a
//! while without asking: finding out takes meetings, which HDF5 alone would not have.

use super::file::CapturedFile;
use super::overlap::Ballot;
use super::progress::Watched;
use super::work::{EVERYBODY, Taken, Work, Write};
use sago_core::config::Mode;
use sago_core::extent::{Cursor, Run};
use sago_hdf5::Error;
use sago_mpi::{Reduce, Transport};
use std::cell::RefMut;

/// Pieces shorter than this are small.
const SMALL_BYTES: u64 = 512;

/// What the pieces of a call are like.
#[derive(Clone, Copy)]
struct Shape {
    bytes: u64,
    pieces: u64,
    start: u64,
    end: u64,
    /// HDF5 must do a rank's part.
    left: bool,
}

impl Shape {
    fn of(runs: impl Iterator<Item = Run>, left: bool) -> Self {
        let nothing = Self { bytes: 0, pieces: 0, start: u64::MAX, end: 0, left };
        runs.fold(nothing, |shape, run| Self {
            bytes: shape.bytes + run.bytes(),
            pieces: shape.pieces + run.count(),
            start: shape.start.min(run.offset()),
            end: shape.end.max(run.end()),
            left,
        })
    }

    /// Collective.
    fn of_all(self, ranks: &dyn Transport) -> Result<Self, sago_mpi::Error> {
        let mut sums = [self.bytes, self.pieces, u64::from(self.left)];
        let mut ends = [!self.start, self.end];
        ranks.allreduce(Reduce::Sum, &mut sums)?;
        ranks.allreduce(Reduce::Max, &mut ends)?;
        let ([bytes, pieces, left], [start, end]) = (sums, ends);
        Ok(Self { bytes, pieces, start: !start, end, left: left > 0 })
    }

    /// Mostly holes: small pieces whose neighbours are not in the same call.
    const fn is_sparse(self) -> bool {
        let span = self.end.saturating_sub(self.start);
        self.pieces > 0 && self.bytes / self.pieces < SMALL_BYTES && self.bytes < span / 2
    }
}

/// Calls that are left to HDF5 without asking, at most, before the ranks ask again.
const ASIDE_MAX: u32 = 64;

/// What was found of collective writes to datasets of one size, all of which had mostly holes. It changes only in collective writes, and so
/// is the same on all ranks.
#[derive(Default)]
pub struct Habit {
    dataset_bytes: u64,
    found: u32,
    /// So many calls are left to HDF5 without asking.
    aside: u32,
}

impl Habit {
    fn steps_aside(&mut self, dataset_bytes: u64) -> bool {
        let aside = self.aside > 0 && self.dataset_bytes == dataset_bytes;
        self.aside -= u32::from(aside);
        aside
    }

    fn learn(&mut self, dataset_bytes: u64, sparse: bool) {
        if !sparse || self.dataset_bytes != dataset_bytes {
            *self = Self { dataset_bytes, ..Self::default() };
        }
        if sparse {
            self.found = (self.found + 1).min(ASIDE_MAX.ilog2());
            self.aside = 1 << self.found;
        }
    }
}

impl CapturedFile {
    /// Whether a collective write to datasets of this size is left to HDF5 because those before it were. Each such write asks, once.
    pub fn steps_aside(&self, dataset_bytes: u64) -> bool {
        // Also if this rank has lost the others: they go to HDF5, and would wait for it there.
        let aside = |mut work: RefMut<'_, Work>| work.habit.steps_aside(dataset_bytes);
        self.mode() == Mode::Immediate && self.work().is_ok_and(aside)
    }

    /// A collective write. `None` if HDF5 should do it, because it has mostly holes; the same on all ranks. `dataset_bytes` is the
    /// size of the datasets, which all ranks know. A rank whose part HDF5 must write itself, which is `left`, takes part with
    /// nothing. Also whether there is such a rank: the others wait for it, so that all of the call is in the file when it returns.
    pub fn write_now(
        &self,
        writes: &mut [Write<'_>],
        left: bool,
        dataset_bytes: u64,
    ) -> Result<Option<(Taken, bool)>, Error> {
        if dataset_bytes > self.window_bytes() {
            // It may take several rounds.
            let all = self.shape_of_all(&mut *self.work()?, writes, left, dataset_bytes)?;
            let mut write = || self.write_together(writes, 0, dataset_bytes).map(|taken| (taken, all.left));
            return if all.is_sparse() { Ok(None) } else { write().map(Some) };
        }
        let work = &mut *self.work()?;
        work.enter();
        self.clear(work)?;
        let written = self.write_at_once(work, writes, left, dataset_bytes);
        // It is written, or the program hears that it is not, or HDF5 writes it.
        work.crew.window.clear();
        written
    }

    fn write_at_once(
        &self,
        work: &mut Work,
        writes: &mut [Write<'_>],
        left: bool,
        dataset_bytes: u64,
    ) -> Result<Option<(Taken, bool)>, Error> {
        // The same on all ranks.
        let again = work.is_eager();
        let mut all = None;
        if !again {
            all = Some(self.shape_of_all(work, writes, left, dataset_bytes)?);
        }
        if all.is_some_and(Shape::is_sparse) {
            return Ok(None);
        }
        let (mut lent, mut taken) = (Vec::new(), Taken::All);
        for write in writes.iter_mut() {
            if self.capturing(work, |work| work.keep_ordered(write)) {
                continue;
            }
            match write.lent {
                Some(bytes) => lent.push((write.runs, bytes)),
                None if taken == Taken::All => {
                    let mut runs = Cursor::new(write.runs);
                    taken = self.capturing(work, |work| work.take_in(write, &mut runs));
                    if write.bytes.left() > 0 {
                        // It is not larger than its dataset, so it fits; if not, HDF5 does it.
                        taken = Taken::NotConverted;
                    }
                }
                None => {}
            }
        }
        let ready = work.ready(&lent);
        if again {
            self.watch(Watched::begin);
            let repeated = self.checked(work, EVERYBODY, |work| work.repeat(&ready, &lent, !left));
            self.watch(Watched::end);
            if repeated? {
                return Ok(Some((taken, false)));
            }
            all = Some(self.shape_of_all(work, writes, left, dataset_bytes)?);
            if all.is_some_and(Shape::is_sparse) {
                return Ok(None);
            }
        }
        self.commit(work, EVERYBODY, |work| work.commit_together(ready, Ballot::NONE, &lent))?;
        Ok(Some((taken, all.is_some_and(|all| all.left))))
    }

    /// Collective; the same answer on all ranks.
    fn shape_of_all(
        &self,
        work: &mut Work,
        writes: &[Write<'_>],
        left: bool,
        dataset_bytes: u64,
    ) -> Result<Shape, Error> {
        let mine = Shape::of(writes.iter().flat_map(|write| write.runs).copied(), left);
        let all = self.checked(work, EVERYBODY, |work| mine.of_all(&work.crew.ranks))?;
        work.habit.learn(dataset_bytes, all.is_sparse());
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_like_those_that_had_holes_are_not_asked_about() {
        let mut habit = Habit::default();
        let mut asked = Vec::new();
        for call in 0..200 {
            if !habit.steps_aside(100) {
                asked.push(call);
                habit.learn(100, true);
            }
        }
        assert_eq!(asked, [0, 3, 8, 17, 34, 67, 132, 197]);
        assert!(!habit.steps_aside(200), "others are asked about");
        habit.learn(100, false);
        assert!(!habit.steps_aside(100), "one without holes changes it");
    }
}
