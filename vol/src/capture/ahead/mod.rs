//! Writing ahead: what needs no exchange goes to the file while the program goes on: long pieces of the window, and short
//! ones of several writes that are a long one together, such as the columns of records. The commit leaves out what is there
//! by then.
//!
//! As without Sago, no byte of a collective write is in the file before all ranks have called it: the ranks of a node keep
//! a counter in common memory, and a piece waits until all have come as far. So this is for ranks on one node.
//!
//! A rank that puts bytes into the file by itself, or lets HDF5 do so for it, holds all threads until the next commit of all: the
//! bytes of an earlier call must not come after those of a later one. Such ranks take turns, so that each can read back what
//! HDF5 wrote for it.
//!
//! Nothing depends on it. A piece stays in the window until the commit, and is written there if it was not written
//! ahead, if that failed, or if its order among the writes of other ranks turns out to matter. The thread calls
//! neither MPI nor HDF5.
//!
//! Invariant: pieces are taken back with [`Ahead::stop`] before the window's memory is used for anything else.

mod joint;
mod pace;
mod piece;
mod thread;

pub use joint::Board;
pub use pace::Alone;

use super::window::{Mark, Waiting, Window};
use joint::Post;
use pace::Pace;
use piece::{Part, Piece, What};
use sago_core::config::Config;
use sago_core::declare::{Declaration, Direction};
use sago_core::plan::StorageFacts;
use sago_exec::Packing;
use sago_mpi::{Error, Transport};
use sago_storage::Storage;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use thread::Thread;

/// What is written at once: a commit, and whoever else writes to the file, waits for as much.
const STEP_BYTES: usize = 128 << 10;

/// The thread is woken when so much has come together, or as much as a buffer: waking it costs as much as a small write call.
const HAND_OVER_BYTES: u64 = 1 << 20;

/// More collective writes than will follow on any rank, and half of what counters hold.
const NEVER: u64 = 1 << 30;

/// After so many commits in which nothing could be written together, it is no longer tried.
const USELESS_MAX: u32 = 3;

pub struct Ahead {
    pace: Arc<Pace>,
    thread: Option<Thread>,
    /// Short pieces of this rank that may become a long one.
    group: Option<Group>,
    /// There if ranks may write what is long pieces of the file only together.
    board: Option<Arc<Board>>,
    /// In so many commits before it was of no use.
    useless: u32,
    /// Calls of which this rank has told the others, and the last one that it is done with.
    posts: VecDeque<Post>,
    done: u64,
    /// What is in the file of calls whose posts have made room for others.
    stored: Vec<Range<u64>>,
    /// How often this rank has waited for its thread before a commit.
    finishes: u32,
    /// What the thread does not know of yet.
    ready: Vec<Piece>,
    ready_bytes: u64,
    /// How many commits of all ranks there have been. The same on all.
    commits: u32,
    /// So many calls of HDF5 are under way in which nothing is begun.
    paused: u32,
}

/// Writes that follow each other in the window, and lie among or beside each other in the file.
struct Group {
    mark: Mark,
    /// Where they begin in the window.
    place: u64,
    lo: u64,
    hi: u64,
    bytes: u64,
}

impl Ahead {
    /// For ranks on one node. Collective.
    pub fn new(ranks: &dyn Transport) -> Result<Self, Error> {
        Ok(Self {
            pace: Arc::new(Pace::new(ranks)?),
            thread: None,
            group: None,
            board: None,
            useless: 0,
            posts: VecDeque::new(),
            done: 0,
            stored: Vec::new(),
            finishes: 0,
            ready: Vec::new(),
            ready_bytes: 0,
            commits: 0,
            paused: 0,
        })
    }

    /// From now on ranks tell each other on this board what they write, or no longer do. Nothing is under way, and all are done with this
    /// collective write.
    pub fn set_board(&mut self, board: Option<Arc<Board>>, epoch: u64) {
        (self.board, self.useless, self.done) = (board, 0, epoch);
    }

