//! Does what the engine says, until it is over. One loop per rank: carry out actions; when there are none, look for what
//! has happened; when nothing has, sleep on the doorbell.
//!
//! A failure of storage is reported to the engine, which leads all ranks to the same verdict. Whatever else ends the loop on
//! a rank, be it an error or a panic, raises the alarm: ranks that have bytes in common with it, and so might wait for it, end
//! their loops too and raise theirs, and all of them meet at the agreement that ends every commit.

use crate::Error;
use crate::arena::Arena;
use crate::contain::contain;
use crate::far::{Far, News, Parcel, Source, split};
use crate::memory::{Lent, Taken};
use crate::own::Lying;
use crate::prepare::Prepared;
use crate::provoke;
use crate::stats::Stats;
use crate::store::Sieve;
use crate::tiles;
use crate::trace::Trace;
use crate::writer::{self, Access, Done, Writer};
use sago_core::declare::{Declared, Direction, Shift};
use sago_core::engine::{Action, Engine, Verdict};
use sago_core::ids::Rank;
use sago_core::schedule::{Blocks, WindowId};
use sago_mpi::Transport;
use sago_storage::Storage;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

/// The caller's memory, by direction.
pub enum Memory<'a, 'm> {
    Lent(&'a Lent<'m>),
    Taken(&'a mut Taken<'m>),
}

pub struct Drive<'a, 'm> {
    pub ranks: &'a dyn Transport,
    pub arena: &'a Arena,
    /// There if the ranks are on several nodes and have bytes for each other.
    pub far: Option<&'a mut Far>,
    pub storage: &'a Arc<dyn Storage>,
    /// There if this rank is an aggregator, and the system has a thread for it.
    pub writer: Option<&'a mut Writer>,
    /// Room for bytes that are packed before they are written.
    pub pack: &'a mut Vec<u8>,
    pub scratch: &'a mut Vec<u8>,
    pub lying: &'a mut Vec<Lying>,
    /// Whether, and how, small extents are written together.
    pub sieve: Option<Sieve>,
    pub prepared: &'a Prepared,
    pub declared: &'a Declared,
    pub memory: Memory<'a, 'm>,
    pub stats: &'a mut Stats,
    pub trace: Option<&'a mut Trace>,
    pub offset: Offset,
    /// The attempt that all ranks of the node must have begun before this one stores anything.
    pub gate: Option<u64>,
}

/// How far the file offsets of this commit are from those of the plan.
#[derive(Clone, Copy, Debug)]
pub enum Offset {
    /// The same on all ranks.
    Agreed(u64),
    /// On this rank, while that of others is only known when their bytes come.
    Proposed(Shift),
}

impl Offset {
    /// Of this rank's bytes, if it has any.
    pub fn own(self) -> Option<u64> {
        match self {
            Self::Agreed(by) | Self::Proposed(Shift::By(by)) => Some(by),
            Self::Proposed(_) => None,
        }
    }
}

impl<'m> Memory<'_, 'm> {
    /// The same memory, for a time.
    pub fn again(&mut self) -> Memory<'_, 'm> {
        match self {
            Self::Lent(memory) => Memory::Lent(memory),
            Self::Taken(memory) => Memory::Taken(memory),
        }
    }
}

/// What has been seen of the counters so far.
#[derive(Default)]
struct Seen {
    /// For each part of ours: released rounds, and for each buffer the bytes arrived and whether a refusal was seen.
    parts: Vec<Part>,
    /// For each part of others that we have bytes in.
    released: BTreeMap<(u32, u32), (u32, bool)>,
    /// For each window that is on its way from another node, the blocks that are still to come.
    coming: BTreeMap<WindowId, VecDeque<Blocks>>,
}

#[derive(Clone, Copy, Default)]
struct Part {
    rounds: u32,
    arrived: [u64; 2],
    refused: [bool; 2],
}

impl Drive<'_, '_> {
    /// How it went for this rank.
    pub fn run(mut self) -> Result<Verdict, Error> {
        let worked = contain(|| self.work());
        if worked.is_err() {
            self.alarm()?;
        }
        worked
    }

    fn alarm(&mut self) -> Result<(), Error> {
        self.arena.alarm()?;
        self.far.as_mut().map_or(Ok(()), |far| far.alarm())
    }

