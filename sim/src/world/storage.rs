//! The file system: files striped over targets, each target a server that handles one request at a time; a stripe's lock
//! belongs to one client and costs time to change hands; what a shared file's own bookkeeping costs per request is
//! served file by file. A service time varies around its mean by the scenario's `jitter`, drawn from the seed.

use crate::scenario::{Fault, FileSystem};
use crate::time::Time;
use sago_core::ids::NodeId;
use sago_core::random::Random;
use std::collections::HashMap;

/// Bytes of a file that travel to one target as one batch of requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    pub file: u32,
    pub stripe: u64,
    pub target: u32,
    pub offset: u64,
    pub bytes: u64,
    /// Bytes of the program that it stands for: all of a piece in its first fragment, none in the others.
    pub useful: u64,
    pub requests: u64,
    /// Who holds the lock: the node, or its I/O node where that is the file system's client.
    pub client: u32,
    pub write: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Target {
    free: Time,
    /// Where the last request ended, for which file.
    ends: Option<(u32, u64)>,
    pub bytes: u64,
    pub requests: u64,
    pub busy: Time,
}

#[derive(Debug)]
pub(super) struct Storage<'a> {
    system: &'a FileSystem,
    faults: &'a [Fault],
    random: Random,
    pub targets: Vec<Target>,
    locks: HashMap<(u32, u64), Lock>,
    files: HashMap<u32, Time>,
    pub lock_changes: u64,
    pub seeks: u64,
}

#[derive(Clone, Copy, Debug)]
struct Lock {
    owner: u32,
    free: Time,
}

impl<'a> Storage<'a> {
    pub fn new(system: &'a FileSystem, faults: &'a [Fault], seed: u64) -> Self {
        Self {
            system,
            faults,
            random: Random::new(seed),
            targets: vec![Target::default(); system.pool as usize],
            locks: HashMap::new(),
            files: HashMap::new(),
            lock_changes: 0,
            seeks: 0,
        }
    }

    pub fn stripe_bytes(&self) -> u64 {
        self.system.stripe_bytes
    }

    /// The bookkeeping of the file and the lock of the stripe: when the chunk may go to its target.
    pub fn admit(&mut self, chunk: &Chunk, now: Time) -> Time {
        let mut ready = now;
        if chunk.useful == 0 {
            return ready;
        }
        if self.system.file_request_s > 0.0 {
            let free = self.files.entry(chunk.file).or_default();
            *free = ready.max(*free) + Time::from_s(self.system.file_request_s) * chunk.requests;
            ready = *free;
        }
        if self.system.lock_s == 0.0 || !chunk.write {
            return ready;
        }
        let key = (chunk.file, chunk.stripe);
        let lock = self.locks.entry(key).or_insert(Lock { owner: chunk.client, free: ready });
        ready = ready.max(lock.free);
        if lock.owner != chunk.client {
            ready += Time::from_s(self.system.lock_s);
            *lock = Lock { owner: chunk.client, free: ready };
            self.lock_changes += 1;
        }
        ready
    }

    /// When the target has handled the chunk.
    pub fn serve(&mut self, chunk: &Chunk, now: Time) -> Time {
        let number = chunk.target as usize;
        let mut takes = Time::from_s(self.system.request_s) * chunk.requests
            + Time::of_bytes(chunk.bytes, self.system.target_bytes_per_s);
        // Within a target, stripe follows stripe: the object's own address tells whether the heads must move.
        let width = u64::from(self.system.targets);
        let object =
            chunk.stripe / width * self.system.stripe_bytes + chunk.offset % self.system.stripe_bytes;
        let target = &mut self.targets[number];
        if target.ends != Some((chunk.file, object)) {
            takes += Time::from_s(self.system.seek_s);
            self.seeks += 1;
        }
        target.ends = Some((chunk.file, object + chunk.bytes));
        let begin = now.max(target.free);
        takes = takes.scaled(varied(self.system.jitter, &mut self.random));
        let slow = self.faults.iter().filter_map(|fault| fault.slows_target(number as u32, begin));
        takes = slow.fold(takes, Time::scaled);
        target.free = begin + takes;
        target.busy += takes;
        target.bytes += chunk.bytes;
        target.requests += chunk.requests;
        target.free
    }

    /// The target of a stripe. Files start at different ones, spread evenly over all (multiples of the golden ratio).
    pub fn target(&self, file: u32, stripe: u64) -> u32 {
        const GOLDEN: u32 = 0x9E37_79B9;
        let pool = u64::from(self.system.pool);
        let first = (u64::from(file.wrapping_mul(GOLDEN)) * pool) >> 32;
        ((first + stripe % u64::from(self.system.targets)) % pool) as u32
    }

    /// A piece as the fragments that go to storage, each to a target of its own.
    pub fn fragments(&self, whole: Chunk) -> impl Iterator<Item = Chunk> + use<> {
        let ((data, parity), pool) = (self.system.fragments, self.system.pool);
        let bytes = whole.bytes.div_ceil(u64::from(data));
        (0..data + parity).map(move |number| Chunk {
            target: (whole.target + number) % pool,
            bytes,
            useful: if number == 0 { whole.bytes } else { 0 },
            ..whole
        })
    }

    /// The node that a target is on, if it is one of the machine's.
    pub fn server(&self, target: u32) -> Option<NodeId> {
        let servers = &self.system.servers;
        (!servers.is_empty()).then(|| NodeId(servers[target as usize % servers.len()]))
    }
}

/// A factor with mean 1 and standard deviation `jitter`: a fixed part and an exponential one.
fn varied(jitter: f64, random: &mut Random) -> f64 {
    if jitter == 0.0 {
        return 1.0;
    }
    let uniform = (random.bits() >> 11) as f64 / (1_u64 << 53) as f64;
    (1.0 - jitter) + jitter * -(1.0 - uniform).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_times_vary_around_their_mean() {
        let mut random = Random::new(1);
        let all: Vec<f64> = (0..20_000).map(|_| varied(0.3, &mut random)).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let deviation = (all.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / all.len() as f64).sqrt();
        assert!((mean - 1.0).abs() < 0.01 && (deviation - 0.3).abs() < 0.01, "{mean} {deviation}");
    }
}
