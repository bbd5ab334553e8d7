//! Writing ahead: what needs no exchange goes to the file while the program goes on: long pieces of the window, and short
//! ones of several writes that are a long one together, such as the columns of records. The commit leaves out what is there
//! by then.
//!
//! As without Sago, no byte of a collective write is in the file before all ranks have called it: the ranks of a node keep
//! a counter in common memory, and a piece waits until all have come as far. So this is for ranks on one node.
//!
//! A rank that puts bytes into the file by itself, or lets HDF5 do so for it, holds all threads until the next commit of all: the
//! bytes of an earlier call must not come after those of a later one. Such ranks take turns, so that each can read back what
//! HDF5 wrote for it.
//!
//! Nothing depends on it. A piece stays in the window until the commit, and is written there if it was not written
//! ahead, if that failed, or if its order among the writes of other ranks turns out to matter. The thread calls
//! neither MPI nor HDF5.
//!
//! Invariant: pieces are taken back with [`Ahead::stop`] before the window's memory is used for anything else.

use super::window::{Mark, Waiting, Window};
use sago_core::config::Config;
use sago_core::declare::{Declaration, Direction};
use sago_core::plan::StorageFacts;
use sago_exec::{Packing, contain};
use sago_mpi::{Error, Shared as Memory, Signal, Transport};
use sago_storage::Storage;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What is written at once: a commit, and whoever else writes to the file, waits for as much.
const STEP_BYTES: usize = 128 << 10;

/// Writers to one file take turns: in the kernel they would burn the cores that the program needs. A turn is so long at
/// most; who does not get one in this time goes on without, lest a rank that is gone keeps it for ever.
const TURN_STEPS: usize = 8;
const TURN_PATIENCE: Duration = Duration::from_millis(20);

/// The thread is woken when so much has come together, or as much as a buffer: waking it costs as much as a small write call.
const HAND_OVER_BYTES: u64 = 256 << 10;

/// How long the thread waits for a rank that lags before it looks again: at first, and at most. The rank does not wake it, since
/// that would cost each of its calls.
const LOOK_AGAIN_FIRST: Duration = Duration::from_micros(100);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

pub struct Ahead {
    pace: Arc<Pace>,
    thread: Option<Thread>,
    /// Short pieces that may become a long one.
    group: Option<Group>,
    /// What the thread does not know of yet.
    ready: Vec<Piece>,
    ready_bytes: u64,
    /// How many commits of all ranks there have been. The same on all.
    commits: u32,
}

/// Writes that follow each other in the window, and lie among or beside each other in the file.
struct Group {
    mark: Mark,
    /// Where they begin in the window.
    place: u64,
    lo: u64,
    hi: u64,
    bytes: u64,
}

/// For each rank the epoch of its last collective write, and whether its thread is writing; with the first rank also whose turn
/// it is, whether nothing may go ahead, and whether a rank is putting bytes into the file by itself.
struct Pace {
    counters: Memory,
    rank: usize,
    ranks: usize,
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
    what: What,
    epoch: u64,
    /// Of the commit that it would come before.
    commits: u32,
}

enum What {
    /// As it lies in the window.
    Straight { file: u64, part: Part },
    /// One window of a packing of this part.
    Packed { packing: Arc<Packing>, window: u32, part: Part },
}

/// A part of the window, and its place there.
#[derive(Clone, Copy)]
struct Part {
    place: u64,
    start: *const u8,
    len: usize,
}

// SAFETY: memory of the window, which stays as it is until `Ahead::stop`.
unsafe impl Send for Part {}

impl Part {
    fn of(place: u64, bytes: &[u8]) -> Self {
        Self { place, start: bytes.as_ptr(), len: bytes.len() }
    }

