//! How a file's writes and reads are carried out: with whom, in what order, in how many rounds.

mod reading;

use super::ahead::{Ahead, Alone};
use super::crew::Crew;
use super::immediate::Habit;
use super::order::Ordered;
use super::overlap::{self, Ballot};
use super::presence::{Presence, Solitude};
use super::provoke;
use super::stream::{Incoming, Outgoing, Scratch};
use super::window::{Mark, Waiting, Window};
use sago_core::config::{Background, Exchange};
use sago_core::cost::Calibration;
use sago_core::declare::{Declaration, Declared, Direction};
use sago_core::extent::{Cursor, Run};
use sago_exec::{Lent, Session, Setting, Shelf, Way, contain};
use sago_mpi::{Reduce, Transport};
use sago_storage::Storage;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What it takes to carry out an open file's writes and reads.
pub struct Work {
    /// There as long as the file is open.
    pub crew: Crew,
    pub storage: Arc<dyn Storage>,
    /// Of the traces of its sessions, if a report is asked for.
    pub traced_since: Option<Instant>,
    /// What was written ahead, and left out of commits.
    pub ahead_bytes: u64,
    /// The time in which this rank read by itself.
    pub reading: Duration,
    /// The time in which commits waited for what goes ahead of them.
    pub finishing: Duration,
    /// No rank has more captured by collective writes than this. The same on all ranks.
    pub estimate: u64,
    /// Twice the number of collective writes that there have been, the same on all ranks. Independent writes after them are of
    /// the odd epoch that follows.
    pub epoch: u64,
    /// The epoch of the last commit of all ranks.
    pub committed: u64,
    /// In the last commit of all ranks, the order of their writes mattered. The same on all.
    pub overlapped: bool,
    /// Some rank may still be in a collective write of HDF5's own, which can write back old bytes between its own. The same on
    /// all ranks.
    pub unclear: bool,
    /// With the first of ranks that are not all of the program.
    pub presence: Option<Arc<Presence>>,
    pub scratch: Scratch,
    /// In immediate mode, what is left to HDF5. The same on all ranks.
    pub habit: Habit,
    /// Whether the ranks stay together when the file is closed. The same on all.
    pub kept: bool,
    /// Why the ranks can no longer talk to each other.
    pub broken: Option<String>,
}

/// One dataset's part of a write, on its way.
pub struct Write<'m> {
    pub runs: &'m [Run],
    pub bytes: Outgoing<'m>,
    /// The bytes as they lie in the program's memory, if they need no change.
    pub lent: Option<&'m [u8]>,
}

/// One dataset's part of a read.
pub struct Read<'m> {
    pub runs: &'m [Run],
    pub bytes: Incoming<'m>,
    /// The program's memory, if the bytes of the file can go there as they are.
    pub direct: Option<&'m mut [u8]>,
}

/// What became of a write or a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    All,
    /// HDF5 could not convert it; it must be given the chance to say why.
    NotConverted,
}

/// A window that is smaller has no room for blocks of the file.
pub const READING_ROOM_MIN: u64 = 4 << 20;

/// Bytes that are read at once where they do not pass through the window.
const STAGING_BYTES: usize = 1 << 20;

/// Pieces shorter than this, and shorter than a buffer, wait for the commit; where the file is in memory, a request costs little.
const AHEAD_BYTES_MIN: u64 = 256 << 10;
const AHEAD_IN_MEMORY_BYTES_MIN: u64 = 16 << 10;

/// With whom writes are carried out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum With {
    Everybody { rounds: u64 },
    Nobody,
}

pub const EVERYBODY: With = With::Everybody { rounds: 1 };

/// What a rank brings to a commit of all.
pub struct Ready {
    pub ballot: Ballot,
    declared: Result<Declared, sago_exec::Error>,
}

/// What is left for a commit after some has gone ahead. The same on all ranks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    /// All but what a rank leaves out of what it writes by itself.
    All,
    /// What is not in the file.
    Some,
    Nothing,
    /// What has gone ahead does not count, since it may have been in the wrong order.
    Unordered,
}

