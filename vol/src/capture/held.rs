//! While HDF5 may write by all ranks together, nothing goes to the file ahead of commits: MPI libraries read what lies between the bytes
//! of such a write before it, and write it back afterwards, so that bytes of ours that came there in between would be lost.
//! HDF5 does that where it fills the chunks of a new dataset, and where metadata are written collectively.
//!
//! Invariant: every rank holds its own thread before it calls HDF5, whose ranks meet before they write. Who is done may go on before the
//! others are only if HDF5's ranks, or ours, have met after it; else what has not been begun is left to the commit.

use super::dataset::Dataset;
use super::file::CapturedFile;
use crate::op::Op;
use crate::state::State;
use sago_hdf5::Library;
use sago_hdf5::sys::{H5D_layout_t_H5D_CHUNKED, hid_t};
use std::sync::Arc;

/// As long as it is there, nothing of these files is begun by this rank's threads.
pub struct Held(Vec<Arc<CapturedFile>>);

impl Held {
    fn of(files: impl Iterator<Item = Arc<CapturedFile>>) -> Self {
        Self(files.inspect(|file| file.pause_ahead()).collect())
    }

    /// Before a dataset is created that may have chunks to be filled. A name may lead into any file.
    pub fn for_creation(library: &'static Library, dcpl: hid_t) -> Option<Self> {
        // SAFETY: HDF5 checks the identifier.
        let chunked = || unsafe { (library.fns.H5Pget_layout)(dcpl) } == H5D_layout_t_H5D_CHUNKED;
        (State::of(library).captures() && chunked()).then(|| Self::of(files(library)))
    }

    /// Before a dataset is opened: if it has no space in the file yet, HDF5 gives it some, and fills it.
    pub fn for_opening(library: &'static Library) -> Option<Self> {
        State::of(library).captures().then(|| Self::of(files(library)))
    }

    /// Around a call in which HDF5 may write metadata, of files where it does so by all ranks together.
    pub fn for_metadata(library: &'static Library, op: Op) -> Option<Self> {
        let some = State::of(library).writes_metadata_together() && changes_metadata(op);
        some.then(|| Self::of(files(library).filter(|file| file.metadata_together)))
    }

    /// HDF5 has created or opened a dataset: unless all ranks are known to be done with filling it, what has not been begun is left
    /// to the commit. `done` says so.
    pub fn filled(self, dataset: Option<&Dataset>, done: bool) {
        let concerned =
            |file: &CapturedFile| dataset.is_none_or(|dataset| dataset.file.number == file.number);
        if !done {
            self.0.iter().filter(|file| concerned(file)).for_each(|file| file.leave_rest());
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.iter().for_each(|file| file.resume_ahead());
    }
}

/// Whether HDF5 may write metadata in such a call. Not if it only looks; nor in those that carry out what waits, after which nothing is left
/// to be held.
fn changes_metadata(op: Op) -> bool {
    match op {
        Op::DatasetRead | Op::DatasetWrite | Op::AttrRead => false,
        Op::FileCreate | Op::FileOpen | Op::FileSpecific | Op::FileClose => false,
        _ => {
            let class = op.name().split(' ').next().unwrap_or("");
            let looks = op.name().ends_with(" get");
            !looks && matches!(class, "attr" | "dataset" | "datatype" | "file" | "group" | "link" | "object")
        }
    }
}

fn files(library: &'static Library) -> impl Iterator<Item = Arc<CapturedFile>> {
    State::of(library).files().into_iter()
}
