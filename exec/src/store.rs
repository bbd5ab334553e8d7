//! Storage calls as the engine counts them: done, or a code that all ranks can be told.

use sago_storage::{Error, Storage};

/// `ENOSPC`, `EFBIG`, `EIO`: what has no code of its own.
const NO_SPACE: i32 = 28;
const TOO_LARGE: i32 = 27;
const OTHER: i32 = 5;

pub fn write(storage: &dyn Storage, offset: u64, bytes: &[u8]) -> Result<(), i32> {
    storage.write(offset, bytes).map_err(|error| code(&error))
}

pub fn read(storage: &dyn Storage, offset: u64, into: &mut [u8]) -> Result<(), i32> {
    fill(storage, offset, into).map_err(|error| code(&error))
}

/// Bytes beyond the end of the file read as zeros, as in a file with holes.
pub fn fill(storage: &dyn Storage, offset: u64, into: &mut [u8]) -> Result<(), Error> {
    let filled = storage.read(offset, into)?;
    into[filled..].fill(0);
    Ok(())
}

/// Extents of a file and their bytes in memory, in the order of the file.
pub trait Extents {
    fn len(&self) -> usize;
    /// First byte and length.
    fn place(&self, i: usize) -> (u64, usize);
    fn bytes(&mut self, i: usize) -> &mut [u8];
}

/// Which extents are stored with one request: the bytes between them come along.
#[derive(Clone, Copy, Debug)]
pub struct Sieve {
    /// Holes up to this length are bridged.
    pub gap_bytes_max: u64,
}

/// A group of extents is not longer than this.
const SPAN_BYTES_MAX: u64 = 1 << 20;
/// Extents are stored together where there is one in so many bytes.
const SPACING_BYTES_MAX: u64 = 4096;
const GROUP_MIN: usize = 8;

/// Writes all extents. With a sieve, many small ones that lie close together are written at once, with what is in the file
/// between them: only for those who know that nobody else writes there meanwhile.
pub fn write_all(
    storage: &dyn Storage,
    extents: &mut impl Extents,
    sieve: Option<Sieve>,
    scratch: &mut Vec<u8>,
) -> Result<(), i32> {
    each_group(extents, sieve, |extents, first, end, (from, to)| {
        if end - first == 1 {
            return write(storage, from, extents.bytes(first));
        }
        scratch.resize((to - from) as usize, 0);
        read(storage, from, scratch)?;
        for i in first..end {
            let (at, len) = extents.place(i);
            scratch[(at - from) as usize..][..len].copy_from_slice(extents.bytes(i));
        }
        write(storage, from, scratch)
    })
}

/// Reads all extents; many small ones that lie close together at once.
pub fn read_all(storage: &dyn Storage, extents: &mut impl Extents, scratch: &mut Vec<u8>) -> Result<(), i32> {
    let sieve = Some(Sieve { gap_bytes_max: SPACING_BYTES_MAX });
    each_group(extents, sieve, |extents, first, end, (from, to)| {
        if end - first == 1 {
            return read(storage, from, extents.bytes(first));
        }
        scratch.resize((to - from) as usize, 0);
        read(storage, from, scratch)?;
        for i in first..end {
            let (at, len) = extents.place(i);
            extents.bytes(i).copy_from_slice(&scratch[(at - from) as usize..][..len]);
        }
        Ok(())
    })
}

/// Calls `store` with the numbers and the range of extents that go together.
fn each_group<E: Extents>(
    extents: &mut E,
    sieve: Option<Sieve>,
    mut store: impl FnMut(&mut E, usize, usize, (u64, u64)) -> Result<(), i32>,
) -> Result<(), i32> {
    let mut first = 0;
    while first < extents.len() {
        let (from, len) = extents.place(first);
        let (mut end, mut to) = (first + 1, from + len as u64);
        if let Some(Sieve { gap_bytes_max }) = sieve {
            while end < extents.len() {
                let (at, len) = extents.place(end);
                if at < to || at - to > gap_bytes_max || at + len as u64 - from > SPAN_BYTES_MAX {
                    break;
                }
                (end, to) = (end + 1, at + len as u64);
            }
        }
        let crowded = end - first >= GROUP_MIN && (to - from) / (end - first) as u64 <= SPACING_BYTES_MAX;
        if crowded {
            store(extents, first, end, (from, to))?;
        } else {
            for i in first..end {
                let (at, len) = extents.place(i);
                store(extents, i, i + 1, (at, at + len as u64))?;
            }
        }
        first = end;
    }
    Ok(())
}

fn code(error: &Error) -> i32 {
    match error {
        Error::NoSpace { .. } => NO_SPACE,
        Error::TooLarge { .. } => TOO_LARGE,
        Error::Failed { cause, .. } => cause.raw_os_error().unwrap_or(OTHER),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sago_storage::{Counted, Memory};

    struct List(Vec<(u64, Vec<u8>)>);

    impl Extents for List {
        fn len(&self) -> usize {
            self.0.len()
        }

        fn place(&self, i: usize) -> (u64, usize) {
            (self.0[i].0, self.0[i].1.len())
        }

        fn bytes(&mut self, i: usize) -> &mut [u8] {
            &mut self.0[i].1
        }
    }

    #[test]
    fn what_lies_between_extents_stays() {
        let storage = Counted::new(Memory::default());
        storage.write(0, &[7; 1000]).unwrap();
        let mut list = List((0..100).map(|i| (10 + 36 * i, vec![i as u8; 4])).collect());
        let mut scratch = Vec::new();
        let before = storage.counts().write_calls;
        write_all(&storage, &mut list, Some(Sieve { gap_bytes_max: 100 }), &mut scratch).unwrap();
        assert_eq!(storage.counts().write_calls - before, 1);
        let mut all = vec![0; 3700];
        storage.read(0, &mut all).unwrap();
        for (at, byte) in all.iter().enumerate() {
            let inside = at >= 10 && (at - 10) % 36 < 4 && (at - 10) / 36 < 100;
            let expected = if inside {
                ((at - 10) / 36) as u8
            } else if at < 1000 {
                7
            } else {
                0
            };
            assert_eq!(*byte, expected, "at {at}");
        }
        let mut back = List(list.0.iter().map(|(at, bytes)| (*at, vec![0; bytes.len()])).collect());
        read_all(&storage, &mut back, &mut scratch).unwrap();
        assert_eq!(back.0, list.0);
        let holes = List((0..100).map(|i| (10 + 36 * i, vec![9; 4])).collect());
        let before = storage.counts().write_calls;
        write_all(&storage, &mut { holes }, None, &mut scratch).unwrap();
        assert_eq!(storage.counts().write_calls - before, 100);
    }
}