    /// Does what the engine says until it is time to agree.
    fn work(&mut self) -> Result<Verdict, Error> {
        let me = Rank(self.ranks.rank() as u32);
        let direction = self.declared.direction();
        let mut engine = Engine::new(me, direction, &self.prepared.schedule);
        let mut seen = self.first_sight(me);
        loop {
            provoke::point("engine");
            match engine.poll() {
                Action::Put { window, to: with, .. } | Action::Get { window, from: with, .. } => {
                    if self.arena.is_near(with) {
                        let moved = self.move_bytes(window, with)?;
                        engine.handle_moved(window, moved)?;
                    } else {
                        self.post_move(window, with, &mut seen)?;
                    }
                    self.look_far(&mut engine, &mut seen)?;
                }
                Action::Notify { window, to, bytes, ok } if to == me => {
                    note(&mut self.trace, |trace| trace.arrived(window));
                    engine.handle_arrived(window, bytes, ok)?
                }
                Action::Notify { window, to, bytes, ok } if self.arena.is_near(to) => {
                    let slot = self.prepared.slot(window.area, window.part);
                    self.arena.arrive(to, slot, window.buffer(), bytes, ok)?;
                }
                Action::Notify { window, to, bytes, ok } => {
                    self.post(to, Parcel::Note(News::Arrived { window, bytes, ok }))?;
                }
                Action::Write { window } | Action::Read { window } => {
                    self.pass_gate()?;
                    if let Some(done) = self.store(window, direction)? {
                        self.stats.storing += done.took;
                        self.note_stored(&mut engine, done)?;
                    }
                }
                Action::Release { area, part, rounds, ok } => {
                    let slot = self.prepared.slot(area, part);
                    let before = std::mem::replace(&mut seen.parts[slot].rounds, rounds);
                    self.release((area, part), before, rounds, ok)?;
                    if self.prepared.senders[slot].iter().any(|sender| sender.rank == me) {
                        engine.handle_released(area, part, rounds, ok)?;
                    }
                }
                Action::WriteOwn { own, window, .. } | Action::ReadOwn { own, window, .. } => {
                    self.pass_gate()?;
                    let stored = self.write_own(own, window)?;
                    engine.handle_own_stored(stored)?;
                    self.look_far(&mut engine, &mut seen)?;
                }
                Action::Agree { verdict } | Action::Done { verdict } => {
                    while self.far.as_ref().is_some_and(|far| !far.is_idle()) {
                        self.wait(&mut engine, &mut seen)?;
                    }
                    return Ok(verdict);
                }
                Action::Wait => self.wait(&mut engine, &mut seen)?,
            }
        }
    }

    /// Waits for all ranks, if any must be waited for.
    fn pass_gate(&mut self) -> Result<(), Error> {
        let Some(attempt) = self.gate.take() else { return Ok(()) };
        let (arena, start) = (self.arena, Instant::now());
        let mut verdict = Ok(false);
        let mut ready = || {
            // In this order: who gives the alarm announces itself after it.
            verdict = match (arena.all_begun(attempt), arena.alarmed()) {
                (_, Ok(true)) => Err(Error::GivenUp),
                (Ok(all), Ok(false)) => Ok(all),
                (Err(error), _) | (_, Err(error)) => Err(error),
            };
            Ok::<_, sago_mpi::Error>(!matches!(verdict, Ok(false)))
        };
        let bell = arena.doorbell()?;
        while !ready()? {
            self.ranks.watch(bell, bell.get(), &mut ready)?;
        }
        self.stats.waiting += start.elapsed();
        verdict.map(drop)
    }

    fn first_sight(&self, me: Rank) -> Seen {
        let parts = vec![Part::default(); self.prepared.schedule.duties.len()];
        let windows = self.prepared.schedule.sends.iter().flat_map(|sends| sends.windows());
        let others = windows.filter(|(_, to, _)| *to != me && self.arena.is_near(*to));
        let released = others.map(|(window, ..)| ((window.area, window.part), (0, true))).collect();
        Seen { parts, released, coming: BTreeMap::new() }
    }

    /// Looks for what has happened until something has; sleeps in between.
    fn wait(&mut self, engine: &mut Engine, seen: &mut Seen) -> Result<(), Error> {
        let (arena, ranks) = (self.arena, self.ranks);
        let bell = arena.doorbell()?;
        loop {
            let rung = bell.get();
            if self.look(engine, seen)? {
                return Ok(());
            }
            let start = Instant::now();
            if self.far.is_none() {
                ranks.wait(bell, &|value| value != rung)?;
                self.stats.waiting += start.elapsed();
                continue;
            }
            // Other nodes cannot ring the bell.
            let exchanged = self.stats.exchanging;
            let mut verdict = Ok(false);
            let mut ready = || {
                verdict = self.look_far(engine, seen);
                Ok(!matches!(verdict, Ok(false)))
            };
            ranks.watch(bell, rung, &mut ready)?;
            let exchanged = self.stats.exchanging - exchanged;
            self.stats.waiting += start.elapsed().saturating_sub(exchanged);
            if verdict? {
                return Ok(());
            }
        }
    }

