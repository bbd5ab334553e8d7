//! A file past the page cache (O_DIRECT).
//!
//! The kernel takes whole aligned blocks only. The usual answer for the ends of a write that is not aligned, to read the
//! block, change it and write it back, is wrong here: another rank may write its own bytes of the same block in between,
//! and they would be lost. So a block that is written in part goes through the page cache, where the kernel puts
//! exactly our bytes in place; a block that is written as a whole is nobody else's and goes direct. The unit is at least
//! a page, so the two never meet in one page of the cache. Nothing is ever read in order to be written back.
//! What the neighbours see of each other's parts of a block is what the file system promises for ordinary writes.

use crate::posix::{Access, PosixFile, options};
use crate::storage::Storage;
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The smallest unit of direct access: a page.
const UNIT_MIN: u64 = 4096;
/// How much goes through an aligned buffer of ours at once, when the caller's memory is not aligned.
const BUFFER_BYTES: usize = 1 << 20;
/// Buffers that are kept for reuse.
const BUFFERS_MAX: usize = 4;

#[derive(Debug)]
pub struct DirectFile {
    direct: File,
    cached: PosixFile,
    unit: u64,
    buffers: Mutex<Vec<Buffer>>,
}

impl DirectFile {
    /// Fails where the file system has no direct access.
    pub fn open(path: &Path, access: Access) -> io::Result<Self> {
        let cached = options(access).open(path)?;
        let existing = if access == Access::Create { Access::Write } else { access };
        let flag = i32::try_from(rustix::fs::OFlags::DIRECT.bits()).map_err(io::Error::other)?;
        let direct = options(existing).custom_flags(flag).open(path)?;
        let block = direct.metadata()?.blksize();
        let unit = if block.is_power_of_two() && block <= BUFFER_BYTES as u64 {
            block.max(UNIT_MIN)
        } else {
            UNIT_MIN
        };
        Ok(Self { direct, cached: cached.into(), unit, buffers: Mutex::default() })
    }

    fn with_buffer<T>(&self, work: impl FnOnce(&mut [u8]) -> T) -> T {
        let taken = self.buffers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut buffer = taken.unwrap_or_else(|| Buffer::new(self.unit));
        let result = work(buffer.bytes());
        let mut kept = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < BUFFERS_MAX {
            kept.push(buffer);
        }
        result
    }

    /// A part of a block, up to its end.
    fn write_part(&self, offset: u64, pieces: &[IoSlice<'_>], len: u64) -> io::Result<usize> {
        let mut left = usize::try_from(len).unwrap_or(usize::MAX);
        let mut parts = Vec::new();
        for piece in pieces {
            let part = &piece[..piece.len().min(left)];
            left -= part.len();
            parts.push(IoSlice::new(part));
            if left == 0 {
                break;
            }
        }
        self.cached.write_some(offset, &parts)
    }

    /// Whole blocks, from the caller's memory if it is aligned.
    fn write_blocks(&self, offset: u64, pieces: &[IoSlice<'_>], len: u64) -> io::Result<usize> {
        let unit = usize::try_from(self.unit).unwrap_or(usize::MAX);
        if let Some(first) = pieces.iter().find(|p| !p.is_empty())
            && first.as_ptr().addr().is_multiple_of(unit)
            && first.len() >= unit
        {
            let whole = (first.len() / unit * unit).min(crate::storage::CALL_BYTES_MAX);
            return self.direct.write_at(&first[..whole], offset);
        }
        self.with_buffer(|buffer| {
            let mut filled = 0;
            for piece in pieces {
                let n = piece.len().min(buffer.len() - filled);
                buffer[filled..filled + n].copy_from_slice(&piece[..n]);
                filled += n;
            }
            let whole = filled.min(usize::try_from(len).unwrap_or(usize::MAX)) / unit * unit;
            self.direct.write_at(&buffer[..whole], offset)
        })
    }
}

impl Storage for DirectFile {
    fn write_some(&self, offset: u64, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let len = pieces.iter().map(|p| p.len() as u64).sum::<u64>();
        let into_block = offset % self.unit;
        if into_block == 0 && len >= self.unit {
            self.write_blocks(offset, pieces, len)
        } else {
            self.write_part(offset, pieces, len.min(self.unit - into_block))
        }
    }

    /// Reads whole blocks into our buffer and copies out what was asked for.
    fn read_some(&self, offset: u64, pieces: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        let skip = usize::try_from(offset % self.unit).unwrap_or(0);
        let wanted = pieces.iter().fold(skip, |sum, p| sum.saturating_add(p.len()));
        let unit = usize::try_from(self.unit).unwrap_or(usize::MAX);
        self.with_buffer(|buffer| {
            let cover = wanted.min(buffer.len()).next_multiple_of(unit).min(buffer.len());
            let found = self.direct.read_at(&mut buffer[..cover], offset - skip as u64)?;
            let mut bytes = &buffer[skip.min(found)..found.min(wanted)];
            let mut copied = 0;
            for piece in pieces.iter_mut() {
                let (now, later) = bytes.split_at(piece.len().min(bytes.len()));
                piece[..now.len()].copy_from_slice(now);
                copied += now.len();
                bytes = later;
            }
            Ok(copied)
        })
    }

    fn size(&self) -> io::Result<u64> {
        self.cached.size()
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        self.cached.set_size(size)
    }

    fn sync(&self) -> io::Result<()> {
        self.cached.sync()
    }
}

/// Aligned memory: a part of a somewhat larger vector.
#[derive(Debug)]
struct Buffer {
    memory: Vec<u8>,
    start: usize,
}

impl Buffer {
    fn new(unit: u64) -> Self {
        let unit = usize::try_from(unit).unwrap_or(BUFFER_BYTES);
        let memory = vec![0; BUFFER_BYTES + unit];
        let start = memory.as_ptr().addr().next_multiple_of(unit) - memory.as_ptr().addr();
        Self { memory, start }
    }

    fn bytes(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + BUFFER_BYTES]
    }
}
