//! Counts calls and bytes, for reports.

use crate::storage::Storage;
use std::io::{self, IoSlice, IoSliceMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

#[derive(Debug)]
pub struct Counted<S> {
    inner: S,
    write_calls: AtomicU64,
    write_bytes: AtomicU64,
    read_calls: AtomicU64,
    read_bytes: AtomicU64,
    nanoseconds: AtomicU64,
}

/// What has been done so far; calls are those to the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub write_calls: u64,
    pub write_bytes: u64,
    pub read_calls: u64,
    pub read_bytes: u64,
    /// Time inside of the calls, over all threads.
    pub nanoseconds: u64,
}

impl<S: Storage> Counted<S> {
    pub fn new(inner: S) -> Self {
        let zero = AtomicU64::default;
        Self {
            inner,
            write_calls: zero(),
            write_bytes: zero(),
            read_calls: zero(),
            read_bytes: zero(),
            nanoseconds: zero(),
        }
    }

    pub fn counts(&self) -> Counts {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            write_calls: get(&self.write_calls),
            write_bytes: get(&self.write_bytes),
            read_calls: get(&self.read_calls),
            read_bytes: get(&self.read_bytes),
            nanoseconds: get(&self.nanoseconds),
        }
    }

    fn count(
        &self,
        calls: &AtomicU64,
        bytes: &AtomicU64,
        call: impl FnOnce() -> io::Result<usize>,
    ) -> io::Result<usize> {
        let started = Instant::now();
        let result = call();
        let spent = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(spent, Ordering::Relaxed);
        calls.fetch_add(1, Ordering::Relaxed);
        bytes.fetch_add(*result.as_ref().unwrap_or(&0) as u64, Ordering::Relaxed);
        result
    }
}

impl<S: Storage> Storage for Counted<S> {
    fn write_some(&self, offset: u64, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        self.count(&self.write_calls, &self.write_bytes, || self.inner.write_some(offset, pieces))
    }

    fn read_some(&self, offset: u64, pieces: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.count(&self.read_calls, &self.read_bytes, || self.inner.read_some(offset, pieces))
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
