//! Bytes that the ranks of a node wrote in one collective call: short pieces of each, long ones of the file together, such as the
//! rows of tiles. They go to the file ahead of the commit, without an exchange.
//!
//! A rank posts where its bytes of a call are in its window. When all ranks are done with the call, one of them, another one for each
//! call, lets its thread read the bytes out of the windows, lay them together and write them. The kernel must allow that processes
//! read each other's memory; where it does not, the commit exchanges such bytes.
//!
//! Invariant: a window's bytes are read by others only while all posts of the call are claimed; who owns them uses the memory again
//! only after it has withdrawn its posts, for which it waits until they are no longer claimed.

use super::piece::Room;
use sago_core::config::Config;
use sago_core::declare::{Declaration, Direction};
use sago_core::extent::Run;
use sago_core::plan::StorageFacts;
use sago_exec::Packing;
use sago_mpi::{Error, Gathering, Reduce, Shared as Memory, Transport, peek};
use sago_storage::Storage;
use std::ops::Range;
use std::slice::from_ref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// How many calls a rank has posts of at most.
const SLOTS: usize = 1024;
/// How many runs a rank has in a call at most, if they take no more memory than its bytes, or are few; and how many blocks all ranks
/// have: with more, the commit is the better way.
const RUNS_MAX: usize = 16384;
const RUNS_FEW: usize = 16;
const BLOCKS_MAX: u64 = 1 << 18;

/// In a rank's memory: whether a rank has gone, how many bytes there are to write since its thread was woken, its process, and a word
/// and its address, by which others find out whether they can read it; then the slots.
const GONE: usize = 0;
const BYTES: usize = 8;
const PROCESS: usize = 16;
const PROBE: usize = 24;
const PROBE_ADDRESS: usize = 32;
const HEAD: usize = 64;

/// A slot of a rank: epoch and state, then where its bytes are and how many, then where their runs are and how many. If it is for this
/// rank to write the bytes of all: how many times a rank was done with a call here, and the last epoch that all are done with.
const SLOT_WORDS: usize = 8;
const STATE: usize = 0;
const POST: [usize; 4] = [1, 2, 3, 4];
const DONE: usize = 5;
const ALL_DONE: usize = 6;
const RUN_WORDS: usize = 4;
const WORD: usize = size_of::<u64>();

/// A thread is woken when so much has come together: waking it costs as much as a small write call.
const WAKE_BYTES: u64 = 256 << 10;

/// States of a slot; the epoch stands above these bits.
const POSTED: u64 = 1;
const CLAIMED: u64 = 2;
const STORED: u64 = 3;
const FAILED: u64 = 4;
const WITHDRAWN: u64 = 5;
const STATE_BITS: u32 = 3;
const STATE_MASK: u64 = (1 << STATE_BITS) - 1;

const fn word(epoch: u64, state: u64) -> u64 {
    epoch << STATE_BITS | state
}

const fn at(slot: usize, number: usize) -> usize {
    HEAD + (slot * SLOT_WORDS + number) * WORD
}

/// Shorter blocks cost more by themselves than another copy of them does.
const GATHERED_BYTES_MIN: u64 = 256;

/// Between two looks at whether a claimed post is free again.
const CLAIM_NAP: Duration = Duration::from_micros(50);

/// What the ranks of a node have in common for this.
pub struct Board {
    memory: Memory,
    rank: usize,
    ranks: usize,
    /// A piece of the file is long from so many bytes on.
    least: u64,
    config: Config,
    facts: StorageFacts,
}

// SAFETY: of the memory only atomics are used.
unsafe impl Send for Board {}
// SAFETY: as above.
unsafe impl Sync for Board {}

/// A call whose bytes this rank has posted, and where they are in its window.
pub struct Post {
    epoch: u64,
    place: Range<u64>,
    /// Others read them here.
    runs: Vec<[u64; RUN_WORDS]>,
}

impl Board {
    /// For ranks on one node; `None` if they cannot read each other's memory. Collective, and the same on all ranks.
    pub fn new(
        ranks: &dyn Transport,
        least: u64,
        (config, facts): (&Config, &StorageFacts),
    ) -> Result<Option<Self>, Error> {
        let memory = ranks.share(at(SLOTS, 0))?;
        let (config, facts) = (config.clone(), *facts);
        let board = Self { memory, rank: ranks.rank(), ranks: ranks.size(), least, config, facts };
        let probe = Box::new(u64::from(std::process::id()) << 32 ^ board.rank as u64 ^ 0x5a90);
        let told = [
            (PROCESS, u64::from(std::process::id())),
            (PROBE, *probe),
            (PROBE_ADDRESS, (&raw const *probe).expose_provenance() as u64),
        ];
        for (offset, value) in told {
            board.memory.counter(board.rank, offset)?.store(value, Ordering::SeqCst);
        }
        ranks.barrier()?;
        let next = (board.rank + 1) % board.ranks;
        let mut all = [u64::from(board.can_read(next))];
        ranks.allreduce(Reduce::Min, &mut all)?;
        drop(probe);
        Ok((all[0] == 1).then_some(board))
    }

