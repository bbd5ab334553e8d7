//! What the connector knows per libhdf5: how often each callback ran, and where to report it. There is one state
//! per library and not one for the process, since a process can hold several, each with its own connector.

use crate::op::Op;
use sago_core::config::ReportTo;
use sago_hdf5::{Library, MAX_LIBRARIES};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub struct State {
    calls: [AtomicU64; Op::ALL.len()],
    reports: Mutex<BTreeSet<ReportTo>>,
}

static STATES: [State; MAX_LIBRARIES] = [const { State::new() }; MAX_LIBRARIES];

impl State {
    const fn new() -> Self {
        Self { calls: [const { AtomicU64::new(0) }; Op::ALL.len()], reports: Mutex::new(BTreeSet::new()) }
    }

    pub fn of(library: &Library) -> &'static Self {
        &STATES[library.slot()]
    }

    pub fn count(&self, op: Op) {
        self.calls[op as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// The callbacks that ran since the last call of this, and how often; the counts start again.
    pub fn take_calls(&self) -> Vec<(Op, u64)> {
        let taken = Op::ALL.iter().map(|&op| (op, self.calls[op as usize].swap(0, Ordering::Relaxed)));
        taken.filter(|&(_, calls)| calls > 0).collect()
    }

    pub fn report_to(&self, place: ReportTo) {
        self.reports().insert(place);
    }

    pub fn take_reports(&self) -> BTreeSet<ReportTo> {
        std::mem::take(&mut self.reports())
    }

    fn reports(&self) -> MutexGuard<'_, BTreeSet<ReportTo>> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
