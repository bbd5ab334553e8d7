//! Extents that are very long.

use crate::suite::{setting, text};
use sago_core::declare::{Declaration, Direction};
use sago_core::extent::Run;
use sago_exec::{Lent, Session, Taken};
use sago_mpi::Transport;
use sago_storage::Storage;
use std::io::{self, IoSlice, IoSliceMut};
use std::sync::Arc;

/// One extent of more than 2 GiB on each rank, directly and through aggregators. The storage knows what must be in it
/// and keeps nothing; the ranks' memory is mostly pages that nobody has touched.
pub fn commit_and_fetch(t: &dyn Transport) -> Result<(), String> {
    const LEN: usize = (2 << 30) + (70 << 20) + 5;
    let start = (LEN * t.rank()) as u64 + 3;
    let mut bytes = vec![0_u8; LEN];
    for (at, byte) in marks(start, LEN) {
        bytes[at] = byte;
    }
    let declared = |direction| {
        let mut declaration = Declaration::new(direction);
        declaration.variable([Run::contiguous(start, LEN as u64)]);
        declaration.finish()
    };
    let mut work = |options: &str| -> Result<(), String> {
        let known = Arc::new(Known);
        let mut session =
            Session::open(t, Arc::clone(&known) as Arc<dyn Storage>, setting(options)).map_err(text)?;
        session.commit(declared(Direction::Write), &Lent::new([bytes.as_slice()])).map_err(text)?;
        marks(start, LEN).for_each(|(at, _)| bytes[at] = 0);
        let taken = &mut Taken::new([bytes.as_mut_slice()]);
        session.fetch(declared(Direction::Read), taken).map_err(text)?;
        session.close().map_err(text)?;
        match marks(start, LEN).find(|(at, byte)| bytes[*at] != *byte) {
            Some((at, _)) => Err(format!("{options}: byte {at} was read wrongly")),
            None => Ok(()),
        }
    };
    for options in ["exchange=direct buffer=64MiB", "exchange=aggregate buffer=64MiB aggregators=2"] {
        let verdict = work(options);
        t.agree(verdict).map_err(|e| e.to_string())?;
    }
    Ok(())
}

const STEP: u64 = 1 << 20;

/// The byte at each multiple of a mebibyte; all others are zero.
fn mark(offset: u64) -> u8 {
    if offset.is_multiple_of(STEP) { (offset / STEP % 255) as u8 + 1 } else { 0 }
}

fn marks(start: u64, len: usize) -> impl Iterator<Item = (usize, u8)> {
    let first = start.next_multiple_of(STEP);
    (first..start + len as u64).step_by(STEP as usize).map(move |at| ((at - start) as usize, mark(at)))
}

/// Refuses any byte that is not the marked content, and reads as it.
struct Known;

impl Storage for Known {
    fn write_some(&self, offset: u64, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let Some(piece) = pieces.first() else { return Ok(0) };
        let right = marks(offset, piece.len()).all(|(at, byte)| piece[at] == byte);
        // Between the marks a sample, of which all must be zero.
        let zero = (0..piece.len()).step_by(4093).all(|at| piece[at] == mark(offset + at as u64));
        if right && zero { Ok(piece.len()) } else { Err(io::ErrorKind::InvalidData.into()) }
    }

    fn read_some(&self, offset: u64, pieces: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        let Some(piece) = pieces.first_mut() else { return Ok(0) };
        piece.fill(0);
        marks(offset, piece.len()).for_each(|(at, byte)| piece[at] = byte);
        Ok(piece.len())
    }

    fn size(&self) -> io::Result<u64> {
        Ok(u64::MAX >> 1)
    }

    fn set_size(&self, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
