//! The thread that writes ahead. It calls neither MPI nor HDF5.

use super::pace::{Pace, Turn};
use super::piece::{Piece, Room};
use sago_exec::contain;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Writers to one file take turns: in the kernel they would burn the cores that the program needs. A turn is over after so many bytes.
const TURN_BYTES: u64 = 1 << 20;

/// How long the thread waits for a rank that lags before it looks again: at first, and at most. The rank does not wake it, since
/// that would cost each of its calls.
const LOOK_AGAIN_FIRST: Duration = Duration::from_micros(100);
pub const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// After so long without a collective write, a row of them is over.
const ROW_PAUSE: Duration = Duration::from_micros(500);
/// With nothing to do it waits to be woken.
const LONG: Duration = Duration::from_secs(3600);

pub struct Thread {
    shared: Arc<Shared>,
    pace: Arc<Pace>,
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
    /// Nothing is begun.
    paused: bool,
}

impl Desk {
    fn is_idle(&self) -> bool {
        self.todo.is_empty() && !self.busy
    }
}

impl Thread {
    pub fn start(pace: &Arc<Pace>) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let (its, pace) = (Arc::clone(&shared), Arc::clone(pace));
        let watched = Arc::clone(&pace);
        let work = move || {
            give_way();
            its.work(&watched)
        };
        let handle = sago_exec::spawn("sago-ahead", work)?;
        Ok(Self { shared, pace, handle: Some(handle) })
    }

    /// Gives it more to do. It does not know before it is woken.
    pub fn give(&self, pieces: impl IntoIterator<Item = Piece>) {
        self.shared.lock().todo.extend(pieces);
    }

    /// Whether it waits for a rank.
    pub fn is_waiting(&self) -> bool {
        let desk = self.shared.lock();
        !desk.busy && desk.todo.front().is_some_and(|piece| !piece.is_due(&self.pace))
    }

    /// Until [`Thread::resume`] it begins nothing; waits for what it has begun. Nobody is left waiting for it: what it has claimed of
    /// other ranks' bytes, it gives back.
    pub fn pause(&self) {
        let mut desk = self.shared.lock();
        desk.paused = true;
        while desk.busy {
            desk = self.shared.changed.wait(desk).unwrap_or_else(PoisonError::into_inner);
        }
        desk.todo.retain(|piece| !piece.has_claim());
    }

    pub fn resume(&self) {
        let mut desk = self.shared.lock();
        desk.paused = false;
        let waiting = !desk.todo.is_empty();
        drop(desk);
        if waiting {
            self.pace.ring_own();
        }
    }

    /// Leaves to the commit what has not been begun. It is paused.
    pub fn leave(&self) {
        self.shared.lock().todo.clear();
    }

    /// Whether it has nothing to do, or may not.
    pub fn is_idle(&self) -> bool {
        let desk = self.shared.lock();
        desk.paused || desk.is_idle()
    }

    /// Takes back what has not been begun, and waits for the rest: the places in the window that are in the file now.
    pub fn stop(&self) -> Vec<Range<u64>> {
        let mut desk = self.shared.lock();
        desk.todo.clear();
        while desk.busy {
            desk = self.shared.changed.wait(desk).unwrap_or_else(PoisonError::into_inner);
            // What it did may have left steps.
            desk.todo.clear();
        }
        std::mem::take(&mut desk.stored)
    }
}

/// This thread never takes a core from one that runs: it waits until a core is free, or its share is due. Otherwise each write call
/// of the program that wakes it would be held up by it. Without effect where the kernel refuses.
fn give_way() {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: of the calling thread; the kernel copies the parameters.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_BATCH, &parameters) };
}

