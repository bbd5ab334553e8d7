//! What a commit did and where its time went, on one rank. Counting costs two clock readings per action, and an action
//! moves a buffer.

use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub commits: u64,
    /// Commits that used a plan that had been made before.
    pub reused: u64,
    pub planning: Duration,
    pub copying: Duration,
    /// Sending to other nodes and taking what came from them.
    pub exchanging: Duration,
    pub waiting: Duration,
    /// Storage calls of this rank's own bytes, and packing them; of rounds, where no thread does them.
    pub storing: Duration,
    /// Storage calls of the I/O thread; they run beside all the rest.
    pub background: Duration,
    pub agreeing: Duration,
    /// Copies of strided blocks, each of any number of them, and their bytes.
    pub copies: u64,
    pub copied_bytes: u64,
    /// Sent to other nodes, with what goes along.
    pub far_bytes: u64,
    pub stored_bytes: u64,
    /// Storage requests; each is one system call, or one for each GiB, unless the file system cuts it short.
    pub requests: u64,
    pub rounds: u64,
    /// Bytes stored in rounds, and how many would have fitted into their buffers.
    pub round_bytes: u64,
    pub round_room: u64,
}

impl Stats {
    /// How full the buffers of the rounds were, from 0 to 1.
    pub fn fill(&self) -> f64 {
        if self.round_room == 0 { 0.0 } else { self.round_bytes as f64 / self.round_room as f64 }
    }

    /// What has been added since `before`.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            commits: self.commits - before.commits,
            reused: self.reused - before.reused,
            planning: self.planning - before.planning,
            copying: self.copying - before.copying,
            exchanging: self.exchanging - before.exchanging,
            waiting: self.waiting - before.waiting,
            storing: self.storing - before.storing,
            background: self.background - before.background,
            agreeing: self.agreeing - before.agreeing,
            copies: self.copies - before.copies,
            copied_bytes: self.copied_bytes - before.copied_bytes,
            far_bytes: self.far_bytes - before.far_bytes,
            stored_bytes: self.stored_bytes - before.stored_bytes,
            requests: self.requests - before.requests,
            rounds: self.rounds - before.rounds,
            round_bytes: self.round_bytes - before.round_bytes,
            round_room: self.round_room - before.round_room,
        }
    }

    /// A storage request of so many bytes.
    pub(crate) fn count(&mut self, bytes: u64) {
        self.requests += 1;
        self.stored_bytes += bytes;
    }

    /// Runs `work` and adds its time to the part of the statistics that `part` picks.
    pub(crate) fn time<T>(&mut self, part: fn(&mut Self) -> &mut Duration, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        *part(self) += start.elapsed();
        result
    }
}
