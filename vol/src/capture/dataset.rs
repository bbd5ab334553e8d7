//! What is known of an open dataset, shared by all its handles.

use super::facts::Facts;
use super::file::CapturedFile;
use super::reason::Reason;
use std::cell::{Ref, RefCell};
use std::ffi::c_void;
use std::sync::Arc;

pub struct Dataset {
    pub file: Arc<CapturedFile>,
    /// By which HDF5 tells it from others of the file.
    pub token: [u8; 16],
    facts: RefCell<Result<Facts, Reason>>,
    /// The open datasets of the connector below that it stands for.
    objects: RefCell<Vec<*mut c_void>>,
}

/// One of a dataset's handles.
pub struct OpenDataset {
    pub dataset: Arc<Dataset>,
    object: *mut c_void,
}

impl OpenDataset {
    pub fn new(dataset: Arc<Dataset>, object: *mut c_void) -> Self {
        dataset.objects.borrow_mut().push(object);
        Self { dataset, object }
    }
}

impl Drop for OpenDataset {
    fn drop(&mut self) {
        let mut objects = self.dataset.objects.borrow_mut();
        if let Some(at) = objects.iter().position(|object| *object == self.object) {
            objects.swap_remove(at);
        }
    }
}

// SAFETY: as for `CapturedFile`: HDF5 lets one thread in at a time.
unsafe impl Send for OpenDataset {}
// SAFETY: as above.
unsafe impl Sync for OpenDataset {}

// SAFETY: as for `CapturedFile`: HDF5 lets one thread in at a time.
unsafe impl Send for Dataset {}
// SAFETY: as above.
unsafe impl Sync for Dataset {}

impl Dataset {
    pub fn new(file: Arc<CapturedFile>, token: [u8; 16], facts: Result<Facts, Reason>) -> Self {
        Self { file, token, facts: RefCell::new(facts), objects: RefCell::default() }
    }

    /// What to write by, or why it is left to HDF5. The same on all ranks.
    pub fn facts(&self) -> Result<Ref<'_, Facts>, Reason> {
        if let Some(reason) = self.file.refusal() {
            return Err(reason);
        }
        Ref::filter_map(self.facts.borrow(), |facts| facts.as_ref().ok())
            .map_err(|facts| facts.as_ref().err().copied().unwrap_or(Reason::Unknown))
    }

    /// Why it is left to HDF5, if it is.
    pub fn refusal(&self) -> Option<Reason> {
        self.facts.borrow().as_ref().err().copied()
    }

    /// An open dataset of the connector below.
    pub fn object(&self) -> Option<*mut c_void> {
        self.objects.borrow().first().copied()
    }

    pub fn set_facts(&self, facts: Result<Facts, Reason>) {
        *self.facts.borrow_mut() = facts;
    }
}
