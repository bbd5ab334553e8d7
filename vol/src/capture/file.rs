//! An open file whose writes are captured: the ranks that opened it, what they have written and not yet carried out, and
//! the means to do so.
//!
//! Invariants: what is collective in HDF5 is collective here, and nothing else is; whether ranks meet follows from
//! facts that are the same on all of them; a rank's writes reach the file in the order in which it made them.

use super::crew::Crew;
use super::dataset::Dataset;
use super::overlap;
use super::provoke;
use super::reason::Reason;
use super::stream::{Incoming, Outgoing, Scratch};
use super::window::Waiting;
use crate::state::State;
use sago_core::config::Mode;
use sago_core::cost::Calibration;
use sago_core::declare::{Declaration, Declared, Direction};
use sago_core::extent::{Cursor, Run};
use sago_exec::{Lent, Session, Setting, contain};
use sago_hdf5::{Error, Library};
use sago_mpi::{Reduce, Transport};
use sago_storage::Storage;
use std::cell::{Cell, RefCell, RefMut};
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

pub struct CapturedFile {
    pub library: &'static Library,
    /// By which HDF5 knows the open file in this process.
    pub number: u64,
    pub mode: Mode,
    /// Metadata are read by all ranks together.
    pub collective_metadata: bool,
    pub writable: bool,
    /// The same for files that the same ranks have opened.
    pub group: u64,
    name: String,
    /// How many times the file is open.
    handles: Cell<usize>,
    atomic: Cell<bool>,
    datasets: RefCell<BTreeMap<[u8; 16], Weak<Dataset>>>,
    work: RefCell<Option<Work>>,
}

// SAFETY: HDF5 lets one thread in at a time, in builds for several threads by its own lock; and MPI is called by the
// thread that HDF5 was called by.
unsafe impl Send for CapturedFile {}
// SAFETY: as above.
unsafe impl Sync for CapturedFile {}

/// A file in a wrapper of ours.
pub struct Handle {
    file: Arc<CapturedFile>,
    /// It keeps the file open.
    counts: bool,
}

impl Handle {
    pub fn new(file: Arc<CapturedFile>, counts: bool) -> Self {
        file.handles.set(file.handles.get() + usize::from(counts));
        Self { file, counts }
    }

    pub fn file(&self) -> &Arc<CapturedFile> {
        &self.file
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let handles = &self.file.handles;
        handles.set(handles.get().saturating_sub(usize::from(self.counts)));
        if handles.get() == 0 {
            State::of(self.file.library).remove_file(self.file.number);
        }
    }
}

/// What a file is opened with, besides its ranks.
pub struct Opening {
    pub library: &'static Library,
    pub number: u64,
    pub name: String,
    pub mode: Mode,
    pub collective_metadata: bool,
    pub writable: bool,
    pub group: u64,
    pub storage: Arc<dyn Storage>,
}

struct Work {
    /// There as long as the file is open.
    crew: Crew,
    storage: Arc<dyn Storage>,
    /// No rank has more captured by collective writes than this. The same on all ranks.
    estimate: u64,
    /// How many collective writes there have been. The same on all ranks.
    epoch: u64,
    /// What this rank wrote when the ranks last looked for bytes that several of them wrote, and whether there were any.
    compared: Option<(Declared, bool)>,
    scratch: Scratch,
    /// Why the ranks can no longer talk to each other.
    broken: Option<String>,
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

/// Pieces shorter than this are small.
const SMALL_BYTES: u64 = 512;

const EVERYBODY: With = With::Everybody { rounds: 1 };

/// With whom writes are carried out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum With {
    Everybody { rounds: u64 },
    Nobody,
}

impl CapturedFile {
    pub fn new(opening: Opening, mut crew: Crew) -> Self {
        let Opening { library, number, name, mode, collective_metadata, writable, group, storage } = opening;
        for session in [&mut crew.together, &mut crew.alone].into_iter().flatten() {
            session.turn_to(Arc::clone(&storage));
        }
        let work = Work {
            crew,
            storage,
            estimate: 0,
            epoch: 0,
            compared: None,
            scratch: Scratch::default(),
            broken: None,
        };
        Self {
            library,
            number,
            mode,
            collective_metadata,
            writable,
            group,
            name,
            handles: Cell::new(0),
            atomic: Cell::new(false),
            datasets: RefCell::default(),
            work: RefCell::new(Some(work)),
        }
    }

