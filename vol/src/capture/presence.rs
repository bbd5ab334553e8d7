//! Whether anybody else has a file open for writing. The ranks of a communicator that is not all of the program cannot know that of
//! others, which may write between their bytes. So the first of them holds a shared lock on one byte far behind the file
//! as long as it is open; whoever wants to be alone for a while asks for it exclusively.
//!
//! The locks are of the kind that belongs to an open file: those of a process go when HDF5 closes the file anywhere in it. They mean
//! nothing to HDF5, MPI and other programs.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Files do not become that long, and MPI locks only what it reads and writes.
const BYTE: libc::off_t = 1 << 62;

/// Who is alone is so for a commit. One whose process is stopped in it is not waited for.
const PATIENCE: Duration = Duration::from_secs(600);
const PAUSE: Duration = Duration::from_micros(500);

/// As long as it lives, nobody else is alone.
#[derive(Debug)]
pub struct Presence(File);

/// As long as it lives, nobody else is there.
#[derive(Debug)]
pub struct Solitude(Arc<Presence>);

impl Presence {
    /// With a file that is open for writing; waits for who is alone now, unless that takes too long. An error if the file system has no
    /// such locks.
    pub fn of(file: File) -> io::Result<Self> {
        let start = Instant::now();
        loop {
            match lock(&file, libc::F_RDLCK) {
                Ok(()) => return Ok(Self(file)),
                Err(taken) if is_taken(&taken) && start.elapsed() < PATIENCE => sleep(PAUSE),
                Err(error) => return Err(error),
            }
        }
    }

    /// `None` if somebody else is there.
    pub fn alone(self: &Arc<Self>) -> Option<Solitude> {
        lock(&self.0, libc::F_WRLCK).ok().map(|()| Solitude(Arc::clone(self)))
    }
}

impl Drop for Solitude {
    fn drop(&mut self) {
        // A lock that is held already is made smaller at once. If not, the file's end frees it.
        let _ = lock(&self.0.0, libc::F_RDLCK);
    }
}

fn is_taken(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES))
}

fn lock(file: &File, kind: libc::c_int) -> io::Result<()> {
    // SAFETY: plain numbers, for which zero is a value.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    (lock.l_type, lock.l_whence) = (kind as libc::c_short, libc::SEEK_SET as libc::c_short);
    (lock.l_start, lock.l_len) = (BYTE, 1);
    loop {
        // SAFETY: an open file, and a lock as the operation wants it.
        if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &lock) } >= 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_not_there_alone_cannot_be_alone() {
        let path = std::env::temp_dir().join(format!("sago-presence-{}", std::process::id()));
        let open =
            || File::options().read(true).write(true).create(true).truncate(false).open(&path).unwrap();
        let one = Arc::new(Presence::of(open()).unwrap());
        assert!(one.alone().is_some());
        let two = Arc::new(Presence::of(open()).unwrap());
        assert!(one.alone().is_none() && two.alone().is_none());
        // What HDF5 closes meanwhile changes nothing.
        drop(File::open(&path).unwrap());
        assert!(two.alone().is_none());
        drop(one);
        let alone = two.alone().unwrap();
        let came = std::thread::scope(|scope| {
            let other = scope.spawn(|| Presence::of(open()).map(drop));
            std::thread::sleep(std::time::Duration::from_millis(20));
            assert!(!other.is_finished(), "who comes waits");
            drop(alone);
            other.join().unwrap()
        });
        came.unwrap();
        std::fs::remove_file(&path).unwrap();
    }
}
