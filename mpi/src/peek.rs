//! Reading the memory of another process of the same node, where the kernel allows it. Nothing has to be shared beforehand: its
//! pages stay as large as they are, and it does nothing for it.

use std::io;
use std::ops::Range;
use std::slice::from_ref;

/// The kernel takes no more places at once.
const PLACES_MAX: usize = 1024;

/// Reads these addresses of a process one after the other, all or an error.
///
/// What the process has there meanwhile is read as it is: that it is what the caller wants is between the two.
pub fn peek(process: u32, places: &[Range<u64>], into: &mut [u8]) -> io::Result<()> {
    let mut rest = into;
    for places in places.chunks(PLACES_MAX) {
        let bytes = places.iter().map(|place| place.end - place.start).sum::<u64>();
        let (now, after) = rest.split_at_mut_checked(bytes as usize).ok_or_else(too_long)?;
        rest = after;
        let whole = 0..now.len();
        read(process, places, now, from_ref(&whole))?;
    }
    Ok(())
}

/// What is to be read of a process into parts of a buffer, many at once.
#[derive(Debug, Default)]
pub struct Gathering {
    places: Vec<Range<u64>>,
    parts: Vec<Range<usize>>,
}

impl Gathering {
    /// Adds a part; its place in the process, and in the buffer. Reads them if there are enough.
    pub fn add(
        &mut self,
        process: u32,
        place: Range<u64>,
        part: Range<usize>,
        buffer: &mut [u8],
    ) -> io::Result<()> {
        match self.places.last_mut() {
            Some(last) if last.end == place.start => last.end = place.end,
            _ => self.places.push(place),
        }
        self.parts.push(part);
        if self.parts.len() == PLACES_MAX { self.read(process, buffer) } else { Ok(()) }
    }

    /// Reads what has been added.
    pub fn read(&mut self, process: u32, buffer: &mut [u8]) -> io::Result<()> {
        let read =
            if self.parts.is_empty() { Ok(()) } else { read(process, &self.places, buffer, &self.parts) };
        self.places.clear();
        self.parts.clear();
        read
    }
}

fn too_long() -> io::Error {
    io::ErrorKind::InvalidInput.into()
}

/// At most so many places and parts as the kernel takes, and as many bytes of one as of the other.
fn read(process: u32, places: &[Range<u64>], into: &mut [u8], parts: &[Range<usize>]) -> io::Result<()> {
    let process = libc::pid_t::try_from(process).map_err(|_| too_long())?;
    let place = |range: &Range<u64>| libc::iovec {
        iov_base: std::ptr::with_exposed_provenance_mut(range.start as usize),
        iov_len: (range.end - range.start) as usize,
    };
    let places: Vec<libc::iovec> = places.iter().map(place).collect();
    let part = |range: &Range<usize>| {
        let part = into.get_mut(range.clone()).ok_or_else(too_long)?;
        Ok(libc::iovec { iov_base: part.as_mut_ptr().cast(), iov_len: part.len() })
    };
    let parts = parts.iter().map(part).collect::<io::Result<Vec<libc::iovec>>>()?;
    let bytes = parts.iter().map(|part| part.iov_len).sum::<usize>();
    // SAFETY: the kernel writes into parts of `into` only, and checks the addresses of the other process.
    let read = unsafe {
        libc::process_vm_readv(
            process,
            parts.as_ptr(),
            parts.len() as libc::c_ulong,
            places.as_ptr(),
            places.len() as libc::c_ulong,
            0,
        )
    };
    match usize::try_from(read) {
        Ok(read) if read == bytes => Ok(()),
        Ok(_) => Err(io::ErrorKind::UnexpectedEof.into()),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(bytes: &[u8]) -> Range<u64> {
        let start = bytes.as_ptr().expose_provenance() as u64;
        start..start + bytes.len() as u64
    }

    #[test]
    fn bytes_of_a_process_are_read_in_order() {
        let memory: Vec<u8> = (0..100_000).map(|i| (i / 7) as u8).collect();
        let pieces: Vec<&[u8]> = memory.chunks(31).rev().collect();
        let places: Vec<Range<u64>> = pieces.iter().map(|piece| place(piece)).collect();
        let mut read = vec![0; memory.len()];
        peek(std::process::id(), &places, &mut read).unwrap();
        assert!(read == pieces.concat());
    }

    #[test]
    fn parts_come_where_they_belong() {
        let memory: Vec<u8> = (0..100_000).map(|i| (i / 7) as u8).collect();
        let (mut gathering, mut buffer) = (Gathering::default(), vec![0xee; 2 * memory.len()]);
        let process = std::process::id();
        for (number, piece) in memory.chunks(31).enumerate() {
            let part = 62 * number..62 * number + piece.len();
            gathering.add(process, place(piece), part, &mut buffer).unwrap();
        }
        gathering.read(process, &mut buffer).unwrap();
        for (number, found) in buffer.chunks(62).enumerate().take(memory.len() / 31) {
            assert!(found[..31] == memory[31 * number..][..31] && found[31..].iter().all(|b| *b == 0xee));
        }
        gathering.add(process, place(&memory), 0..2 * buffer.len(), &mut buffer).unwrap();
        gathering.read(process, &mut buffer).unwrap_err();
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        let mut into = [0; 8];
        peek(std::process::id(), from_ref(&(8..16)), &mut into).unwrap_err();
        peek(u32::MAX, from_ref(&(8..16)), &mut into).unwrap_err();
        peek(std::process::id(), from_ref(&place(&[1; 16])), &mut into).unwrap_err();
    }
}
