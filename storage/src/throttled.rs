//! Slow storage: all users together get so many bytes per second, and each call costs so much.

use crate::storage::Storage;
use std::io::{self, IoSlice, IoSliceMut};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

#[derive(Debug)]
pub struct Throttled<S> {
    inner: S,
    bytes_per_second: u64,
    per_call: Duration,
    /// When the storage will have done all that was given to it.
    busy_until: Mutex<Option<Instant>>,
}

impl<S: Storage> Throttled<S> {
    pub fn new(inner: S, bytes_per_second: u64, per_call: Duration) -> Self {
        Self { inner, bytes_per_second: bytes_per_second.max(1), per_call, busy_until: Mutex::new(None) }
    }

    /// Takes the next place in the queue and waits until it is over.
    fn take_time(&self, bytes: usize) {
        let cost = self.per_call + Duration::from_secs_f64(bytes as f64 / self.bytes_per_second as f64);
        let mut busy_until = self.busy_until.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let done = busy_until.map_or(now, |until| until.max(now)) + cost;
        *busy_until = Some(done);
        drop(busy_until);
        thread::sleep(done.saturating_duration_since(now));
    }
}

impl<S: Storage> Storage for Throttled<S> {
    fn write_some(&self, offset: u64, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let n = self.inner.write_some(offset, pieces)?;
        self.take_time(n);
        Ok(n)
    }

    fn read_some(&self, offset: u64, pieces: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        let n = self.inner.read_some(offset, pieces)?;
        self.take_time(n);
        Ok(n)
    }

    fn size(&self) -> io::Result<u64> {
        self.inner.size()
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        self.inner.set_size(size)
    }

    fn sync(&self) -> io::Result<()> {
        self.inner.sync()
    }
}
