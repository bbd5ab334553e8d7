//! Writing ahead: long pieces of the window, which need no exchange, go to the file while the program goes on. The commit
//! leaves out what is there by then.
//!
//! As without Sago, no byte of a collective write is in the file before all ranks have called it: the ranks of a node keep
//! a counter in common memory, and a piece waits until all have come as far. So this is for ranks on one node.
//!
//! Nothing depends on it. A piece stays in the window until the commit, and is written there if it was not written
//! ahead, if that failed, or if its order among the writes of other ranks turns out to matter. The thread calls
//! neither MPI nor HDF5.
//!
//! Invariant: pieces are taken back with [`Ahead::stop`] before the window's memory is used for anything else.

use super::window::Waiting;
use sago_exec::contain;
use sago_mpi::{Error, Shared as Memory, Signal, Transport};
use sago_storage::Storage;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What is written at once: a commit, and whoever else writes to the file, waits for as much.
const STEP_BYTES: usize = 128 << 10;

/// Writers to one file take turns: in the kernel they would burn the cores that the program needs. A turn is so long at
/// most; who does not get one in this time goes on without, lest a rank that is gone keeps it for ever.
const TURN_STEPS: usize = 8;
const TURN_PATIENCE: Duration = Duration::from_millis(20);

/// A rank that lags wakes the thread when it comes along; but whether it is still wanted, it looks by itself.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

pub struct Ahead {
    pace: Arc<Pace>,
    thread: Option<Thread>,
}

/// The epoch of each rank's last collective write; and, with the first rank, whose turn it is.
struct Pace {
    counters: Memory,
    rank: usize,
    ranks: usize,
}

struct Thread {
    shared: Arc<Shared>,
    handle: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    desk: Mutex<Desk>,
    changed: Condvar,
}

#[derive(Default)]
struct Desk {
    todo: VecDeque<Piece>,
    /// Places in the window, in the order in which they were written.
    stored: Vec<Range<u64>>,
    busy: bool,
    over: bool,
}

struct Piece {
    storage: Arc<dyn Storage>,
    file: u64,
    /// Its place in the window.
    place: u64,
    start: *const u8,
    len: usize,
    epoch: u64,
}

// SAFETY: memory of the window, which stays as it is until `Ahead::stop`.
unsafe impl Send for Piece {}

// SAFETY: of the memory only the counters are used, which are atomic; the thread is joined before it is given back.
unsafe impl Send for Pace {}
// SAFETY: as above.
unsafe impl Sync for Pace {}

impl Pace {
    fn counter(&self, rank: usize) -> Option<&Signal> {
        self.counters.signal(rank, 0).ok()
    }

    /// The counter of a rank that has not come as far, with what it says. They differ by far less than a counter holds.
    fn laggard(&self, epoch: u64) -> Option<(&Signal, u32)> {
        let mut counters = (0..self.ranks).filter_map(|rank| self.counter(rank)).map(|c| (c, c.get()));
        counters.find(|(_, value)| (value.wrapping_sub(epoch as u32) as i32) < 0)
    }

    /// Waits for this rank's turn to write; whether there is one to give back.
    fn take_turn(&self) -> Option<&Signal> {
        let turn = self.counters.signal(0, Signal::BYTES).ok()?;
        let start = Instant::now();
        while !turn.claim() {
            let left = TURN_PATIENCE.checked_sub(start.elapsed())?;
            turn.sleep(1, left);
        }
        Some(turn)
    }

    /// Whether all ranks have come as far.
    fn reached(&self, epoch: u64) -> bool {
        self.laggard(epoch).is_none()
    }
}

impl Ahead {
    /// For ranks on one node. Collective.
    pub fn new(ranks: &dyn Transport) -> Result<Self, Error> {
        let counters = ranks.share(2 * Signal::BYTES)?;
        let pace = Pace { counters, rank: ranks.rank(), ranks: ranks.size() };
        Ok(Self { pace: Arc::new(pace), thread: None })
    }

