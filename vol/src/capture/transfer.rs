//! Reads and writes of datasets, as the program calls them.

use super::ahead::Alone;
use super::dataset::Dataset;
use super::facts::Facts;
use super::file::CapturedFile;
use super::provoke;
use super::reason::Reason;
use super::record::{Fate, Record};
use super::stream::{Conversion, Incoming, Memory, Outgoing};
use super::work::{Read, Taken, Write};
use crate::below::{Role, Wrapper};
use crate::state::State;
use sago_core::config::Mode;
use sago_core::extent::Run;
use sago_exec::contain;
use sago_hdf5::kind::{Change, Kind, Part};
use sago_hdf5::library::ParallelFunctions;
use sago_hdf5::sys::*;
use sago_hdf5::{Error, Library, error, space};
use sago_report::Direction;
use std::cell::Ref;
use std::ffi::{CStr, c_void};
use std::sync::Arc;

/// What HDF5 passes to a write or a read, of one or several datasets.
pub struct Call<'c> {
    pub library: &'static Library,
    pub wrappers: &'c [*mut c_void],
    pub kinds: &'c [hid_t],
    pub memory_spaces: &'c [hid_t],
    pub file_spaces: &'c [hid_t],
    pub buffers: &'c [*mut c_void],
    pub dxpl: hid_t,
}

/// How a call goes on.
pub enum Route {
    /// It is done.
    Done,
    /// As it is to the connector below.
    Native(Afterwards),
    /// To the connector below, by this rank independently of the others.
    Alone(Afterwards),
}

/// What follows a call of the connector below.
pub enum Afterwards {
    Nothing,
    /// Other ranks may put bytes into the file by themselves again.
    LetGo(Option<Alone>),
    /// The same; then all ranks of the file meet.
    Meet(Arc<CapturedFile>, Option<Alone>),
    /// The file takes what was written back into the window; then the same.
    TakeBack {
        file: Arc<CapturedFile>,
        runs: Vec<Run>,
        collective: bool,
        alone: Option<Alone>,
    },
}

impl Afterwards {
    /// HDF5 writes this rank's part of a call, to these runs if the file can take them back.
    pub fn of_left(
        file: &Arc<CapturedFile>,
        runs: Option<Vec<Run>>,
        collective: bool,
        alone: Option<Alone>,
    ) -> Self {
        match runs {
            Some(runs) => Self::TakeBack { file: Arc::clone(file), runs, collective, alone },
            None => Self::LetGo(alone),
        }
    }

    /// The call is over, and went well or not.
    pub fn follow(self, done: bool) -> Result<(), Error> {
        match self {
            Self::Nothing => Ok(()),
            Self::LetGo(alone) => {
                drop(alone);
                Ok(())
            }
            Self::Meet(file, alone) => {
                drop(alone);
                file.meet()
            }
            Self::TakeBack { file, runs, collective, alone } => {
                // What HDF5 has refused to write is as it was, and must not count as written now.
                if done {
                    file.take_back(&runs, collective);
                }
                drop(alone);
                Ok(())
            }
        }
    }
}

/// Data spaces that are no identifiers.
const ALL: hid_t = 0;
const BLOCK: hid_t = 1;
const PLIST: hid_t = 2;

/// Fewer elements than this are not many.
const MANY: u64 = 64;

