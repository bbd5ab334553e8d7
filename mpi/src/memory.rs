//! Memory that the ranks of a node have in common.
//!
//! [`Shared`] is one segment per rank, mapped by all. Bytes are copied in and out; who may touch which bytes when is
//! the schedule's business, told by [`Signal`]s in the same memory. A wrong schedule gives wrong bytes, not undefined
//! behaviour: the copies are made by the C library behind a pointer that the compiler cannot see through, and Rust
//! has no reference to the bytes, except through the two functions that are marked unsafe.

use crate::copy;
use crate::error::Error;
use crate::signal::Signal;
use std::alloc::{self, Layout};
use std::any::Any;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

pub const PAGE: usize = 4096;

/// One segment of memory per rank of a group, readable and writable by all of them.
///
/// Dropping it is no collective operation: each rank gives up its own view of the memory.
pub struct Shared {
    segments: Vec<Segment>,
    /// Keeps the memory there.
    _keep: Box<dyn Any>,
}

/// A rank's part.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    pub start: *mut u8,
    pub len: usize,
}

impl Shared {
    /// # Safety
    /// The segments are mapped, readable and writable, 8-byte aligned, and stay so as long as `keep` lives.
    pub(crate) unsafe fn new(segments: Vec<Segment>, keep: Box<dyn Any>) -> Self {
        Self { segments, _keep: keep }
    }

    /// The size of a rank's segment.
    pub fn len(&self, rank: usize) -> usize {
        self.segments.get(rank).map_or(0, |s| s.len)
    }

    pub fn is_empty(&self) -> bool {
        self.segments.iter().all(|s| s.len == 0)
    }

    /// Copies into a rank's segment.
    pub fn put(&self, rank: usize, offset: usize, bytes: &[u8]) -> Result<(), Error> {
        self.segment(rank)?.put(rank, offset, bytes)
    }

    /// Copies out of a rank's segment.
    pub fn get(&self, rank: usize, offset: usize, into: &mut [u8]) -> Result<(), Error> {
        self.segment(rank)?.get(rank, offset, into)
    }

    /// Copies blocks of `len` bytes into a rank's segment, one every `stride` bytes from `offset`.
    pub fn scatter(
        &self,
        rank: usize,
        offset: usize,
        len: usize,
        stride: usize,
        bytes: &[u8],
    ) -> Result<(), Error> {
        let segment = self.segment(rank)?;
        let outside = Error::OutOfBounds { rank, offset, len: bytes.len(), size: segment.len };
        let at = segment.at(rank, offset, copy::span(len, stride, bytes.len()).ok_or(outside)?)?;
        // SAFETY: the blocks lie inside of the segment; a private slice and a mapped segment do not overlap.
        unsafe { copy::spread(at, stride, bytes.as_ptr(), len, len, bytes.len() / len.max(1)) };
        Ok(())
    }

    /// Copies blocks of `len` bytes out of a rank's segment, one every `stride` bytes from `offset`.
    pub fn gather(
        &self,
        rank: usize,
        offset: usize,
        len: usize,
        stride: usize,
        into: &mut [u8],
    ) -> Result<(), Error> {
        let segment = self.segment(rank)?;
        let outside = Error::OutOfBounds { rank, offset, len: into.len(), size: segment.len };
        let at = segment.at(rank, offset, copy::span(len, stride, into.len()).ok_or(outside)?)?;
        // SAFETY: as in `scatter`.
        unsafe { copy::spread(into.as_mut_ptr(), len, at, stride, len, into.len() / len.max(1)) };
        Ok(())
    }

    /// The 64-bit counter at a multiple of 8 in a rank's segment.
    pub fn counter(&self, rank: usize, offset: usize) -> Result<&AtomicU64, Error> {
        let at = self.segment(rank)?.at(rank, offset, 8)?;
        aligned(rank, offset)?;
        // SAFETY: in bounds, aligned, mapped while we live.
        Ok(unsafe { &*at.cast::<AtomicU64>() })
    }

    /// The signal at a multiple of 8 in a rank's segment.
    pub fn signal(&self, rank: usize, offset: usize) -> Result<&Signal, Error> {
        let at = self.segment(rank)?.at(rank, offset, Signal::BYTES)?;
        aligned(rank, offset)?;
        // SAFETY: in bounds, aligned, mapped while we live; a signal is made of atomics and valid for any bytes.
        Ok(unsafe { &*at.cast::<Signal>() })
    }