/// The writes that are not wholly in the file, and what of their stream is. `stored` is in order.
fn unstored<'w>(writes: &[Waiting<'w>], mut stored: &[Range<u64>]) -> (Vec<Waiting<'w>>, Vec<Range<u64>>) {
    let (mut left, mut except) = (Vec::new(), Vec::new());
    let (mut place, mut stream) = (0, 0);
    for write in writes {
        let end = place + write.bytes.len() as u64;
        stored = &stored[stored.partition_point(|range| range.end <= place)..];
        let here = stored.iter().take_while(|range| range.start < end);
        let parts: Vec<Range<u64>> =
            here.map(|range| range.start.max(place) - place..range.end.min(end) - place).collect();
        if parts.iter().map(|part| part.end - part.start).sum::<u64>() < end - place {
            except.extend(parts.into_iter().map(|part| stream + part.start..stream + part.end));
            left.push(*write);
            stream += end - place;
        }
        place = end;
    }
    (left, except)
}

/// Whether no byte was declared twice.
fn is_once(declared: &Declared) -> bool {
    declared.bytes() == declared.stream_bytes()
}

fn lend<'w>(writes: &[Waiting<'w>]) -> Lent<'w> {
    Lent::new(writes.iter().map(|write| write.bytes))
}

/// Whether a conversion came to its end. If not, by an error or by a panic, HDF5 does it.
pub fn filled<E>(convert: impl FnOnce() -> Result<(), E>) -> bool {
    contain(|| {
        provoke::point("convert");
        Ok(convert().is_ok())
    })
    .unwrap_or(false)
}

/// The order of the file, if that is better. A rank that fails here goes on without.
fn better_order(runs: &[Run]) -> Option<Ordered> {
    contain(|| Ok(Ordered::of(runs))).unwrap_or(None)
}

fn declare<'w>(writes: impl Iterator<Item = &'w Waiting<'w>>) -> Declared {
    provoke::point("declare");
    let mut declaration = Declaration::new(Direction::Write);
    for write in writes {
        declaration.variable(write.runs.iter().copied());
    }
    declaration.finish()
}

fn nothing() -> Declared {
    Declaration::new(Direction::Write).finish()
}

/// What waits in a window, and what is lent after it.
fn waiting<'w>(window: &'w Window, lent: &[(&'w [Run], &'w [u8])], epoch: u64) -> Vec<Waiting<'w>> {
    let lent = lent.iter().map(|&(runs, bytes)| Waiting { runs, bytes, epoch });
    window.writes().chain(lent).collect()
}

impl Work {
    /// The session with these ranks; made when it is first needed.
    pub fn session(&mut self, with: With) -> Result<&mut Session, sago_exec::Error> {
        let Self {
            crew: Crew { ranks, are_world, together, alone, config, facts, .. },
            storage,
            traced_since,
            ..
        } = self;
        let open = |ranks: &dyn Transport| {
            let calibration = Calibration::of(facts, !config.machine.is_empty());
            let setting = Setting { config: config.clone(), storage: *facts, calibration };
            let mut session = Session::open(ranks, Arc::clone(storage), setting)?;
            session.set_trace(*traced_since);
            Ok::<_, sago_exec::Error>(session)
        };
        match with {
            With::Everybody { .. } if together.is_none() => {
                let mut session = open(ranks)?;
                // All processes are in the commit, so none of them writes in another way.
                session.set_exclusive(*are_world);
                *together = Some(session);
            }
            With::Nobody if alone.is_none() => *alone = Some(open(&*sago_mpi::single()?)?),
            _ => {}
        }
        let session = if with == With::Nobody { alone } else { together };
        session.as_mut().ok_or(sago_exec::Error::Garbled)
    }

    /// A collective write begins.
    pub fn enter(&mut self) {
        self.epoch += 2;
        if let Some(ahead) = &mut self.crew.ahead {
            ahead.enter(self.epoch);
        }
    }

    /// Waits until all ranks have made the collective call that this one is in, where that can be known.
    pub fn await_others(&mut self) -> Result<(), sago_mpi::Error> {
        self.crew.ahead.as_ref().map_or(Ok(()), |ahead| ahead.wait(&self.crew.ranks, self.epoch))
    }

    /// Before this rank, or HDF5 for it, puts bytes into the file that others do not know of.
    pub fn alone(&self) -> Result<Option<Alone>, sago_mpi::Error> {
        self.crew.ahead.as_ref().map(|ahead| ahead.alone(&self.crew.ranks)).transpose()
    }