    /// This rank has come to this collective write.
    pub fn enter(&self, epoch: u64) {
        if let Some(counter) = self.pace.counter(self.pace.rank) {
            counter.set(epoch as u32);
        }
    }

    /// Waits until all ranks have come to the collective write of this epoch.
    pub fn wait(&self, ranks: &dyn Transport, epoch: u64) -> Result<(), Error> {
        let Some(mine) = self.pace.counter(self.pace.rank) else { return Ok(()) };
        ranks.watch(mine, mine.get(), &mut || Ok(self.pace.reached(epoch)))
    }

    /// Begins to write what was added to the window at `place`.
    ///
    /// # Safety
    /// The bytes stay where they are, unchanged, until [`Ahead::stop`].
    pub unsafe fn begin(&mut self, storage: &Arc<dyn Storage>, place: u64, write: &Waiting<'_>) {
        if self.thread.is_none() {
            // Without it the commit does all.
            self.thread = Thread::start(&self.pace).ok();
        }
        let Some(Thread { shared, .. }) = &self.thread else { return };
        let mut at = 0;
        let mut desk = lock(&shared.desk);
        for block in write.runs.iter().flat_map(|run| run.blocks()) {
            let bytes = &write.bytes[at..at + block.len as usize];
            for (number, step) in bytes.chunks(STEP_BYTES).enumerate() {
                let offset = (number * STEP_BYTES) as u64;
                desk.todo.push_back(Piece {
                    storage: Arc::clone(storage),
                    file: block.file + offset,
                    place: place + at as u64 + offset,
                    start: step.as_ptr(),
                    len: step.len(),
                    // All ranks must have made the collective call that it belongs to, or follows.
                    epoch: write.epoch & !1,
                });
            }
            at += block.len as usize;
        }
        drop(desk);
        shared.changed.notify_all();
    }

    /// Takes back what has not been begun, and waits for the rest: the places in the window that are in the file now.
    pub fn stop(&mut self) -> Vec<Range<u64>> {
        let Some(Thread { shared, .. }) = &self.thread else { return Vec::new() };
        let mut desk = lock(&shared.desk);
        desk.todo.clear();
        while desk.busy {
            desk = shared.changed.wait(desk).unwrap_or_else(PoisonError::into_inner);
        }
        let mut stored = std::mem::take(&mut desk.stored);
        drop(desk);
        stored.sort_unstable_by_key(|range| range.start);
        stored.dedup_by(|next, before| {
            let joined = next.start == before.end;
            if joined {
                before.end = next.end;
            }
            joined
        });
        stored
    }
}

impl Thread {
    fn start(pace: &Arc<Pace>) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let (its, pace) = (Arc::clone(&shared), Arc::clone(pace));
        let work = move || its.work(&pace);
        let handle = std::thread::Builder::new().name("sago-ahead".to_owned()).spawn(work)?;
        Ok(Self { shared, handle: Some(handle) })
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        let mut desk = lock(&self.shared.desk);
        desk.todo.clear();
        desk.over = true;
        drop(desk);
        self.shared.changed.notify_all();
        if let Some(handle) = self.handle.take() {
            // What it has not written, the commit writes.
            let _ = handle.join();
        }
    }
}

