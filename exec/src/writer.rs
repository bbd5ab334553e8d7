//! The I/O thread of an aggregator: it writes or reads a buffer while the other one is filled or emptied. It calls
//! neither MPI nor the engine; it is told what to do, and rings its rank's bell when it is done.
//!
//! Invariant: it is joined before the memory that it works on is given back.

use crate::Error;
use crate::arena::Arena;
use crate::contain::contain;
use crate::store::{self, Extents, Sieve};
use sago_core::schedule::{BufferExtent, WindowId};
use sago_mpi::Signal;
use sago_storage::Storage;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub struct Writer {
    jobs: Option<Sender<Job>>,
    done: Receiver<Done>,
    thread: Option<JoinHandle<()>>,
    busy: usize,
}

/// One window to store.
pub struct Job {
    window: WindowId,
    access: Access,
    requests: Vec<Request>,
    storage: Arc<dyn Storage>,
    bell: Bell,
}

/// What is done with a window.
#[derive(Clone, Copy, Debug)]
pub enum Access {
    Write(Option<Sieve>),
    Read,
}

/// A window that has been stored.
#[derive(Debug)]
pub struct Done {
    pub window: WindowId,
    /// The outer error is one of ours, such as a panic.
    pub result: Result<Result<(), i32>, Error>,
    pub began: Instant,
    pub took: Duration,
}

struct Request {
    file: u64,
    start: *mut u8,
    len: usize,
}

struct Bell(*const Signal);

// SAFETY: the memory belongs to a buffer that the engine has given to the thread until it reports the window as done.
unsafe impl Send for Request {}
// SAFETY: a signal is made of atomics; the arena that it lies in outlives the thread's work (see the module).
unsafe impl Send for Bell {}

impl Writer {
    pub fn new() -> std::io::Result<Self> {
        let (jobs, todo) = mpsc::channel::<Job>();
        let (report, done) = mpsc::channel();
        let work = move || {
            let mut scratch = Vec::new();
            for job in todo {
                let Job { window, access, mut requests, storage, bell } = job;
                let done = perform(&*storage, window, access, &mut requests, &mut scratch);
                // Who hears of it may close the file at once.
                drop(storage);
                if report.send(done).is_err() {
                    return;
                }
                // SAFETY: the arena lives until the thread has been joined.
                unsafe { &*bell.0 }.add(1);
            }
        };
        let thread = crate::spawn("sago-io", work)?;
        Ok(Self { jobs: Some(jobs), done, thread: Some(thread), busy: 0 })
    }

    /// Starts to store a window from, or into, a buffer of `arena`.
    ///
    /// # Safety
    /// Nobody touches the extents of the buffer until the window comes back from [`Writer::poll`], and the arena
    /// lives until then.
    pub unsafe fn start(
        &mut self,
        arena: &Arena,
        storage: &Arc<dyn Storage>,
        window: WindowId,
        access: Access,
        slot: usize,
        extents: &[BufferExtent],
    ) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        let requests = unsafe { requests(arena, window, slot, extents) }?;
        let storage = Arc::clone(storage);
        let job = Job { window, access, requests, storage, bell: Bell(arena.doorbell()?) };
        self.busy += 1;
        // The thread ends only with this sender.
        let _ = self.jobs.as_ref().map(|jobs| jobs.send(job));
        Ok(())
    }

    pub fn poll(&mut self) -> Option<Done> {
        let done = self.done.try_recv().ok()?;
        self.busy -= 1;
        Some(done)
    }

    /// Waits for all that was started, whatever became of it.
    pub fn settle(&mut self) {
        while self.busy > 0 && self.done.recv().is_ok() {
            self.busy -= 1;
        }
    }
}

/// Stores a window without the thread.
///
/// # Safety
/// Nobody else touches the extents of the buffer meanwhile.
pub unsafe fn store_here(
    arena: &Arena,
    storage: &dyn Storage,
    window: WindowId,
    access: Access,
    (slot, extents): (usize, &[BufferExtent]),
    scratch: &mut Vec<u8>,
) -> Result<Done, Error> {
    // SAFETY: the caller's promise.
    let mut requests = unsafe { requests(arena, window, slot, extents) }?;
    Ok(perform(storage, window, access, &mut requests, scratch))
}

/// # Safety
/// As long as the requests live, nobody else touches the extents of the buffer, and the arena lives.
unsafe fn requests(
    arena: &Arena,
    window: WindowId,
    slot: usize,
    extents: &[BufferExtent],
) -> Result<Vec<Request>, Error> {
    let request = |extent: &BufferExtent| {
        let (at, len) = (extent.buffer as usize, extent.len as usize);
        // SAFETY: the caller's promise.
        let bytes = unsafe { arena.bytes(slot, window.buffer(), at..at + len) }?;
        Ok(Request { file: extent.file, start: bytes.as_mut_ptr(), len })
    };
    extents.iter().map(request).collect()
}

fn perform(
    storage: &dyn Storage,
    window: WindowId,
    access: Access,
    requests: &mut Vec<Request>,
    scratch: &mut Vec<u8>,
) -> Done {
    let began = Instant::now();
    let result = contain(|| {
        Ok(match access {
            Access::Write(sieve) => store::write_all(storage, requests, sieve, scratch),
            Access::Read => store::read_all(storage, requests, scratch),
        })
    });
    Done { window, result, began, took: began.elapsed() }
}

impl Extents for Vec<Request> {
    fn len(&self) -> usize {
        self.len()
    }

    fn place(&self, i: usize) -> (u64, usize) {
        (self[i].file, self[i].len)
    }

    fn bytes(&mut self, i: usize) -> &mut [u8] {
        // SAFETY: the buffer is the thread's until the window is reported.
        unsafe { std::slice::from_raw_parts_mut(self[i].start, self[i].len) }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.settle();
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // It has no panic: those of storage are reported.
            let _ = thread.join();
        }
    }
}
