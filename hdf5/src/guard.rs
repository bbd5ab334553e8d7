//! The boundary between HDF5 and Rust. Invariant: no panic crosses it; a failure becomes the failure value of the
//! callback's return type and an entry on HDF5's error stack.

use crate::error::{self, Error};
use crate::library::Library;
use crate::sys::herr_t;
use std::any::Any;
use std::cell::RefCell;
use std::ffi::c_void;
use std::panic::{self, AssertUnwindSafe};
use std::ptr;
use std::sync::Once;

/// What a callback of this return type returns when it fails.
pub trait Failure {
    const FAILURE: Self;
}

impl Failure for herr_t {
    const FAILURE: Self = -1;
}

impl Failure for *mut c_void {
    const FAILURE: Self = ptr::null_mut();
}

impl Failure for *const c_void {
    const FAILURE: Self = ptr::null();
}

/// Runs the body of the callback that is called `callback` in messages.
pub fn guard<T: Failure>(library: &Library, callback: &str, body: impl FnOnce() -> Result<T, Error>) -> T {
    match panic::catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => value,
        Ok(Err(Error::Reported)) => T::FAILURE,
        Ok(Err(error)) => {
            error::push(library, callback, &error.to_string());
            T::FAILURE
        }
        Err(payload) => {
            error::push(library, callback, &describe(&*payload));
            T::FAILURE
        }
    }
}

/// Keeps panics off the program's standard error; their text and place go to the error stack instead. The hook is
/// that of this shared object's own copy of the standard library, so a host written in Rust keeps its own.
pub fn quiet_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        panic::set_hook(Box::new(|info| {
            let place = info.location().map(|l| format!("{}:{}", l.file(), l.line())).unwrap_or_default();
            LAST_PANIC.with(|last| last.replace(place));
        }));
    });
}

thread_local! {
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

fn describe(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no text");
    let place = LAST_PANIC.with(RefCell::take);
    format!("internal error at {place}: {text}; the operation was not done; please report this")
}