    /// Tells the engine what has happened since the last look; whether anything has.
    fn look(&mut self, engine: &mut Engine, seen: &mut Seen) -> Result<bool, Error> {
        let mut news = self.look_far(engine, seen)?;
        if self.arena.alarmed()? {
            return Err(Error::GivenUp);
        }
        while let Some(done) = self.writer.as_mut().and_then(|writer| writer.poll()) {
            self.stats.background += done.took;
            self.note_stored(engine, done)?;
            news = true;
        }
        for (slot, part) in seen.parts.iter_mut().enumerate() {
            let duty = &self.prepared.schedule.duties[slot];
            for buffer in 0..2_u32 {
                let (bytes, ok) = self.arena.arrived(slot, buffer)?;
                let at = buffer as usize;
                let (fresh, refused) = (bytes - part.arrived[at], !ok && !part.refused[at]);
                if fresh > 0 || refused {
                    (part.arrived[at], part.refused[at]) = (bytes, !ok);
                    let round = round_in(buffer, part.rounds, self.declared.direction());
                    let window = WindowId { area: duty.area(), part: duty.part(), round };
                    note(&mut self.trace, |trace| trace.arrived(window));
                    engine.handle_arrived(window, fresh, ok)?;
                    news = true;
                }
            }
        }
        for ((area, part), last) in &mut seen.released {
            let of = self.prepared.plan.areas[*area as usize].parts[*part as usize].rank;
            let slot = self.prepared.slot(*area, *part);
            let now = self.arena.released(of, slot)?;
            if now != *last {
                *last = now;
                engine.handle_released(*area, *part, now.0, now.1)?;
                news = true;
            }
        }
        Ok(news)
    }

    /// Copies this rank's bytes of a window into, or out of, the aggregator's buffer.
    fn move_bytes(&mut self, window: WindowId, with: Rank) -> Result<Result<(), i32>, Error> {
        provoke::point("copy");
        let slot = self.prepared.slot(window.area, window.part);
        let layout = &self.prepared.plan.areas[window.area as usize].layout;
        let sends = self.prepared.schedule.sends_of(window.area).ok_or(Error::Garbled)?;
        let start = Instant::now();
        let (arena, buffer, memory) = (self.arena, window.buffer(), &mut self.memory);
        let (mut copies, mut copied) = (0, 0);
        tiles::for_each(sends.blocks(layout, self.declared, window), |blocks| {
            let (source, bytes) = (blocks.source, blocks.bytes());
            (copies, copied) = (copies + 1, copied + bytes);
            match memory {
                Memory::Lent(memory) => {
                    let from = memory.at(source, bytes).ok_or(Error::NoSuchBytes)?;
                    arena.put(with, slot, buffer, blocks, from)
                }
                Memory::Taken(memory) => {
                    let into = memory.at(source, bytes).ok_or(Error::NoSuchBytes)?;
                    arena.get(with, slot, buffer, blocks, into)
                }
            }
        })?;
        self.stats.copies += copies;
        self.stats.copied_bytes += copied;
        self.stats.copying += start.elapsed();
        Ok(Ok(()))
    }

    fn post(&mut self, to: Rank, parcel: Parcel) -> Result<(), Error> {
        self.far.as_mut().ok_or(Error::Elsewhere { rank: to })?.post(to.index(), parcel)
    }

    /// Lets this rank's bytes of a window go to, or come from, another node.
    fn post_move(&mut self, window: WindowId, with: Rank, seen: &mut Seen) -> Result<(), Error> {
        provoke::point("copy");
        let layout = &self.prepared.plan.areas[window.area as usize].layout;
        let sends = self.prepared.schedule.sends_of(window.area).ok_or(Error::Garbled)?;
        let blocks: VecDeque<Blocks> = sends.blocks(layout, self.declared, window).collect();
        match self.declared.direction() {
            Direction::Write => self.post(with, Parcel::Put { window, blocks }),
            Direction::Read => {
                seen.coming.insert(window, blocks.clone());
                self.post(with, Parcel::Want { window, blocks })
            }
        }
    }