    /// Why nothing of this file is captured now, if so. The same on all ranks.
    pub fn refusal(&self) -> Option<Reason> {
        if self.is_closed() { Some(Reason::Closed) } else { self.atomic.get().then_some(Reason::Atomic) }
    }

    /// The program has closed it, though objects of it may be open: nothing waits, and nothing is captured.
    fn is_closed(&self) -> bool {
        self.handles.get() == 0
    }

    pub fn set_atomic(&self, atomic: bool) {
        self.atomic.set(atomic);
    }

    /// How large each rank's window is.
    pub fn window_bytes(&self) -> u64 {
        self.work().map_or(0, |work| work.crew.window.capacity())
    }

    pub fn known_dataset(&self, token: &[u8; 16]) -> Option<Arc<Dataset>> {
        self.datasets.borrow().get(token).and_then(Weak::upgrade)
    }

    pub fn remember(&self, token: [u8; 16], dataset: &Arc<Dataset>) {
        let mut datasets = self.datasets.borrow_mut();
        if datasets.len() > 64 && datasets.len().is_power_of_two() {
            datasets.retain(|_, dataset| dataset.strong_count() > 0);
        }
        datasets.insert(token, Arc::downgrade(dataset));
    }

    /// The datasets that are open, in the same order on all ranks.
    pub fn open_datasets(&self) -> Vec<Arc<Dataset>> {
        self.datasets.borrow().values().filter_map(Weak::upgrade).collect()
    }

