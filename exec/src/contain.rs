//! The boundary of what a rank does by itself between two meetings with the others. Invariant: nothing in between, be it an
//! error or a panic, keeps a rank from the next meeting, where it says that it has failed; so nobody waits for it for ever.

use crate::Error;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `work`; a panic becomes an error. Whoever sees it leaves what `work` was changing alone.
pub fn contain<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|payload| Err(Error::Panicked { text: text(&*payload) }))
}

fn text(payload: &(dyn Any + Send)) -> String {
    let plain = payload.downcast_ref::<&str>().copied();
    plain.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text").to_owned()
}