/// # Safety
/// The arrays of `call` are as long as each other and hold what HDF5 passes to a write.
pub unsafe fn write(call: &Call<'_>) -> Result<Route, Error> {
    // SAFETY: the caller's promise.
    let Some(targets) = (unsafe { Targets::of(call, true) }) else {
        return Ok(Route::Native(Afterwards::Nothing));
    };
    let collective = call.is_collective();
    let facts = match targets.facts() {
        Ok(_) if !targets.file.writable => Err(Reason::ReadOnly),
        Ok(_) if !collective && targets.file.mode() != Mode::Window => Err(Reason::Independent),
        Ok(facts) if collective && targets.file.steps_aside(total_bytes(&facts)) => Err(Reason::Sparse),
        judged => judged,
    };
    let facts = match facts {
        Ok(facts) => facts,
        Err(Reason::Unseen) if collective || targets.file.mode() == Mode::Window => {
            return Err(targets.lost(collective, true));
        }
        Err(reason) => {
            // SAFETY: the caller's promise.
            let afterwards = unsafe { targets.make_way(call, collective, reason) }?;
            State::of(call.library).passed(reason);
            // SAFETY: the caller's promise.
            unsafe { targets.note(call, Direction::Write, collective, Err(reason)) };
            return Ok(Route::Native(afterwards));
        }
    };
    let file = &targets.file;
    let total = total_bytes(&facts);
    // SAFETY: the caller's promise.
    let prepared = contained(|| unsafe {
        call.prepare(&facts, |kind, memory_kind| {
            let parts = kind.parts_from(memory_kind).ok().flatten();
            parts.filter(|parts| parts.iter().all(|part| part.len * 2 <= file.window_bytes()))
        })
    });
    let mut writes = match &prepared {
        Ok(prepared) => prepared.iter().flat_map(|one| one.writes(call)).collect(),
        Err(_) => Vec::new(),
    };
    let numbered = || facts.iter().map(|facts| &**facts).enumerate();
    // SAFETY: the caller's promise.
    let runs = || contained(|| unsafe { call.file_runs(numbered()) }).ok();
    let mut left = if prepared.is_err() { runs() } else { None };
    let mut some_left = false;
    let taken = if file.mode() == Mode::Immediate {
        let Some((taken, left)) = file.write_now(&mut writes, prepared.is_err(), total)? else {
            file.leave_to_hdf5();
            State::of(call.library).passed(Reason::Sparse);
            // SAFETY: the caller's promise.
            unsafe { targets.note(call, Direction::Write, collective, Err(Reason::Sparse)) };
            return Ok(Route::Native(Afterwards::Nothing));
        };
        some_left = left;
        taken
    } else if collective {
        let left_bytes = match (&prepared, &left) {
            (Ok(_), _) => 0,
            (Err(_), Some(runs)) => runs.iter().map(|run| run.bytes()).sum(),
            // Who knows where: rather not while anything waits.
            (Err(_), None) => u64::from(u32::MAX) << 20,
        };
        file.write_together(&mut writes, left_bytes, total)?
    } else {
        file.write_alone(&mut writes)?
    };
    let reason = match (&prepared, taken) {
        (Err(reason), _) => *reason,
        (_, Taken::NotConverted) => Reason::Conversion,
        (Ok(prepared), Taken::All) => {
            let bytes = prepared.iter().map(Prepared::bytes).sum();
            State::of(call.library).captured(call.wrappers.len(), bytes);
            // SAFETY: the caller's promise.
            unsafe { targets.note(call, Direction::Write, collective, Ok(prepared)) };
            if some_left {
                file.meet()?;
            }
            call.note_mode(collective, facts.iter().any(|facts| facts.is_chunked()))?;
            return Ok(Route::Done);
        }
    };
    drop(writes);
    left = left.or_else(runs);
    let (fits, alone) = file.make_way(collective, left.as_deref())?;
    State::of(call.library).passed(reason);
    // SAFETY: the caller's promise.
    unsafe { targets.note(call, Direction::Write, collective, Err(reason)) };
    let afterwards = if some_left {
        Afterwards::Meet(Arc::clone(file), alone)
    } else {
        Afterwards::of_left(file, left.filter(|_| fits), collective, alone)
    };
    Ok(if collective { Route::Alone(afterwards) } else { Route::Native(afterwards) })
}

