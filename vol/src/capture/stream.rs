//! The program's memory as a stream of bytes as the file has them: selected, in order, and converted. It is taken piece
//! by piece, so that a window smaller than a write bounds the memory that the write needs.

use sago_core::extent::{Cursor, Run};
use sago_hdf5::kind::{self, Change, Kind, Move};
use sago_hdf5::sys::hid_t;
use sago_hdf5::{Error, Library, error, space};
use sago_mpi::copy;
use std::ffi::c_void;

/// Elements that go through HDF5's conversion at once: as many as fit into this.
const TILE_BYTES: usize = 128 << 10;

/// The selected elements in the program's memory.
#[derive(Debug)]
pub struct Memory {
    base: *mut u8,
    runs: Vec<Run>,
    element_bytes: usize,
    points: u64,
    kind: hid_t,
}

impl Memory {
    /// No space: `points` elements one after the other.
    pub fn new(
        library: &Library,
        base: *mut c_void,
        kind: hid_t,
        space: Option<hid_t>,
        points: u64,
    ) -> Result<Self, Error> {
        let element_bytes = kind::bytes(library, kind);
        let runs = match space {
            Some(space) => space::runs(library, space, element_bytes as u64, 0)?,
            None if points == 0 => Vec::new(),
            None => vec![Run::contiguous(0, points * element_bytes as u64)],
        };
        Ok(Self { base: base.cast(), runs, element_bytes, points, kind })
    }

    pub fn points(&self) -> u64 {
        self.points
    }

    /// All bytes, if they lie one after the other.
    ///
    /// # Safety
    /// The program's memory stays as it is while the slice lives.
    pub unsafe fn lend<'a>(&self) -> Option<&'a [u8]> {
        match self.runs[..] {
            [] => Some(&[]),
            // SAFETY: the program has promised to HDF5 that its buffer holds what it selects.
            [run] if run.is_contiguous() => Some(unsafe {
                std::slice::from_raw_parts(self.base.add(run.offset() as usize), run.len() as usize)
            }),
            _ => None,
        }
    }

    /// As [`Memory::lend`], to be written to.
    ///
    /// # Safety
    /// Nobody else uses the program's memory while the slice lives.
    pub unsafe fn take<'a>(&self) -> Option<&'a mut [u8]> {
        match self.runs[..] {
            [] => Some(&mut []),
            // SAFETY: the program has promised to HDF5 that its buffer has room for what it selects.
            [run] if run.is_contiguous() => Some(unsafe {
                std::slice::from_raw_parts_mut(self.base.add(run.offset() as usize), run.len() as usize)
            }),
            _ => None,
        }
    }
}

/// Memory for conversions, kept from one to the next.
#[derive(Debug, Default)]
pub struct Scratch {
    buffer: Vec<u8>,
    background: Vec<u8>,
}

/// A conversion under way: from which datatype to which.
#[derive(Clone, Copy)]
pub struct Conversion<'c> {
    pub library: &'static Library,
    pub change: &'c Change,
    /// The file's side.
    pub kind: &'c Kind,
    pub dxpl: hid_t,
}

/// Bytes on their way from memory to the file.
pub struct Outgoing<'m> {
    memory: &'m Memory,
    cursor: Cursor<'m>,
    conversion: Conversion<'m>,
    /// Of each element, in the stream.
    len: usize,
    left: u64,
}

impl<'m> Outgoing<'m> {
    pub fn new(memory: &'m Memory, conversion: Conversion<'m>, len: u64) -> Self {
        let (cursor, left) = (Cursor::new(&memory.runs), memory.points * len);
        Self { memory, cursor, conversion, len: len as usize, left }
    }

    /// Bytes that have not been taken yet.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Bytes of an element.
    pub fn unit(&self) -> u64 {
        self.len as u64
    }

    /// The largest number of bytes up to `max` that can be taken at once.
    pub fn step(&self, max: u64) -> u64 {
        self.left.min(max - max % self.len as u64)
    }

