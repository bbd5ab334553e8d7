//! What the connector knows per libhdf5: how often each callback ran, and where to report it. There is one state
//! per library and not one for the process, since a process can hold several, each with its own connector.

use crate::capture::{CapturedFile, Crew, Reason};
use crate::op::Op;
use sago_core::config::ReportTo;
use sago_hdf5::sys::hid_t;
use sago_hdf5::{Library, MAX_LIBRARIES};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub struct State {
    calls: [AtomicU64; Op::ALL.len()],
    reports: Mutex<BTreeSet<ReportTo>>,
    captured_calls: AtomicU64,
    captured_bytes: AtomicU64,
    passed: [AtomicU64; Reason::ALL.len()],
    /// The files that are open and captured.
    files: Mutex<Vec<Arc<CapturedFile>>>,
    /// How many there are, and of how many the metadata are written by all ranks together.
    open: AtomicU64,
    together: AtomicU64,
    /// Ranks that have closed their file, for their next one.
    crews: Mutex<Vec<Crew>>,
    crews_made: AtomicU64,
    /// The transfer list that programs get by default.
    default_list: AtomicI64,
    /// Whether a dataset has been captured since HDF5 was opened.
    awake: AtomicBool,
    /// Whether a data transform has been met.
    transforms: AtomicBool,
    /// Whether the MPI of the process is one that cannot be used.
    mpi_refused: AtomicBool,
    /// Whether somebody was told that a report cannot be written.
    complained: AtomicBool,
    /// Whether a file has been captured.
    greeted: AtomicBool,
    /// What has been said once.
    said: Mutex<BTreeSet<String>>,
}

/// Groups of ranks kept for their next file.
const CREWS_MAX: usize = 2;

static STATES: [State; MAX_LIBRARIES] = [const { State::new() }; MAX_LIBRARIES];

impl State {
    const fn new() -> Self {
        Self {
            calls: [const { AtomicU64::new(0) }; Op::ALL.len()],
            reports: Mutex::new(BTreeSet::new()),
            captured_calls: AtomicU64::new(0),
            captured_bytes: AtomicU64::new(0),
            passed: [const { AtomicU64::new(0) }; Reason::ALL.len()],
            files: Mutex::new(Vec::new()),
            open: AtomicU64::new(0),
            together: AtomicU64::new(0),
            crews: Mutex::new(Vec::new()),
            crews_made: AtomicU64::new(0),
            default_list: AtomicI64::new(0),
            awake: AtomicBool::new(false),
            transforms: AtomicBool::new(false),
            mpi_refused: AtomicBool::new(false),
            complained: AtomicBool::new(false),
            greeted: AtomicBool::new(false),
            said: Mutex::new(BTreeSet::new()),
        }
    }

