//! A file by way of the page cache.

use crate::inode::Inode;
use crate::storage::Storage;
use rustix::io::{preadv, pwritev};
use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, IoSliceMut};
use std::path::Path;

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It must be there.
    Read,
    /// It must be there; nothing of it is lost.
    Write,
    /// Made if it is not there; nothing of it is lost if it is.
    Create,
}

#[derive(Debug)]
pub struct PosixFile {
    file: File,
}

impl PosixFile {
    pub fn open(path: &Path, access: Access) -> io::Result<Self> {
        Ok(Self { file: options(access).open(path)? })
    }

    /// Another handle of the open file, with the same locks.
    pub fn handle(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    pub fn inode(&self) -> io::Result<Inode> {
        self.file.metadata().map(|found| Inode::new(&found))
    }
}

impl From<File> for PosixFile {
    fn from(file: File) -> Self {
        Self { file }
    }
}

pub fn options(access: Access) -> OpenOptions {
    let mut options = OpenOptions::new();
    let writes = access != Access::Read;
    options.read(true).write(writes).create(access == Access::Create).truncate(false);
    options
}

impl Storage for PosixFile {
    fn write_some(&self, offset: u64, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        Ok(pwritev(&self.file, pieces, offset)?)
    }

    fn read_some(&self, offset: u64, pieces: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        Ok(preadv(&self.file, pieces, offset)?)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        self.file.set_len(size)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}