    /// Sends to other nodes what can be sent, and takes what has come from them; whether anything has happened.
    fn look_far(&mut self, engine: &mut Engine, seen: &mut Seen) -> Result<bool, Error> {
        let Some(far) = self.far.as_mut() else { return Ok(false) };
        let start = Instant::now();
        let mut put = Vec::new();
        let source = Sources { memory: &self.memory, arena: self.arena, prepared: self.prepared };
        let sent = far.send(&source, &mut put)?;
        let mut news = sent > 0;
        put.into_iter().try_for_each(|window| engine.handle_moved(window, Ok(())))?;
        while let Some((from, told, bytes)) = far.receive()? {
            news = true;
            match told {
                News::Stale => {}
                News::Arrived { window, bytes, ok } => {
                    note(&mut self.trace, |trace| trace.arrived(window));
                    engine.handle_arrived(window, bytes, ok)?
                }
                News::Released { area, part, rounds, ok } => {
                    engine.handle_released(area, part, rounds, ok)?
                }
                News::Bytes { window, blocks } => {
                    note(&mut self.trace, |trace| trace.arrived(window));
                    let slot = self.prepared.slot(window.area, window.part);
                    unpack(self.arena, (slot, window.buffer()), &blocks, bytes)?;
                }
                News::Wanted { window, blocks } => {
                    far.post(from, Parcel::Give { window, blocks: blocks.into() })?;
                }
                News::Given { window } => {
                    let coming = seen.coming.get_mut(&window).ok_or(Error::Garbled)?;
                    let Memory::Taken(memory) = &mut self.memory else { return Err(Error::Garbled) };
                    accept(coming, bytes, memory)?;
                    if coming.is_empty() {
                        seen.coming.remove(&window);
                        engine.handle_moved(window, Ok(()))?;
                    }
                }
            }
        }
        if far.alarmed()? {
            return Err(Error::GivenUp);
        }
        if news {
            self.stats.far_bytes += sent;
            self.stats.exchanging += start.elapsed();
        }
        Ok(news)
    }

    /// How far the bytes in a part of ours are from where the plan has them: all senders must say the same. Those of whom there
    /// are bytes have said it.
    fn shift_of(&self, slot: usize) -> Result<u64, Error> {
        if let Offset::Agreed(shift) = self.offset {
            return Ok(shift);
        }
        let mut shift = None;
        for sender in &self.prepared.senders[slot] {
            let its = self.arena.entered(sender.rank)?;
            if shift.is_some() && its.is_some() && its != shift {
                return Err(Error::GivenUp);
            }
            shift = shift.or(its);
        }
        shift.ok_or(Error::Garbled)
    }

    fn note_stored(&mut self, engine: &mut Engine, done: Done) -> Result<(), Error> {
        note(&mut self.trace, |trace| trace.stored(done.window, done.began, done.took));
        Ok(engine.handle_stored(done.window, done.result?)?)
    }

    /// Gives a window to the I/O thread; stores it at once where there is none, or would be nothing else to do meanwhile.
    fn store(&mut self, window: WindowId, direction: Direction) -> Result<Option<Done>, Error> {
        let slot = self.prepared.slot(window.area, window.part);
        let layout = &self.prepared.plan.areas[window.area as usize].layout;
        let mut extents = self.prepared.schedule.duties[slot].extents(layout, window.round);
        let shift = self.shift_of(slot)?;
        extents.iter_mut().for_each(|extent| extent.file = extent.file.wrapping_add(shift));
        extents.iter().for_each(|extent| self.stats.count(extent.len));
        let bytes = extents.iter().map(|extent| extent.len).sum::<u64>();
        let room = self.prepared.plan.frame.settings.buffer_bytes;
        self.stats.rounds += 1;
        self.stats.round_bytes += bytes;
        self.stats.round_room += room;
        note(&mut self.trace, |trace| trace.full(window, direction, bytes, room));
        let access = match direction {
            Direction::Write => Access::Write(self.sieve),
            Direction::Read => Access::Read,
        };
        let alone = self.prepared.is_one_round();
        let Some(writer) = self.writer.as_mut().filter(|_| !alone) else {
            let (storage, part) = (&**self.storage, (slot, &*extents));
            // SAFETY: as below.
            let done = unsafe { writer::store_here(self.arena, storage, window, access, part, self.scratch) };
            return done.map(Some);
        };
        // SAFETY: the engine asks to store a window when its bytes have arrived (or its last readers are gone), and
        // lets nobody touch the buffer before it is told that the window is stored; `Session` settles the writer
        // before the arena goes.
        unsafe { writer.start(self.arena, self.storage, window, access, slot, &extents) }?;
        Ok(None)
    }

