//! Interleavings from a seed: one rank runs at a time; at each step it passes the turn to a rank that can go on.
//!
//! A rank that waits for a signal can go on once the signal has another value than the one it saw. Half of the seeds
//! draw evenly; the other half give ranks priorities that are seldom redrawn, which finds the races that need one rank to
//! be much slower than all others.

use crate::error::Error;
use crate::signal::Signal;
use crate::wait::{Alarm, Patience, Wait};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Threads that are no ranks, such as writers of files, may take this long to change a signal.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Schedule {
    state: Mutex<State>,
    turns: Vec<Condvar>,
    alarm: Arc<Alarm>,
}

struct State {
    ranks: Vec<Rank>,
    /// None: the turn is free.
    running: Option<usize>,
    free_since: Instant,
    entered: usize,
    random: u64,
    /// Higher runs first; none draws evenly.
    priorities: Option<Vec<u64>>,
    trace: u64,
    deadlock: bool,
}

#[derive(Clone, Copy)]
enum Rank {
    Ready,
    /// Until the signal is no longer what it was.
    Blocked {
        signal: *const Signal,
        seen: u32,
    },
    Gone,
}

// SAFETY: the signal is alive as long as its rank is blocked on it, and made of atomics.
unsafe impl Send for Rank {}

impl Schedule {
    pub fn new(size: usize, seed: u64, alarm: Arc<Alarm>) -> Self {
        let mut state = State {
            ranks: vec![Rank::Ready; size],
            running: None,
            free_since: Instant::now(),
            entered: 0,
            random: seed,
            priorities: None,
            trace: 0xcbf2_9ce4_8422_2325,
            deadlock: false,
        };
        if state.draw() & 1 == 0 {
            state.priorities = Some((0..size).map(|_| state.draw()).collect());
        }
        Self { state: Mutex::new(state), turns: (0..size).map(|_| Condvar::new()).collect(), alarm }
    }

    /// Waits until all ranks are there and it is this one's turn; leaving passes the turn on for good.
    pub fn enter(&self, rank: usize) -> Leave<'_> {
        let mut state = self.lock();
        state.entered += 1;
        // An error shows in the first call of the rank.
        let _ = self.take_turn(state, rank);
        Leave { schedule: self, rank }
    }

    /// A number that stands for all turns so far.
    pub fn trace(&self) -> u64 {
        self.lock().trace
    }

    /// Gives the turn away and returns when it comes back, which is when this state can go on.
    fn give_turn(&self, rank: usize, until: Rank) -> Result<(), Error> {
        let mut state = self.lock();
        state.ranks[rank] = until;
        state.release(rank);
        self.take_turn(state, rank)
    }

    /// Whoever finds the turn free passes it on; if nobody can go on, only a thread that is no rank can change that.
    fn take_turn(&self, mut state: MutexGuard<'_, State>, rank: usize) -> Result<(), Error> {
        let result = loop {
            if state.running.is_none() {
                self.pass(&mut state);
            }
            if state.running == Some(rank) {
                break Ok(());
            }
            if let Err(gone) = self.alarm.check() {
                break Err(gone);
            }
            let free = state.running.is_none() && state.entered == self.turns.len();
            state.deadlock |= free && state.free_since.elapsed() > PATIENCE;
            if state.deadlock {
                break Err(Error::Deadlock);
            }
            let pause = Duration::from_micros(if free { 200 } else { 20_000 });
            let wait = self.turns[rank].wait_timeout(state, pause);
            state = wait.map_or_else(|e| e.into_inner().0, |(state, _)| state);
        };
        state.ranks[rank] = Rank::Ready;
        result
    }

    /// Draws the next rank among those that can go on.
    fn pass(&self, state: &mut State) {
        if state.entered < self.turns.len() {
            return;
        }
        let able: Vec<usize> = (0..state.ranks.len()).filter(|&r| state.ranks[r].able()).collect();
        if able.is_empty() {
            return;
        }
        let next = state.choose(&able);
        state.trace = (state.trace ^ next as u64).wrapping_mul(0x0100_0000_01b3);
        state.running = Some(next);
        self.turns[next].notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn release(&mut self, rank: usize) {
        if self.running == Some(rank) {
            self.running = None;
            self.free_since = Instant::now();
        }
    }

    fn choose(&mut self, able: &[usize]) -> usize {
        let (pick, redraw) = (self.draw() as usize % able.len(), self.draw());
        let Some(priorities) = &mut self.priorities else { return able[pick] };
        if redraw & 15 == 0 {
            priorities[able[pick]] = redraw >> 4;
        }
        able.iter().copied().max_by_key(|&r| priorities[r]).unwrap_or(able[pick])
    }

    /// SplitMix64.
    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}

impl Rank {
    fn able(self) -> bool {
        match self {
            Self::Ready => true,
            // SAFETY: the rank holds the signal while it is blocked.
            Self::Blocked { signal, seen } => unsafe { &*signal }.get() != seen,
            Self::Gone => false,
        }
    }
}

/// Ends a rank's part in the schedule when dropped.
pub struct Leave<'a> {
    schedule: &'a Schedule,
    rank: usize,
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        let mut state = self.schedule.lock();
        state.ranks[self.rank] = Rank::Gone;
        state.release(self.rank);
        self.schedule.pass(&mut state);
    }
}

/// A rank's way to wait under a schedule.
pub struct Turn {
    schedule: Arc<Schedule>,
    rank: usize,
}

impl Turn {
    pub fn new(schedule: Arc<Schedule>, rank: usize) -> Self {
        Self { schedule, rank }
    }
}

impl Wait for Turn {
    fn until(&self, signal: &Signal, done: &dyn Fn(u32) -> bool) -> Result<(), Error> {
        loop {
            let seen = signal.get();
            if done(seen) {
                return Ok(());
            }
            self.schedule.give_turn(self.rank, Rank::Blocked { signal, seen })?;
        }
    }

    fn watch(
        &self,
        signal: &Signal,
        seen: u32,
        ready: &mut dyn FnMut() -> Result<bool, Error>,
    ) -> Result<(), Error> {
        while signal.get() == seen && !ready()? {
            self.schedule.give_turn(self.rank, Rank::Ready)?;
        }
        Ok(())
    }

    fn pause(&self, _: &mut Patience) -> Result<(), Error> {
        self.schedule.give_turn(self.rank, Rank::Ready)
    }
}