    /// Adds writes to the window, where there is room for them.
    pub fn keep(&mut self, writes: &mut [Write<'_>], with: With) -> Taken {
        let epoch = self.epoch + u64::from(with == With::Nobody);
        let mark = self.crew.window.mark();
        for write in writes {
            let ordered = better_order(write.runs);
            if !self.keep_one(write, ordered, epoch) {
                self.crew.window.cut(mark);
                return Taken::NotConverted;
            }
        }
        self.write_ahead(mark);
        Taken::All
    }

    /// Adds a write to the window, in the other order if there is room for that; whether it could be converted.
    fn keep_one(&mut self, write: &mut Write<'_>, ordered: Option<Ordered>, epoch: u64) -> bool {
        let Self { crew: Crew { window, .. }, scratch, .. } = self;
        let bytes = write.bytes.left();
        // What is not lent is laid behind its place first.
        let behind = if write.lent.is_some() { 0 } else { bytes };
        let ordered = ordered.filter(|_| window.room() - bytes >= behind);
        let done = filled(|| {
            let Some(ordered) = &ordered else { return write.bytes.fill(window.spare(bytes), scratch) };
            let (into, stream) = window.spare(bytes + behind).split_at_mut(bytes as usize);
            match write.lent {
                Some(lent) => ordered.copy(lent, into),
                None => {
                    write.bytes.fill(stream, scratch)?;
                    ordered.copy(stream, into);
                }
            }
            Ok(())
        });
        if done {
            let runs = ordered.as_ref().map_or(write.runs, |ordered| &ordered.runs);
            self.crew.window.push(runs, bytes, epoch);
        }
        done
    }

    /// Adds a write that is lent to the window if it is better written from there; whether it is.
    pub fn keep_ordered(&mut self, write: &mut Write<'_>) -> bool {
        if write.lent.is_none() || write.bytes.left() > self.crew.window.room() {
            return false;
        }
        let ordered = better_order(write.runs);
        ordered.is_some() && self.keep_one(write, ordered, self.epoch)
    }

    /// Lets what was added to the window since `mark` go to the file meanwhile, if no exchange is needed for it.
    fn write_ahead(&mut self, mark: Mark) {
        let least = self.long_bytes();
        let Crew { together, ahead: Some(ahead), window, config, facts, .. } = &mut self.crew else { return };
        let direct = match (config.exchange, together.as_ref().and_then(Session::was_direct)) {
            (Exchange::Direct, _) => true,
            (Exchange::Auto, before) => ahead.has_board() || before.unwrap_or(true),
            _ => false,
        };
        if direct && config.background != Background::Off {
            // SAFETY: `commit` and `give_up` stop it before the window is cleared.
            unsafe { ahead.begin(&self.storage, window, mark, least, (config, facts)) };
        }
    }

    /// Pieces of so many bytes are long enough to go ahead.
    fn long_bytes(&self) -> u64 {
        let Crew { config, facts, .. } = &self.crew;
        let long = if facts.in_memory() { AHEAD_IN_MEMORY_BYTES_MIN } else { AHEAD_BYTES_MIN };
        config.buffer_bytes.unwrap_or(u64::MAX).min(long)
    }

    /// All ranks come to a commit: before anything else, what the ranks write together meanwhile comes to its end.
    pub fn finish(&mut self) -> Result<(), sago_mpi::Error> {
        let Self { crew: Crew { ahead: Some(ahead), ranks, .. }, epoch, .. } = self else { return Ok(()) };
        let start = Instant::now();
        let finished = ahead.finish(ranks, *epoch);
        self.finishing += start.elapsed();
        finished
    }

    /// After a commit that went well: if ranks had to exchange bytes in it, the next ones may do without; not if what has gone ahead is
    /// written again for the sake of its order. Collective.
    pub fn join(&mut self) {
        if self.overlapped {
            self.crew.ahead.iter_mut().for_each(|ahead| ahead.set_board(None, 0));
        }
        let Crew { config, together, ranks, .. } = &self.crew;
        let open = config.exchange == Exchange::Auto && config.background != Background::Off;
        let exchanged = together.as_ref().is_some_and(Session::exchanges);
        if open && exchanged && !self.overlapped && ranks.size() > 1 {
            self.crew.join(self.long_bytes(), self.epoch);
        }
    }

    /// What this rank says and declares if the ranks carry out the window and what is lent. If it fails by itself, it takes part
    /// with nothing, so that the others hear of it.
    pub fn ready(&self, lent: &[(&[Run], &[u8])]) -> Ready {
        let ready = contain(|| {
            let writes = waiting(&self.crew.window, lent, self.epoch);
            let declared = declare(writes.iter());
            Ok((Ballot::of(&writes, &declared, &self.crew.compared), declared))
        });
        match ready {
            Ok((ballot, declared)) => Ready { ballot, declared: Ok(declared) },
            Err(error) => Ready { ballot: Ballot::of(&[], &nothing(), &None), declared: Err(error) },
        }
    }

    /// Whether [`Work::repeat`] has a plan to try. The same on all ranks.
    pub fn is_eager(&self) -> bool {
        self.crew.together.as_ref().is_some_and(Session::is_eager)
    }

    /// Carries out the window and what is lent with all ranks if they can do so by the plan of the commit before, and all of it is
    /// of one epoch; whether they could. Not if there is a rank that is not `content`.
    pub fn repeat(
        &mut self,
        ready: &Ready,
        lent: &[(&[Run], &[u8])],
        content: bool,
    ) -> Result<bool, sago_exec::Error> {
        let Self { crew: Crew { together, window, .. }, epoch, committed, .. } = self;
        let Some(session) = together.as_mut().filter(|session| session.is_eager()) else { return Ok(false) };
        session.set_independent(false);
        let done = match &ready.declared {
            Ok(declared) => {
                let writes = waiting(window, lent, *epoch);
                session.repeat(declared, &Lent::new(writes.iter().map(|write| write.bytes)), content)?
            }
            Err(error) => return Err(session.decline(&error.to_string())),
        };
        if done {
            *committed = *epoch;
        }
        Ok(done)
    }

    /// Carries out the window and what is lent with all ranks: in one commit, unless ranks wrote the same bytes in different
    /// collective writes. Then these are kept in order, as they would be without the window. `all` is the ballot of all.
    pub fn commit_together(
        &mut self,
        ready: Ready,
        all: Ballot,
        lent: &[(&[Run], &[u8])],
    ) -> Result<(), sago_exec::Error> {
        let alone = self.seclude()?;
        let committed = self.commit_all(ready, all, lent);
        if !self.crew.are_world {
            self.crew.together.iter_mut().for_each(|session| session.set_exclusive(false));
        }
        drop(alone);
        committed
    }

    /// All ranks are in the commit. If there are other processes, the first one sees to it that none of them has the file open, as
    /// long as it has the result, and all hear of it. Collective.
    fn seclude(&mut self) -> Result<Option<Solitude>, sago_exec::Error> {
        let Crew { ranks, are_world, .. } = &self.crew;
        if *are_world || !ranks.one_node() {
            return Ok(None);
        }
        let alone = self.presence.as_ref().and_then(Presence::alone);
        let mut told = [u8::from(alone.is_some())];
        ranks.broadcast(0, &mut told)?;
        self.session(EVERYBODY)?.set_exclusive(told == [1]);
        Ok(alone)
    }

    fn commit_all(
        &mut self,
        Ready { declared, .. }: Ready,
        all: Ballot,
        lent: &[(&[Run], &[u8])],
    ) -> Result<(), sago_exec::Error> {
        let stored = self.crew.ahead.as_mut().map_or(Vec::new(), Ahead::stop);
        self.crew.ahead.iter_mut().for_each(Ahead::next);
        self.session(EVERYBODY)?;
        let Crew { ranks, compared, .. } = &mut self.crew;
        let order = match &declared {
            Ok(declared) => overlap::epochs(ranks, all, declared, compared),
            Err(_) => overlap::epochs(ranks, all, &nothing(), &mut None),
        };
        if let Err(lost @ sago_exec::Error::Ranks(_)) = order {
            return Err(lost);
        }
        let able = declared.as_ref().ok().filter(|_| order.is_ok());
        let rest = self.rest(able, &stored, lent)?;
        let useful = matches!(rest, Rest::Some | Rest::Nothing);
        self.crew.ahead.iter_mut().for_each(|ahead| ahead.judge(useful));
        let Self { crew: Crew { together, window, compared, .. }, epoch, committed, .. } = self;
        let Some(session) = together else { return Err(sago_exec::Error::Garbled) };
        // What all ranks must know alike, also if this one fails.
        let independent = *epoch == std::mem::replace(committed, *epoch);
        session.set_independent(independent);
        let (declared, order) = match (declared, order) {
            (Err(error), _) | (_, Err(error)) => {
                *compared = None;
                return Err(session.decline(&error.to_string()));
            }
            (Ok(declared), Ok(order)) => (declared, order),
        };
        self.overlapped = order.is_some();
        let writes = waiting(window, lent, *epoch);
        if let Some(epochs) = order {
            for epoch in epochs {
                let some = || writes.iter().filter(|write| write.epoch == epoch);
                match contain(|| Ok(declare(some()))) {
                    Ok(declared) => session.commit(declared, &Lent::new(some().map(|write| write.bytes)))?,
                    Err(error) => return Err(session.decline(&error.to_string())),
                }
            }
            return Ok(());
        }
        if rest != Rest::Unordered {
            self.ahead_bytes += stored.iter().map(|range| range.end - range.start).sum::<u64>();
        }
        let shown = (window.shown() > 0).then(|| 0..window.shown());
        let stored: Vec<Range<u64>> = shown.into_iter().chain(stored).collect();
        match rest {
            Rest::Nothing => {
                session.count_commit();
                Ok(())
            }
            Rest::Unordered => session.commit(declared, &lend(&writes)),
            Rest::All => session.commit(declared, &lend(&writes).except(stored)),
            Rest::Some => {
                let (left, stored) = unstored(&writes, &stored);
                match contain(|| Ok(declare(left.iter()))) {
                    Ok(declared) => session.commit(declared, &lend(&left).except(stored)),
                    Err(error) => Err(session.decline(&error.to_string())),
                }
            }
        }
    }

    /// What is left for a commit after `stored` has gone ahead; nothing is `declared` by a rank that has failed. Collective where ranks
    /// write together ahead of commits.
    fn rest(
        &self,
        declared: Option<&Declared>,
        stored: &[Range<u64>],
        lent: &[(&[Run], &[u8])],
    ) -> Result<Rest, sago_mpi::Error> {
        let Crew { ranks, window, ahead, .. } = &self.crew;
        if !ahead.as_ref().is_some_and(Ahead::has_board) {
            return Ok(Rest::All);
        }
        let lent = lent.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>();
        let ahead = stored.iter().map(|range| range.end - range.start).sum::<u64>();
        let left = window.len() + lent - ahead;
        // Threads of several ranks may have written what this one wrote twice, in any order.
        let twice = declared.is_some_and(|declared| !is_once(declared));
        let mut votes = [left.max(u64::from(declared.is_none())), ahead, u64::from(twice)];
        ranks.allreduce(Reduce::Max, &mut votes)?;
        Ok(match votes {
            [_, _, 1] => Rest::Unordered,
            [0, ..] => Rest::Nothing,
            [_, 0, _] => Rest::All,
            _ => Rest::Some,
        })
    }

    /// Carries out what is not in the file yet and what is lent without the others.
    pub fn commit_alone(&mut self, lent: &[(&[Run], &[u8])]) -> Result<(), sago_exec::Error> {
        let stored = self.crew.ahead.as_mut().map_or(Vec::new(), Ahead::stop);
        let shown = self.crew.window.shown();
        self.ahead_bytes += stored.iter().map(|range| range.end - range.start).sum::<u64>();
        let stored = stored.into_iter().map(|range| range.start - shown..range.end - shown).collect();
        self.put_alone(|window| window.hidden().collect(), lent, stored).map(drop)
    }

    /// Puts what waits into the file, and keeps it for the commit of all. As long as the caller has the result, no other rank puts
    /// older bytes over it. Also what has been there before is put there again: that may have happened to it.
    pub fn show(&mut self) -> Result<Option<Alone>, sago_exec::Error> {
        self.crew.ahead.iter_mut().for_each(|ahead| drop(ahead.stop()));
        let alone = self.put_alone(|window| window.writes().collect(), &[], Vec::new())?;
        self.crew.window.show();
        Ok(alone)
    }

    /// As without Sago, no byte of a collective write is in the file before all ranks have called it.
    pub fn await_hidden(&self) -> Result<(), sago_mpi::Error> {
        let Crew { ahead: Some(ahead), window, ranks, .. } = &self.crew else { return Ok(()) };
        let hidden = window.hidden().map(|write| write.epoch);
        let called = hidden.filter(|epoch| epoch % 2 == 0).max();
        called.map_or(Ok(()), |epoch| ahead.wait(ranks, epoch))
    }

    /// Writes some of the window, and what is lent, without the others; but not what is `stored` of it.
    fn put_alone(
        &mut self,
        some: impl for<'w> FnOnce(&'w Window) -> Vec<Waiting<'w>>,
        lent: &[(&[Run], &[u8])],
        stored: Vec<Range<u64>>,
    ) -> Result<Option<Alone>, sago_exec::Error> {
        self.await_hidden()?;
        let alone_here = self.alone()?;
        self.session(With::Nobody)?;
        let Self { crew: Crew { alone, window, .. }, epoch, .. } = self;
        let Some(session) = alone else { return Err(sago_exec::Error::Garbled) };
        let mut writes = some(window);
        writes.extend(lent.iter().map(|&(runs, bytes)| Waiting { runs, bytes, epoch: *epoch }));
        let declared = contain(|| Ok(declare(writes.iter())))?;
        // What was written twice may have gone ahead in any order.
        let stored = if is_once(&declared) { stored } else { Vec::new() };
        let memory = Lent::new(writes.iter().map(|write| write.bytes)).except(stored);
        session.commit(declared, &memory)?;
        Ok(alone_here)
    }