    /// Tells those who need to know. Nothing goes to another node that nobody there waits for: a rank that is done
    /// does not look for it any more.
    fn release(&mut self, (area, part): (u32, u32), before: u32, rounds: u32, ok: bool) -> Result<(), Error> {
        let slot = self.prepared.slot(area, part);
        self.arena.release(slot, rounds, ok)?;
        let (me, prepared) = (Rank(self.ranks.rank() as u32), self.prepared);
        for sender in prepared.senders[slot].iter().filter(|sender| sender.rank != me) {
            if self.arena.is_near(sender.rank) {
                self.arena.ring(sender.rank)?;
            } else if before < sender.needs(self.declared.direction()) {
                self.post(sender.rank, Parcel::Note(News::Released { area, part, rounds, ok }))?;
            }
        }
        Ok(())
    }

    /// Stores a window of this rank's own bytes, and keeps the books.
    fn write_own(&mut self, own: u32, window: u32) -> Result<Result<(), i32>, Error> {
        let before = self.stats.stored_bytes;
        let start = Instant::now();
        let result = self.store_own(&self.prepared.schedule.own[own as usize], window);
        self.stats.storing += start.elapsed();
        let bytes = self.stats.stored_bytes - before;
        note(&mut self.trace, |trace| trace.own(window, start, bytes));
        result
    }
}

/// Tells the trace, if there is one.
fn note(trace: &mut Option<&mut Trace>, what: impl FnOnce(&mut Trace)) {
    if let Some(trace) = trace {
        what(trace);
    }
}

/// Where the bytes for other nodes are.
struct Sources<'s, 'a, 'm> {
    memory: &'s Memory<'a, 'm>,
    arena: &'s Arena,
    prepared: &'s Prepared,
}

impl Source for Sources<'_, '_, '_> {
    fn lent(&self, blocks: &Blocks, to: &mut Vec<u8>) -> Result<(), Error> {
        let Memory::Lent(memory) = self.memory else { return Err(Error::Garbled) };
        to.extend_from_slice(memory.at(blocks.source, blocks.bytes()).ok_or(Error::NoSuchBytes)?);
        Ok(())
    }

    fn buffered(&self, window: WindowId, blocks: &Blocks, to: &mut Vec<u8>) -> Result<(), Error> {
        let start = to.len();
        to.resize(start + blocks.bytes() as usize, 0);
        let slot = self.prepared.slot(window.area, window.part);
        self.arena.get_own(slot, window.buffer(), blocks, &mut to[start..])
    }
}

/// Bytes from another node, into our buffer.
fn unpack(
    arena: &Arena,
    (slot, buffer): (usize, u32),
    blocks: &[Blocks],
    mut bytes: &[u8],
) -> Result<(), Error> {
    for blocks in blocks {
        let now = bytes.split_off(..blocks.bytes() as usize).ok_or(Error::Garbled)?;
        arena.put_own(slot, buffer, blocks, now)?;
    }
    if bytes.is_empty() { Ok(()) } else { Err(Error::Garbled) }
}

/// Bytes from another node, to the places that wait for them.
fn accept(coming: &mut VecDeque<Blocks>, mut bytes: &[u8], memory: &mut Taken<'_>) -> Result<(), Error> {
    while !bytes.is_empty() {
        let (now, rest) = split(coming.pop_front().ok_or(Error::Garbled)?, bytes.len() as u64);
        rest.into_iter().rev().flatten().for_each(|rest| coming.push_front(rest));
        let from = bytes.split_off(..now.bytes() as usize).ok_or(Error::Garbled)?;
        memory.at(now.source, now.bytes()).ok_or(Error::NoSuchBytes)?.copy_from_slice(from);
    }
    Ok(())
}

/// The round that a buffer serves when so many are released: when writing the first one of its parity that is not
/// released, when reading the last one that is.
fn round_in(buffer: u32, released: u32, direction: Direction) -> u32 {
    let next = released + (released + buffer) % 2;
    match direction {
        Direction::Write => next,
        Direction::Read => next.saturating_sub(2),
    }
}