    /// # Safety
    /// As long as the slice lives, [`Ahead::stop`] has not returned.
    unsafe fn bytes<'p>(self) -> &'p [u8] {
        // SAFETY: the window's memory, which stays as it is until then.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

impl Piece {
    /// Writes it; the places in the window that are in the file then, none if that failed.
    ///
    /// # Safety
    /// As [`Part::bytes`].
    unsafe fn write(&self, room: &mut Vec<u8>) -> Vec<Range<u64>> {
        match &self.what {
            What::Straight { file, part } => {
                // SAFETY: the caller's promise.
                let written = self.storage.write(*file, unsafe { part.bytes() }).is_ok();
                written.then(|| part.place..part.place + part.len as u64).into_iter().collect()
            }
            What::Packed { packing, window, part } => {
                // SAFETY: the caller's promise.
                let written = packing.write(*window, unsafe { part.bytes() }, &*self.storage, room);
                let sources = packing.sources(*window).filter(|_| matches!(written, Ok(Ok(()))));
                sources.map(|range| part.place + range.start..part.place + range.end).collect()
            }
        }
    }
}

// SAFETY: of the memory only the counters are used, which are atomic; the thread is joined before it is given back.
unsafe impl Send for Pace {}
// SAFETY: as above.
unsafe impl Sync for Pace {}

/// As long as a rank has it, no other puts bytes into the file by itself.
pub struct Alone(Option<Arc<Pace>>);

impl Drop for Alone {
    fn drop(&mut self) {
        if let Some(lone) = self.0.as_ref().and_then(|pace| pace.lone()) {
            lone.set(0);
        }
    }
}

impl Pace {
    fn counter(&self, rank: usize) -> Option<&Signal> {
        self.counters.signal(rank, 0).ok()
    }

    /// Waits for this rank's turn to write; whether there is one to give back.
    fn take_turn(&self) -> Option<&Signal> {
        let turn = self.counters.signal(0, Signal::BYTES).ok()?;
        let start = Instant::now();
        while !turn.claim() {
            let left = TURN_PATIENCE.checked_sub(start.elapsed())?;
            turn.sleep(1, left);
        }
        Some(turn)
    }

    fn writing(&self, rank: usize) -> Option<&Signal> {
        self.counters.signal(rank, 2 * Signal::BYTES).ok()
    }

    /// Since how many commits, plus one, a rank has put bytes into the file by itself.
    fn held(&self) -> Option<&Signal> {
        self.counters.signal(0, 3 * Signal::BYTES).ok()
    }

    fn lone(&self) -> Option<&Signal> {
        self.counters.signal(0, 4 * Signal::BYTES).ok()
    }

    /// This rank's thread is about to write; whether it may.
    fn begin(&self, commits: u32) -> bool {
        let (Some(writing), Some(held)) = (self.writing(self.rank), self.held()) else { return false };
        writing.set(1);
        // Either we see that it is held, or who holds it sees us.
        fence(Ordering::SeqCst);
        let may = held.get() != commits.wrapping_add(1);
        if !may {
            writing.set(0);
        }
        may
    }

    fn end(&self) {
        self.writing(self.rank).into_iter().for_each(|writing| writing.set(0));
    }

    /// Whether no thread is writing.
    fn is_quiet(&self) -> bool {
        (0..self.ranks).filter_map(|rank| self.writing(rank)).all(|writing| writing.get() == 0)
    }

    /// Whether all ranks have come as far. Counters differ by far less than they hold.
    fn reached(&self, epoch: u64) -> bool {
        let mut counters = (0..self.ranks).filter_map(|rank| self.counter(rank));
        counters.all(|counter| counter.get().wrapping_sub(epoch as u32) as i32 >= 0)
    }
}

impl Ahead {
    /// For ranks on one node. Collective.
    pub fn new(ranks: &dyn Transport) -> Result<Self, Error> {
        let counters = ranks.share(5 * Signal::BYTES)?;
        let pace = Pace { counters, rank: ranks.rank(), ranks: ranks.size() };
        let (ready, ready_bytes) = (Vec::new(), 0);
        Ok(Self { pace: Arc::new(pace), thread: None, group: None, ready, ready_bytes, commits: 0 })
    }

    /// This rank has come to this collective write.
    pub fn enter(&self, epoch: u64) {
        if let Some(counter) = self.pace.counter(self.pace.rank) {
            counter.set(epoch as u32);
        }
    }

    /// Waits until all ranks have come to the collective write of this epoch.
    pub fn wait(&self, ranks: &dyn Transport, epoch: u64) -> Result<(), Error> {
        let Some(mine) = self.pace.counter(self.pace.rank) else { return Ok(()) };
        ranks.watch(mine, mine.get(), &mut || Ok(self.pace.reached(epoch)))
    }

    /// Before this rank puts bytes into the file by itself: while it has the result, no other rank does, and until the next
    /// commit of all no thread writes ahead, since what it has may be older.
    pub fn alone(&self, ranks: &dyn Transport) -> Result<Alone, Error> {
        let Some(mine) = self.pace.counter(self.pace.rank) else { return Ok(Alone(None)) };
        let mut claimed = || Ok(self.pace.lone().is_none_or(|lone| lone.claim()));
        ranks.watch(mine, mine.get(), &mut claimed)?;
        let alone = Alone(Some(Arc::clone(&self.pace)));
        self.pace.held().into_iter().for_each(|held| held.set(self.commits.wrapping_add(1)));
        fence(Ordering::SeqCst);
        ranks.watch(mine, mine.get(), &mut || Ok(self.pace.is_quiet()))?;
        Ok(alone)
    }

    /// All ranks are in a commit, and nothing is under way.
    pub fn next(&mut self) {
        self.commits = self.commits.wrapping_add(1);
    }

    /// Begins to write what was added to the window since `mark`, as far as its pieces are of at least `least` bytes, or short
    /// ones have become such a one.
    ///
    /// # Safety
    /// The window stays as it is, but for what is added to it, until [`Ahead::stop`].
    pub unsafe fn begin(
        &mut self,
        storage: &Arc<dyn Storage>,
        window: &Window,
        mark: Mark,
        least: u64,
        (config, facts): (&Config, &StorageFacts),
    ) {
        let mut mark = mark;
        let file = (storage, self.commits);
        for (place, write) in window.writes_since(mark) {
            if !write.runs.is_empty() && write.runs.iter().all(|run| run.len() >= least) {
                self.group = None;
                self.ready_bytes += write.bytes.len() as u64;
                straight(file, place, &write, &mut self.ready);
            } else if let Some(group) = self.gather(mark, place, &write, least) {
                self.ready_bytes += group.bytes;
                packed(file, window, &group, (config, facts), &mut self.ready);
            }
            mark = mark.next(&write);
        }
        if self.ready_bytes >= config.buffer_bytes.unwrap_or(u64::MAX).min(HAND_OVER_BYTES) {
            self.hand_over();
        }
    }

    /// Adds a write to the group that it lies among or beside, or to a new one; the group, if it is whole.
    fn gather(&mut self, mark: Mark, place: u64, write: &Waiting<'_>, least: u64) -> Option<Group> {
        let lo = write.runs.iter().map(|run| run.offset()).min()?;
        let hi = write.runs.iter().map(|run| run.end()).max()?;
        let bytes = write.bytes.len() as u64;
        let among = |group: &Group| lo <= group.hi && group.lo <= hi && place == group.place + group.bytes;
        let mut group = self.group.take().filter(among).unwrap_or(Group { mark, place, lo, hi, bytes: 0 });
        (group.lo, group.hi, group.bytes) = (group.lo.min(lo), group.hi.max(hi), group.bytes + bytes);
        if group.bytes == group.hi - group.lo && group.bytes >= least {
            return Some(group);
        }
        self.group = Some(group);
        None
    }

    fn hand_over(&mut self) {
        if self.thread.is_none() {
            // Without it the commit does all.
            self.thread = Thread::start(&self.pace).ok();
        }
        let pieces = self.ready.drain(..);
        self.ready_bytes = 0;
        let Some(Thread { shared, .. }) = &self.thread else { return };
        lock(&shared.desk).todo.extend(pieces);
        shared.changed.notify_all();
    }

    /// Takes back what has not been begun, and waits for the rest: the places in the window that are in the file now.
    pub fn stop(&mut self) -> Vec<Range<u64>> {
        (self.group, self.ready_bytes) = (None, 0);
        self.ready.clear();
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

/// The steps in which long pieces are written.
fn straight(
    (storage, commits): (&Arc<dyn Storage>, u32),
    place: u64,
    write: &Waiting<'_>,
    pieces: &mut Vec<Piece>,
) {
    let mut at = 0;
    for block in write.runs.iter().flat_map(|run| run.blocks()) {
        let bytes = &write.bytes[at..at + block.len as usize];
        for (number, step) in bytes.chunks(STEP_BYTES).enumerate() {
            let offset = (number * STEP_BYTES) as u64;
            let part = Part::of(place + at as u64 + offset, step);
            pieces.push(Piece {
                storage: Arc::clone(storage),
                what: What::Straight { file: block.file + offset, part },
                epoch: called(write.epoch),
                commits,
            });
        }
        at += block.len as usize;
    }
}

/// The steps in which a group is written, if it is one piece of the file indeed.
fn packed(
    (storage, commits): (&Arc<dyn Storage>, u32),
    window: &Window,
    group: &Group,
    (config, facts): (&Config, &StorageFacts),
    pieces: &mut Vec<Piece>,
) {
    let mut declaration = Declaration::new(Direction::Write);
    let mut epoch = 0;
    for (_, write) in window.writes_since(group.mark) {
        if declaration.stream_bytes() == group.bytes {
            break;
        }
        declaration.variable(write.runs.iter().copied());
        epoch = epoch.max(called(write.epoch));
    }
    let declared = declaration.finish();
    // Not if something was written twice and something else not at all.
    let whole = declared.coverage().len() == 1 && declared.bytes() == group.bytes;
    let bytes = window.bytes().get(group.place as usize..(group.place + group.bytes) as usize);
    let (true, Some(bytes)) = (whole, bytes) else { return };
    let part = Part::of(group.place, bytes);
    let packing = Arc::new(Packing::new(declared, config, facts));
    pieces.extend((0..packing.windows()).map(|number| Piece {
        storage: Arc::clone(storage),
        what: What::Packed { packing: Arc::clone(&packing), window: number, part },
        epoch,
        commits,
    }));
}

/// All ranks must have made the collective call that a write belongs to, or follows.
const fn called(epoch: u64) -> u64 {
    epoch & !1
}

impl Thread {
    fn start(pace: &Arc<Pace>) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let (its, pace) = (Arc::clone(&shared), Arc::clone(pace));
        let work = move || {
            give_way();
            its.work(&pace)
        };
        let handle = std::thread::Builder::new().name("sago-ahead".to_owned()).spawn(work)?;
        Ok(Self { shared, handle: Some(handle) })
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
    fn work(&self, pace: &Pace) {
        let (mut room, mut nap) = (Vec::new(), LOOK_AGAIN_FIRST);
        let mut desk = lock(&self.desk);
        loop {
            let Some(epoch) = desk.todo.front().map(|piece| piece.epoch) else {
                if desk.over {
                    return;
                }
                nap = LOOK_AGAIN_FIRST;
                desk = self.changed.wait(desk).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            if !pace.reached(epoch) {
                let waited = self.changed.wait_timeout(desk, nap).unwrap_or_else(PoisonError::into_inner);
                if waited.1.timed_out() {
                    nap = (nap * 2).min(LOOK_AGAIN);
                }
                desk = waited.0;
                continue;
            }
            nap = LOOK_AGAIN_FIRST;
            drop(desk);
            let turn = pace.take_turn();
            desk = self.write_some(lock(&self.desk), pace, &mut room);
            if let Some(turn) = turn {
                turn.set(0);
            }
            drop(desk);
            // A rank that polls for a message, and yields, would otherwise wait for a whole time slice of ours.
            std::thread::yield_now();
            desk = lock(&self.desk);
        }
    }

    /// Writes what is due, for the length of a turn.
    fn write_some<'d>(
        &'d self,
        mut desk: MutexGuard<'d, Desk>,
        pace: &Pace,
        room: &mut Vec<u8>,
    ) -> MutexGuard<'d, Desk> {
        for _ in 0..TURN_STEPS {
            if desk.todo.front().is_none_or(|piece| !pace.reached(piece.epoch)) {
                break;
            }
            let Some(piece) = desk.todo.pop_front() else { break };
            if !pace.begin(piece.commits) {
                desk.todo.clear();
                self.changed.notify_all();
                break;
            }
            desk.busy = true;
            drop(desk);
            // SAFETY: `Ahead::stop` waits while the thread is busy.
            let stored = contain(|| Ok(unsafe { piece.write(room) })).unwrap_or_default();
            pace.end();
            // The last to hold the file must not be this thread, whenever it gets to it.
            drop(piece);
            desk = lock(&self.desk);
            desk.busy = false;
            if stored.is_empty() {
                // The commit will meet the same failure, and can tell all ranks.
                desk.todo.clear();
            }
            desk.stored.extend(stored);
            self.changed.notify_all();
        }
        desk
    }
}

fn lock(desk: &Mutex<Desk>) -> MutexGuard<'_, Desk> {
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::window::Region;
    use super::*;
    use sago_core::extent::Run;
    use sago_mpi::threads;
    use sago_storage::{Counted, Memory as InMemory};

    const LEN: usize = 3 << 20;
    const LEAST: u64 = 1000;

    fn settled(ahead: &Ahead) {
        let Some(Thread { shared, .. }) = &ahead.thread else { return };
        let mut desk = lock(&shared.desk);
        while desk.busy || !desk.todo.is_empty() {
            desk = shared.changed.wait(desk).unwrap();
        }
    }

    fn window() -> Window {
        Window::new(Region::new(2 * LEN as u64).unwrap())
    }

    /// Adds a write to a window, and lets it go ahead.
    fn write(
        ahead: &mut Ahead,
        (window, file): (&mut Window, &Arc<dyn Storage>),
        runs: &[Run],
        bytes: &[u8],
        epoch: u64,
    ) {
        let mark = window.mark();
        window.spare(bytes.len() as u64).copy_from_slice(bytes);
        window.push(runs, bytes.len() as u64, epoch);
        let config = Config::parse("buffer=4KiB").unwrap();
        // SAFETY: the tests stop it, or drop it, before they change the window.
        unsafe { ahead.begin(file, window, mark, LEAST, (&config, &StorageFacts::default())) };
    }

    #[test]
    fn long_pieces_are_in_the_file_and_named() {
        let storage = Arc::new(Counted::new(InMemory::default()));
        let file: Arc<dyn Storage> = storage.clone();
        let bytes: Vec<u8> = (0..LEN).map(|i| (i / 1000) as u8).collect();
        let (mut window, mut ahead) = (window(), Ahead::new(&*sago_mpi::single().unwrap()).unwrap());
        assert!(ahead.stop().is_empty());
        write(&mut ahead, (&mut window, &file), &[Run::contiguous(9, 150)], &[7; 150], 0);
        let long = [Run::contiguous(1 << 30, LEN as u64 / 2), Run::contiguous(0, LEN as u64 / 2)];
        write(&mut ahead, (&mut window, &file), &long, &bytes, 0);
        settled(&ahead);
        assert_eq!(ahead.stop(), vec![Range { start: 150, end: 150 + LEN as u64 }]);
        assert!(ahead.stop().is_empty());
        let mut back = vec![0; LEN / 2];
        storage.read(1 << 30, &mut back).unwrap();
        assert!(back == bytes[..LEN / 2]);
        storage.read(0, &mut back).unwrap();
        assert!(back == bytes[LEN / 2..]);
        assert_eq!(storage.counts().write_calls, (LEN / STEP_BYTES) as u64);
    }

    /// Three columns of records after other bytes, and the first of three more.
    #[test]
    fn columns_go_ahead_when_they_are_whole() {
        let storage = Arc::new(Counted::new(InMemory::default()));
        let file: Arc<dyn Storage> = storage.clone();
        let (mut window, mut ahead) = (window(), Ahead::new(&*sago_mpi::single().unwrap()).unwrap());
        write(&mut ahead, (&mut window, &file), &[Run::contiguous(1 << 20, 50)], &[7; 50], 0);
        let column = |at: u64| [Run::strided(at, 4, 12, 1000).unwrap()];
        for (number, at) in [0, 4, 8].into_iter().enumerate() {
            settled(&ahead);
            assert_eq!(storage.counts().write_calls, 0);
            write(&mut ahead, (&mut window, &file), &column(at), &[number as u8 + 1; 4000], 0);
        }
        write(&mut ahead, (&mut window, &file), &column(1 << 16), &[9; 4000], 0);
        settled(&ahead);
        assert_eq!(ahead.stop(), vec![Range { start: 50, end: 12050 }]);
        let mut back = vec![0; 12000];
        storage.read(0, &mut back).unwrap();
        assert!(back.iter().enumerate().all(|(i, byte)| *byte as usize == i % 12 / 4 + 1));
        assert_eq!(storage.counts().write_calls, 3);
    }

    /// As many bytes as they span, but one column twice and another not at all.
    #[test]
    fn a_group_with_holes_does_not_go_ahead() {
        let storage = Arc::new(Counted::new(InMemory::default()));
        let file: Arc<dyn Storage> = storage.clone();
        let (mut window, mut ahead) = (window(), Ahead::new(&*sago_mpi::single().unwrap()).unwrap());
        for at in [0, 8, 8] {
            let column = [Run::strided(at, 4, 12, 1000).unwrap()];
            write(&mut ahead, (&mut window, &file), &column, &[1; 4000], 0);
        }
        settled(&ahead);
        assert!(ahead.stop().is_empty());
        assert_eq!(storage.counts().write_calls, 0);
    }

    #[test]
    fn nothing_is_written_before_all_ranks_have_called() {
        let storage = Arc::new(Counted::new(InMemory::default()));
        let file: Arc<dyn Storage> = storage.clone();
        threads::run(2, threads::Options::default(), |ranks| {
            let (mut window, mut ahead) = (window(), Ahead::new(ranks).unwrap());
            if ranks.rank() == 0 {
                ahead.enter(2);
                write(&mut ahead, (&mut window, &file), &[Run::contiguous(0, 1000)], &[1; 1000], 2);
                let halves = [0, 4].map(|at| [Run::strided(4000 + at, 4, 8, 500).unwrap()]);
                write(&mut ahead, (&mut window, &file), &halves[0], &[2; 2000], 0);
                write(&mut ahead, (&mut window, &file), &halves[1], &[2; 2000], 3);
                std::thread::sleep(LOOK_AGAIN * 2);
                assert_eq!(storage.counts().write_calls, 0);
            }
            ranks.barrier().unwrap();
            ahead.enter(2);
            if ranks.rank() == 0 {
                settled(&ahead);
                assert_eq!(ahead.stop(), vec![Range { start: 0, end: 5000 }]);
            }
            ranks.barrier().unwrap();
        });
    }
}
