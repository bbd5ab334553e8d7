//! Handing a callback on to the connector below: the one way that all object classes use.

use crate::below::{Below, Wrapper};
use crate::capture::Held;
use crate::op::Op;
use crate::state::State;
use sago_hdf5::sys::{H5VL_class_t, herr_t};
use sago_hdf5::{Error, Failure, Library, guard};
use std::ffi::c_void;
use std::sync::Arc;

/// Where HDF5 wants an asynchronous request to be put, or null.
pub type Request = *mut *mut c_void;

/// What a callback returns: a code as it is, an object in a wrapper.
pub trait Outcome: Failure {
    fn wrapped(self, below: &Arc<Below>) -> Self;
}

impl Outcome for herr_t {
    fn wrapped(self, _: &Arc<Below>) -> Self {
        self
    }
}

impl Outcome for *mut c_void {
    fn wrapped(self, below: &Arc<Below>) -> Self {
        if self.is_null() { self } else { Wrapper::around(self, below) }
    }
}

/// How the body of a callback may end: with a value; or with nothing, where the table below lacks the callback.
pub trait Attempt<T> {
    fn result(self) -> Result<T, Error>;
}

impl<T> Attempt<T> for Option<T> {
    fn result(self) -> Result<T, Error> {
        self.ok_or(Error::NoMethod)
    }
}

impl<T> Attempt<T> for Result<T, Error> {
    fn result(self) -> Self {
        self
    }
}

/// A counted and guarded callback.
pub fn counted<T: Failure>(library: &Library, op: Op, body: impl FnOnce() -> Result<T, Error>) -> T {
    State::of(library).count(op);
    guard(library, op.name(), body)
}

/// Runs `call` with the class table of the connector below and the object inside `wrapper`.
///
/// # Safety
/// `wrapper` is a live wrapper; `request` is null or a place that holds null or gets a request of the connector
/// below.
pub unsafe fn forward<T: Outcome, R: Attempt<T>>(
    op: Op,
    wrapper: *const c_void,
    request: Request,
    call: impl FnOnce(&H5VL_class_t, *mut c_void) -> R,
) -> T {
    // SAFETY: the caller's promise.
    let (object, below) = unsafe { Wrapper::parts(wrapper) };
    counted(below.library, op, || {
        let _held = Held::for_metadata(below.library, op);
        let outcome = call(below.class(), object).result()?;
        // SAFETY: the caller's promise.
        unsafe { wrap_request(request, &below) };
        Ok(outcome.wrapped(&below))
    })
}

/// Like [`forward`], for callbacks that close the object: the wrapper goes with it.
///
/// # Safety
/// As for [`forward`], and HDF5 does not use the wrapper again after a success.
pub unsafe fn forward_close(
    op: Op,
    wrapper: *mut c_void,
    request: Request,
    call: impl FnOnce(&H5VL_class_t, *mut c_void) -> Option<herr_t>,
) -> herr_t {
    // SAFETY: the caller's promise.
    let code = unsafe { forward(op, wrapper, request, call) };
    if code >= 0 {
        // SAFETY: the object is closed, so HDF5 has no further use for the wrapper.
        unsafe { Wrapper::free(wrapper) };
    }
    code
}

/// Puts a request of the connector below, if there is one, into a wrapper.
///
/// # Safety
/// `request` is null or a place that holds null or a request of the connector below.
pub unsafe fn wrap_request(request: Request, below: &Arc<Below>) {
    if request.is_null() {
        return;
    }
    // SAFETY: not null, so by the caller's promise a place to read and write.
    let place = unsafe { &mut *request };
    *place = place.wrapped(below);
}