    /// Takes what HDF5 has written for this rank into the window: for the sake of its order among the writes of this and other
    /// ranks.
    pub fn take_back(&mut self, runs: &[Run], collective: bool) {
        let Self { crew: Crew { window, .. }, storage, epoch, .. } = self;
        let bytes = runs.iter().map(|run| run.bytes()).sum::<u64>();
        let mut shelf = Shelf::new(&**storage, Way::Pieces { long: true }, &mut []);
        let read = contain(|| Ok(shelf.read(runs, window.spare(bytes)).is_ok()));
        match read {
            Ok(true) => window.push(runs, bytes, *epoch + u64::from(!collective)),
            // All is in the file, and some of it would follow what HDF5 has written.
            _ if window.len() == window.shown() => self.give_up(),
            _ => {}
        }
    }

    /// Forgets what has come into the window since `mark`.
    pub fn take_out(&mut self, mark: Mark) {
        self.crew.ahead.iter_mut().for_each(|ahead| drop(ahead.stop()));
        self.crew.window.cut(mark);
    }

    /// Forgets what waits.
    pub fn give_up(&mut self) {
        if let Some(ahead) = &mut self.crew.ahead {
            ahead.stop();
        }
        self.crew.window.clear();
    }

    /// Takes as much of a write into the window as fits.
    pub fn take_in(&mut self, write: &mut Write<'_>, runs: &mut Cursor<'_>) -> Taken {
        let bytes = write.bytes.step(self.crew.window.room());
        if bytes == 0 {
            return Taken::All;
        }
        if !filled(|| write.bytes.fill(self.crew.window.spare(bytes), &mut self.scratch)) {
            return Taken::NotConverted;
        }
        let mut taken = Vec::new();
        runs.take_all(bytes, |run| taken.push(run));
        self.crew.window.push(&taken, bytes, self.epoch);
        Taken::All
    }

    /// How many commits it takes until these are written: one, if they fit into the window or can be lent.
    pub fn rounds(&self, writes: &[Write<'_>]) -> u64 {
        let lengths = writes.iter().filter(|write| write.lent.is_none());
        let lengths = lengths.map(|write| (write.bytes.left(), write.bytes.unit()));
        count_rounds(self.crew.window.room(), self.crew.window.capacity(), lengths)
    }
}

/// How many times a window is filled by streams of so many bytes in units of so many, one after the other.
fn count_rounds(room: u64, capacity: u64, streams: impl Iterator<Item = (u64, u64)>) -> u64 {
    let (mut rounds, mut room) = (1, room);
    for (mut left, unit) in streams {
        while left > 0 {
            let step = left.min(room - room % unit);
            if step == 0 {
                (rounds, room) = (rounds + 1, capacity);
            }
            left -= step;
            room -= step;
        }
    }
    rounds
}
