//! The file of nobody: whoever has closed one, and not opened another, holds this in its place.

use crate::storage::Storage;
use std::io;
use std::io::{IoSlice, IoSliceMut};

/// Refuses everything, as a closed descriptor does.
#[derive(Clone, Copy, Debug, Default)]
pub struct Closed;

fn refused<T>() -> io::Result<T> {
    Err(rustix::io::Errno::BADF.into())
}

impl Storage for Closed {
    fn write_some(&self, _offset: u64, _pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        refused()
    }

    fn read_some(&self, _offset: u64, _pieces: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        refused()
    }

    fn size(&self) -> io::Result<u64> {
        refused()
    }

    fn set_size(&self, _size: u64) -> io::Result<()> {
        refused()
    }

    fn sync(&self) -> io::Result<()> {
        refused()
    }
}
