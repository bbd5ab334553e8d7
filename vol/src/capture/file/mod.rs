//! An open file whose writes are captured: the ranks that opened it, what they have written and not yet carried out, and
//! the means to do so.
//!
//! Invariants: what is collective in HDF5 is collective here, and nothing else is; whether ranks meet follows from
//! facts that are the same on all of them; a rank's writes reach the file in the order in which it made them.

mod closing;
mod reading;

use super::ahead::{Ahead, Alone};
use super::crew::Crew;
use super::dataset::Dataset;
use super::facts::Facts;
use super::immediate::Habit;
use super::overlap::Ballot;
use super::presence::Presence;
use super::progress::Watched;
use super::reason::Reason;
use super::record::Record;
use super::stream::Scratch;
use super::work::{EVERYBODY, Taken, With, Work, Write};
use crate::state::State;
use sago_core::config::Mode;
use sago_core::extent::{Cursor, Run};
use sago_hdf5::{Error, Library};
use sago_mpi::{Reduce, Transport};
use sago_storage::{Inode, Storage};
use std::cell::{Cell, RefCell, RefMut};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// A rank does not collect more pieces of the file than this, however small: each takes some hundred bytes of memory until it is carried out.
const PIECES_MAX: usize = 2 << 20;

/// A dataset's token, and whether its metadata are read by all ranks together.
type Key = ([u8; 16], bool);

pub struct CapturedFile {
    pub library: &'static Library,
    /// By which HDF5 knows the open file in this process.
    pub number: u64,
    mode: Cell<Mode>,
    /// Metadata are read by all ranks together.
    pub collective_metadata: bool,
    /// They are written so.
    pub metadata_together: bool,
    pub writable: bool,
    /// HDF5 tells wrong places of chunks.
    pub chunks_misplaced: bool,
    /// The same for files that the same ranks have opened.
    pub group: u64,
    /// By which the file system knows it.
    pub inode: Option<Inode>,
    name: String,
    /// How many times the file is open.
    handles: Cell<usize>,
    atomic: Cell<bool>,
    /// In another file, now or before.
    mounted: Cell<bool>,
    /// It is open in another way, too, or was.
    twins: Cell<bool>,
    /// The ranks have lost each other, and who closed the file has been told.
    given_up: Cell<bool>,
    /// Of one dataset there may be handles of both kinds.
    datasets: RefCell<BTreeMap<Key, Weak<Dataset>>>,
    /// Those that have been open: HDF5 gives them no more space by being opened.
    seen: RefCell<BTreeSet<[u8; 16]>>,
    progress: Option<Arc<Watched>>,
    /// There if a report is asked for, until it is made.
    record: RefCell<Option<Record>>,
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