impl Shared {
    fn work(&self, pace: &Pace) {
        let mut desk = lock(&self.desk);
        loop {
            let Some(epoch) = desk.todo.front().map(|piece| piece.epoch) else {
                if desk.over {
                    return;
                }
                desk = self.changed.wait(desk).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            if let Some((counter, seen)) = pace.laggard(epoch) {
                drop(desk);
                counter.sleep(seen, LOOK_AGAIN);
                desk = lock(&self.desk);
                continue;
            }
            drop(desk);
            let turn = pace.take_turn();
            desk = self.write_some(lock(&self.desk), pace);
            if let Some(turn) = turn {
                turn.set(0);
            }
        }
    }

    /// Writes what is due, for the length of a turn.
    fn write_some<'d>(&'d self, mut desk: MutexGuard<'d, Desk>, pace: &Pace) -> MutexGuard<'d, Desk> {
        for _ in 0..TURN_STEPS {
            if desk.todo.front().is_none_or(|piece| !pace.reached(piece.epoch)) {
                break;
            }
            let Some(piece) = desk.todo.pop_front() else { break };
            desk.busy = true;
            drop(desk);
            // SAFETY: the window's memory, until `Ahead::stop`, which waits while the thread is busy.
            let bytes = unsafe { std::slice::from_raw_parts(piece.start, piece.len) };
            let written = contain(|| Ok(piece.storage.write(piece.file, bytes).is_ok())).unwrap_or(false);
            let place = piece.place..piece.place + piece.len as u64;
            // The last to hold the file must not be this thread, whenever it gets to it.
            drop(piece);
            desk = lock(&self.desk);
            desk.busy = false;
            if written {
                desk.stored.push(place);
            } else {
                // The commit will meet the same failure, and can tell all ranks.
                desk.todo.clear();
            }
            self.changed.notify_all();
        }
        desk
    }
}

fn lock(desk: &Mutex<Desk>) -> MutexGuard<'_, Desk> {
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sago_core::extent::Run;
    use sago_mpi::threads;
    use sago_storage::{Counted, Memory as InMemory};

    const LEN: usize = 3 << 20;

    fn settled(ahead: &Ahead) {
        let shared = &ahead.thread.as_ref().unwrap().shared;
        let mut desk = lock(&shared.desk);
        while desk.busy || !desk.todo.is_empty() {
            desk = shared.changed.wait(desk).unwrap();
        }
    }

    #[test]
    fn long_pieces_are_in_the_file_and_named() {
        let storage = Arc::new(Counted::new(InMemory::default()));
        let file: Arc<dyn Storage> = storage.clone();
        let bytes: Vec<u8> = (0..LEN).map(|i| (i / 1000) as u8).collect();
        let mut ahead = Ahead::new(&*sago_mpi::single().unwrap()).unwrap();
        assert!(ahead.stop().is_empty());
        let long = [Run::contiguous(1 << 30, LEN as u64 / 2), Run::contiguous(0, LEN as u64 / 2)];
        // SAFETY: the bytes outlive the writer.
        unsafe { ahead.begin(&file, 150, &Waiting { runs: &long, bytes: &bytes, epoch: 0 }) };
        settled(&ahead);
        assert_eq!(ahead.stop(), vec![Range { start: 150, end: 150 + LEN as u64 }]);
        assert!(ahead.stop().is_empty());
        let mut back = vec![0; LEN / 2];
        storage.read(1 << 30, &mut back).unwrap();
        assert!(back == bytes[..LEN / 2]);
        storage.read(0, &mut back).unwrap();
        assert!(back == bytes[LEN / 2..]);
        assert_eq!(storage.counts().write_calls, (LEN / STEP_BYTES) as u64);
    }

    #[test]
    fn nothing_is_written_before_all_ranks_have_called() {
        let storage = Arc::new(Counted::new(InMemory::default()));
        let file: Arc<dyn Storage> = storage.clone();
        let bytes = vec![1; 1000];
        threads::run(2, threads::Options::default(), |ranks| {
            let mut ahead = Ahead::new(ranks).unwrap();
            if ranks.rank() == 0 {
                ahead.enter(2);
                let runs = [Run::contiguous(0, 1000)];
                // SAFETY: the bytes outlive the writer.
                unsafe { ahead.begin(&file, 0, &Waiting { runs: &runs, bytes: &bytes, epoch: 2 }) };
                std::thread::sleep(LOOK_AGAIN * 2);
                assert_eq!(storage.counts().write_calls, 0);
            }
            ranks.barrier().unwrap();
            ahead.enter(2);
            if ranks.rank() == 0 {
                settled(&ahead);
                assert_eq!(ahead.stop(), vec![Range { start: 0, end: 1000 }]);
            }
            ranks.barrier().unwrap();
        });
    }
}