    /// After a commit: whether what ranks told each other was of use. If not several times, they no longer do. The same on all ranks.
    pub fn judge(&mut self, useful: bool) {
        self.useless = if useful { 0 } else { self.useless + 1 };
        if self.useless >= USELESS_MAX {
            self.set_board(None, 0);
        }
    }

    pub fn has_board(&self) -> bool {
        self.board.is_some()
    }

    /// Calls are counted anew: for another file. Nothing is under way on any rank.
    pub fn restart(&mut self) {
        (self.done, self.paused) = (0, 0);
        // What kept threads from writing in the file before is over.
        self.next();
        self.thread.iter().for_each(Thread::resume);
        self.pace.enter(0);
        self.board.iter().for_each(|board| board.reset());
    }

    /// This rank has come to this collective write, and is done with those before.
    pub fn enter(&mut self, epoch: u64) {
        self.pace.enter(epoch);
        self.done(epoch.saturating_sub(2), 0);
    }

    /// This rank is done with all collective writes up to this one, in the last of which it has posted so many bytes.
    fn done(&mut self, epoch: u64, bytes: u64) {
        let Some(board) = &self.board else { return };
        while self.done < epoch {
            self.done += 2;
            let bytes = if self.done == epoch { bytes } else { 0 };
            let Some((leader, enough)) = board.done(self.done, bytes) else { continue };
            // It may wait for its thread already, before a commit that this rank has not come to.
            if enough || self.pace.finishing(leader) != self.finishes {
                self.pace.ring(leader);
            }
        }
    }

    /// This rank comes to nothing any more after this collective write: nobody's thread waits for it.
    pub fn leave(&self, epoch: u64) {
        self.pace.enter(epoch + NEVER);
        self.board.iter().for_each(|board| board.leave());
        self.pace.ring_all();
    }

    /// Waits until all ranks have come to the collective write of this epoch.
    pub fn wait(&self, ranks: &dyn Transport, epoch: u64) -> Result<(), Error> {
        self.pace.wait(ranks, epoch)
    }

    /// Before this rank puts bytes into the file by itself: while it has the result, no other rank does, and until the next
    /// commit of all no thread writes ahead, since what it has may be older.
    pub fn alone(&self, ranks: &dyn Transport) -> Result<Alone, Error> {
        self.pace.alone(ranks, self.commits)
    }

    /// All ranks come to a commit after this collective write: waits until the thread has written what needs all of them. Not for what it
    /// still waits for when all have come: then some rank has not made a call that others have.
    pub fn finish(&mut self, ranks: &dyn Transport, epoch: u64) -> Result<(), Error> {
        if self.board.is_none() {
            return Ok(());
        }
        self.done(epoch, 0);
        self.finishes = self.finishes.wrapping_add(1);
        self.pace.finish(self.finishes);
        let Some(thread) = &self.thread else { return Ok(()) };
        thread.give(self.ready.drain(..));
        self.ready_bytes = 0;
        if thread.is_idle() {
            return Ok(());
        }
        let never = || self.pace.all_finishing(self.finishes) && thread.is_waiting();
        self.pace.await_rest(ranks, || thread.is_idle() || never())
    }

    /// Before HDF5 may write, by all ranks together: what lies between its bytes it may read before, and write back. Until
    /// [`Ahead::resume`] nothing is begun, and what was begun is over.
    pub fn pause(&mut self) {
        self.paused += 1;
        self.thread.iter().for_each(Thread::pause);
    }

    pub fn resume(&mut self) {
        self.paused = self.paused.saturating_sub(1);
        self.thread.iter().filter(|_| self.paused == 0).for_each(Thread::resume);
    }

    /// Leaves all that has not been begun to the commit: other ranks may still be in such a call. It is paused.
    pub fn leave_rest(&mut self) {
        (self.group, self.ready_bytes) = (None, 0);
        self.ready.clear();
        self.thread.iter().for_each(Thread::leave);
    }