    /// The next bytes, as many as fit: a whole number of elements.
    pub fn fill(&mut self, into: &mut [u8], scratch: &mut Scratch) -> Result<(), Error> {
        let count = into.len() / self.len;
        match self.conversion.change {
            Change::None => gather(self.memory, &mut self.cursor, into.len(), into.as_mut_ptr()),
            Change::Moves(moves) => self.shift(into, count, moves),
            Change::Convert(target) => self.convert(into, count, target, scratch)?,
        }
        self.left -= into.len() as u64;
        Ok(())
    }

    fn shift(&mut self, into: &mut [u8], count: usize, moves: &[Move]) {
        if moves.iter().map(|step| step.len).sum::<usize>() < self.len {
            // Bytes between the members.
            into.fill(0);
        }
        let (base, size, len) = (self.memory.base, self.memory.element_bytes, self.len);
        let mut out = into.as_mut_ptr();
        let mut visit = |offset: usize, stride: usize, elements: usize| {
            for step in moves {
                // SAFETY: elements of the program's selection; `into` has room for as many of the file's.
                unsafe {
                    let (to, from) = (out.add(step.to), base.add(offset + step.from));
                    copy::spread(to, len, from, stride, step.len, elements);
                }
            }
            // SAFETY: as above.
            out = unsafe { out.add(elements * len) };
        };
        let tile = (TILE_BYTES / size).max(1) * size;
        let mut left = count * size;
        while left > 0 {
            let bytes = left.min(tile);
            self.cursor.take_all(bytes as u64, |piece| rows(piece, size, &mut visit));
            left -= bytes;
        }
    }

    fn convert(
        &mut self,
        into: &mut [u8],
        count: usize,
        target: &Kind,
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let size = self.memory.element_bytes.max(self.len);
        let tile = (TILE_BYTES / size).max(1);
        let Conversion { library, dxpl, .. } = self.conversion;
        let mut done = 0;
        while done < count {
            let elements = tile.min(count - done);
            scratch.buffer.resize(elements * size, 0);
            scratch.background.clear();
            scratch.background.resize(elements * size, 0);
            let buffer = scratch.buffer.as_mut_ptr();
            gather(self.memory, &mut self.cursor, elements * self.memory.element_bytes, buffer);
            let background = scratch.background.as_mut_ptr().cast();
            // SAFETY: both have room for as many elements of either datatype.
            error::quietly(library, || unsafe {
                kind::convert(
                    library,
                    self.memory.kind,
                    target.id(),
                    elements,
                    buffer.cast(),
                    background,
                    dxpl,
                )
            })?;
            let bytes = elements * self.len;
            into[done * self.len..][..bytes].copy_from_slice(&scratch.buffer[..bytes]);
            done += elements;
        }
        Ok(())
    }
}

/// Bytes on their way from the file to memory.
pub struct Incoming<'m> {
    memory: &'m Memory,
    cursor: Cursor<'m>,
    conversion: Conversion<'m>,
    left: u64,
}

impl<'m> Incoming<'m> {
    pub fn new(memory: &'m Memory, conversion: Conversion<'m>) -> Self {
        let left = memory.points * conversion.kind.bytes() as u64;
        Self { memory, cursor: Cursor::new(&memory.runs), conversion, left }
    }

    /// Bytes of the file that have not come yet.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Bytes of an element.
    pub fn unit(&self) -> u64 {
        self.conversion.kind.bytes() as u64
    }

    /// The largest number of bytes up to `max` that can be put at once.
    pub fn step(&self, max: u64) -> u64 {
        self.left.min(max - max % self.conversion.kind.bytes() as u64)
    }

    /// Puts the next elements, as the file has them, into memory.
    pub fn put(&mut self, from: &[u8], scratch: &mut Scratch) -> Result<(), Error> {
        self.left -= from.len() as u64;
        match self.conversion.change {
            Change::None => self.scatter(from),
            Change::Moves(moves) => self.shift(from, moves),
            Change::Convert(target) => self.convert(from, target, scratch)?,
        }
        Ok(())
    }

    fn shift(&mut self, from: &[u8], moves: &[Move]) {
        let (base, size, file_bytes) =
            (self.memory.base, self.memory.element_bytes, self.conversion.kind.bytes());
        let mut at = from.as_ptr();
        let mut visit = |offset: usize, stride: usize, elements: usize| {
            for step in moves {
                // SAFETY: elements of the program's selection; `from` holds as many of the file's.
                unsafe {
                    let (to, from) = (base.add(offset + step.to), at.add(step.from));
                    copy::spread(to, stride, from, file_bytes, step.len, elements);
                }
            }
            // SAFETY: as above.
            at = unsafe { at.add(elements * file_bytes) };
        };
        let bytes = from.len() / file_bytes * size;
        self.cursor.take_all(bytes as u64, |piece| rows(piece, size, &mut visit));
    }