    fn can_read(&self, rank: usize) -> bool {
        let head = |offset| self.memory.counter(rank, offset).map_or(0, |word| word.load(Ordering::SeqCst));
        let (address, mut read) = (head(PROBE_ADDRESS), [0; WORD]);
        let found = peek(self.process(rank), from_ref(&(address..address + WORD as u64)), &mut read);
        found.is_ok() && u64::from_le_bytes(read) == head(PROBE)
    }

    fn process(&self, rank: usize) -> u32 {
        self.memory.counter(rank, PROCESS).map_or(0, |word| word.load(Ordering::Relaxed)) as u32
    }

    /// Forgets what is on this rank's part of it: before a file whose calls are counted anew.
    pub fn reset(&self) {
        let words = (0..SLOTS).flat_map(|slot| [STATE, DONE, ALL_DONE].map(|number| at(slot, number)));
        let words = words.chain([BYTES]).filter_map(|offset| self.memory.counter(self.rank, offset).ok());
        words.for_each(|word| word.store(0, Ordering::SeqCst));
    }

    /// The rank that writes the bytes of a call.
    fn leader(&self, epoch: u64) -> usize {
        (epoch / 2) as usize % self.ranks
    }

    /// Whether it is for this rank to write the bytes of a call.
    pub fn leads(&self, epoch: u64) -> bool {
        self.leader(epoch) == self.rank
    }

    /// This rank is done with a call: it has posted its part of so many bytes, or will not. Each once, one after the other. If it is the
    /// last one, the rank that writes it, and whether there is enough to wake its thread. If ranks are further apart than there are
    /// slots, a call may count as done too early: then a post is missing, and the commit does it.
    pub fn done(&self, epoch: u64, bytes: u64) -> Option<(usize, bool)> {
        let leader = self.leader(epoch);
        let times = self.slot(leader, epoch, DONE)?.fetch_add(1, Ordering::SeqCst) + 1;
        if !times.is_multiple_of(self.ranks as u64) {
            return None;
        }
        self.slot(leader, epoch, ALL_DONE)?.fetch_max(epoch, Ordering::SeqCst);
        let bytes = bytes * self.ranks as u64;
        let waiting = self.memory.counter(leader, BYTES).ok()?;
        let enough = waiting.fetch_add(bytes, Ordering::SeqCst) + bytes >= WAKE_BYTES;
        if enough {
            waiting.store(0, Ordering::SeqCst);
        }
        Some((leader, enough))
    }

    /// Whether all ranks are done with a call that this one writes, or will never be.
    pub fn all_done(&self, epoch: u64) -> bool {
        let done =
            self.slot(self.rank, epoch, ALL_DONE).is_none_or(|done| done.load(Ordering::SeqCst) >= epoch);
        done || self.memory.counter(0, GONE).is_ok_and(|gone| gone.load(Ordering::SeqCst) > 0)
    }

    /// This rank will be done with nothing any more.
    pub fn leave(&self) {
        if let Ok(gone) = self.memory.counter(0, GONE) {
            gone.store(1, Ordering::SeqCst);
        }
    }

    /// Tells where this rank's `bytes` of a call are, which begin at `place` of its window, and where in the file they belong. `None`
    /// if there is no room.
    pub fn post(
        &self,
        epoch: u64,
        (place, bytes): (u64, &[u8]),
        runs: impl Iterator<Item = Run>,
    ) -> Option<Post> {
        let state = self.slot(self.rank, epoch, STATE)?;
        if matches!(state.load(Ordering::SeqCst) & STATE_MASK, POSTED | CLAIMED) {
            return None;
        }
        let runs = runs.map(|run| [run.offset(), run.len(), run.stride(), run.count()]);
        let most = (bytes.len() / size_of::<[u64; RUN_WORDS]>()).clamp(RUNS_FEW, RUNS_MAX);
        let runs: Vec<_> = runs.take(most + 1).collect();
        if runs.len() > most {
            return None;
        }
        let (from, list) = (bytes.as_ptr().expose_provenance(), runs.as_ptr().expose_provenance());
        let told = [from as u64, bytes.len() as u64, list as u64, runs.len() as u64];
        for (number, value) in POST.into_iter().zip(told) {
            self.slot(self.rank, epoch, number)?.store(value, Ordering::Relaxed);
        }
        state.store(word(epoch, POSTED), Ordering::SeqCst);
        Some(Post { epoch, place: place..place + bytes.len() as u64, runs })
    }

