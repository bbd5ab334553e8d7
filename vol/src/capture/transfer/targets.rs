//! The datasets that a call is for, and what must be done about others of the same file before it.

use super::{Afterwards, Call, Prepared, contained};
use crate::below::{Role, Wrapper};
use crate::capture::ahead::Alone;
use crate::capture::dataset::Dataset;
use crate::capture::facts::Facts;
use crate::capture::file::CapturedFile;
use crate::capture::reason::Reason;
use crate::capture::record::{Fate, Record};
use crate::capture::{self, links, twins};
use crate::state::State;
use sago_core::config::Mode;
use sago_hdf5::Error;
use sago_report::Direction;
use std::cell::Ref;
use std::sync::Arc;

/// The datasets of a call, all of one captured file.
pub(super) struct Targets {
    pub(super) file: Arc<CapturedFile>,
    pub(super) datasets: Vec<Arc<Dataset>>,
    /// Which of the call's they are.
    pub(super) places: Vec<usize>,
    /// Others are among them.
    pub(super) mixed: bool,
    /// Why this rank does not know what the others know of one of them.
    pub(super) unseen: Option<String>,
}

impl Targets {
    /// `None` if no dataset belongs to a captured file. Why others do not is counted if the call counts.
    ///
    /// # Safety
    /// The call's wrappers are live.
    pub(super) unsafe fn of(call: &Call<'_>, counts: bool) -> Option<Self> {
        let (mut datasets, mut places, mut unseen) =
            (Vec::with_capacity(call.wrappers.len()), Vec::new(), None);
        for (place, wrapper) in call.wrappers.iter().enumerate() {
            // SAFETY: the caller's promise.
            let reason = match unsafe { Wrapper::role(*wrapper) } {
                Role::Dataset(dataset) => {
                    // SAFETY: the caller's promise.
                    unsafe {
                        let (object, below) = Wrapper::parts(*wrapper);
                        links::find_links(&dataset, &below, object);
                        unseen = unseen.or(capture::look_again(&dataset, &below, object));
                    }
                    datasets.push(dataset);
                    places.push(place);
                    continue;
                }
                Role::Passed(reason, _) => Some(reason),
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
    pub(super) fn lost(&self, collective: bool, writing: bool) -> Error {
        let why = self.unseen.as_deref().unwrap_or(Reason::Unseen.text());
        if collective { self.file.abandon(writing, why) } else { Error::Message(why.to_owned()) }
    }

    /// What to go by, or why the call is left to HDF5. The same on all ranks, but for those that could not find out.
    pub(super) fn facts(&self) -> Result<Vec<Ref<'_, Facts>>, Reason> {
        if self.mixed {
            return Err(Reason::Mixed);
        }
        self.datasets.iter().map(|dataset| dataset.facts()).collect()
    }

    /// Nothing can wait of any of them.
    pub(super) fn are_without_waiting(&self) -> bool {
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
    pub(super) unsafe fn make_way(
        &self,
        call: &Call<'_>,
        collective: bool,
        reason: Reason,
    ) -> Result<Afterwards, Error> {
        if collective {
            // In immediate mode nothing waits at all, and who steps aside shall cost no meeting.
            if reason != Reason::Sparse {
                self.settle_before(true)?;
            }
            self.file.leave_to_hdf5();
            return Ok(Afterwards::Nothing);
        }
        // Of such datasets nothing waits.
        if self.are_without_waiting() {
            return Ok(Afterwards::Nothing);
        }
        let Some(captured) = self.captured_among_others() else {
            self.settle_before(false)?;
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
    pub(super) fn captured_among_others(&self) -> Option<Vec<(usize, Ref<'_, Facts>)>> {
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
    pub(super) unsafe fn note(
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
    pub(super) unsafe fn pass_read(&self, call: &Call<'_>, collective: bool, reason: Reason) {
        if collective {
            State::of(call.library).passed(reason);
        }
        // SAFETY: the caller's promise.
        unsafe { self.note(call, Direction::Read, collective, Err(reason)) };
    }

    /// Before HDF5 reads the datasets: as long as the caller has the result, what this rank wrote is not undone by another.
    pub(super) fn show_before(&self, collective: bool) -> Result<Vec<Alone>, Error> {
        if collective {
            return self.settle_before(true).map(|()| Vec::new());
        }
        if self.is_elsewhere() {
            return twins::hold(State::of(self.file.library).files());
        }
        Ok(self.file.show_while_read()?.into_iter().collect())
    }

    /// What the datasets hold may lie in other files, too.
    pub(super) fn is_elsewhere(&self) -> bool {
        let is_virtual = |dataset: &Arc<Dataset>| dataset.facts().is_err_and(|r| r == Reason::Virtual);
        self.mixed || self.datasets.iter().any(is_virtual)
    }

    /// Before HDF5 touches the datasets: what waits must be in the file. Of all ranks if the call is collective, else of
    /// this rank.
    pub(super) fn settle_before(&self, collective: bool) -> Result<(), Error> {
        if self.file.refusal() == Some(Reason::Closed) {
            return Ok(());
        }
        match (collective, self.is_elsewhere()) {
            (true, true) => capture::settle_all(&self.file),
            (true, false) => self.file.settle(),
            (false, true) => {
                State::of(self.file.library).files().iter().try_for_each(|file| file.settle_alone())
            }
            (false, false) => self.file.settle_alone(),
        }
    }
}