    /// All ranks are in a commit, and nothing is under way.
    pub fn next(&mut self) {
        self.commits = self.commits.wrapping_add(1);
    }

    /// Begins to write what was added to the window since `mark`, as far as its pieces are of at least `least` bytes, or short
    /// ones have become such a one.
    ///
    /// # Safety
    /// The window stays as it is, but for what is added to it, until [`Ahead::stop`].
    pub unsafe fn begin(
        &mut self,
        storage: &Arc<dyn Storage>,
        window: &Window,
        mark: Mark,
        least: u64,
        (config, facts): (&Config, &StorageFacts),
    ) {
        let (mut at, mut short, mut epoch) = (mark, false, 0);
        let file = (storage, self.commits);
        for (place, write) in window.writes_since(mark) {
            epoch = write.epoch;
            if !write.runs.is_empty() && write.runs.iter().all(|run| run.len() >= least) {
                self.group = None;
                self.ready_bytes += write.bytes.len() as u64;
                straight(file, place, &write, &mut self.ready);
            } else {
                // What lies among the writes before it is this rank's own affair.
                let (whole, among) = self.gather(at, place, &write, least);
                short |= whole.is_none() && !among;
                if let Some(group) = whole {
                    self.ready_bytes += group.bytes;
                    packed(file, window, &group, (config, facts), &mut self.ready);
                }
            }
            at = at.next(&write);
        }
        if short && epoch % 2 == 0 {
            self.post(storage, window, mark, epoch);
        }
        if self.ready_bytes >= config.buffer_bytes.unwrap_or(u64::MAX).min(HAND_OVER_BYTES) {
            self.hand_over();
        }
    }

    /// Tells the others of a collective call, whose writes are in the window since `mark`.
    fn post(&mut self, storage: &Arc<dyn Storage>, window: &Window, mark: Mark, epoch: u64) {
        let Some(board) = self.board.clone() else { return };
        let bytes = &window.bytes()[mark.place() as usize..];
        let runs = window.writes_since(mark).flat_map(|(_, write)| write.runs.iter().copied());
        while self.posts.front().is_some_and(|post| board.is_older(post, epoch)) {
            self.stored.extend(self.posts.pop_front().and_then(|post| board.withdraw(post)));
        }
        let Some(post) = board.post(epoch, (mark.place(), bytes), runs) else { return };
        self.posts.push_back(post);
        let bytes = bytes.len() as u64;
        if board.leads(epoch) {
            let (storage, what) = (Arc::clone(storage), What::Joint(board));
            let piece = Piece { storage, what, epoch, commits: self.commits };
            // It is woken when the last rank is done with the call.
            if let Some(thread) = self.thread() {
                thread.give([piece]);
            }
        }
        self.done(epoch, bytes);
    }

    /// Adds a write to the group that it lies among or beside, or to a new one; the group, if it is whole, and whether it lies among
    /// the writes before it.
    fn gather(&mut self, mark: Mark, place: u64, write: &Waiting<'_>, least: u64) -> (Option<Group>, bool) {
        let lo = write.runs.iter().map(|run| run.offset()).min();
        let hi = write.runs.iter().map(|run| run.end()).max();
        let (Some(lo), Some(hi)) = (lo, hi) else { return (None, false) };
        let bytes = write.bytes.len() as u64;
        let beside = |group: &Group| lo <= group.hi && group.lo <= hi && place == group.place + group.bytes;
        let before = self.group.take().filter(beside);
        let among = before.as_ref().is_some_and(|group| lo < group.hi && group.lo < hi);
        let mut group = before.unwrap_or(Group { mark, place, lo, hi, bytes: 0 });
        (group.lo, group.hi, group.bytes) = (group.lo.min(lo), group.hi.max(hi), group.bytes + bytes);
        if group.bytes == group.hi - group.lo && group.bytes >= least {
            return (Some(group), among);
        }
        self.group = Some(group);
        (None, among)
    }

