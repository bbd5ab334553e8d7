//! [`Transport`] on threads of one process: for tests without mpiexec, and for a program that is one rank.
//!
//! Collectives run on the same [`Board`] as ranks of MPI on one node. With a seed, one rank runs at a time and the next
//! one is drawn at every step, so that a seed is an interleaving; puts then stay behind until they are flushed.

mod group;
mod schedule;

use crate::error::Error;
use crate::transport::Transport;
use crate::wait::{Alarm, Polite, Wait};
use group::{Common, Group, ThreadRank};
use schedule::{Schedule, Turn};
use std::panic::{self, AssertUnwindSafe};
use std::rc::Rc;
use std::sync::Arc;
use std::thread;

/// How threads play ranks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Ranks on each pretended node; 0 puts all on one.
    pub ranks_per_node: usize,
    /// Pretend that there are no windows between nodes.
    pub no_windows: bool,
    /// Draw the interleaving from this seed; without one, threads run freely.
    pub seed: Option<u64>,
}

/// One rank that is the whole group.
pub fn single() -> Result<Box<dyn Transport>, Error> {
    let group = Arc::new(Group::new(1, vec![0], Common::default())?);
    Ok(Box::new(ThreadRank::new(group, 0, Rc::new(Polite::default()))))
}

/// Runs `body` on `size` ranks, and returns what each returned.
///
/// A rank that returns an error, or panics, is gone: ranks that wait for it fail with [`Error::PeerGone`]. A panic is
/// passed on when all have ended.
pub fn run<R, F>(size: usize, options: Options, body: F) -> Vec<R>
where
    R: std::marker::Send,
    F: Fn(&dyn Transport) -> R + Sync,
{
    run_traced(size, options, body).0
}

/// As [`run`], with a number that stands for the interleaving; equal numbers, equal interleavings. 0 without a seed.
///
/// # Panics
/// Where memory for the group is missing, or when a rank panicked.
pub fn run_traced<R, F>(size: usize, options: Options, body: F) -> (Vec<R>, u64)
where
    R: std::marker::Send,
    F: Fn(&dyn Transport) -> R + Sync,
{
    let alarm = Arc::new(Alarm::default());
    let schedule = options.seed.map(|seed| Arc::new(Schedule::new(size, seed, Arc::clone(&alarm))));
    let node = |rank| usize::checked_div(rank, options.ranks_per_node).unwrap_or(0);
    let common = Common { seed: options.seed, no_windows: options.no_windows };
    let group = Group::new(size, (0..size).map(node).collect(), common);
    let group = Arc::new(group.expect("memory for a group of threads"));
    let rank_body = |rank: usize| {
        let _turns = schedule.as_ref().map(|s| s.enter(rank));
        let wait: Rc<dyn Wait> = match &schedule {
            Some(schedule) => Rc::new(Turn::new(Arc::clone(schedule), rank)),
            None => Rc::new(Polite::with_alarm(Arc::clone(&alarm))),
        };
        let transport = ThreadRank::new(Arc::clone(&group), rank, wait);
        let result = panic::catch_unwind(AssertUnwindSafe(|| body(&transport)));
        if result.is_err() {
            alarm.raise(rank);
        }
        result
    };
    let results: Vec<thread::Result<R>> = thread::scope(|scope| {
        let ranks: Vec<_> = (0..size).map(|rank| scope.spawn(move || rank_body(rank))).collect();
        ranks.into_iter().map(|rank| rank.join().and_then(|r| r)).collect()
    });
    let trace = schedule.map_or(0, |s| s.trace());
    // The panic of the rank that was first, not of those that then found it gone.
    if let Err(Error::PeerGone { rank }) = alarm.check() {
        if let Some(Err(cause)) = results.into_iter().nth(rank) {
            panic::resume_unwind(cause);
        }
        unreachable!("a rank that raised the alarm has panicked");
    }
    (results.into_iter().flatten().collect(), trace)
}