    /// Whether closing it closes the file.
    pub fn is_last(&self) -> bool {
        self.counts && self.file.handles.get() == 1
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
    pub metadata_together: bool,
    pub writable: bool,
    pub chunks_misplaced: bool,
    pub group: u64,
    pub inode: Option<Inode>,
    pub presence: Option<Arc<Presence>>,
    pub storage: Arc<dyn Storage>,
    pub record: Option<Record>,
    /// There if somebody watches.
    pub progress: Option<Arc<Watched>>,
}

impl CapturedFile {
    pub fn new(opening: Opening, mut crew: Crew) -> Self {
        let Opening { library, number, name, mode, collective_metadata, writable, .. } = opening;
        let Opening {
            metadata_together,
            chunks_misplaced,
            group,
            inode,
            presence,
            storage,
            record,
            progress,
            ..
        } = opening;
        for session in [&mut crew.together, &mut crew.alone].into_iter().flatten() {
            session.turn_to(Arc::clone(&storage));
        }
        let work = Work {
            crew,
            storage,
            traced_since: record.as_ref().map(|record| record.origin),
            ahead_bytes: 0,
            reading: Duration::ZERO,
            finishing: Duration::ZERO,
            estimate: 0,
            epoch: 0,
            committed: 0,
            overlapped: false,
            unclear: false,
            presence,
            scratch: Scratch::default(),
            habit: Habit::default(),
            kept: true,
            broken: None,
        };
        Self {
            library,
            number,
            mode: Cell::new(mode),
            collective_metadata,
            metadata_together,
            writable,
            chunks_misplaced,
            group,
            inode,
            name,
            handles: Cell::new(0),
            atomic: Cell::new(false),
            mounted: Cell::new(false),
            twins: Cell::new(false),
            given_up: Cell::new(false),
            datasets: RefCell::default(),
            seen: RefCell::default(),
            progress,
            record: RefCell::new(record),
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

    /// Whether a report is to be made of it.
    pub fn is_recorded(&self) -> bool {
        self.record.borrow().is_some()
    }

    /// Tells the record, if there is one.
    pub fn recorded(&self, what: impl FnOnce(&Record)) {
        if let Some(record) = &*self.record.borrow() {
            what(record);
        }
    }

    /// Runs `body`, which takes bytes into the window, for the record if there is one.
    pub(super) fn capturing<T>(&self, work: &mut Work, body: impl FnOnce(&mut Work) -> T) -> T {
        let start = work.traced_since.map(|_| Instant::now());
        let result = body(work);
        if let Some(start) = start {
            self.recorded(|record| record.captured(start, work.crew.window.len()));
        }
        result
    }

    /// The same on all ranks.
    pub fn mode(&self) -> Mode {
        self.mode.get()
    }

    /// From now on nothing waits. All ranks say so, when nothing does.
    pub fn set_immediate(&self) {
        self.mode.set(Mode::Immediate);
    }

    pub fn is_mounted(&self) -> bool {
        self.mounted.get()
    }

    pub fn set_mounted(&self) {
        self.mounted.set(true);
    }

    /// Whether the file may be open in another way: then what waits there may come before what is done here.
    pub fn may_have_twins(&self) -> bool {
        self.twins.get() || self.is_closed()
    }

    pub fn set_twins(&self) {
        self.twins.set(true);
    }

    pub fn is_of_one_rank(&self) -> bool {
        self.work().is_ok_and(|work| work.crew.ranks.size() == 1)
    }

    pub fn set_atomic(&self, atomic: bool) {
        self.atomic.set(atomic);
    }

    /// How large each rank's window is.
    pub fn window_bytes(&self) -> u64 {
        self.work().map_or(0, |work| work.crew.window.capacity())
    }

    pub fn known_dataset(&self, token: &[u8; 16], together: bool) -> Option<Arc<Dataset>> {
        self.datasets.borrow().get(&(*token, together)).and_then(Weak::upgrade)
    }

    pub fn remember(&self, dataset: &Arc<Dataset>) {
        let mut datasets = self.datasets.borrow_mut();
        if datasets.len() > 64 && datasets.len().is_power_of_two() {
            datasets.retain(|_, dataset| dataset.strong_count() > 0);
        }
        datasets.insert((dataset.token, dataset.together), Arc::downgrade(dataset));
    }

    /// Whether a dataset is open for the first time.
    pub fn first_seen(&self, token: [u8; 16]) -> bool {
        self.seen.borrow_mut().insert(token)
    }

    /// From now on nothing is begun ahead of commits, and what was begun is over.
    pub fn pause_ahead(&self) {
        self.with_ahead(Ahead::pause);
    }

    pub fn resume_ahead(&self) {
        self.with_ahead(Ahead::resume);
    }

    /// What has not been begun is left to the commit.
    pub fn leave_rest(&self) {
        self.with_ahead(Ahead::leave_rest);
    }

    fn with_ahead(&self, what: fn(&mut Ahead)) {
        // Not from a function of the program's that HDF5 calls while it converts for us.
        if let Ok(mut work) = self.work.try_borrow_mut() {
            work.as_mut().and_then(|work| work.crew.ahead.as_mut()).into_iter().for_each(what);
        }
    }

    /// The datasets that are open, in the same order on all ranks.
    pub fn open_datasets(&self) -> Vec<Arc<Dataset>> {
        self.datasets.borrow().values().filter_map(Weak::upgrade).collect()
    }

    /// A collective write: kept in the window, or carried out. `dataset_bytes` is the size of the datasets, which all
    /// ranks know. A rank whose part HDF5 must write itself takes part with nothing but the length of that part, which will come
    /// back into the window.
    pub fn write_together(
        &self,
        writes: &mut [Write<'_>],
        left_bytes: u64,
        dataset_bytes: u64,
    ) -> Result<Taken, Error> {
        let work = &mut *self.work()?;
        // Nobody would ever carry it out.
        self.checked(work, EVERYBODY, |_| Ok::<_, sago_exec::Error>(()))?;
        let (mut rounds, mut left_over) = (1, 0);
        let mut carry_out = self.mode() == Mode::Immediate;
        work.estimate = work.estimate.saturating_add(dataset_bytes);
        work.enter();
        self.clear(work)?;
        if work.estimate > work.crew.window.capacity() {
            // No rank may exceed its window; whether one would, only the ranks together know.
            let bytes = left_bytes + writes.iter().map(|write| write.bytes.left()).sum::<u64>();
            let mut votes = [work.crew.window.len() + bytes, work.rounds(writes), bytes];
            self.checked(work, EVERYBODY, |work| work.crew.ranks.allreduce(Reduce::Max, &mut votes))?;
            let [most, most_rounds, most_bytes] = votes;
            carry_out |= most > work.crew.window.capacity();
            (rounds, work.estimate, left_over) = (most_rounds, most, most_bytes);
        }
        if carry_out {
            let taken = self.carry_out(work, With::Everybody { rounds }, writes)?;
            // HDF5 may have to do a rank's part, which then comes back into the window.
            work.estimate = if self.mode() == Mode::Window { left_over } else { 0 };
            return Ok(taken);
        }
        self.keep(work, EVERYBODY, writes)
    }

    /// HDF5 is about to do a collective write itself.
    pub fn leave_to_hdf5(&self) {
        if let Ok(mut work) = self.work() {
            work.unclear = true;
        }
    }

    /// A rank may be done with a collective write of HDF5's own while another still reads and writes back what is between its
    /// bytes: what this rank writes next waits for that. Collective.
    pub(super) fn clear(&self, work: &mut Work) -> Result<(), Error> {
        if std::mem::take(&mut work.unclear) {
            self.checked(work, EVERYBODY, |work| work.crew.ranks.barrier())?;
        }
        Ok(())
    }

    /// An independent write: kept in the window, or, where it is full, written by this rank.
    pub fn write_alone(&self, writes: &mut [Write<'_>]) -> Result<Taken, Error> {
        if self.given_up.get() {
            return Err(Error::Message(format!(
                "{}: it could not be closed, and takes no more writes",
                self.name
            )));
        }
        self.keep(&mut *self.work()?, With::Nobody, writes)
    }

    fn keep(&self, work: &mut Work, with: With, writes: &mut [Write<'_>]) -> Result<Taken, Error> {
        let bytes: u64 = writes.iter().map(|write| write.bytes.left()).sum();
        let runs: usize = writes.iter().map(|write| write.runs.len()).sum();
        if bytes > work.crew.window.room() || work.crew.window.runs() + runs > PIECES_MAX {
            if with != With::Nobody {
                self.checked(work, With::Nobody, Work::await_others)?;
            }
            return self.carry_out(work, With::Nobody, writes);
        }
        Ok(self.capturing(work, |work| work.keep(writes, with)))
    }

    /// Carries out what waits on any rank, and whether any rank said yes to each question. Collective.
    pub fn settle_and_tell<const N: usize>(&self, yes: [bool; N]) -> Result<[bool; N], Error> {
        if self.is_closed() {
            return Ok(yes);
        }
        self.settle_and_ask(&mut *self.work()?, yes)
    }

    /// Carries out what waits on any rank; all ranks fail if one of them has `failed` before. Collective.
    pub fn settle_unless(&self, failed: bool) -> Result<(), Error> {
        let [failed] = self.settle_and_tell([failed])?;
        if !failed {
            return Ok(());
        }
        let why =
            "some rank cannot write what waits in another file that it has opened, and that this one reaches";
        Err(Error::Message(format!("{}: {why}; a flush of that file says why", self.name)))
    }

    /// Carries out what waits on any rank. Collective.
    pub fn settle(&self) -> Result<(), Error> {
        if !self.writable || self.is_closed() {
            return Ok(());
        }
        self.settle_and_ask(&mut *self.work()?, []).map(|[]| ())
    }

    /// The same, and whether any rank said yes to each question.
    fn settle_and_ask<const N: usize>(
        &self,
        work: &mut Work,
        questions: [bool; N],
    ) -> Result<[bool; N], Error> {
        self.checked(work, EVERYBODY, Work::finish)?;
        let ready = work.ready(&[]);
        let mut votes = ready.ballot.0.to_vec();
        votes.push(work.crew.window.len());
        votes.extend(questions.map(u64::from));
        self.checked(work, EVERYBODY, |work| work.crew.ranks.allreduce(Reduce::Max, &mut votes))?;
        let (ballot, [most, answers @ ..]) = votes.split_at(Ballot::NUMBERS) else {
            return Err(Error::Message(format!("{}: defect of Sago: a vote is missing", self.name)));
        };
        if *most > 0 {
            let ballot = Ballot(std::array::from_fn(|number| ballot[number]));
            self.commit(work, EVERYBODY, |work| work.commit_together(ready, ballot, &[]))?;
            work.estimate = 0;
        }
        Ok(std::array::from_fn(|question| answers[question] > 0))
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

    /// Lets HDF5 read what waits on this rank. It stays in the window, too: other ranks may hold earlier writes of the same bytes,
    /// and the next commit of all must know which of them count.
    pub fn show(&self) -> Result<(), Error> {
        if self.is_closed() {
            return Ok(());
        }
        let work = &mut *self.work()?;
        if !work.crew.window.is_empty() {
            self.checked(work, With::Nobody, |work| work.show().map(drop))?;
        }
        Ok(())
    }

    /// Waits until what waits here may be put into the file by this rank.
    pub fn await_others(&self) -> Result<(), Error> {
        if self.is_closed() {
            return Ok(());
        }
        self.checked(&mut *self.work()?, With::Nobody, |work| work.await_hidden())
    }

    /// As [`CapturedFile::show`], as long as the caller has the result.
    pub fn show_while_read(&self) -> Result<Option<Alone>, Error> {
        if self.is_closed() {
            return Ok(None);
        }
        let work = &mut *self.work()?;
        if work.crew.window.is_empty() { Ok(None) } else { self.checked(work, With::Nobody, Work::show) }
    }

    /// Before HDF5 does this rank's part of a write by itself, to these runs if they are known; whether the file can take them
    /// back afterwards, and what keeps other ranks from the file until then.
    pub fn make_way(&self, collective: bool, runs: Option<&[Run]>) -> Result<(bool, Option<Alone>), Error> {
        let work = &mut *self.work()?;
        let window = &mut work.crew.window;
        let bytes = runs.map(|runs| runs.iter().map(|run| run.bytes()).sum::<u64>());
        let fits = self.mode() == Mode::Window && bytes.is_some_and(|bytes| bytes <= window.room());
        // What this rank wrote before must be in the file before what HDF5 writes now.
        let touched = runs.is_none_or(|runs| window.meets(runs));
        if !fits && !window.is_empty() {
            self.carry_out(work, With::Nobody, &mut [])?;
        } else if touched && window.len() > window.shown() {
            self.checked(work, With::Nobody, |work| work.show().map(drop))?;
        }
        let alone = self.checked(work, With::Nobody, |work| {
            if collective {
                work.await_others()?;
            }
            work.alone()
        })?;
        Ok((fits, alone))
    }

    /// HDF5 has written these for this rank.
    pub fn take_back(&self, runs: &[Run], collective: bool) {
        if let Ok(mut work) = self.work() {
            work.take_back(runs, collective);
        }
    }

    /// Waits for all ranks. Collective.
    pub fn meet(&self) -> Result<(), Error> {
        if self.is_closed() {
            return Ok(());
        }
        self.checked(&mut *self.work()?, EVERYBODY, |work| work.crew.ranks.barrier())
    }

    /// This rank cannot tell what the others do next with the file. They fail when they wait for it, where they can hear of it, and
    /// so does this rank. `writing`: it is in a collective write.
    pub fn abandon(&self, writing: bool, why: &str) -> Error {
        let mut why = why.to_owned();
        if let Ok(mut work) = self.work() {
            why = format!("rank {}: {why}", work.crew.ranks.rank());
            if writing {
                work.enter();
            }
            if work.broken.is_none() && work.crew.ranks.abandon() {
                work.broken = Some(why.clone());
                work.crew.ahead.iter().for_each(|ahead| ahead.leave(work.epoch));
                // Who has begun without asking hears of it in this way, then in the other.
                let _ = work.crew.together.as_mut().map_or(Ok(()), |session| session.abandon());
            }
        }
        Error::Message(format!("{}: {why}", self.name))
    }

    /// Whether anything of these may wait on this rank.
    pub fn meets(&self, runs: &[Run]) -> bool {
        self.work().is_ok_and(|mut work| work.crew.window.meets(runs))
    }

    /// Whether anything of a dataset waits on this rank, as far as that shows at once.
    pub fn may_wait_for(&self, facts: &Facts) -> bool {
        let Ok(mut work) = self.work() else { return false };
        let window = &mut work.crew.window;
        !window.is_empty() && facts.range().is_none_or(|range| window.touches(range.start, range.end))
    }

    pub(super) fn work(&self) -> Result<RefMut<'_, Work>, Error> {
        let Ok(work) = self.work.try_borrow_mut() else {
            let why = "a function that HDF5 calls while it converts data for this file cannot read or write the file itself";
            return Err(Error::Message(format!("{}: {why}", self.name)));
        };
        RefMut::filter_map(work, Option::as_mut)
            .map_err(|_| Error::Message(format!("{}: the file is closed", self.name)))
    }

    /// Carries out the window and `writes`. Where they do not fit into the window at once, in several rounds.
    fn carry_out(&self, work: &mut Work, with: With, writes: &mut [Write<'_>]) -> Result<Taken, Error> {
        let mut places: Vec<Cursor<'_>> = writes.iter().map(|write| Cursor::new(write.runs)).collect();
        let (mut round, mut taken) = (0, Taken::All);
        loop {
            let (mark, mut lent) = (work.crew.window.mark(), Vec::<(&[Run], &[u8])>::new());
            for (write, runs) in writes.iter_mut().zip(&mut places) {
                match write.lent {
                    Some(bytes) if round == 0 => lent.push((write.runs, bytes)),
                    None if taken == Taken::All => {
                        taken = self.capturing(work, |work| work.take_in(write, runs));
                    }
                    _ => {}
                }
            }
            let committed = self.commit(work, with, |work| match with {
                With::Everybody { .. } => {
                    work.finish()?;
                    let ready = work.ready(&lent);
                    let mut votes = ready.ballot.0;
                    work.crew.ranks.allreduce(Reduce::Max, &mut votes)?;
                    work.commit_together(ready, Ballot(votes), &lent)
                }
                With::Nobody => work.commit_alone(&lent),
            });
            if committed.is_err() {
                // The program hears that this call has failed: nothing of it may come later, over what follows.
                work.take_out(mark);
            }
            committed?;
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

    /// Carries out what waits by `body`; then nothing does any more.
    pub(super) fn commit(
        &self,
        work: &mut Work,
        with: With,
        body: impl FnOnce(&mut Work) -> Result<(), sago_exec::Error>,
    ) -> Result<(), Error> {
        self.watch(Watched::begin);
        let committed = self.checked(work, with, body);
        self.watch(Watched::end);
        committed?;
        work.crew.window.clear();
        if with != With::Nobody && self.mode() == Mode::Window {
            work.join();
        }
        Ok(())
    }

    pub(super) fn watch(&self, what: fn(&Watched)) {
        if let Some(progress) = &self.progress {
            what(progress);
        }
    }

    /// Runs `body`, unless the ranks have lost each other; puts the file's name to an error.
    pub(super) fn checked<T, E: Into<sago_exec::Error>>(
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