    /// Lets the thread write what is ready.
    fn hand_over(&mut self) {
        self.ready_bytes = 0;
        let pieces = std::mem::take(&mut self.ready);
        if let Some(thread) = self.thread() {
            thread.give(pieces);
        }
        self.pace.ring_own();
    }

    /// Without it the commit does all.
    fn thread(&mut self) -> Option<&Thread> {
        if self.thread.is_none() {
            self.thread = Thread::start(&self.pace).ok();
            self.thread.iter().filter(|_| self.paused > 0).for_each(Thread::pause);
        }
        self.thread.as_ref()
    }

    /// Takes back what has not been begun, and waits for the rest: the places in the window that are in the file now. What other ranks
    /// could read here is theirs no longer.
    pub fn stop(&mut self) -> Vec<Range<u64>> {
        (self.group, self.ready_bytes) = (None, 0);
        self.ready.clear();
        let mut stored = self.thread.as_ref().map_or(Vec::new(), Thread::stop);
        if let Some(board) = &self.board {
            stored.append(&mut self.stored);
            stored.extend(self.posts.drain(..).filter_map(|post| board.withdraw(post)));
        }
        stored.sort_unstable_by_key(|range| range.start);
        stored.dedup_by(|next, before| {
            let joined = next.start <= before.end;
            if joined {
                before.end = before.end.max(next.end);
            }
            joined
        });
        stored
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        // The window goes next.
        self.stop();
    }
}

/// The steps in which long pieces are written.
fn straight(
    (storage, commits): (&Arc<dyn Storage>, u32),
    place: u64,
    write: &Waiting<'_>,
    pieces: &mut Vec<Piece>,
) {
    let mut at = 0;
    for block in write.runs.iter().flat_map(|run| run.blocks()) {
        let bytes = &write.bytes[at..at + block.len as usize];
        for (number, step) in bytes.chunks(STEP_BYTES).enumerate() {
            let offset = (number * STEP_BYTES) as u64;
            let part = Part::of(place + at as u64 + offset, step);
            pieces.push(Piece {
                storage: Arc::clone(storage),
                what: What::Straight { file: block.file + offset, part },
                epoch: called(write.epoch),
                commits,
            });
        }
        at += block.len as usize;
    }
}

/// The steps in which a group is written, if it is one piece of the file indeed.
fn packed(
    (storage, commits): (&Arc<dyn Storage>, u32),
    window: &Window,
    group: &Group,
    (config, facts): (&Config, &StorageFacts),
    pieces: &mut Vec<Piece>,
) {
    let mut declaration = Declaration::new(Direction::Write);
    let mut epoch = 0;
    for (_, write) in window.writes_since(group.mark) {
        if declaration.stream_bytes() == group.bytes {
            break;
        }
        declaration.variable(write.runs.iter().copied());
        epoch = epoch.max(called(write.epoch));
    }
    let declared = declaration.finish();
    // Not if something was written twice and something else not at all.
    let whole = declared.coverage().len() == 1 && declared.bytes() == group.bytes;
    let bytes = window.bytes().get(group.place as usize..(group.place + group.bytes) as usize);
    let (true, Some(bytes)) = (whole, bytes) else { return };
    let part = Part::of(group.place, bytes);
    let packing = Arc::new(Packing::new(declared, config, facts));
    pieces.extend((0..packing.windows()).map(|number| Piece {
        storage: Arc::clone(storage),
        what: What::Packed { packing: Arc::clone(&packing), window: number, part },
        epoch,
        commits,
    }));
}

/// All ranks must have made the collective call that a write belongs to, or follows.
const fn called(epoch: u64) -> u64 {
    epoch & !1
}

#[cfg(test)]
mod tests;
