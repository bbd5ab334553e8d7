//! The trait. Invariant: a write that returns without error has written every byte once, in order, and no other byte;
//! whoever implements the first five methods gets this from the others.

use crate::error::{Error, Op};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem;
use std::sync::Arc;

/// How many pieces go to the kernel in one call (Linux takes at most 1024).
pub const PIECES_MAX: usize = 1024;
/// The kernel's own limit of one call is a page below 2 GiB.
pub const CALL_BYTES_MAX: usize = 1 << 30;
/// Offsets are signed in the kernel.
const END_MAX: u64 = i64::MAX as u64;

/// A place for bytes, used by many threads at once.
pub trait Storage: Send + Sync {
    /// Writes the first bytes of the pieces, one after another, from `offset`, and says how many: at least one, unless
    /// there are none. At most [`PIECES_MAX`] pieces.
    fn write_some(&self, offset: u64, pieces: &[IoSlice<'_>]) -> io::Result<usize>;

    /// Fills the first bytes of the pieces and says how many; none at the end of the file.
    fn read_some(&self, offset: u64, pieces: &mut [IoSliceMut<'_>]) -> io::Result<usize>;

    fn size(&self) -> io::Result<u64>;

    /// Cuts, or extends with zeros.
    fn set_size(&self, size: u64) -> io::Result<()>;

    /// Returns when what was written would survive a loss of power.
    fn sync(&self) -> io::Result<()>;

    fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        self.write_pieces(offset, &[bytes])
    }

    /// Writes all pieces, one after another, from `offset`.
    fn write_pieces(&self, offset: u64, pieces: &[&[u8]]) -> Result<(), Error> {
        let (mut at, end) = range(offset, pieces.iter().map(|p| p.len()))?;
        let mut slices: Vec<IoSlice<'_>> = pieces.iter().map(|p| IoSlice::new(p)).collect();
        let mut rest = slices.as_mut_slice();
        while at < end {
            let batch = batch(rest.iter().map(|p| p.len()));
            let written = retry(|| self.write_some(at, &rest[..batch]));
            let n = match written {
                Ok(0) => Err(io::ErrorKind::WriteZero.into()),
                done => done,
            };
            let n = n.map_err(|cause| Error::new(Op::Write, at, end - at, cause))?;
            at += n as u64;
            IoSlice::advance_slices(&mut rest, n);
        }
        Ok(())
    }

    /// Fills the buffer and says how much of it: less than all only at the end of the file.
    fn read(&self, offset: u64, into: &mut [u8]) -> Result<usize, Error> {
        self.read_pieces(offset, &mut [into])
    }

    /// Fills all pieces, one after another, from `offset`.
    fn read_pieces(&self, offset: u64, pieces: &mut [&mut [u8]]) -> Result<usize, Error> {
        let (mut at, end) = range(offset, pieces.iter().map(|p| p.len()))?;
        let mut slices: Vec<IoSliceMut<'_>> =
            pieces.iter_mut().map(|p| IoSliceMut::new(mem::take(p))).collect();
        let mut rest = slices.as_mut_slice();
        while at < end {
            let batch = batch(rest.iter().map(|p| p.len()));
            let n = retry(|| self.read_some(at, &mut rest[..batch]));
            let n = n.map_err(|cause| Error::new(Op::Read, at, end - at, cause))?;
            if n == 0 {
                break;
            }
            at += n as u64;
            IoSliceMut::advance_slices(&mut rest, n);
        }
        Ok(usize::try_from(at - offset).unwrap_or(usize::MAX))
    }
}

/// Start and end, if the kernel can name them.
fn range(offset: u64, lengths: impl Iterator<Item = usize>) -> Result<(u64, u64), Error> {
    let len = lengths.fold(0_u64, |sum, len| sum.saturating_add(len as u64));
    match offset.checked_add(len) {
        Some(end) if end <= END_MAX => Ok((offset, end)),
        _ => Err(Error::TooLarge { offset, len }),
    }
}

/// How many pieces to pass on at once. A longer first piece is cut short by the kernel.
fn batch(lengths: impl Iterator<Item = usize>) -> usize {
    let mut total = 0_usize;
    let fits = lengths.take(PIECES_MAX).take_while(|len| {
        let before = total;
        total = total.saturating_add(*len);
        before < CALL_BYTES_MAX
    });
    fits.count()
}

/// A signal is no reason to fail.
fn retry<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// A pointer to a storage is one.
macro_rules! by_pointer {
    ($($pointer:ident),*) => {
        $(impl<S: Storage + ?Sized> Storage for $pointer<S> {
            fn write_some(&self, offset: u64, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
                (**self).write_some(offset, pieces)
            }

            fn read_some(&self, offset: u64, pieces: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
                (**self).read_some(offset, pieces)
            }

            fn size(&self) -> io::Result<u64> {
                (**self).size()
            }

            fn set_size(&self, size: u64) -> io::Result<()> {
                (**self).set_size(size)
            }

            fn sync(&self) -> io::Result<()> {
                (**self).sync()
            }
        })*
    };
}

by_pointer!(Box, Arc);
