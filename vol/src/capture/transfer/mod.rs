//! Reads and writes of datasets, as the program calls them.

mod call;
mod targets;

use super::ahead::Alone;
use super::facts::Facts;
use super::file::CapturedFile;
use super::provoke;
use super::reason::Reason;
use super::stream::{Conversion, Incoming, Memory, Outgoing};
use super::work::{Read, Taken, Write};
use crate::state::State;
use sago_core::config::Mode;
use sago_core::extent::Run;
use sago_exec::contain;
use sago_hdf5::kind::{Change, Kind, Part};
use sago_hdf5::sys::*;
use sago_hdf5::{Error, Library};
use sago_report::Direction;
use std::cell::Ref;
use std::ffi::c_void;
use std::sync::Arc;
use targets::Targets;

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
    LetGo(Vec<Alone>),
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
            None => Self::LetGo(alone.into_iter().collect()),
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
        return Ok(Route::Native(Afterwards::LetGo(alone.into_iter().collect())));
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
