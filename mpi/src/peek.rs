//! Reading the memory of another process of the same node, where the kernel allows it. Nothing has to be shared beforehand: its
//! pages stay as large as they are, and it does nothing for it.

use std::io;
use std::ops::Range;

/// The kernel takes no more places at once.
const PLACES_MAX: usize = 1024;

/// Reads these addresses of a process one after the other, all or an error.
///
/// What the process has there meanwhile is read as it is: that it is what the caller wants is between the two.
pub fn peek(process: u32, places: &[Range<u64>], into: &mut [u8]) -> io::Result<()> {
    let mut rest = into;
    for places in places.chunks(PLACES_MAX) {
        let place = |range: &Range<u64>| libc::iovec {
            iov_base: std::ptr::with_exposed_provenance_mut(range.start as usize),
            iov_len: (range.end - range.start) as usize,
        };
        let places: Vec<libc::iovec> = places.iter().map(place).collect();
        let bytes = places.iter().map(|place| place.iov_len).sum::<usize>();
        let too_long = || io::Error::from(io::ErrorKind::InvalidInput);
        let (now, after) = rest.split_at_mut_checked(bytes).ok_or_else(too_long)?;
        rest = after;
        read(process, &places, now)?;
    }
    Ok(())
}

fn read(process: u32, places: &[libc::iovec], into: &mut [u8]) -> io::Result<()> {
    let process = libc::pid_t::try_from(process).map_err(|_| io::ErrorKind::InvalidInput)?;
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    // SAFETY: the kernel writes into `into` only, and checks the addresses of the other process.
    let read = unsafe { libc::process_vm_readv(process, &local, 1, places.as_ptr(), places.len() as u64, 0) };
    match usize::try_from(read) {
        Ok(bytes) if bytes == into.len() => Ok(()),
        Ok(_) => Err(io::ErrorKind::UnexpectedEof.into()),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::slice::from_ref;

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
    fn what_is_not_there_is_an_error() {
        let mut into = [0; 8];
        peek(std::process::id(), from_ref(&(8..16)), &mut into).unwrap_err();
        peek(u32::MAX, from_ref(&(8..16)), &mut into).unwrap_err();
        peek(std::process::id(), from_ref(&place(&[1; 16])), &mut into).unwrap_err();
    }
}
