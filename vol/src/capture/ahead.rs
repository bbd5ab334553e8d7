//! Writing ahead: long pieces of the window, which need no exchange, go to the file while the program goes on. The commit
//! leaves out what is there by then.
//!
//! Nothing depends on it. A piece stays in the window until the commit, and is written there if it was not written
//! ahead, if that failed, or if its order among the writes of other ranks turns out to matter. The thread calls
//! neither MPI nor HDF5.
//!
//! Invariant: pieces are taken back with [`Ahead::stop`] before the window's memory is used for anything else.

use super::window::Waiting;
use sago_storage::Storage;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// What is written at once: a commit waits for as much.
const STEP_BYTES: usize = 1 << 20;
/// The program comes first.
const NICENESS: libc::c_int = 10;

#[derive(Default)]
pub struct Ahead {
    thread: Option<Thread>,
}

struct Thread {
    shared: Arc<Shared>,
    handle: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    desk: Mutex<Desk>,
    changed: Condvar,
}

#[derive(Default)]
struct Desk {
    todo: VecDeque<Piece>,
    /// Places in the window, in the order in which they were written.
    stored: Vec<Range<u64>>,
    busy: bool,
    over: bool,
}

struct Piece {
    storage: Arc<dyn Storage>,
    file: u64,
    /// Its place in the window.
    place: u64,
    start: *const u8,
    len: usize,
}

// SAFETY: memory of the window, which stays as it is until `Ahead::stop`.
unsafe impl Send for Piece {}

impl Ahead {
    /// Begins to write what was added to the window at `place`.
    ///
    /// # Safety
    /// The bytes stay where they are, unchanged, until [`Ahead::stop`].
    pub unsafe fn begin(&mut self, storage: &Arc<dyn Storage>, place: u64, write: &Waiting<'_>) {
        if self.thread.is_none() {
            // Without it the commit does all.
            self.thread = Thread::start().ok();
        }
        let Some(Thread { shared, .. }) = &self.thread else { return };
        let mut at = 0;
        let mut desk = lock(&shared.desk);
        for block in write.runs.iter().flat_map(|run| run.blocks()) {
            let bytes = &write.bytes[at..at + block.len as usize];
            for (number, step) in bytes.chunks(STEP_BYTES).enumerate() {
                let offset = (number * STEP_BYTES) as u64;
                desk.todo.push_back(Piece {
                    storage: Arc::clone(storage),
                    file: block.file + offset,
                    place: place + at as u64 + offset,
                    start: step.as_ptr(),
                    len: step.len(),
                });
            }
            at += block.len as usize;
        }
        drop(desk);
        shared.changed.notify_all();
    }

    /// Takes back what has not been begun, and waits for the rest: the places in the window that are in the file now.
    pub fn stop(&mut self) -> Vec<Range<u64>> {
        let Some(Thread { shared, .. }) = &self.thread else { return Vec::new() };
        let mut desk = lock(&shared.desk);
        desk.todo.clear();
        while desk.busy {
            desk = shared.changed.wait(desk).unwrap_or_else(PoisonError::into_inner);
        }
        let mut stored = std::mem::take(&mut desk.stored);
        drop(desk);
        stored.sort_unstable_by_key(|range| range.start);
        stored.dedup_by(|next, before| {
            let joined = next.start == before.end;
            if joined {
                before.end = next.end;
            }
            joined
        });
        stored
    }
}

impl Thread {
    fn start() -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let its = Arc::clone(&shared);
        let handle = std::thread::Builder::new().name("sago-ahead".to_owned()).spawn(move || its.work())?;
        Ok(Self { shared, handle: Some(handle) })
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        let mut desk = lock(&self.shared.desk);
        desk.todo.clear();
        desk.over = true;
        drop(desk);
        self.shared.changed.notify_all();
        if let Some(handle) = self.handle.take() {
            // What it has not written, the commit writes.
            let _ = handle.join();
        }
    }
}

impl Shared {
    fn work(&self) {
        // SAFETY: asks the kernel for less time for this thread alone; it may say no.
        unsafe { libc::setpriority(libc::PRIO_PROCESS, libc::gettid() as libc::id_t, NICENESS) };
        let mut desk = lock(&self.desk);
        loop {
            let Some(piece) = desk.todo.pop_front() else {
                if desk.over {
                    return;
                }
                desk = self.changed.wait(desk).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            desk.busy = true;
            drop(desk);
            // SAFETY: the window's memory, until `Ahead::stop`, which waits while the thread is busy.
            let bytes = unsafe { std::slice::from_raw_parts(piece.start, piece.len) };
            let written = piece.storage.write(piece.file, bytes).is_ok();
            let place = piece.place..piece.place + piece.len as u64;
            // The last to hold the file must not be this thread, whenever it gets to it.
            drop(piece);
            desk = lock(&self.desk);
            desk.busy = false;
            if written {
                desk.stored.push(place);
            } else {
                // The commit will meet the same failure, and can tell all ranks.
                desk.todo.clear();
            }
            self.changed.notify_all();
        }
    }
}

fn lock(desk: &Mutex<Desk>) -> MutexGuard<'_, Desk> {
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sago_core::extent::Run;
    use sago_storage::{Counted, Memory};

    const LEN: usize = 3 << 20;

    fn settled(ahead: &Ahead) {
        let shared = &ahead.thread.as_ref().unwrap().shared;
        let mut desk = lock(&shared.desk);
        while desk.busy || !desk.todo.is_empty() {
            desk = shared.changed.wait(desk).unwrap();
        }
    }

    #[test]
    fn long_pieces_are_in_the_file_and_named() {
        let storage = Arc::new(Counted::new(Memory::default()));
        let file: Arc<dyn Storage> = storage.clone();
        let bytes: Vec<u8> = (0..LEN).map(|i| (i / 1000) as u8).collect();
        let mut ahead = Ahead::default();
        assert!(ahead.stop().is_empty());
        let long = [Run::contiguous(1 << 30, LEN as u64 / 2), Run::contiguous(0, LEN as u64 / 2)];
        // SAFETY: the bytes outlive the writer.
        unsafe {
            ahead.begin(&file, 150, &Waiting { runs: &long, bytes: &bytes, epoch: 0 });
        }
        settled(&ahead);
        assert_eq!(ahead.stop(), vec![Range { start: 150, end: 150 + LEN as u64 }]);
        assert!(ahead.stop().is_empty());
        let mut back = vec![0; LEN / 2];
        storage.read(1 << 30, &mut back).unwrap();
        assert!(back == bytes[..LEN / 2]);
        storage.read(0, &mut back).unwrap();
        assert!(back == bytes[LEN / 2..]);
        assert_eq!(storage.counts().write_calls, 4);
    }
}
