//! What the ranks of a node know of each other while bytes go to the file ahead of the commit: how far each has come, whose turn it is
//! to write, and whether a rank is putting bytes into the file by itself. Counters in common memory; nobody is sent a message.

use sago_mpi::{Error, Shared as Memory, Signal, Transport};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::time::{Duration, Instant};

/// Who does not get a turn to write in this time goes on without, lest a rank that is gone keeps it for ever.
const TURN_PATIENCE: Duration = Duration::from_millis(20);

/// For each rank the epoch of its last collective write, whether its thread is writing, how often that has run out of work, a bell
/// to wake it, how often the rank has waited for it before a commit, and whether it does; with the first rank also whose turn it is, whether nothing may go ahead, and whether a rank is putting bytes into the file by itself.
pub struct Pace {
    counters: Memory,
    rank: usize,
    ranks: usize,
    /// How often this rank has [`Alone`]: a function of the program's that HDF5 calls may need it once more.
    alone: AtomicU32,
}

const REACHED: usize = 0;
const TURN: usize = Signal::BYTES;
const WRITING: usize = 2 * Signal::BYTES;
const HELD: usize = 3 * Signal::BYTES;
const LONE: usize = 4 * Signal::BYTES;
const IDLE: usize = 5 * Signal::BYTES;
const BELL: usize = 6 * Signal::BYTES;
const FINISHING: usize = 7 * Signal::BYTES;
const HURRY: usize = 8 * Signal::BYTES;
const BYTES: usize = 9 * Signal::BYTES;

// SAFETY: of the memory only the counters are used, which are atomic; the thread is joined before it is given back.
unsafe impl Send for Pace {}
// SAFETY: as above.
unsafe impl Sync for Pace {}

/// As long as a rank has it, no other puts bytes into the file by itself.
pub struct Alone(Arc<Pace>);

impl Drop for Alone {
    fn drop(&mut self) {
        let last = self.0.alone.fetch_sub(1, Ordering::SeqCst) == 1;
        if let Some(lone) = self.0.first(LONE).filter(|_| last) {
            lone.set(0);
        }
    }
}

/// As long as a thread has it, who wants to be alone waits for it.
pub struct Writing<'p>(&'p Signal);

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.0.set(0);
    }
}

/// As long as a thread has it, others that want to write wait, for a while.
pub struct Turn<'p>(&'p Signal);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.set(0);
    }
}

impl Pace {
    /// For ranks on one node. Collective.
    pub fn new(ranks: &dyn Transport) -> Result<Self, Error> {
        let (rank, size) = (ranks.rank(), ranks.size());
        Ok(Self { counters: ranks.share(BYTES)?, rank, ranks: size, alone: AtomicU32::new(0) })
    }

    /// This rank has come to this collective write.
    pub fn enter(&self, epoch: u64) {
        self.own(REACHED).into_iter().for_each(|counter| counter.set(epoch as u32));
    }

    /// Whether all ranks have come as far. Counters differ by far less than they hold.
    pub fn reached(&self, epoch: u64) -> bool {
        let mut counters = self.all(REACHED);
        counters.all(|counter| counter.get().wrapping_sub(epoch as u32) as i32 >= 0)
    }

    /// Waits until all ranks have come to the collective write of this epoch.
    pub fn wait(&self, ranks: &dyn Transport, epoch: u64) -> Result<(), Error> {
        self.watch(ranks, &mut || Ok(self.reached(epoch)))
    }

    /// Wakes a rank's thread.
    pub fn ring(&self, rank: usize) {
        if let Ok(bell) = self.counters.signal(rank, BELL) {
            bell.add(1);
        }
    }

    /// This rank has come to wait for its thread so many times.
    pub fn finish(&self, times: u32) {
        self.own(FINISHING).into_iter().for_each(|finishing| finishing.set(times));
    }

    /// How many times a rank has.
    pub fn finishing(&self, rank: usize) -> u32 {
        self.counters.signal(rank, FINISHING).map_or(0, Signal::get)
    }

    /// Whether all ranks have come so many times, and so are done with all that they have begun.
    pub fn all_finishing(&self, times: u32) -> bool {
        self.all(FINISHING).all(|finishing| finishing.get().wrapping_sub(times) as i32 >= 0)
    }

