//! One call of the program: what it asks for, in terms of the file and of memory, and how it is followed.

use super::{Call, Prepared, Route, is_collective};
use crate::below::Wrapper;
use crate::capture::facts::Facts;
use crate::capture::reason::Reason;
use crate::capture::stream::Memory;
use crate::state::State;
use sago_core::extent::Run;
use sago_hdf5::kind::{Kind, Part};
use sago_hdf5::library::ParallelFunctions;
use sago_hdf5::sys::*;
use sago_hdf5::{Error, error, space};
use std::cell::Ref;
use std::ffi::{CStr, c_void};

/// Data spaces that are no identifiers.
const ALL: hid_t = 0;
const BLOCK: hid_t = 1;
const PLIST: hid_t = 2;

/// Fewer elements than this are not many.
const MANY: u64 = 64;

impl Call<'_> {
    pub(super) fn parallel(&self) -> Result<&'static ParallelFunctions, Error> {
        self.library.parallel.as_ref().ok_or(Error::Reported)
    }

    pub(super) fn is_collective(&self) -> bool {
        is_collective(self.library, self.dxpl)
    }

    /// Whether pieces of it may be worth a look.
    pub(super) fn selects_many(&self) -> bool {
        let many = |space: &hid_t| {
            *space > PLIST && space::points(self.library, *space).is_ok_and(|points| points >= MANY)
        };
        self.file_spaces.iter().any(many)
    }

    /// This rank's part, if Sago can do it. `parts` says how elements change between memory and file.
    ///
    /// # Safety
    /// The call's wrappers are live, and belong to these facts.
    pub(super) unsafe fn prepare(
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
    pub(super) unsafe fn file_runs<'f>(
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
    pub(super) fn file_space(&self, i: usize, facts: &Facts) -> Result<Option<hid_t>, Reason> {
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
    pub(super) unsafe fn kind(&self, i: usize) -> Result<Kind, Reason> {
        // SAFETY: the caller's promise.
        unsafe {
            let (object, below) = Wrapper::parts(self.wrappers[i]);
            Facts::kind(&below, object, self.dxpl)
        }
    }

    pub(super) unsafe fn prepare_one(
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
    pub(super) unsafe fn memory_bytes(&self, i: usize) -> Option<u64> {
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
    pub(super) fn has_transform(&self) -> bool {
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
    pub(super) fn alone(&self, native: impl FnOnce() -> herr_t) -> Result<herr_t, Error> {
        let set = self.parallel()?.H5Pset_dxpl_mpio;
        // SAFETY: the program's list, which says collective.
        let independent = unsafe { set(self.dxpl, H5FD_mpio_xfer_t_H5FD_MPIO_INDEPENDENT) } >= 0;
        let code = if independent { native() } else { -1 };
        // SAFETY: as above.
        error::preserve(self.library, || unsafe { set(self.dxpl, H5FD_mpio_xfer_t_H5FD_MPIO_COLLECTIVE) });
        Ok(code)
    }

    /// What HDF5 would leave in the transfer list for programs to look at.
    pub(super) fn note_mode(&self, collective: bool, chunked: bool) -> Result<(), Error> {
        if self.dxpl == State::of(self.library).default_transfer_list() {
            return Ok(());
        }
        // HDF5 says so of contiguous datasets, too.
        const LINK_CHUNK: u32 = H5D_mpio_actual_chunk_opt_mode_t_H5D_MPIO_LINK_CHUNK;
        let (io, chunks) = match (collective, chunked) {
            (false, _) => (H5D_mpio_actual_io_mode_t_H5D_MPIO_NO_COLLECTIVE, 0),
            (true, false) => (H5D_mpio_actual_io_mode_t_H5D_MPIO_CONTIGUOUS_COLLECTIVE, LINK_CHUNK),
            (true, true) => (H5D_mpio_actual_io_mode_t_H5D_MPIO_CHUNK_COLLECTIVE, LINK_CHUNK),
        };
        let cause = u32::from(!collective);
        self.set(c"actual_io_mode", io)?;
        self.set(c"actual_chunk_opt_mode", chunks)?;
        self.set(c"local_no_collective_cause", cause)?;
        self.set(c"global_no_collective_cause", cause)
    }

    pub(super) fn set(&self, name: &CStr, value: u32) -> Result<(), Error> {
        // SAFETY: the property of that name has the size of an `int`.
        let code = unsafe { (self.library.fns.H5Pset)(self.dxpl, name.as_ptr(), (&raw const value).cast()) };
        if code >= 0 { Ok(()) } else { Err(Error::Reported) }
    }
}
