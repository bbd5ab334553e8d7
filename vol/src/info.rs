//! The connector's options as they travel with a file access list. They are plain values, so they can be copied,
//! compared and printed without HDF5; the connector below is looked up when a file is opened.
//!
//! Options that cannot be read do not make HDF5 fail to start: they travel along, and opening a file with them fails
//! with the reason.

use crate::forward::counted;
use crate::op::Op;
use crate::state::State;
use sago_core::config::{Config, Layers, LoadError};
use sago_hdf5::sys::{H5VL_info_class_t, herr_t, hid_t};
use sago_hdf5::{Error, Library, guard};
use std::cmp::Ordering;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

pub const fn class<const SLOT: usize>() -> H5VL_info_class_t {
    H5VL_info_class_t {
        size: size_of::<Info>(),
        copy: Some(copy),
        cmp: Some(cmp),
        free: Some(free),
        to_str: Some(to_str),
        from_str: Some(from_str::<SLOT>),
    }
}

/// What HDF5 keeps in file access lists for us.
#[derive(Clone)]
pub struct Info {
    library: &'static Library,
    options: Result<Layers, LoadError>,
}

impl Info {
    /// The options in force for files opened with the list `fapl`, and where each came from.
    pub fn layers(library: &'static Library, fapl: hid_t) -> Result<Layers, Error> {
        let mut info: *mut c_void = ptr::null_mut();
        // SAFETY: `info` is a place to write to; HDF5 checks the identifier and makes a copy with `copy`.
        if unsafe { (library.fns.H5Pget_vol_info)(fapl, &mut info) } < 0 {
            return Err(Error::Reported);
        }
        if info.is_null() {
            return valid(&load(library, ""));
        }
        // SAFETY: the copy that `copy` made for us.
        valid(&unsafe { Box::from_raw(info.cast::<Self>()) }.options)
    }

    /// The options in an info that HDF5 shows us.
    ///
    /// # Safety
    /// `info` is null or a live info of ours.
    pub unsafe fn peek(library: &'static Library, info: *const c_void) -> Result<Config, Error> {
        if info.is_null() {
            return Ok(valid(&load(library, ""))?.config().clone());
        }
        // SAFETY: the caller's promise.
        Ok(valid(&unsafe { &*info.cast::<Self>() }.options)?.config().clone())
    }
}

/// The options of this process, with those of a connector's text. HDF5 makes no info where that is empty.
fn load(library: &'static Library, text: &str) -> Result<Layers, LoadError> {
    let options = Layers::load(&sago_storage::surroundings(), text)?;
    if let Some(place) = options.config().report.clone() {
        State::of(library).report_to(place);
    }
    Ok(options)
}

fn valid(options: &Result<Layers, LoadError>) -> Result<Layers, Error> {
    options.clone().map_err(|error| Error::Message(error.to_string()))
}

unsafe extern "C" fn copy(info: *const c_void) -> *mut c_void {
    if info.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: HDF5 passes an info that `from_str` or `copy` made.
    let info = unsafe { &*info.cast::<Info>() };
    counted(info.library, Op::InfoCopy, || Ok(Box::into_raw(Box::new(info.clone())).cast()))
}

unsafe extern "C" fn cmp(result: *mut c_int, a: *const c_void, b: *const c_void) -> herr_t {
    // SAFETY: HDF5 passes two infos of ours, none null.
    let (a, b) = unsafe { (&*a.cast::<Info>(), &*b.cast::<Info>()) };
    counted(a.library, Op::InfoCompare, || {
        let values = |info: &Info| info.options.as_ref().map(|o| o.config().clone()).map_err(Clone::clone);
        let order = match values(a).cmp(&values(b)) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        };
        // SAFETY: HDF5 passes a place to write to.
        unsafe { *result = order };
        Ok(0)
    })
}

unsafe extern "C" fn free(info: *mut c_void) -> herr_t {
    if !info.is_null() {
        // SAFETY: made by `from_str` or `copy`, and freed once.
        let info = unsafe { Box::from_raw(info.cast::<Info>()) };
        State::of(info.library).count(Op::InfoFree);
    }
    0
}

unsafe extern "C" fn to_str(info: *const c_void, text: *mut *mut c_char) -> herr_t {
    if info.is_null() {
        return 0;
    }
    // SAFETY: HDF5 passes an info of ours.
    let Info { library, options } = unsafe { &*info.cast::<Info>() };
    counted(library, Op::InfoToText, || {
        let options = valid(options)?.config().to_string();
        // SAFETY: plain values.
        let memory = unsafe { (library.fns.H5allocate_memory)(options.len() + 1, true) }.cast::<u8>();
        if memory.is_null() {
            return Err(Error::Reported);
        }
        // SAFETY: just allocated, cleared, and one byte longer than the text.
        unsafe { memory.copy_from_nonoverlapping(options.as_ptr(), options.len()) };
        // SAFETY: HDF5 passes a place to write to.
        unsafe { *text = memory.cast() };
        Ok(0)
    })
}

unsafe extern "C" fn from_str<const SLOT: usize>(text: *const c_char, info: *mut *mut c_void) -> herr_t {
    let Some(library) = Library::in_slot(SLOT) else { return -1 };
    State::of(library).count(Op::InfoFromText);
    guard(library, Op::InfoFromText.name(), || {
        // SAFETY: HDF5 passes a C string.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
        let options = load(library, &text);
        let ours = Box::into_raw(Box::new(Info { library, options }));
        // SAFETY: HDF5 passes a place to write to.
        unsafe { *info = ours.cast() };
        Ok(0)
    })
}
