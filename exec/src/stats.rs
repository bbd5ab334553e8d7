//! What a commit did and where its time went, on one rank. Counting costs two clock readings per action, and an action
//! moves a buffer.

use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub commits: u64,
    /// Commits that used the plan of the one before.
    pub reused: u64,
    pub planning: Duration,
    pub copying: Duration,
    /// Sending to other nodes and taking what came from them.
    pub exchanging: Duration,
    pub waiting: Duration,
    /// Storage calls of this rank's own bytes; those of an aggregator run beside the rest.
    pub storing: Duration,
    pub agreeing: Duration,
    pub copied_bytes: u64,
    /// Sent to other nodes, with what goes along.
    pub far_bytes: u64,
    pub stored_bytes: u64,
    pub requests: u64,
    pub rounds: u64,
}

impl Stats {
    /// Runs `work` and adds its time to the part of the statistics that `part` picks.
    pub(crate) fn time<T>(&mut self, part: fn(&mut Self) -> &mut Duration, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        *part(self) += start.elapsed();
        result
    }
}
