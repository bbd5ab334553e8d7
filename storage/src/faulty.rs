//! Storage that fails as told, below the loops that finish reads and writes.

use crate::error::Op;
use crate::storage::Storage;
use rustix::io::Errno;
use std::io::{self, IoSlice, IoSliceMut};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// What goes wrong. Calls of each kind are counted from 1.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The `call`-th call fails with this error number.
    FailCall { op: Op, call: u64, errno: i32 },
    /// Every `every`-th call transfers only the first half of its first bytes, at least one.
    ShortEvery { op: Op, every: u64 },
    /// Every `every`-th call is interrupted by a signal.
    InterruptEvery { op: Op, every: u64 },
    /// The device is full after so many bytes, counted over all calls.
    FullAfter { bytes: u64 },
    /// Calls that touch these bytes fail with this error number.
    BadRange { op: Op, range: Range<u64>, errno: i32 },
    /// The `call`-th call panics: a defect below.
    Panic { op: Op, call: u64 },
}

#[derive(Debug)]
pub struct Faulty<S> {
    inner: S,
    faults: Vec<Fault>,
    writes: AtomicU64,
    reads: AtomicU64,
    /// Bytes written, or reserved by calls under way.
    used: AtomicU64,
}

impl<S: Storage> Faulty<S> {
    pub fn new(inner: S, faults: Vec<Fault>) -> Self {
        Self { inner, faults, writes: AtomicU64::new(0), reads: AtomicU64::new(0), used: AtomicU64::new(0) }
    }

    pub fn inner(&self) -> &S {
        &self.inner
    }

    /// How many bytes the call may transfer, or its error.
    fn judge(&self, op: Op, offset: u64, len: usize) -> io::Result<usize> {
        let counter = if op == Op::Write { &self.writes } else { &self.reads };
        let call = counter.fetch_add(1, Ordering::SeqCst) + 1;
        let (mut allowed, end) = (len, offset.saturating_add(len as u64));
        for fault in &self.faults {
            match *fault {
                Fault::FailCall { op: o, call: c, errno } if o == op && c == call => return fail(errno),
                Fault::Panic { op: o, call: c } if o == op && c == call => panic!("provoked in storage"),
                Fault::InterruptEvery { op: o, every } if o == op && call % every == 0 => {
                    return fail(Errno::INTR.raw_os_error());
                }
                Fault::ShortEvery { op: o, every } if o == op && call % every == 0 => {
                    allowed = allowed.min((len / 2).max(1));
                }
                Fault::BadRange { op: o, ref range, errno }
                    if o == op && offset < range.end && end > range.start =>
                {
                    // As a disk does: what lies before the bad spot is still transferred.
                    match usize::try_from(range.start.saturating_sub(offset)) {
                        Ok(0) | Err(_) => return fail(errno),
                        Ok(before) => allowed = allowed.min(before),
                    }
                }
                _ => {}
            }
        }
        if op == Op::Write { self.reserve(allowed) } else { Ok(allowed) }
    }

    fn reserve(&self, wanted: usize) -> io::Result<usize> {
        let limit = self
            .faults
            .iter()
            .find_map(|f| if let Fault::FullAfter { bytes } = f { Some(*bytes) } else { None });
        let Some(limit) = limit else { return Ok(wanted) };
        let take = |used: u64| Some(used + (wanted as u64).min(limit - used));
        let before = self.used.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).unwrap_or(limit);
        match (wanted as u64).min(limit - before) {
            0 if wanted > 0 => fail(Errno::NOSPC.raw_os_error()),
            room => Ok(room as usize),
        }
    }
}

fn fail<T>(errno: i32) -> io::Result<T> {
    Err(io::Error::from_raw_os_error(errno))
}

impl<S: Storage> Storage for Faulty<S> {
    fn write_some(&self, offset: u64, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut left = self.judge(Op::Write, offset, pieces.iter().map(|p| p.len()).sum())?;
        let mut parts = Vec::with_capacity(pieces.len());
        for piece in pieces {
            parts.push(IoSlice::new(&piece[..piece.len().min(left)]));
            left -= piece.len().min(left);
        }
        self.inner.write_some(offset, &parts)
    }

    fn read_some(&self, offset: u64, pieces: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        let mut left = self.judge(Op::Read, offset, pieces.iter().map(|p| p.len()).sum())?;
        let mut parts = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let len = piece.len().min(left);
            parts.push(IoSliceMut::new(&mut piece[..len]));
            left -= len;
        }
        self.inner.read_some(offset, &mut parts)
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