    /// Takes a post of this rank's back, and waits while it is claimed: its place in the window, if the bytes are in the file.
    pub fn withdraw(&self, Post { epoch, place, runs }: Post) -> Option<Range<u64>> {
        let state = self.slot(self.rank, epoch, STATE)?;
        let (posted, withdrawn) = (word(epoch, POSTED), word(epoch, WITHDRAWN));
        let take = || state.compare_exchange(posted, withdrawn, Ordering::SeqCst, Ordering::SeqCst);
        let mut found = take();
        while found == Err(word(epoch, CLAIMED)) && self.is_alive(self.leader(epoch)) {
            std::thread::sleep(CLAIM_NAP);
            found = take();
        }
        // Nobody reads them any more.
        drop(runs);
        (found == Err(word(epoch, STORED))).then_some(place)
    }

    /// Whether the process of a rank is there.
    fn is_alive(&self, rank: usize) -> bool {
        // SAFETY: no signal is sent.
        let code = unsafe { libc::kill(self.process(rank) as libc::pid_t, 0) };
        code == 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
    }

    /// Whether a post is in the slot that a call needs, or was.
    pub fn is_older(&self, post: &Post, epoch: u64) -> bool {
        (epoch - post.epoch) / 2 >= SLOTS as u64
    }

    fn slot(&self, rank: usize, epoch: u64, number: usize) -> Option<&AtomicU64> {
        self.memory.counter(rank, at((epoch / 2) as usize % SLOTS, number)).ok()
    }

    /// A rank's post: its runs, and where its bytes are. It is claimed.
    fn read(&self, rank: usize, epoch: u64) -> Option<(Vec<Run>, Source)> {
        let told = |number: usize| Some(self.slot(rank, epoch, number)?.load(Ordering::Relaxed));
        let [address, bytes, list, count] = POST.map(told);
        let (address, bytes, list, count) = (address?, bytes?, list?, count? as usize);
        let process = self.process(rank);
        let mut runs = vec![0; count.min(RUNS_MAX) * RUN_WORDS * WORD];
        peek(process, from_ref(&(list..list + runs.len() as u64)), &mut runs).ok()?;
        let run = |run: &[u8]| {
            let word = |i: usize| run[i * WORD..(i + 1) * WORD].try_into().map_or(0, u64::from_le_bytes);
            Run::strided(word(0), word(1), word(2), word(3))
        };
        let runs = runs.chunks_exact(RUN_WORDS * WORD).map(run).collect::<Option<Vec<Run>>>()?;
        let whole = runs.iter().map(|run| run.bytes()).sum::<u64>() == bytes;
        whole.then_some((runs, Source { stream: 0, process, address }))
    }
}

/// All ranks' posts of a call, claimed. When it goes, they are stored or have failed.
struct Claim {
    board: Arc<Board>,
    epoch: u64,
    /// Of the ranks before this one.
    ranks: usize,
    stored: AtomicBool,
}

impl Claim {
    fn of(board: &Arc<Board>, epoch: u64) -> Option<Self> {
        let mut claim = Self { board: Arc::clone(board), epoch, ranks: 0, stored: AtomicBool::new(false) };
        while claim.ranks < board.ranks {
            let state = board.slot(claim.ranks, epoch, STATE)?;
            let (posted, claimed) = (word(epoch, POSTED), word(epoch, CLAIMED));
            state.compare_exchange(posted, claimed, Ordering::SeqCst, Ordering::SeqCst).ok()?;
            claim.ranks += 1;
        }
        Some(claim)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let state = if *self.stored.get_mut() { STORED } else { FAILED };
        let slots = (0..self.ranks).filter_map(|rank| self.board.slot(rank, self.epoch, STATE));
        slots.for_each(|slot| slot.store(word(self.epoch, state), Ordering::SeqCst));
    }
}

/// The bytes of a call, of all ranks.
pub struct Group {
    packing: Packing,
    /// Of each rank.
    sources: Vec<Source>,
    /// Windows of the packing that are not written yet.
    left: AtomicU32,
    claim: Claim,
}

/// Where a rank's bytes begin in the stream of all, and where they are.
struct Source {
    stream: u64,
    process: u32,
    address: u64,
}