/// # Safety
/// As for [`write`], of a read.
pub unsafe fn read(call: &Call<'_>) -> Result<Route, Error> {
    let collective = call.is_collective();
    // SAFETY: the caller's promise.
    let Some(targets) = (unsafe { Targets::of(call, collective) }) else {
        return Ok(Route::Native(Afterwards::Nothing));
    };
    let facts = match targets.facts() {
        Ok(facts) => facts,
        Err(Reason::Unseen) if collective => return Err(targets.lost(collective, false)),
        Err(reason) => {
            let alone = targets.show_before(collective)?;
            // SAFETY: the caller's promise.
            unsafe { targets.pass_read(call, collective, reason) };
            return Ok(Route::Native(Afterwards::LetGo(alone)));
        }
    };
    let file = &targets.file;
    let waiting = !collective && facts.iter().any(|facts| file.may_wait_for(facts));
    if !collective && !call.selects_many() && !waiting {
        // SAFETY: the caller's promise.
        unsafe { targets.pass_read(call, collective, Reason::IndependentRead) };
        return Ok(Route::Native(Afterwards::Nothing));
    }
    // SAFETY: the caller's promise.
    let prepared = contained(|| unsafe {
        call.prepare(&facts, |kind, memory_kind| {
            let change = kind.change_to(memory_kind).ok().flatten()?;
            let len = kind.bytes() as u64;
            (len * 2 <= file.window_bytes()).then(|| vec![Part { offset: 0, len, change }])
        })
    });
    let mut reads: Vec<Read<'_>> = match &prepared {
        Ok(prepared) => prepared.iter().flat_map(|one| one.reads(call)).collect(),
        Err(_) => Vec::new(),
    };
    let (taken, some_left) = if collective {
        file.read_together(&mut reads, prepared.is_err(), total_bytes(&facts))?
    } else if let Some(taken) = file.read_alone(&mut reads)? {
        (taken, false)
    } else if prepared.is_err() {
        (Taken::NotConverted, false)
    } else {
        // SAFETY: the caller's promise.
        unsafe { targets.pass_read(call, collective, Reason::IndependentRead) };
        return Ok(Route::Native(Afterwards::Nothing));
    };
    let reason = match (&prepared, taken) {
        (Err(reason), _) => *reason,
        (_, Taken::NotConverted) => Reason::Conversion,
        (Ok(prepared), Taken::All) => {
            // SAFETY: the caller's promise.
            unsafe { targets.note(call, Direction::Read, collective, Ok(prepared)) };
            if some_left {
                file.meet()?;
            }
            call.note_mode(collective, facts.iter().any(|facts| facts.is_chunked()))?;
            return Ok(Route::Done);
        }
    };
    // SAFETY: the caller's promise.
    unsafe { targets.pass_read(call, collective, reason) };
    if !collective {
        // SAFETY: the caller's promise.
        let runs =
            contained(|| unsafe { call.file_runs(facts.iter().map(|facts| &**facts).enumerate()) }).ok();
        let concerned = waiting && runs.is_none_or(|runs| file.meets(&runs));
        let alone = if concerned { file.show_while_read()? } else { None };
        return Ok(Route::Native(Afterwards::LetGo(alone)));
    }
    Ok(Route::Alone(if some_left { Afterwards::Meet(Arc::clone(file), None) } else { Afterwards::Nothing }))
}

/// Whether a transfer list says that all ranks make the call.
pub fn is_collective(library: &Library, dxpl: hid_t) -> bool {
    let mut mode = H5FD_mpio_xfer_t_H5FD_MPIO_INDEPENDENT;
    let Some(parallel) = library.parallel.as_ref() else { return false };
    // SAFETY: HDF5 checks the identifier; a place to write to.
    unsafe { (parallel.H5Pget_dxpl_mpio)(dxpl, &mut mode) };
    mode == H5FD_mpio_xfer_t_H5FD_MPIO_COLLECTIVE
}