    fn convert(&mut self, from: &[u8], target: &Kind, scratch: &mut Scratch) -> Result<(), Error> {
        let Conversion { library, kind, dxpl, .. } = self.conversion;
        let (memory, file_bytes) = (self.memory, kind.bytes());
        let size = memory.element_bytes.max(file_bytes);
        let tile = (TILE_BYTES / size).max(1);
        for elements in from.chunks(tile * file_bytes) {
            let count = elements.len() / file_bytes;
            scratch.buffer.resize(count * size, 0);
            scratch.background.resize(count * size, 0);
            scratch.buffer[..elements.len()].copy_from_slice(elements);
            // What the file does not tell stays as it is in memory.
            let bytes = count * memory.element_bytes;
            gather(memory, &mut self.cursor.clone(), bytes, scratch.background.as_mut_ptr());
            let (buffer, background) =
                (scratch.buffer.as_mut_ptr().cast(), scratch.background.as_mut_ptr().cast());
            // SAFETY: both have room for as many elements of either datatype.
            error::quietly(library, || unsafe {
                kind::convert(library, kind.id(), target.id(), count, buffer, background, dxpl)
            })?;
            self.scatter(&scratch.buffer[..bytes]);
        }
        Ok(())
    }

    /// Copies elements as they are to the next places in memory.
    fn scatter(&mut self, from: &[u8]) {
        let base = self.memory.base;
        each_piece(base, &mut self.cursor, from.len(), |piece, at| {
            let (len, blocks) = (piece.len() as usize, piece.count() as usize);
            // SAFETY: elements of the program's selection; `from` holds as many bytes.
            unsafe {
                let to = base.add(piece.offset() as usize);
                copy::spread(to, piece.stride() as usize, from.as_ptr().add(at), len, len, blocks);
            }
        });
    }
}

/// Copies the next `bytes` of memory as they are.
fn gather(memory: &Memory, cursor: &mut Cursor<'_>, bytes: usize, into: *mut u8) {
    each_piece(memory.base, cursor, bytes, |piece, at| {
        let (len, blocks) = (piece.len() as usize, piece.count() as usize);
        // SAFETY: elements of the program's selection; the caller has room for them.
        unsafe {
            let from = memory.base.add(piece.offset() as usize);
            copy::spread(into.add(at), len, from, piece.stride() as usize, len, blocks);
        }
    });
}

/// So many pieces of memory are asked for before they are copied.
const EXPECTED: usize = 4;

/// Calls `copy` with the pieces of the next `bytes` of memory and their places in the stream, after the memory of some that follow has
/// been asked for.
fn each_piece(base: *mut u8, cursor: &mut Cursor<'_>, bytes: usize, mut copy: impl FnMut(Run, usize)) {
    let (mut expected, mut number, mut at) = ([None; EXPECTED], 0, 0);
    cursor.take_all(bytes as u64, |piece| {
        let from = base.wrapping_add(piece.offset() as usize);
        copy::expect(from, piece.stride() as usize, piece.len() as usize, piece.count() as usize);
        let due = expected[number % EXPECTED].replace((piece, at));
        due.into_iter().for_each(|(piece, at)| copy(piece, at));
        number += 1;
        at += piece.bytes() as usize;
    });
    let rest = (0..EXPECTED).filter_map(|i| expected[(number + i) % EXPECTED]);
    rest.for_each(|(piece, at)| copy(piece, at));
}

/// Rows of elements in a piece of memory: offset, stride and number.
fn rows(piece: Run, element_bytes: usize, visit: &mut impl FnMut(usize, usize, usize)) {
    if piece.len() as usize == element_bytes {
        return visit(piece.offset() as usize, piece.stride() as usize, piece.count() as usize);
    }
    for block in piece.blocks() {
        visit(block.file as usize, element_bytes, block.len as usize / element_bytes);
    }
}
