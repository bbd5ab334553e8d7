//! Threads of Sago's own in a program that may know nothing of threads. Invariant: no signal that is meant for the program is
//! handled by one of them, so that what the program blocks stays blocked, and its handlers run where it expects them.

use std::io;
use std::mem::MaybeUninit;
use std::thread::{Builder, JoinHandle};

/// What a thread brings upon itself; blocked, the kernel would end the process without asking the program's handlers.
const OWN_FAULTS: [libc::c_int; 5] = [libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGSEGV, libc::SIGTRAP];

/// Starts a thread that takes none of the program's signals.
pub fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    let before = block_all()?;
    let spawned = Builder::new().name(name.to_owned()).spawn(work);
    // SAFETY: the mask that this thread had.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut()) };
    spawned
}

/// Of the calling thread, whose mask a new one inherits: the mask that it had.
fn block_all() -> io::Result<libc::sigset_t> {
    let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: places for two masks; the first is filled before it is used, the second by the call that succeeds.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        for fault in OWN_FAULTS {
            libc::sigdelset(all.as_mut_ptr(), fault);
        }
        match libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr()) {
            0 => Ok(before.assume_init()),
            code => Err(io::Error::from_raw_os_error(code)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_blocked(signal: libc::c_int) -> bool {
        let mut mask = MaybeUninit::uninit();
        // SAFETY: asks for the mask of this thread.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, std::ptr::null(), mask.as_mut_ptr());
            libc::sigismember(mask.as_ptr(), signal) == 1
        }
    }

    #[test]
    fn takes_no_signals_and_leaves_those_of_its_maker() {
        let found = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let its = std::sync::Arc::clone(&found);
        let signals = [libc::SIGTERM, libc::SIGUSR1, libc::SIGPROF, libc::SIGBUS];
        let work = move || *its.lock().unwrap() = signals.map(is_blocked).to_vec();
        spawn("quiet", work).unwrap().join().unwrap();
        assert_eq!(*found.lock().unwrap(), [true, true, true, false]);
        assert!(!is_blocked(libc::SIGTERM));
    }
}