/// The size of all datasets of a call, which all ranks know.
fn total_bytes(facts: &[Ref<'_, Facts>]) -> u64 {
    facts.iter().map(|facts| facts.bytes).sum()
}

/// This rank's part, or why HDF5 must do it: also after a panic, since the others count on us in what follows.
fn contained<T>(prepare: impl FnOnce() -> Result<T, Reason>) -> Result<T, Reason> {
    let prepared = contain(|| {
        provoke::point("prepare");
        Ok(prepare())
    });
    prepared.unwrap_or(Err(Reason::Unknown))
}

/// The datasets of a call, all of one captured file.
struct Targets {
    file: Arc<CapturedFile>,
    datasets: Vec<Arc<Dataset>>,
    /// Which of the call's they are.
    places: Vec<usize>,
    /// Others are among them.
    mixed: bool,
    /// Why this rank does not know what the others know of one of them.
    unseen: Option<String>,
}

impl Targets {
    /// `None` if no dataset belongs to a captured file. Why others do not is counted if the call counts.
    ///
    /// # Safety
    /// The call's wrappers are live.
    unsafe fn of(call: &Call<'_>, counts: bool) -> Option<Self> {
        let (mut datasets, mut places, mut unseen) =
            (Vec::with_capacity(call.wrappers.len()), Vec::new(), None);
        for (place, wrapper) in call.wrappers.iter().enumerate() {
            // SAFETY: the caller's promise.
            let reason = match unsafe { Wrapper::role(*wrapper) } {
                Role::Dataset(dataset) => {
                    // SAFETY: the caller's promise.
                    unsafe {
                        let (object, below) = Wrapper::parts(*wrapper);
                        super::find_links(&dataset, &below, object);
                        unseen = unseen.or(super::look_again(&dataset, &below, object));
                    }
                    datasets.push(dataset);
                    places.push(place);
                    continue;
                }
                Role::Passed(reason) => Some(reason),
                // SAFETY: the caller's promise.
                Role::File(_) | Role::None => unsafe { Wrapper::parts(*wrapper) }.1.refusal(),
            };
            if let Some(reason) = reason.filter(|_| counts) {
                State::of(call.library).passed(reason);
            }
        }
        let file = Arc::clone(&datasets.first()?.file);
        let same = datasets.iter().all(|dataset| Arc::ptr_eq(&dataset.file, &file));
        // HDF5 refuses some calls that name a dataset twice: it shall judge.
        let twice =
            |(i, one): (usize, &Arc<Dataset>)| datasets[..i].iter().any(|other| one.token == other.token);
        let mixed = !same || datasets.len() < call.wrappers.len() || datasets.iter().enumerate().any(twice);
        Some(Self { file, datasets, places, mixed, unseen })
    }

    /// A call of which this rank cannot tell how the others treat it, so that nothing is right but an error.
    fn lost(&self, collective: bool, writing: bool) -> Error {
        let why = self.unseen.as_deref().unwrap_or(Reason::Unseen.text());
        if collective { self.file.abandon(writing, why) } else { Error::Message(why.to_owned()) }
    }

    /// What to go by, or why the call is left to HDF5. The same on all ranks, but for those that could not find out.
    fn facts(&self) -> Result<Vec<Ref<'_, Facts>>, Reason> {
        if self.mixed {
            return Err(Reason::Mixed);
        }
        self.datasets.iter().map(|dataset| dataset.facts()).collect()
    }

    /// Nothing can wait of any of them.
    fn are_without_waiting(&self) -> bool {
        let never = |reason: Reason| {
            let together = reason == Reason::CollectiveMetadata && self.file.collective_metadata;
            together || reason.is_without_waiting()
        };
        !self.mixed && self.datasets.iter().all(|dataset| dataset.facts().is_err_and(never))
    }

    /// Before HDF5 does a write for this reason: what waits must keep its order.
    ///
    /// # Safety
    /// The call's wrappers are live.
    unsafe fn make_way(
        &self,
        call: &Call<'_>,
        collective: bool,
        reason: Reason,
    ) -> Result<Afterwards, Error> {
        if collective {
            // In immediate mode nothing waits at all, and who steps aside shall cost no meeting.
            if reason != Reason::Sparse {
                self.settle_before(true, CapturedFile::settle_alone)?;
            }
            self.file.leave_to_hdf5();
            return Ok(Afterwards::Nothing);
        }
        // Of such datasets nothing waits.
        if self.are_without_waiting() {
            return Ok(Afterwards::Nothing);
        }
        let Some(captured) = self.captured_among_others() else {
            self.settle_before(false, CapturedFile::settle_alone)?;
            return Ok(Afterwards::Nothing);
        };
        // SAFETY: the caller's promise.
        let runs =
            contained(|| unsafe { call.file_runs(captured.iter().map(|(i, facts)| (*i, &**facts))) }).ok();
        let (fits, alone) = self.file.make_way(false, runs.as_deref())?;
        Ok(Afterwards::of_left(&self.file, runs.filter(|_| fits), false, alone))
    }

    /// The datasets of a call for several that would be captured alone, with their places in the call; `None` where what waits may
    /// also be of others, or elsewhere.
    fn captured_among_others(&self) -> Option<Vec<(usize, Ref<'_, Facts>)>> {
        let mut captured = Vec::new();
        for (dataset, place) in self.datasets.iter().zip(&self.places) {
            match dataset.facts() {
                _ if !Arc::ptr_eq(&dataset.file, &self.file) => return None,
                Ok(facts) => captured.push((*place, facts)),
                Err(reason) if reason.is_without_waiting() => {}
                Err(_) => return None,
            }
        }
        let window = self.file.mode() == Mode::Window && self.file.writable;
        (window && !captured.is_empty()).then_some(captured)
    }

    /// For the report, if one is asked for: what became of the call, dataset by dataset.
    ///
    /// # Safety
    /// The call's wrappers are live.
    unsafe fn note(
        &self,
        call: &Call<'_>,
        direction: Direction,
        collective: bool,
        fate: Result<&[Prepared], Reason>,
    ) {
        if !self.file.is_recorded() {
            return;
        }
        for (i, dataset) in self.datasets.iter().enumerate() {
            let (fate, bytes) = match fate {
                Ok(prepared) => (Fate::Captured, prepared.get(i).map_or(0, Prepared::bytes)),
                // Others may be among the datasets; then which is which is not known.
                Err(reason) if self.mixed => (Fate::Passed(reason), 0),
                // SAFETY: the caller's promise.
                Err(reason) => (Fate::Passed(reason), unsafe { call.memory_bytes(i) }.unwrap_or(0)),
            };
            let note = |record: &Record| record.call(dataset.token, direction, collective, bytes, fate);
            dataset.file.recorded(note);
        }
    }

    /// HDF5 does a read.
    ///
    /// # Safety
    /// The call's wrappers are live.
    unsafe fn pass_read(&self, call: &Call<'_>, collective: bool, reason: Reason) {
        if collective {
            State::of(call.library).passed(reason);
        }
        // SAFETY: the caller's promise.
        unsafe { self.note(call, Direction::Read, collective, Err(reason)) };
    }

    /// Before HDF5 reads the datasets: as long as the caller has the result, what this rank wrote is not undone by another.
    fn show_before(&self, collective: bool) -> Result<Option<Alone>, Error> {
        if collective || self.is_elsewhere() {
            return self.settle_before(collective, CapturedFile::show).map(|()| None);
        }
        self.file.show_while_read()
    }

    /// What the datasets hold may lie in other files, too.
    fn is_elsewhere(&self) -> bool {
        let is_virtual = |dataset: &Arc<Dataset>| dataset.facts().is_err_and(|r| r == Reason::Virtual);
        self.mixed || self.datasets.iter().any(is_virtual)
    }

    /// Before HDF5 touches the datasets: what waits must be in the file. Of all ranks if the call is collective, else of
    /// this rank, which does it by `alone`.
    fn settle_before(
        &self,
        collective: bool,
        alone: fn(&CapturedFile) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.file.refusal() == Some(Reason::Closed) {
            return Ok(());
        }
        match (collective, self.is_elsewhere()) {
            (true, true) => super::settle_all(&self.file),
            (true, false) => self.file.settle(),
            (false, true) => State::of(self.file.library).files().iter().try_for_each(|file| alone(file)),
            (false, false) => alone(&self.file),
        }
    }
}

