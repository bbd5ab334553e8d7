//! Memory in common of the processes of a node, made without MPI's help (docs/decisions/041).
//!
//! The first rank makes a file that has no name, the others open it by way of the first one's process, all map it and
//! the file goes with the last mapping, however the processes end. A token tells the file from another one that happens to
//! have the same number. Every rank gets the memory, or none does.

use crate::comm::Comm;
use crate::error::Error;
use crate::memory::{Block, PAGE, Segment, Shared, shared_blocks};
use crate::transport::Reduce;
use crate::wait::Wait;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::FileExt;
use std::ptr;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Small enough to be had between two signals.
const ALLOCATION_STEP: usize = 1 << 20;

/// One zeroed segment per rank; all ranks are on one node. Collective.
pub fn share(comm: &Comm, wait: &dyn Wait, bytes: usize) -> Result<Shared, Error> {
    if comm.size() == 1 {
        // It needs no file, which some systems refuse.
        return Ok(shared_blocks(vec![Arc::new(private(bytes)?)]));
    }
    let sizes: Vec<usize> = comm
        .allgather_number(wait, bytes as u64)?
        .into_iter()
        .map(|n| usize::try_from(n).unwrap_or(usize::MAX))
        .collect();
    let total =
        sizes.iter().try_fold(PAGE, |sum, &size| sum.checked_add(size.checked_next_multiple_of(PAGE)?));
    let no_memory = Error::NoMemory { bytes: sizes.iter().fold(0, |a: usize, &b| a.saturating_add(b)) };
    let total = total.ok_or_else(|| no_memory.clone())?;

    let made = if comm.rank() == 0 { Some(make(total)) } else { None };
    let mut address = [0; 3];
    if let Some(Ok((file, token))) = &made {
        address = [u64::from(std::process::id()), file.as_raw_fd() as u64, *token];
    }
    broadcast(comm, wait, &mut address)?;
    let mapping = match &made {
        Some(Ok((file, _))) => Mapping::of(file, total),
        Some(Err(e)) => Err(io::Error::from(e.kind())),
        None => open(address, total),
    };
    // The first rank keeps the file open until everybody has answered.
    let mut all = [u64::from(mapping.is_ok())];
    comm.allreduce(wait, Reduce::Min, &mut all)?;
    match mapping {
        Ok(mapping) if all[0] == 1 => Ok(mapping.cut(&sizes)),
        _ => Err(no_memory),
    }
}

/// Zeroed memory of this process alone, all of it there.
pub fn private(bytes: usize) -> Result<Block, Error> {
    if free_memory().is_some_and(|free| bytes as u64 > free) {
        return Err(Error::NoMemory { bytes });
    }
    Block::new(bytes)
}

fn broadcast(comm: &Comm, wait: &dyn Wait, numbers: &mut [u64; 3]) -> Result<(), Error> {
    let mut bytes = [0; 24];
    numbers.iter().zip(bytes.chunks_mut(8)).for_each(|(n, b)| b.copy_from_slice(&n.to_le_bytes()));
    comm.broadcast(wait, 0, &mut bytes)?;
    for (number, b) in numbers.iter_mut().zip(bytes.chunks(8)) {
        *number = b.try_into().map_or(0, u64::from_le_bytes);
    }
    Ok(())
}

/// Makes the file with all its memory, so that no later access finds that there is none, and writes the token.
fn make(total: usize) -> io::Result<(File, u64)> {
    // Some systems allow only files that can never be run as programs; older kernels know of no such ones.
    let file = without_name(0).or_else(|_| without_name(libc::MFD_NOEXEC_SEAL))?;
    if free_memory().is_some_and(|free| total as u64 > free) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    allocate(&file, total)?;
    let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_nanos());
    #[allow(clippy::cast_possible_truncation)]
    let token = time as u64 ^ u64::from(std::process::id()) << 40 | 1;
    file.write_all_at(&token.to_le_bytes(), 0)?;
    Ok((file, token))
}

fn without_name(flags: libc::c_uint) -> io::Result<File> {
    // SAFETY: a C string; the result is checked.
    let fd = unsafe { libc::memfd_create(c"sago".as_ptr(), libc::MFD_CLOEXEC | flags) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a descriptor that is ours alone.
    Ok(unsafe { File::from_raw_fd(fd) })
}

/// In steps, each until it is done: some kernels undo all of a request when a signal comes, of a profiler's clock for example.
fn allocate(file: &File, total: usize) -> io::Result<()> {
    for start in (0..total).step_by(ALLOCATION_STEP) {
        let step = ALLOCATION_STEP.min(total - start);
        let place = |bytes: usize| libc::off_t::try_from(bytes).map_err(|_| io::ErrorKind::OutOfMemory);
        let (start, step) = (place(start)?, place(step)?);
        loop {
            // SAFETY: a plain system call on our file.
            match unsafe { libc::posix_fallocate(file.as_raw_fd(), start, step) } {
                0 => break,
                libc::EINTR => {}
                code => return Err(io::Error::from_raw_os_error(code)),
            }
        }
    }
    Ok(())
}

/// The kernel gives out more than it has and then ends somebody; so we look first.
fn free_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

fn open([process, fd, token]: [u64; 3], total: usize) -> io::Result<Mapping> {
    if token == 0 {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    let file = OpenOptions::new().read(true).write(true).open(format!("/proc/{process}/fd/{fd}"))?;
    let mut found = [0; 8];
    file.read_exact_at(&mut found, 0)?;
    if u64::from_le_bytes(found) != token {
        return Err(io::ErrorKind::NotFound.into());
    }
    Mapping::of(&file, total)
}

struct Mapping {
    start: *mut u8,
    len: usize,
}

impl Mapping {
    fn of(file: &File, len: usize) -> io::Result<Self> {
        let (access, fd) = (libc::PROT_READ | libc::PROT_WRITE, file.as_raw_fd());
        // SAFETY: a new mapping where the kernel likes it.
        let start = unsafe { libc::mmap(ptr::null_mut(), len, access, libc::MAP_SHARED, fd, 0) };
        if start == libc::MAP_FAILED {
            Err(io::Error::last_os_error())
        } else {
            Ok(Self { start: start.cast(), len })
        }
    }

    /// A page for the token, then each rank's segment on pages of its own.
    fn cut(self, sizes: &[usize]) -> Shared {
        let mut offset = PAGE;
        let segments = sizes
            .iter()
            .map(|&len| {
                // SAFETY: the file was made long enough for all segments.
                let start = unsafe { self.start.add(offset) };
                offset += len.next_multiple_of(PAGE);
                Segment { start, len }
            })
            .collect();
        // SAFETY: pages of the mapping, which lives in `self`.
        unsafe { Shared::new(segments, Box::new(self)) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped in `of`; whoever holds the memory holds us.
        unsafe { libc::munmap(self.start.cast(), self.len) };
    }
}