    /// Wakes the threads of all ranks.
    pub fn ring_all(&self) {
        (0..self.ranks).for_each(|rank| self.ring(rank));
    }

    /// Wakes this rank's thread.
    pub fn ring_own(&self) {
        self.ring(self.rank);
    }

    /// How often this rank's thread has been woken.
    pub fn rung(&self) -> u32 {
        self.own(BELL).map_or(0, Signal::get)
    }

    /// Sleeps unless somebody has rung since, and until somebody does.
    pub fn sleep(&self, rung: u32, at_most: Duration) {
        self.own(BELL).into_iter().for_each(|bell| bell.sleep(rung, at_most));
    }

    /// This rank's thread has nothing more to do.
    pub fn rest(&self) {
        if let Some(idle) = self.own(IDLE) {
            idle.add(1);
        }
    }

    /// Wakes this rank's thread, and waits until `idle` says that it has nothing more to do.
    pub fn await_rest(&self, ranks: &dyn Transport, idle: impl Fn() -> bool) -> Result<(), Error> {
        let (Some(signal), Some(hurry)) = (self.own(IDLE), self.own(HURRY)) else { return Ok(()) };
        hurry.set(1);
        self.ring_own();
        let rested = loop {
            let seen = signal.get();
            if idle() {
                break Ok(());
            }
            if let Err(lost) = ranks.watch(signal, seen, &mut || Ok(idle())) {
                break Err(lost);
            }
        };
        hurry.set(0);
        rested
    }

    /// Whether this rank waits for its thread.
    pub fn hurries(&self) -> bool {
        self.own(HURRY).is_some_and(|hurry| hurry.get() > 0)
    }

    /// The collective write that this rank has come to, as counters hold it.
    pub fn came_to(&self) -> u32 {
        self.own(REACHED).map_or(0, Signal::get)
    }

    /// Waits for this rank's turn to write.
    pub fn take_turn(&self) -> Option<Turn<'_>> {
        let turn = self.first(TURN)?;
        let start = Instant::now();
        while !turn.claim() {
            let left = TURN_PATIENCE.checked_sub(start.elapsed())?;
            turn.sleep(1, left);
        }
        Some(Turn(turn))
    }

    /// This rank's thread is about to write, before this commit; `None` if it must not, since a rank has put bytes into the file by
    /// itself.
    pub fn begin(&self, commits: u32) -> Option<Writing<'_>> {
        let (signal, held) = (self.own(WRITING)?, self.first(HELD)?);
        signal.set(1);
        let writing = Writing(signal);
        // Either we see that it is held, or who holds it sees us.
        fence(Ordering::SeqCst);
        (held.get() != commits.wrapping_add(1)).then_some(writing)
    }

    /// Before this rank puts bytes into the file by itself: while it has the result, no other rank does, and until the next
    /// commit of all no thread writes ahead, since what it has may be older.
    pub fn alone(self: &Arc<Self>, ranks: &dyn Transport, commits: u32) -> Result<Alone, Error> {
        if self.alone.load(Ordering::SeqCst) == 0 {
            self.watch(ranks, &mut || Ok(self.first(LONE).is_none_or(|lone| lone.claim())))?;
        }
        self.alone.fetch_add(1, Ordering::SeqCst);
        let alone = Alone(Arc::clone(self));
        self.first(HELD).into_iter().for_each(|held| held.set(commits.wrapping_add(1)));
        fence(Ordering::SeqCst);
        self.watch(ranks, &mut || Ok(self.all(WRITING).all(|writing| writing.get() == 0)))?;
        Ok(alone)
    }

    /// Waits for what does not wake us.
    fn watch(
        &self,
        ranks: &dyn Transport,
        ready: &mut dyn FnMut() -> Result<bool, Error>,
    ) -> Result<(), Error> {
        self.own(REACHED).map_or(Ok(()), |mine| ranks.watch(mine, mine.get(), ready))
    }

    fn own(&self, offset: usize) -> Option<&Signal> {
        self.counters.signal(self.rank, offset).ok()
    }

    fn first(&self, offset: usize) -> Option<&Signal> {
        self.counters.signal(0, offset).ok()
    }

    fn all(&self, offset: usize) -> impl Iterator<Item = &Signal> {
        (0..self.ranks).filter_map(move |rank| self.counters.signal(rank, offset).ok())
    }
}