impl Group {
    /// `None` if some rank has not posted its part, or the parts are not long pieces of the file together.
    pub fn of(board: &Arc<Board>, epoch: u64) -> Option<Self> {
        let claim = Claim::of(board, epoch)?;
        let (mut declaration, mut sources, mut blocks) = (Declaration::new(Direction::Write), Vec::new(), 0);
        for rank in 0..board.ranks {
            let (runs, source) = board.read(rank, epoch)?;
            blocks += runs.iter().map(|run| run.count()).sum::<u64>();
            sources.push(Source { stream: declaration.stream_bytes(), ..source });
            declaration.variable(runs);
        }
        let bytes = declaration.stream_bytes();
        if blocks > BLOCKS_MAX {
            return None;
        }
        let declared = declaration.finish();
        let long = |run: &Run| run.is_contiguous() && run.len() >= board.least;
        if bytes == 0 || declared.bytes() != bytes || !declared.coverage().iter().all(long) {
            return None;
        }
        let packing = Packing::new(declared, &board.config, &board.facts);
        let left = AtomicU32::new(packing.windows());
        Some(Self { packing, sources, left, claim })
    }

    pub fn windows(&self) -> u32 {
        self.packing.windows()
    }

    /// How many bytes a part of it has.
    pub fn bytes(&self, window: u32) -> u64 {
        self.packing.bytes(window)
    }

    /// Reads the bytes of a part of it, and lays them together; whether it could.
    pub fn pack(&self, window: u32, room: &mut Room) -> bool {
        let short = self.packing.blocks(window).any(|blocks| blocks.len < GATHERED_BYTES_MIN);
        if short { self.read_and_pack(window, room) } else { self.gather(window, &mut room.packed) }
    }

    /// Each block where it belongs.
    fn gather(&self, window: u32, packed: &mut Vec<u8>) -> bool {
        self.packing.make_room(packed);
        let mut gatherings: Vec<Gathering> = self.sources.iter().map(|_| Gathering::default()).collect();
        for blocks in self.packing.blocks(window) {
            let after = self.sources.partition_point(|source| source.stream <= blocks.source);
            let Some(rank) = after.checked_sub(1) else { return false };
            let source = &self.sources[rank];
            for number in 0..blocks.count {
                let from = source.address + (blocks.source - source.stream) + number * blocks.len;
                let to = (blocks.buffer + number * blocks.stride) as usize;
                let part = to..to + blocks.len as usize;
                let place = from..from + blocks.len;
                if gatherings[rank].add(source.process, place, part, packed).is_err() {
                    return false;
                }
            }
        }
        let mut rest = gatherings.iter_mut().zip(&self.sources);
        rest.all(|(gathering, source)| gathering.read(source.process, packed).is_ok())
    }

    /// All that follows each other at once, then block by block.
    fn read_and_pack(&self, window: u32, room: &mut Room) -> bool {
        let mut parts: Vec<Range<u64>> = self.packing.sources(window).collect();
        parts.sort_unstable_by_key(|part| part.start);
        let bytes = parts.iter().map(|part| part.end - part.start).sum::<u64>() as usize;
        let Room { packed, stream } = room;
        stream.resize(stream.len().max(bytes), 0);
        // Where each part is in the stream as it is read.
        let mut places = Vec::with_capacity(parts.len());
        let mut at = 0;
        for (rank, source) in self.sources.iter().enumerate() {
            let end = self.sources.get(rank + 1).map_or(u64::MAX, |next| next.stream);
            let its = parts[places.len()..].iter().take_while(|part| part.start < end);
            let address = |place: u64| source.address + (place - source.stream);
            let its: Vec<Range<u64>> = its.map(|part| address(part.start)..address(part.end)).collect();
            let begin = at;
            for place in &its {
                places.push(at);
                at += (place.end - place.start) as usize;
            }
            if at > begin && peek(source.process, &its, &mut stream[begin..at]).is_err() {
                return false;
            }
        }
        let lent = |source: u64, len: u64| {
            let number = parts.partition_point(|part| part.start <= source).checked_sub(1)?;
            let from = places[number] + (source - parts[number].start) as usize;
            stream.get(from..from + len as usize)
        };
        self.packing.pack(window, lent, packed).is_ok()
    }

    /// Writes what lies in `packed`; whether it could. Each part once.
    pub fn store(&self, window: u32, storage: &dyn Storage, packed: &[u8]) -> bool {
        let written = matches!(self.packing.store(window, storage, packed), Ok(Ok(())));
        if written && self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.claim.stored.store(true, Ordering::SeqCst);
        }
        written
    }
}