/// This rank's part of a call, for one dataset.
struct Prepared {
    kind: Kind,
    memory: Memory,
    parts: Vec<(Part, Vec<Run>)>,
}

impl Prepared {
    fn bytes(&self) -> u64 {
        self.parts.iter().map(|(part, _)| part.len * self.memory.points()).sum()
    }

    fn conversion<'a>(&'a self, call: &Call<'_>, part: &'a Part) -> Conversion<'a> {
        Conversion { library: call.library, change: &part.change, kind: &self.kind, dxpl: call.dxpl }
    }

    fn writes<'a>(&'a self, call: &'a Call<'_>) -> impl Iterator<Item = Write<'a>> {
        self.parts.iter().map(|(part, runs)| {
            let unchanged = matches!(part.change, Change::None);
            // SAFETY: a blocking call has the program's memory until it returns.
            let lent = if unchanged { unsafe { self.memory.lend() } } else { None };
            Write { runs, bytes: Outgoing::new(&self.memory, self.conversion(call, part), part.len), lent }
        })
    }

    fn reads<'a>(&'a self, call: &'a Call<'_>) -> impl Iterator<Item = Read<'a>> {
        self.parts.iter().map(|(part, runs)| {
            let unchanged = matches!(part.change, Change::None);
            // SAFETY: a blocking call has the program's memory until it returns.
            let direct = if unchanged { unsafe { self.memory.take() } } else { None };
            Read { runs, bytes: Incoming::new(&self.memory, self.conversion(call, part)), direct }
        })
    }
}

