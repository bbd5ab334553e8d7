//! Errors on their way to the program, as entries of HDF5's error stack.
//!
//! Invariant: what HDF5 has already put on the stack stays there. Nearly every public function of HDF5 empties the
//! stack when it is entered, so whatever we call after a failure runs inside [`preserve`].

use crate::library::Library;
use crate::sys::{H5E_DEFAULT, H5E_type_t_H5E_MAJOR, H5E_type_t_H5E_MINOR};
use std::ffi::CString;
use std::fmt;

/// Why a callback fails.
#[derive(Debug)]
pub enum Error {
    /// HDF5 failed and has said why on its error stack.
    Reported,
    /// The connector below lacks the callback.
    NoMethod,
    /// A sentence for the program's user.
    Message(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reported => write!(f, "HDF5 failed, see the error stack"),
            Self::NoMethod => write!(f, "the connector below Sago does not offer this operation"),
            Self::Message(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {}

/// Runs `work`, which may call HDF5, and leaves the error stack as it was before.
pub fn preserve<T>(library: &Library, work: impl FnOnce() -> T) -> T {
    // SAFETY: takes the current stack away and returns it as an identifier.
    let saved = unsafe { (library.fns.H5Eget_current_stack)() };
    let result = work();
    if saved >= 0 {
        // SAFETY: puts back, and thereby closes, the stack that was taken above.
        unsafe { (library.fns.H5Eset_current_stack)(saved) };
    }
    result
}

/// Like [`preserve`], for calls that may well fail: what they would print is not printed either.
pub fn quietly<T>(library: &Library, work: impl FnOnce() -> T) -> T {
    preserve(library, || {
        let (mut print, mut data) = (None, std::ptr::null_mut());
        // SAFETY: two places to write to.
        let known = unsafe { (library.fns.H5Eget_auto2)(H5E_DEFAULT, &mut print, &mut data) };
        if known < 0 {
            // The program has set a function of the old kind, which cannot be asked for: then it runs.
            return work();
        }
        // SAFETY: no function, no data.
        unsafe { (library.fns.H5Eset_auto2)(H5E_DEFAULT, None, std::ptr::null_mut()) };
        let result = work();
        // SAFETY: what was there before.
        unsafe { (library.fns.H5Eset_auto2)(H5E_DEFAULT, print, data) };
        result
    })
}

/// Whether the stack has entries: HDF5 is on its way back from a failure.
pub fn pending(library: &Library) -> bool {
    // SAFETY: a plain value. It is one of the few functions that leave the stack alone.
    unsafe { (library.fns.H5Eget_num)(H5E_DEFAULT) > 0 }
}

/// Adds an entry `text` by `callback` to the error stack.
pub fn push(library: &Library, callback: &str, text: &str) {
    let c_string = |text: &str| CString::new(text.replace('\0', " ")).unwrap_or_default();
    let (callback, text) = (c_string(&format!("sago: {callback}")), c_string(text));
    let fns = &library.fns;
    // Class and messages live as long as the entry that uses them: HDF5 takes references of its own when it is
    // pushed. So nothing has to be remembered, and cleaned up, between a close and a later open of the library.
    let (class, major, minor) = preserve(library, || {
        // SAFETY: three C strings.
        let class =
            unsafe { (fns.H5Eregister_class)(c"Sago".as_ptr(), c"sago".as_ptr(), VERSION.as_ptr().cast()) };
        // SAFETY: a class just made, and C strings.
        let major =
            unsafe { (fns.H5Ecreate_msg)(class, H5E_type_t_H5E_MAJOR, c"Sago VOL connector".as_ptr()) };
        // SAFETY: as above.
        let minor = unsafe { (fns.H5Ecreate_msg)(class, H5E_type_t_H5E_MINOR, c"Operation failed".as_ptr()) };
        (class, major, minor)
    });
    // SAFETY: the format consumes exactly the one string that follows it.
    unsafe {
        (fns.H5Epush2)(
            H5E_DEFAULT,
            c"libsago_vol".as_ptr(),
            callback.as_ptr(),
            0,
            class,
            major,
            minor,
            c"%s".as_ptr(),
            text.as_ptr(),
        )
    };
    preserve(library, || {
        // SAFETY: our own references to what was made above.
        unsafe { (fns.H5Eclose_msg)(major) };
        // SAFETY: as above.
        unsafe { (fns.H5Eclose_msg)(minor) };
        // SAFETY: as above.
        unsafe { (fns.H5Eunregister_class)(class) };
    });
}

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