impl Drop for Thread {
    fn drop(&mut self) {
        let mut desk = self.shared.lock();
        desk.todo.clear();
        desk.over = true;
        drop(desk);
        self.pace.ring_own();
        if let Some(handle) = self.handle.take() {
            // What it has not written, the commit writes.
            let _ = handle.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, pace: &Pace) {
        let (mut room, mut nap, mut row) = (Room::default(), LOOK_AGAIN_FIRST, Row::default());
        loop {
            let rung = pace.rung();
            let desk = self.lock();
            match desk.todo.front().filter(|_| !desk.paused) {
                None if desk.over => return,
                None => {
                    drop(desk);
                    nap = LOOK_AGAIN_FIRST;
                    pace.sleep(rung, LONG);
                }
                Some(front) if !front.is_due(pace) => {
                    // Who is the last to come to what all ranks write rings.
                    let rings = front.is_unopened();
                    drop(desk);
                    pace.sleep(rung, if rings { LOOK_AGAIN } else { nap });
                    nap = (nap * 2).min(LOOK_AGAIN);
                }
                Some(front) if front.is_unopened() && !row.is_over(pace) => {
                    drop(desk);
                    pace.sleep(rung, ROW_PAUSE);
                }
                Some(_) => {
                    nap = LOOK_AGAIN_FIRST;
                    drop(self.write_some(desk, pace, &mut room));
                    // A rank that polls for a message, and yields, would otherwise wait for a whole time slice of ours.
                    std::thread::yield_now();
                }
            }
        }
    }

    /// Writes what is due, as much as there is in a turn. What must be laid together first is, while others have theirs.
    fn write_some<'d>(
        &'d self,
        mut desk: MutexGuard<'d, Desk>,
        pace: &Pace,
        room: &mut Room,
    ) -> MutexGuard<'d, Desk> {
        let (mut turn, mut bytes) = (None, 0);
        while bytes < TURN_BYTES {
            if desk.paused || desk.todo.front().is_none_or(|piece| !piece.is_due(pace)) {
                break;
            }
            let Some(piece) = desk.todo.pop_front() else { break };
            bytes += piece.bytes();
            desk.busy = true;
            drop(desk);
            // SAFETY: `Thread::stop` waits while the thread is busy.
            let done = contain(|| Ok(unsafe { write(&piece, pace, room, &mut turn) })).unwrap_or(None);
            // The last to hold the file, or a claim, must not be this thread, whenever it gets to it.
            drop(piece);
            desk = self.lock();
            desk.busy = false;
            match done {
                Some(Done { stored, steps }) => {
                    desk.stored.extend(stored);
                    steps.into_iter().rev().for_each(|step| desk.todo.push_front(step));
                }
                // Not now, or the commit will meet the same failure, and can tell all ranks.
                None => desk.todo.clear(),
            }
            self.changed.notify_all();
        }
        drop(turn);
        if desk.is_idle() {
            pace.rest();
        }
        desk
    }
}

/// Writes a piece in a turn.
///
/// # Safety
/// As [`Piece::store`].
unsafe fn write<'p>(
    piece: &Piece,
    pace: &'p Pace,
    room: &mut Room,
    turn: &mut Option<Turn<'p>>,
) -> Option<Done> {
    if let Some(steps) = piece.open() {
        return Some(Done { stored: Vec::new(), steps });
    }
    let _writing = pace.begin(piece.commits)?;
    if piece.is_packed() {
        *turn = None;
    }
    // SAFETY: the caller's promise.
    if !unsafe { piece.pack(room) } {
        return None;
    }
    if turn.is_none() {
        *turn = pace.take_turn();
    }
    // SAFETY: the caller's promise.
    let stored = unsafe { piece.store(room) }?;
    Some(Done { stored, steps: Vec::new() })
}

/// A row of collective writes of the program, one soon after the other. What all ranks write waits for its end, or for a commit: it takes
/// two copies, and the calls would be held up by them.
#[derive(Default)]
struct Row {
    came_to: u32,
    since: Option<Instant>,
}

impl Row {
    fn is_over(&mut self, pace: &Pace) -> bool {
        let came_to = pace.came_to();
        let since = match self.since {
            Some(since) if came_to == self.came_to => since,
            _ => Instant::now(),
        };
        (self.came_to, self.since) = (came_to, Some(since));
        pace.hurries() || since.elapsed() >= ROW_PAUSE
    }
}

/// What came of a piece: places in the window that are in the file, and pieces to write in its place.
struct Done {
    stored: Vec<Range<u64>>,
    steps: Vec<Piece>,
}