impl Call<'_> {
    fn parallel(&self) -> Result<&'static ParallelFunctions, Error> {
        self.library.parallel.as_ref().ok_or(Error::Reported)
    }

    fn is_collective(&self) -> bool {
        is_collective(self.library, self.dxpl)
    }

    /// Whether pieces of it may be worth a look.
    fn selects_many(&self) -> bool {
        let many = |space: &hid_t| {
            *space > PLIST && space::points(self.library, *space).is_ok_and(|points| points >= MANY)
        };
        self.file_spaces.iter().any(many)
    }

    /// This rank's part, if Sago can do it. `parts` says how elements change between memory and file.
    ///
    /// # Safety
    /// The call's wrappers are live, and belong to these facts.
    unsafe fn prepare(
        &self,
        facts: &[Ref<'_, Facts>],
        parts: impl Fn(&Kind, hid_t) -> Option<Vec<Part>>,
    ) -> Result<Vec<Prepared>, Reason> {
        if self.has_transform() {
            return Err(Reason::Transform);
        }
        // SAFETY: the caller's promise.
        facts.iter().enumerate().map(|(i, facts)| unsafe { self.prepare_one(i, facts, &parts) }).collect()
    }

    /// All that a write changes in the file, whatever it comes from: if it writes all of each element. Of records it may be some
    /// members only.
    ///
    /// # Safety
    /// As for [`Call::prepare`].
    unsafe fn file_runs<'f>(
        &self,
        facts: impl Iterator<Item = (usize, &'f Facts)>,
    ) -> Result<Vec<Run>, Reason> {
        let mut all = Vec::new();
        for (i, facts) in facts {
            let space = self.file_space(i, facts)?;
            if space.is_some_and(|space| !space::is_valid(self.library, space)) {
                return Err(Reason::Selection);
            }
            // SAFETY: the caller's promise.
            if !unsafe { self.kind(i) }?.is_scalar() {
                return Err(Reason::MemoryType);
            }
            let runs = facts.runs(self.library, space, 0, facts.element_bytes);
            all.extend(runs.map_err(|_| Reason::Selection)?);
        }
        Ok(all)
    }

    /// The selection in the file, none where it is all of it.
    fn file_space(&self, i: usize, facts: &Facts) -> Result<Option<hid_t>, Reason> {
        match self.file_spaces[i] {
            ALL => Ok(None),
            BLOCK | PLIST => Err(Reason::Selection),
            space if facts.fits(self.library, space) => Ok(Some(space)),
            _ => Err(Reason::Selection),
        }
    }

    /// The datatype in the file.
    ///
    /// # Safety
    /// The call's wrappers are live.
    unsafe fn kind(&self, i: usize) -> Result<Kind, Reason> {
        // SAFETY: the caller's promise.
        unsafe {
            let (object, below) = Wrapper::parts(self.wrappers[i]);
            Facts::kind(&below, object, self.dxpl)
        }
    }

    unsafe fn prepare_one(
        &self,
        i: usize,
        facts: &Facts,
        parts: impl Fn(&Kind, hid_t) -> Option<Vec<Part>>,
    ) -> Result<Prepared, Reason> {
        let library = self.library;
        let judge = |space: hid_t| {
            let points = space::points(library, space).map_err(|_| Reason::Selection)?;
            if space::is_valid(library, space) { Ok(points) } else { Err(Reason::Selection) }
        };
        let file_space = self.file_space(i, facts)?;
        let points = file_space.map_or(Ok(facts.points()), judge)?;
        let (memory_space, memory_points) = match self.memory_spaces[i] {
            ALL => (file_space, points),
            BLOCK => (None, points),
            PLIST => return Err(Reason::Selection),
            space => (Some(space), judge(space)?),
        };
        let nowhere = self.buffers[i].is_null() && points > 0;
        if memory_points != points || points > facts.points() || nowhere {
            return Err(Reason::Selection);
        }
        // SAFETY: the caller's promise.
        let kind = unsafe { self.kind(i) }?;
        let parts =
            if points == 0 { Vec::new() } else { parts(&kind, self.kinds[i]).ok_or(Reason::MemoryType)? };
        let memory = Memory::new(library, self.buffers[i], self.kinds[i], memory_space, points);
        let memory = memory.map_err(|_| Reason::Selection)?;
        let place = |part: Part| {
            let runs =
                facts.runs(library, file_space, part.offset, part.len).map_err(|_| Reason::Selection)?;
            Ok((part, runs))
        };
        let parts = parts.into_iter().map(place).collect::<Result<_, _>>()?;
        Ok(Prepared { kind, memory, parts })
    }

    /// How many bytes a dataset's part of the call is in memory.
    ///
    /// # Safety
    /// The call's wrappers are live.
    unsafe fn memory_bytes(&self, i: usize) -> Option<u64> {
        let library = self.library;
        let points = match (self.memory_spaces[i], self.file_spaces[i]) {
            (space, _) | (ALL | BLOCK, space) if space > PLIST => space::points(library, space).ok()?,
            (ALL, ALL) => {
                // SAFETY: the caller's promise.
                let (object, below) = unsafe { Wrapper::parts(self.wrappers[i]) };
                // SAFETY: as above.
                error::quietly(library, || unsafe { Facts::points_of(&below, object, self.dxpl) })?
            }
            _ => return None,
        };
        // SAFETY: HDF5 checks the identifier.
        let element = unsafe { (library.fns.H5Tget_size)(self.kinds[i]) };
        Some(points * element as u64)
    }

    /// Asked in the quick way until there is one: HDF5 then makes a copy of it that nobody can give back.
    fn has_transform(&self) -> bool {
        let state = State::of(self.library);
        if state.knows_transforms() {
            // SAFETY: HDF5 checks the identifier, and writes nothing.
            let ask =
                || unsafe { (self.library.fns.H5Pget_data_transform)(self.dxpl, std::ptr::null_mut(), 0) };
            return error::quietly(self.library, ask) >= 0;
        }
        let mut transform: *mut c_void = std::ptr::null_mut();
        // SAFETY: the property is a pointer, and `transform` a place for it.
        let code = unsafe {
            (self.library.fns.H5Pget)(self.dxpl, c"data_transform".as_ptr(), (&raw mut transform).cast())
        };
        let found = code < 0 || !transform.is_null();
        if found {
            state.transform_found();
        }
        found
    }

    /// Goes on as `route` says; `native` calls the connector below.
    pub fn follow(&self, route: Route, native: impl FnOnce() -> herr_t) -> Result<herr_t, Error> {
        let (result, afterwards) = match route {
            Route::Done => return Ok(0),
            Route::Native(afterwards) => (Ok(native()), afterwards),
            Route::Alone(afterwards) => (self.alone(native), afterwards),
        };
        let met = afterwards.follow(matches!(result, Ok(code) if code >= 0));
        match result {
            Ok(code) if code >= 0 => met.map(|()| code),
            failed => failed,
        }
    }

    /// Runs `native` while the program's transfer list says independent. HDF5 keeps hold of the list that the connector
    /// below is given until the program's call returns, so it must be the program's own.
    fn alone(&self, native: impl FnOnce() -> herr_t) -> Result<herr_t, Error> {
        let set = self.parallel()?.H5Pset_dxpl_mpio;
        // SAFETY: the program's list, which says collective.
        let independent = unsafe { set(self.dxpl, H5FD_mpio_xfer_t_H5FD_MPIO_INDEPENDENT) } >= 0;
        let code = if independent { native() } else { -1 };
        // SAFETY: as above.
        error::preserve(self.library, || unsafe { set(self.dxpl, H5FD_mpio_xfer_t_H5FD_MPIO_COLLECTIVE) });
        Ok(code)
    }

    /// What HDF5 would leave in the transfer list for programs to look at.
    fn note_mode(&self, collective: bool, chunked: bool) -> Result<(), Error> {
        if self.dxpl == State::of(self.library).default_transfer_list() {
            return Ok(());
        }
        let (io, chunks) = match (collective, chunked) {
            (false, _) => (H5D_mpio_actual_io_mode_t_H5D_MPIO_NO_COLLECTIVE, 0),
            (true, false) => (H5D_mpio_actual_io_mode_t_H5D_MPIO_CONTIGUOUS_COLLECTIVE, 0),
            (true, true) => (
                H5D_mpio_actual_io_mode_t_H5D_MPIO_CHUNK_COLLECTIVE,
                H5D_mpio_actual_chunk_opt_mode_t_H5D_MPIO_LINK_CHUNK,
            ),
        };
        let cause = u32::from(!collective);
        self.set(c"actual_io_mode", io)?;
        self.set(c"actual_chunk_opt_mode", chunks)?;
        self.set(c"local_no_collective_cause", cause)?;
        self.set(c"global_no_collective_cause", cause)
    }

    fn set(&self, name: &CStr, value: u32) -> Result<(), Error> {
        // SAFETY: the property of that name has the size of an `int`.
        let code = unsafe { (self.library.fns.H5Pset)(self.dxpl, name.as_ptr(), (&raw const value).cast()) };
        if code >= 0 { Ok(()) } else { Err(Error::Reported) }
    }
}
