//! Bytes in memory, sparse like a file.

use crate::storage::Storage;
use std::collections::BTreeMap;
use std::io::{self, IoSlice, IoSliceMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

const BLOCK: usize = 4096;

#[derive(Debug, Default)]
pub struct Memory {
    content: Mutex<Content>,
}

#[derive(Debug, Default)]
struct Content {
    size: u64,
    blocks: BTreeMap<u64, Box<[u8]>>,
}

impl Memory {
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The block of an offset, the place in it, and how many of `len` bytes lie in it.
fn place(offset: u64, len: usize) -> (u64, usize, usize) {
    let within = (offset % BLOCK as u64) as usize;
    (offset / BLOCK as u64, within, len.min(BLOCK - within))
}

impl Storage for Memory {
    fn write_some(&self, offset: u64, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut content = self.lock();
        let mut at = offset;
        for piece in pieces {
            let mut bytes = &piece[..];
            while !bytes.is_empty() {
                let (block, within, n) = place(at, bytes.len());
                let memory = content.blocks.entry(block).or_insert_with(|| vec![0; BLOCK].into_boxed_slice());
                memory[within..within + n].copy_from_slice(&bytes[..n]);
                bytes = &bytes[n..];
                at += n as u64;
            }
        }
        if at > offset {
            content.size = content.size.max(at);
        }
        Ok((at - offset) as usize)
    }

    fn read_some(&self, offset: u64, pieces: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        let content = self.lock();
        let mut at = offset;
        for piece in pieces {
            let left = usize::try_from(content.size.saturating_sub(at)).unwrap_or(usize::MAX);
            let len = piece.len().min(left);
            let mut bytes = &mut piece[..len];
            while !bytes.is_empty() {
                let (block, within, n) = place(at, bytes.len());
                let (now, later) = bytes.split_at_mut(n);
                match content.blocks.get(&block) {
                    Some(memory) => now.copy_from_slice(&memory[within..within + n]),
                    None => now.fill(0),
                }
                bytes = later;
                at += n as u64;
            }
        }
        Ok((at - offset) as usize)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.lock().size)
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        let mut content = self.lock();
        let (last, within, _) = place(size, 0);
        content.blocks.split_off(&(last + 1));
        if let Some(block) = content.blocks.get_mut(&last) {
            block[within..].fill(0);
        }
        content.size = size;
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
