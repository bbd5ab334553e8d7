//! How a rank waits: a short spin, then sleep. Never a busy loop, since the rank that is waited for may need the core.

use crate::error::Error;
use crate::signal::Signal;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A way to wait. The threads' seeded scheduler is another one.
pub trait Wait {
    /// Returns once `done` holds for the signal's value.
    fn until(&self, signal: &Signal, done: &dyn Fn(u32) -> bool) -> Result<(), Error>;

    /// Returns once the signal is no longer `seen`, which wakes us, or `ready` says so, which cannot.
    fn watch(
        &self,
        signal: &Signal,
        seen: u32,
        ready: &mut dyn FnMut() -> Result<bool, Error>,
    ) -> Result<(), Error>;

    /// Between two looks at something that cannot wake us.
    fn pause(&self, patience: &mut Patience) -> Result<(), Error>;
}

/// A few microseconds: as long as a sleep and a wake-up cost.
const SPINS: u32 = 100;

/// Sleeps on futexes.
#[derive(Clone)]
pub struct Polite {
    /// Set when a rank of this process has ended early.
    alarm: Option<Arc<Alarm>>,
    /// Lets MPI serve others while we wait: messages of the program that are under way to us, and puts from other nodes. Without
    /// asynchronous progress they stand still otherwise, and with them, perhaps, the rank that we wait for.
    progress: Option<Rc<dyn Fn() -> Result<(), Error>>>,
    /// Between two looks at what cannot wake us.
    nap: Duration,
}

impl Default for Polite {
    fn default() -> Self {
        Self { alarm: None, progress: None, nap: Duration::from_millis(20) }
    }
}

impl Polite {
    pub fn with_alarm(alarm: Arc<Alarm>) -> Self {
        Self { alarm: Some(alarm), ..Self::default() }
    }

    pub fn with_progress(progress: Rc<dyn Fn() -> Result<(), Error>>, nap: Duration) -> Self {
        Self { alarm: None, progress: Some(progress), nap }
    }

    fn look_around(&self) -> Result<(), Error> {
        if let Some(alarm) = &self.alarm {
            alarm.check()?;
        }
        self.progress.as_ref().map_or(Ok(()), |progress| progress())
    }
}

impl Wait for Polite {
    fn until(&self, signal: &Signal, done: &dyn Fn(u32) -> bool) -> Result<(), Error> {
        for _ in 0..SPINS {
            if done(signal.get()) {
                return Ok(());
            }
            std::hint::spin_loop();
        }
        loop {
            let seen = signal.get();
            if done(seen) {
                return Ok(());
            }
            self.look_around()?;
            signal.sleep(seen, self.nap);
        }
    }

    fn watch(
        &self,
        signal: &Signal,
        seen: u32,
        ready: &mut dyn FnMut() -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let mut patience = Patience::default();
        while signal.get() == seen && !ready()? {
            patience.pause_with(|nap| signal.sleep(seen, nap));
            self.look_around()?;
        }
        Ok(())
    }

    fn pause(&self, patience: &mut Patience) -> Result<(), Error> {
        patience.pause();
        self.look_around()
    }
}

/// Longer and longer pauses.
#[derive(Debug, Default)]
pub struct Patience {
    looks: u32,
}

impl Patience {
    const YIELDS: u32 = 40;
    const LONGEST_US: u64 = 200;

    fn pause(&mut self) {
        self.pause_with(std::thread::sleep);
    }

    fn pause_with(&mut self, sleep: impl FnOnce(Duration)) {
        match self.nap() {
            Some(nap) => sleep(nap),
            None if self.looks <= SPINS => std::hint::spin_loop(),
            None => std::thread::yield_now(),
        }
    }

    /// How long to sleep before the next look; at first not at all.
    fn nap(&mut self) -> Option<Duration> {
        self.looks = self.looks.saturating_add(1);
        let step = u64::from(self.looks.saturating_sub(SPINS + Self::YIELDS));
        (step > 0).then(|| Duration::from_micros((5 * step).min(Self::LONGEST_US)))
    }
}

/// Says which rank of this process has ended before the others.
#[derive(Debug, Default)]
pub struct Alarm(AtomicU32);

impl Alarm {
    pub fn raise(&self, rank: usize) {
        let rank = u32::try_from(rank).unwrap_or(u32::MAX - 1);
        let _ = self.0.compare_exchange(0, rank + 1, Ordering::SeqCst, Ordering::SeqCst);
    }

    pub fn check(&self) -> Result<(), Error> {
        match self.0.load(Ordering::SeqCst) {
            0 => Ok(()),
            rank => Err(Error::PeerGone { rank: rank as usize - 1 }),
        }
    }
}
