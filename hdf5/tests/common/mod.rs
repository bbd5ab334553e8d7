//! A real libhdf5 for tests: `SAGO_LIBHDF5` names it (`cargo xtask test` sets it, several with `:` between them).

#![allow(dead_code, clippy::unwrap_used)] // Test code, of which not every test uses everything.

use sago_hdf5::Library;
use sago_hdf5::sys::{H5E_DEFAULT, H5E_error2_t, herr_t, hid_t};
use std::env;
use std::ffi::{CStr, CString, c_int, c_uint, c_void};
use std::ops::Deref;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The libraries to test with, for one test at a time (HDF5 need not be thread-safe); none when the tests run
/// outside of `cargo xtask test`.
pub fn libraries() -> Libraries {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let paths = env::var("SAGO_LIBHDF5").unwrap_or_default();
    Libraries { bound: paths.split(':').filter(|path| !path.is_empty()).map(load).collect(), _turn: turn }
}

pub struct Libraries {
    bound: Vec<&'static Library>,
    _turn: MutexGuard<'static, ()>,
}

impl Deref for Libraries {
    type Target = [&'static Library];

    fn deref(&self) -> &Self::Target {
        &self.bound
    }
}

fn load(path: &str) -> &'static Library {
    let c_path = CString::new(path).unwrap();
    // SAFETY: loading a shared library that the tester named.
    let handle = unsafe { libc::dlopen(c_path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!handle.is_null(), "cannot load {path}");
    let inside = symbol(handle, c"H5open");
    Library::of_address(inside).unwrap()
}

fn symbol(handle: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: a live handle and a C string.
    let address = unsafe { libc::dlsym(handle, name.as_ptr()) };
    assert!(!address.is_null(), "no symbol {name:?}");
    address
}

/// A function of the library that the crate itself has no use for.
pub fn function<F: Copy>(library: &Library, name: &CStr) -> F {
    let path = CString::new(library.path()).unwrap();
    // SAFETY: takes a reference to what is loaded already.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) };
    let address = symbol(handle, name);
    assert_eq!(size_of::<F>(), size_of_val(&address));
    // SAFETY: the caller names the function's own type.
    unsafe { std::mem::transmute_copy(&address) }
}

/// No printing of errors.
pub fn quiet(library: &Library) {
    type SetAuto = unsafe extern "C" fn(hid_t, *const c_void, *mut c_void) -> herr_t;
    let set_auto: SetAuto = function(library, c"H5Eset_auto2");
    // SAFETY: no function to call.
    assert!(unsafe { set_auto(H5E_DEFAULT, ptr::null(), ptr::null_mut()) } >= 0);
}

/// The error stack, from what was pushed first.
pub fn stack(library: &Library) -> Vec<String> {
    unsafe extern "C" fn visit(_: c_uint, entry: *const H5E_error2_t, texts: *mut c_void) -> herr_t {
        // SAFETY: HDF5 passes an entry, with C strings in it.
        let (name, text) = unsafe { (CStr::from_ptr((*entry).func_name), CStr::from_ptr((*entry).desc)) };
        // SAFETY: the vector that was passed to the walk.
        let texts = unsafe { &mut *texts.cast::<Vec<String>>() };
        texts.push(format!("{}: {}", name.to_string_lossy(), text.to_string_lossy()));
        0
    }
    type Visit = unsafe extern "C" fn(c_uint, *const H5E_error2_t, *mut c_void) -> herr_t;
    type Walk = unsafe extern "C" fn(hid_t, c_int, Visit, *mut c_void) -> herr_t;
    let walk: Walk = function(library, c"H5Ewalk2");
    let mut texts: Vec<String> = Vec::new();
    // SAFETY: `visit` gets the vector back.
    assert!(unsafe { walk(H5E_DEFAULT, 0, visit, (&raw mut texts).cast()) } >= 0);
    texts
}
