//! What is known of an open dataset, shared by all its handles.

use super::facts::Facts;
use super::file::CapturedFile;
use super::reason::Reason;
use std::cell::{Cell, Ref, RefCell};
use std::sync::Arc;

pub struct Dataset {
    pub file: Arc<CapturedFile>,
    /// By which HDF5 tells it from others of the file.
    pub token: [u8; 16],
    /// Its metadata are read by all ranks together.
    pub together: bool,
    facts: RefCell<Result<Facts, Reason>>,
    links: Cell<Links>,
}

/// Whether a dataset has links. One without loses its storage when it is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    Some,
    /// It was made without, or links have been removed since, perhaps its last one.
    Perhaps,
    /// When it was last asked. It may get one.
    None,
}

// SAFETY: as for `CapturedFile`: HDF5 lets one thread in at a time.
unsafe impl Send for Dataset {}
// SAFETY: as above.
unsafe impl Sync for Dataset {}

impl Dataset {
    pub fn new(
        file: Arc<CapturedFile>,
        token: [u8; 16],
        together: bool,
        facts: Result<Facts, Reason>,
    ) -> Self {
        Self { file, token, together, facts: RefCell::new(facts), links: Cell::new(Links::Some) }
    }

    /// What to write by, or why it is left to HDF5. The same on all ranks, but for those that could not find out.
    pub fn facts(&self) -> Result<Ref<'_, Facts>, Reason> {
        if let Some(reason) = self.file.refusal() {
            return Err(reason);
        }
        if self.links.get() == Links::None {
            return Err(Reason::Unlinked);
        }
        Ref::filter_map(self.facts.borrow(), |facts| facts.as_ref().ok())
            .map_err(|facts| facts.as_ref().err().copied().unwrap_or(Reason::Unknown))
    }

    /// This rank could not find out what the others know of it.
    pub fn is_unseen(&self) -> bool {
        matches!(*self.facts.borrow(), Err(Reason::Unseen))
    }

    pub fn links(&self) -> Links {
        self.links.get()
    }

    pub fn set_links(&self, links: Links) {
        self.links.set(links);
    }

    pub fn set_facts(&self, facts: Result<Facts, Reason>) {
        *self.facts.borrow_mut() = facts;
    }
}