    pub fn of(library: &Library) -> &'static Self {
        &STATES[library.slot()]
    }

    /// Whether this has not been said before.
    pub fn is_news(&self, text: &str) -> bool {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).insert(text.to_owned())
    }

    pub fn count(&self, op: Op) {
        self.calls[op as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// The callbacks that ran since the last call of this, and how often; the counts start again.
    pub fn take_calls(&self) -> Vec<(Op, u64)> {
        let taken = Op::ALL.iter().map(|&op| (op, self.calls[op as usize].swap(0, Ordering::Relaxed)));
        taken.filter(|&(_, calls)| calls > 0).collect()
    }

    /// Writes of `calls` datasets were captured.
    pub fn captured(&self, calls: usize, bytes: u64) {
        self.captured_calls.fetch_add(calls as u64, Ordering::Relaxed);
        self.captured_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// A write was left to HDF5.
    pub fn passed(&self, reason: Reason) {
        self.passed[reason as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Calls and bytes captured, and calls left to HDF5 by reason, since the last call of this.
    pub fn take_captured(&self) -> (u64, u64, Vec<(Reason, u64)>) {
        let take = |counter: &AtomicU64| counter.swap(0, Ordering::Relaxed);
        let passed = Reason::ALL.iter().map(|&reason| (reason, take(&self.passed[reason as usize])));
        let passed = passed.filter(|&(_, calls)| calls > 0).collect();
        (take(&self.captured_calls), take(&self.captured_bytes), passed)
    }

    /// HDF5 opens files with its default transfer list.
    pub fn set_default_transfer_list(&self, list: hid_t) {
        self.default_list.store(list, Ordering::Relaxed);
    }

    pub fn default_transfer_list(&self) -> hid_t {
        self.default_list.load(Ordering::Relaxed)
    }

    /// Whether this is the first dataset to be captured since HDF5 was opened.
    pub fn first_capture(&self) -> bool {
        !self.awake.swap(true, Ordering::Relaxed)
    }

    /// Whether a transfer list with a data transform has been met.
    pub fn knows_transforms(&self) -> bool {
        self.transforms.load(Ordering::Relaxed)
    }

    pub fn transform_found(&self) {
        self.transforms.store(true, Ordering::Relaxed);
    }

    /// Whether the MPI of the process was found to be of no use.
    pub fn has_refused_mpi(&self) -> bool {
        self.mpi_refused.load(Ordering::Relaxed)
    }

    pub fn refuse_mpi(&self) {
        self.mpi_refused.store(true, Ordering::Relaxed);
    }

    /// Whether any file is captured now.
    pub fn captures(&self) -> bool {
        self.open.load(Ordering::Relaxed) > 0
    }

    /// Whether metadata of any of them are written by all ranks together.
    pub fn writes_metadata_together(&self) -> bool {
        self.together.load(Ordering::Relaxed) > 0
    }

    /// In the order in which they were opened.
    pub fn files(&self) -> Vec<Arc<CapturedFile>> {
        lock(&self.files).clone()
    }

    /// The captured file that HDF5 knows by this number.
    pub fn file(&self, number: u64) -> Option<Arc<CapturedFile>> {
        lock(&self.files).iter().find(|file| file.number == number).cloned()
    }

    pub fn add_file(&self, file: &Arc<CapturedFile>) {
        let mut files = lock(&self.files);
        files.push(Arc::clone(file));
        self.count_files(&files);
    }

    pub fn remove_file(&self, number: u64) {
        let mut files = lock(&self.files);
        files.retain(|file| file.number != number);
        self.count_files(&files);
    }

    fn count_files(&self, files: &[Arc<CapturedFile>]) {
        let together = files.iter().filter(|file| file.metadata_together).count();
        self.open.store(files.len() as u64, Ordering::Relaxed);
        self.together.store(together as u64, Ordering::Relaxed);
    }

    /// The number of the next crew, as far as this process knows.
    pub fn next_crew(&self) -> u64 {
        self.crews_made.load(Ordering::Relaxed) + 1
    }

    pub fn crew_made(&self, id: u64) {
        self.crews_made.store(id, Ordering::Relaxed);
    }

    /// Ranks that were kept and are these.
    pub fn take_crew(&self, are_these: impl Fn(&Crew) -> bool) -> Option<Crew> {
        let mut crews = lock(&self.crews);
        let found = crews.iter().position(are_these)?;
        Some(crews.swap_remove(found))
    }

    /// Whether another crew can be kept. May differ between ranks.
    pub fn has_room_for_crew(&self) -> bool {
        lock(&self.crews).len() < CREWS_MAX
    }

    /// Who is kept already stays, but for the oldest where there is no room. What MPI has for that one it has until the program ends.
    pub fn keep_crew(&self, crew: Crew) {
        let mut crews = lock(&self.crews);
        crews.insert(0, crew);
        crews.truncate(CREWS_MAX);
    }

    /// HDF5 lets go of the connector.
    pub fn end(&self) {
        lock(&self.crews).clear();
        self.awake.store(false, Ordering::Relaxed);
    }

    /// Whether this is the first file to be captured in this process.
    pub fn first_file(&self) -> bool {
        !self.greeted.swap(true, Ordering::Relaxed)
    }

    /// Whether nobody has been told yet that a report cannot be written.
    pub fn first_complaint(&self) -> bool {
        !self.complained.swap(true, Ordering::Relaxed)
    }

    pub fn report_to(&self, place: ReportTo) {
        self.reports().insert(place);
    }

    pub fn take_reports(&self) -> BTreeSet<ReportTo> {
        std::mem::take(&mut self.reports())
    }

    fn reports(&self) -> MutexGuard<'_, BTreeSet<ReportTo>> {
        lock(&self.reports)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