    /// The bytes themselves, for a system call that writes them to a file without a copy.
    ///
    /// # Safety
    /// While the slice lives, nobody on the node writes to these bytes.
    pub unsafe fn bytes(&self, rank: usize, range: Range<usize>) -> Result<&[u8], Error> {
        let len = range.end.saturating_sub(range.start);
        let at = self.segment(rank)?.at(rank, range.start, len)?;
        // SAFETY: in bounds and mapped; that nobody writes is promised by the caller.
        Ok(unsafe { std::slice::from_raw_parts(at, len) })
    }

    /// The bytes themselves, for a kernel that scatters into them.
    ///
    /// # Safety
    /// While the slice lives, nobody else on the node, nor another slice, touches these bytes.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn bytes_mut(&self, rank: usize, range: Range<usize>) -> Result<&mut [u8], Error> {
        let len = range.end.saturating_sub(range.start);
        let at = self.segment(rank)?.at(rank, range.start, len)?;
        // SAFETY: in bounds and mapped; that nobody else touches them is promised by the caller.
        Ok(unsafe { std::slice::from_raw_parts_mut(at, len) })
    }

    pub(crate) fn segment(&self, rank: usize) -> Result<Segment, Error> {
        self.segments.get(rank).copied().ok_or(Error::NoSuchRank { rank, size: self.segments.len() })
    }
}

impl Segment {
    /// Without its first bytes.
    pub fn after(self, bytes: usize) -> Self {
        let bytes = bytes.min(self.len);
        // SAFETY: stays inside of the segment, or one past its end.
        Self { start: unsafe { self.start.add(bytes) }, len: self.len - bytes }
    }

    pub fn put(self, rank: usize, offset: usize, bytes: &[u8]) -> Result<(), Error> {
        let at = self.at(rank, offset, bytes.len())?;
        // SAFETY: `at` has room for the bytes; a private slice and a mapped segment do not overlap.
        unsafe { copy::bytes(at.cast(), bytes.as_ptr().cast(), bytes.len()) };
        Ok(())
    }

    pub fn get(self, rank: usize, offset: usize, into: &mut [u8]) -> Result<(), Error> {
        let at = self.at(rank, offset, into.len())?;
        // SAFETY: as in `put`.
        unsafe { copy::bytes(into.as_mut_ptr().cast(), at.cast_const().cast(), into.len()) };
        Ok(())
    }

    /// The 64-bit counter at a multiple of 8.
    pub fn counter(&self, rank: usize, offset: usize) -> Result<&AtomicU64, Error> {
        let at = self.at(rank, offset, 8)?;
        aligned(rank, offset)?;
        // SAFETY: in bounds and aligned; the holder of the segment keeps it mapped.
        Ok(unsafe { &*at.cast::<AtomicU64>() })
    }

    pub fn at(self, rank: usize, offset: usize, len: usize) -> Result<*mut u8, Error> {
        match offset.checked_add(len) {
            // SAFETY: stays inside of the segment, or one past its end.
            Some(end) if end <= self.len => Ok(unsafe { self.start.add(offset) }),
            _ => Err(Error::OutOfBounds { rank, offset, len, size: self.len }),
        }
    }
}

pub fn aligned(rank: usize, offset: usize) -> Result<(), Error> {
    let fits = offset.is_multiple_of(8);
    if fits { Ok(()) } else { Err(Error::OutOfBounds { rank, offset, len: 8, size: 0 }) }
}

/// Zeroed memory of this process, for ranks that are threads, and for one that has nobody to share it with.
#[derive(Debug)]
pub struct Block {
    start: NonNull<u8>,
    layout: Layout,
    len: usize,
}

// SAFETY: the bytes are reached by copies and atomics only, see the module.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl Block {
    pub fn new(len: usize) -> Result<Self, Error> {
        let no_memory = Error::NoMemory { bytes: len };
        let layout = Layout::from_size_align(len.max(1), PAGE).map_err(|_| no_memory.clone())?;
        // SAFETY: the layout is not empty.
        let start = NonNull::new(unsafe { alloc::alloc_zeroed(layout) }).ok_or(no_memory)?;
        Ok(Self { start, layout, len })
    }

    pub fn segment(&self) -> Segment {
        Segment { start: self.start.as_ptr(), len: self.len }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { alloc::dealloc(self.start.as_ptr(), self.layout) };
    }
}

/// Blocks of all ranks, shared by them.
pub fn shared_blocks(blocks: Vec<Arc<Block>>) -> Shared {
    let segments = blocks.iter().map(|b| b.segment()).collect();
    // SAFETY: blocks are page-aligned and live as long as the list of them.
    unsafe { Shared::new(segments, Box::new(blocks)) }
}
