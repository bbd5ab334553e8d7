//! A counter in memory that ranks share, on which they can sleep.
//!
//! Raising it costs one atomic operation unless somebody sleeps: waiters announce themselves before they look for the
//! last time, and who raises looks for them after the change (both sequentially consistent), so none is forgotten.

use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A counter of 32 bits that wraps, and the number of those who sleep on it. All zeros is a valid one.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Signal {
    value: AtomicU32,
    sleepers: AtomicU32,
}

impl Signal {
    /// The room that it takes in a shared segment, and its alignment.
    pub const BYTES: usize = 8;

    pub const fn new() -> Self {
        Self { value: AtomicU32::new(0), sleepers: AtomicU32::new(0) }
    }

    pub fn get(&self) -> u32 {
        self.value.load(Ordering::Acquire)
    }

    /// Adds, wakes those who sleep, and returns the new value.
    pub fn add(&self, n: u32) -> u32 {
        let new = self.value.fetch_add(n, Ordering::SeqCst).wrapping_add(n);
        self.wake();
        new
    }

    /// Sets, and wakes those who sleep.
    pub fn set(&self, value: u32) {
        self.value.store(value, Ordering::SeqCst);
        self.wake();
    }

    /// Makes it one if it is zero; whether it was.
    pub fn claim(&self) -> bool {
        self.value.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// Sleeps until the value is no longer `seen`, or somebody wakes us, or the time is over.
    pub fn sleep(&self, seen: u32, at_most: Duration) {
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        if self.value.load(Ordering::SeqCst) == seen {
            futex_wait(&self.value, seen, at_most);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    fn wake(&self) {
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            // SAFETY: a plain system call on a live word. Not the private kind: others map the same memory.
            unsafe { libc::syscall(libc::SYS_futex, self.value.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
        }
    }
}

fn futex_wait(word: &AtomicU32, seen: u32, at_most: Duration) {
    let limit = libc::timespec {
        tv_sec: libc::time_t::try_from(at_most.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: at_most.subsec_nanos().into(),
    };
    // SAFETY: the kernel compares and sleeps on a live word. Any reason to return is fine: the caller looks again.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT,
            seen,
            &raw const limit,
            ptr::null::<u32>(),
            0,
        )
    };
}
