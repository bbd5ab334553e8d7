//! The end of a captured file: what waits is carried out, the report is made, and the ranks are free for another file.

use super::CapturedFile;
use crate::capture::record::About;
use crate::capture::work::EVERYBODY;
use crate::state::State;
use sago_hdf5::Error;
use sago_storage::Closed;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

impl CapturedFile {
    /// Before the file is closed. What cannot be written is given up, so that a second attempt can close the file.
    /// `last`: it is closed for good.
    pub fn before_close(&self, last: bool) -> Result<(), Error> {
        if self.given_up.get() {
            return Ok(());
        }
        let result = self.settle();
        if result.is_ok() && last {
            self.report();
        }
        if result.is_err() {
            if self.work()?.broken.is_some() {
                // The others are gone; what this rank has is saved if it can be.
                drop(self.settle_alone());
                self.given_up.set(true);
            }
            self.work()?.give_up();
        }
        if result.is_ok() && self.handles.get() == 1 {
            return self.rest().inspect_err(|_| {
                // The second attempt closes it.
                self.given_up.set(self.work().is_ok_and(|work| work.broken.is_some()));
            });
        }
        result
    }

    /// Makes the report, if one is asked for. Collective; whatever happens is no failure of the program's.
    fn report(&self) {
        let (Some(record), Ok(mut work)) = (self.record.take(), self.work()) else { return };
        if work.broken.is_some() {
            return;
        }
        let about = About {
            library: self.library,
            name: &self.name,
            mode: self.mode().to_string(),
            writable: self.writable,
            ahead_bytes: work.ahead_bytes,
            reading: work.reading,
            finishing: work.finishing,
        };
        let done = catch_unwind(AssertUnwindSafe(|| record.deliver(&about, &mut work.crew)));
        let complaint = match done {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "defect of Sago".to_owned(),
        };
        if State::of(self.library).first_complaint() {
            let complaint = format!("sago: no report of {}: {complaint}\n", self.name);
            let _ = std::io::stderr().write_all(complaint.as_bytes());
        }
    }

    /// MPI may be ended before these ranks have another file, and must not find anything of ours then. And while all are here, they agree
    /// on whether they stay together for that file: when the file has been closed, one of them may have failed to. Collective.
    fn rest(&self) -> Result<(), Error> {
        let work = &mut *self.work()?;
        self.checked(work, EVERYBODY, |work| {
            work.kept = work.crew.can_be_kept(self.library)?;
            work.crew.together.as_mut().map_or(Ok(()), |session| session.rest())
        })
    }

    /// After one of its handles was closed: if it was the last, the ranks are free for another file.
    pub fn after_close(&self) {
        if self.handles.get() > 0 {
            return;
        }
        // A group whose ranks have lost each other is of no use to anybody.
        if let Some(mut work) = self.work.borrow_mut().take().filter(|work| work.broken.is_none()) {
            // Nothing holds the file any more: who deletes it gets its space back, who unmounts the disk can.
            for session in [&mut work.crew.together, &mut work.crew.alone].into_iter().flatten() {
                session.turn_to(Arc::new(Closed));
            }
            work.crew.keep_if(work.kept, self.library);
        }
    }
}