    /// A collective write: kept in the window, or carried out. `dataset_bytes` is the size of the datasets, which all
    /// ranks know. A rank whose part HDF5 must write itself takes part with nothing.
    pub fn write_together(&self, writes: &mut [Write<'_>], dataset_bytes: u64) -> Result<Taken, Error> {
        let work = &mut *self.work()?;
        let mut rounds = 1;
        let mut carry_out = self.mode == Mode::Immediate;
        work.estimate = work.estimate.saturating_add(dataset_bytes);
        work.epoch += 1;
        if work.estimate > work.crew.window.capacity() {
            // No rank may exceed its window; whether one would, only the ranks together know.
            let bytes: u64 = writes.iter().map(|write| write.bytes.left()).sum();
            let mut votes = [work.crew.window.len() + bytes, work.rounds(writes)];
            self.checked(work, EVERYBODY, |work| work.crew.ranks.allreduce(Reduce::Max, &mut votes))?;
            let [most, most_rounds] = votes;
            carry_out |= most > work.crew.window.capacity();
            (rounds, work.estimate) = (most_rounds, most);
        }
        if carry_out {
            work.estimate = 0;
            return self.carry_out(work, With::Everybody { rounds }, writes);
        }
        self.keep(work, writes)
    }

    /// Whether HDF5 should do a collective write that is to be carried out at once, because it has mostly holes: small pieces
    /// whose neighbours are not in the same call. Collective; the same answer on all ranks.
    pub fn is_sparse(&self, writes: &[Write<'_>]) -> Result<bool, Error> {
        let work = &mut *self.work()?;
        let runs = || writes.iter().flat_map(|write| write.runs);
        let mut sums = [runs().map(|run| run.bytes()).sum::<u64>(), runs().map(|run| run.count()).sum()];
        let start = runs().map(|run| run.offset()).min().unwrap_or(u64::MAX);
        let mut ends = [!start, runs().map(|run| run.end()).max().unwrap_or(0)];
        self.checked(work, EVERYBODY, |work| {
            work.crew.ranks.allreduce(Reduce::Sum, &mut sums)?;
            work.crew.ranks.allreduce(Reduce::Max, &mut ends)
        })?;
        let ([bytes, pieces], [start, end]) = (sums, ends);
        let span = end.saturating_sub(!start);
        Ok(pieces > 0 && bytes / pieces < SMALL_BYTES && bytes < span / 2)
    }

    /// An independent write: kept in the window, or, where it is full, written by this rank.
    pub fn write_alone(&self, writes: &mut [Write<'_>]) -> Result<Taken, Error> {
        self.keep(&mut *self.work()?, writes)
    }

    fn keep(&self, work: &mut Work, writes: &mut [Write<'_>]) -> Result<Taken, Error> {
        let bytes: u64 = writes.iter().map(|write| write.bytes.left()).sum();
        if bytes > work.crew.window.room() {
            return self.carry_out(work, With::Nobody, writes);
        }
        let mark = work.crew.window.mark();
        for write in writes {
            let bytes = write.bytes.left();
            let filled = filled(|| write.bytes.fill(work.crew.window.spare(bytes), &mut work.scratch));
            if !filled {
                work.crew.window.cut(mark);
                return Ok(Taken::NotConverted);
            }
            work.crew.window.push(write.runs, bytes, work.epoch);
        }
        Ok(Taken::All)
    }

    /// Carries out what waits on any rank. Collective.
    pub fn settle(&self) -> Result<(), Error> {
        if !self.writable || self.is_closed() {
            return Ok(());
        }
        let work = &mut *self.work()?;
        let mut waiting = [work.crew.window.len()];
        self.checked(work, EVERYBODY, |work| work.crew.ranks.allreduce(Reduce::Max, &mut waiting))?;
        if waiting[0] == 0 {
            return Ok(());
        }
        work.estimate = 0;
        self.carry_out(work, EVERYBODY, &mut []).map(|_| ())
    }

    /// Writes what waits on this rank.
    pub fn settle_alone(&self) -> Result<(), Error> {
        if self.is_closed() {
            return Ok(());
        }
        let work = &mut *self.work()?;
        if work.crew.window.is_empty() {
            return Ok(());
        }
        self.carry_out(work, With::Nobody, &mut []).map(|_| ())
    }

    /// Waits for all ranks. Collective.
    pub fn meet(&self) -> Result<(), Error> {
        if self.is_closed() {
            return Ok(());
        }
        self.checked(&mut *self.work()?, EVERYBODY, |work| work.crew.ranks.barrier())
    }

    /// A collective read, after [`CapturedFile::settle`]. Where it does not fit into the window at once, in several
    /// rounds. A rank whose part HDF5 must read itself takes part with nothing.
    pub fn read_together(&self, reads: &mut [Read<'_>], dataset_bytes: u64) -> Result<Taken, Error> {
        let work = &mut *self.work()?;
        let mut rounds = [1];
        if dataset_bytes > work.crew.window.capacity() {
            rounds[0] = work.reading_rounds(reads);
            self.checked(work, EVERYBODY, |work| work.crew.ranks.allreduce(Reduce::Max, &mut rounds))?;
        }
        let mut taken = Taken::All;
        let mut places: Vec<Cursor<'_>> = reads.iter().map(|read| Cursor::new(read.runs)).collect();
        for round in 0..rounds[0] {
            taken = self.read_round(work, reads, &mut places, round == 0, taken)?;
        }
        Ok(taken)
    }

    fn read_round(
        &self,
        work: &mut Work,
        reads: &mut [Read<'_>],
        places: &mut [Cursor<'_>],
        first: bool,
        mut taken: Taken,
    ) -> Result<Taken, Error> {
        let mut into: Vec<&mut [u8]> = Vec::new();
        let mut steps = vec![0; reads.len()];
        self.checked(work, EVERYBODY, |work| work.session(EVERYBODY).map(|_| ()))?;
        let Work { crew: Crew { window, together, .. }, scratch, .. } = &mut *work;
        let mut room = window.spare(window.room());
        let declared = contain(|| {
            provoke::point("declare");
            let mut declaration = Declaration::new(Direction::Read);
            for ((read, runs), step) in reads.iter_mut().zip(places).zip(&mut steps) {
                match &mut read.direct {
                    Some(direct) if first => {
                        declaration.variable(read.runs.iter().copied());
                        into.push(std::mem::take(direct));
                    }
                    Some(_) => {}
                    None if taken == Taken::NotConverted => {}
                    None => {
                        *step = read.bytes.step(room.len() as u64);
                        let mut pieces = Vec::new();
                        runs.take_all(*step, |run| pieces.push(run));
                        declaration.variable(pieces);
                        let (place, rest) = std::mem::take(&mut room).split_at_mut(*step as usize);
                        (room, _) = (rest, into.push(place));
                    }
                }
            }
            Ok(declaration.finish())
        });
        let fetched = match (together.as_mut(), declared) {
            (Some(session), Ok(declared)) => session.fetch(declared, &mut sago_exec::Taken::new(into)),
            (Some(session), Err(error)) => Err(session.decline(&error.to_string())),
            (None, _) => Err(sago_exec::Error::Garbled),
        };
        let mut arrived = window.spare(window.room());
        for (read, step) in reads.iter_mut().zip(steps) {
            let (place, rest) = std::mem::take(&mut arrived).split_at_mut(step as usize);
            arrived = rest;
            if fetched.is_ok() && step > 0 && !filled(|| read.bytes.put(place, scratch)) {
                taken = Taken::NotConverted;
            }
        }
        self.checked(work, EVERYBODY, |_| fetched)?;
        Ok(taken)
    }

    /// Before the file is closed. What cannot be written is given up, so that a second attempt can close the file.
    pub fn before_close(&self) -> Result<(), Error> {
        let result = self.settle();
        if result.is_err() {
            if self.work()?.broken.is_some() {
                // The others are gone; what this rank has is saved if it can be.
                drop(self.settle_alone());
            }
            self.work()?.crew.window.clear();
        }
        if result.is_ok() && self.handles.get() == 1 {
            self.rest()?;
        }
        result
    }

    /// MPI may be ended before these ranks have another file, and must not find anything of ours then. Collective.
    fn rest(&self) -> Result<(), Error> {
        let work = &mut *self.work()?;
        self.checked(work, EVERYBODY, |work| {
            work.crew.together.as_mut().map_or(Ok(()), |session| session.rest())
        })
    }

    /// After one of its handles was closed: if it was the last, the ranks are free for another file.
    pub fn after_close(&self) {
        if self.handles.get() > 0 {
            return;
        }
        // A group whose ranks have lost each other is of no use to anybody.
        if let Some(work) = self.work.borrow_mut().take().filter(|work| work.broken.is_none()) {
            State::of(self.library).keep_crew(work.crew);
        }
    }

    fn work(&self) -> Result<RefMut<'_, Work>, Error> {
        RefMut::filter_map(self.work.borrow_mut(), Option::as_mut)
            .map_err(|_| Error::Message(format!("{}: the file is closed", self.name)))
    }

    /// Carries out the window and `writes`. Where they do not fit into the window at once, in several rounds.
    fn carry_out(&self, work: &mut Work, with: With, writes: &mut [Write<'_>]) -> Result<Taken, Error> {
        let mut places: Vec<Cursor<'_>> = writes.iter().map(|write| Cursor::new(write.runs)).collect();
        let (mut round, mut taken) = (0, Taken::All);
        loop {
            let mut lent: Vec<(&[Run], &[u8])> = Vec::new();
            for (write, runs) in writes.iter_mut().zip(&mut places) {
                match write.lent {
                    Some(bytes) if round == 0 => lent.push((write.runs, bytes)),
                    None if taken == Taken::All => taken = work.take_in(write, runs),
                    _ => {}
                }
            }
            self.commit(work, with, &lent)?;
            round += 1;
            let left = writes.iter().any(|write| write.lent.is_none() && write.bytes.left() > 0);
            match with {
                With::Everybody { rounds } if round < rounds => {}
                With::Nobody if left && taken == Taken::All => {}
                With::Everybody { .. } if left && taken == Taken::All => {
                    return Err(Error::Message(format!("{}: defect of Sago: too few rounds", self.name)));
                }
                _ => return Ok(taken),
            }
        }
    }

    /// Carries out the window and what is lent: in one commit, unless ranks wrote the same bytes in different collective
    /// writes. Then these are kept in order, as they would be without the window.
    fn commit(&self, work: &mut Work, with: With, lent: &[(&[Run], &[u8])]) -> Result<(), Error> {
        self.checked(work, with, |work| {
            work.session(with)?;
            let Work { crew: Crew { ranks, together, alone, window, .. }, epoch, compared, .. } = work;
            let lent = lent.iter().map(|(runs, bytes)| Waiting { runs, bytes, epoch: *epoch });
            let writes: Vec<Waiting<'_>> = window.writes().chain(lent).collect();
            let declared = contain(|| Ok(declare(writes.iter())));
            let session = if with == With::Nobody { alone } else { together };
            let Some(session) = session else { return Err(sago_exec::Error::Garbled) };
            let mut order = None;
            if let With::Everybody { .. } = with {
                // A rank that has failed by itself takes part with nothing, so that the others hear of it.
                let nothing = declare([].iter());
                let ordered = match &declared {
                    Ok(declared) => overlap::epochs(ranks, &writes, declared, compared),
                    Err(_) => overlap::epochs(ranks, &[], &nothing, &mut None),
                };
                order = match (&declared, ordered) {
                    (_, Err(lost @ sago_exec::Error::Ranks(_))) => return Err(lost),
                    (Err(error), _) => return Err(session.decline(&error.to_string())),
                    (_, Err(error)) => return Err(session.decline(&error.to_string())),
                    (_, Ok(order)) => order,
                };
            }
            let declared = declared?;
            if let Some((first, last)) = order {
                for epoch in first..=last {
                    let some = || writes.iter().filter(|write| write.epoch == epoch);
                    session.commit(declare(some()), &Lent::new(some().map(|write| write.bytes)))?;
                }
                return Ok(());
            }
            session.commit(declared, &Lent::new(writes.iter().map(|write| write.bytes)))
        })?;
        work.crew.window.clear();
        Ok(())
    }

    /// Runs `body`, unless the ranks have lost each other; puts the file's name to an error.
    fn checked<T, E: Into<sago_exec::Error>>(
        &self,
        work: &mut Work,
        with: With,
        body: impl FnOnce(&mut Work) -> Result<T, E>,
    ) -> Result<T, Error> {
        if let (Some(reason), With::Everybody { .. }) = (&work.broken, with) {
            return Err(Error::Message(format!("{}: {reason}", self.name)));
        }
        body(work).map_err(|error| {
            let error = error.into();
            let text = format!("{}: {error}", self.name);
            if matches!((&error, with), (sago_exec::Error::Ranks(_), With::Everybody { .. })) {
                work.broken = Some(error.to_string());
            }
            Error::Message(text)
        })
    }
}

/// Whether a conversion came to its end. If not, by an error or by a panic, HDF5 does it.
fn filled<E>(convert: impl FnOnce() -> Result<(), E>) -> bool {
    contain(|| {
        provoke::point("convert");
        Ok(convert().is_ok())
    })
    .unwrap_or(false)
}

fn declare<'w>(writes: impl Iterator<Item = &'w Waiting<'w>>) -> Declared {
    provoke::point("declare");
    let mut declaration = Declaration::new(Direction::Write);
    for write in writes {
        declaration.variable(write.runs.iter().copied());
    }
    declaration.finish()
}

impl Work {
    /// The session with these ranks; made when it is first needed.
    fn session(&mut self, with: With) -> Result<&mut Session, sago_exec::Error> {
        let Self { crew: Crew { ranks, together, alone, config, facts, .. }, storage, .. } = self;
        let open = |ranks: &dyn Transport| {
            let calibration = Calibration::of(facts);
            let setting = Setting { config: config.clone(), storage: *facts, calibration };
            Session::open(ranks, Arc::clone(storage), setting)
        };
        match with {
            With::Everybody { .. } if together.is_none() => {
                // All ranks are in the commit, so none of them writes in another way.
                let mut session = open(ranks)?;
                session.set_exclusive();
                *together = Some(session);
            }
            With::Nobody if alone.is_none() => *alone = Some(open(&*sago_mpi::single()?)?),
            _ => {}
        }
        let session = if with == With::Nobody { alone } else { together };
        session.as_mut().ok_or(sago_exec::Error::Garbled)
    }

    /// Takes as much of a write into the window as fits.
    fn take_in(&mut self, write: &mut Write<'_>, runs: &mut Cursor<'_>) -> Taken {
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

    /// How many fetches it takes until these are read.
    fn reading_rounds(&self, reads: &[Read<'_>]) -> u64 {
        let lengths = reads.iter().filter(|read| read.direct.is_none());
        count_rounds(
            self.crew.window.room(),
            self.crew.window.capacity(),
            lengths.map(|read| (read.bytes.left(), read.bytes.unit())),
        )
    }

    /// How many commits it takes until these are written: one, if they fit into the window or can be lent.
    fn rounds(&self, writes: &[Write<'_>]) -> u64 {
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
