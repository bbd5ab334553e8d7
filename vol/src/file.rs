//! Files. Opening one is where the options are read and the connector below is chosen; the rest is handed on.

use crate::below::{Below, Wrapper};
use crate::forward::{Outcome, Request, counted, forward, forward_close, wrap_request};
use crate::info::Info;
use crate::op::Op;
use sago_hdf5::handle::PropertyList;
use sago_hdf5::sys::*;
use sago_hdf5::{Error, Library, error};
use std::ffi::{c_char, c_uint, c_void};
use std::ptr;
use std::sync::Arc;

pub const fn class<const SLOT: usize>() -> H5VL_file_class_t {
    H5VL_file_class_t {
        create: Some(create::<SLOT>),
        open: Some(open::<SLOT>),
        get: Some(get),
        specific: Some(specific::<SLOT>),
        optional: Some(optional),
        close: Some(close),
    }
}

unsafe extern "C" fn create<const SLOT: usize>(
    name: *const c_char,
    flags: c_uint,
    fcpl: hid_t,
    fapl: hid_t,
    dxpl: hid_t,
    request: Request,
) -> *mut c_void {
    // SAFETY: HDF5 passes what the callback below expects, but for the file access list.
    unsafe {
        forward_by_fapl(SLOT, Op::FileCreate, fapl, request, |class, fapl| {
            Some(class.file_cls.create?(name, flags, fcpl, fapl, dxpl, request))
        })
    }
}

unsafe extern "C" fn open<const SLOT: usize>(
    name: *const c_char,
    flags: c_uint,
    fapl: hid_t,
    dxpl: hid_t,
    request: Request,
) -> *mut c_void {
    // SAFETY: HDF5 passes what the callback below expects, but for the file access list.
    unsafe {
        forward_by_fapl(SLOT, Op::FileOpen, fapl, request, |class, fapl| {
            Some(class.file_cls.open?(name, flags, fapl, dxpl, request))
        })
    }
}

unsafe extern "C" fn get(
    wrapper: *mut c_void,
    args: *mut H5VL_file_get_args_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::FileGet, wrapper, request, |class, object| {
            Some(class.file_cls.get?(object, args, dxpl, request))
        })
    }
}

/// Two of the operations come without a file, by its name and access list; one opens the file anew.
unsafe extern "C" fn specific<const SLOT: usize>(
    wrapper: *mut c_void,
    args: *mut H5VL_file_specific_args_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    let Some(library) = Library::in_slot(SLOT) else { return -1 };
    // SAFETY: HDF5 passes arguments to read; a copy is changed in their place.
    let mut ours = unsafe { *args };
    if ours.op_type == H5VL_file_specific_t_H5VL_FILE_IS_ACCESSIBLE && error::pending(library) {
        // HDF5 could not open a file without us, and asks every plugin that it finds. We have no format of our own
        // to offer, so the answer is no, and the program gets the reason of that failure untouched.
        // SAFETY: the operation tells which member of the union is there; it holds a place to write to.
        unsafe { *ours.args.is_accessible.accessible = false };
        return 0;
    }
    #[allow(non_upper_case_globals)]
    // SAFETY: the operation tells which member of the union is there.
    let fapl = unsafe {
        match ours.op_type {
            H5VL_file_specific_t_H5VL_FILE_IS_ACCESSIBLE => ours.args.is_accessible.fapl_id,
            H5VL_file_specific_t_H5VL_FILE_DELETE => ours.args.del.fapl_id,
            H5VL_file_specific_t_H5VL_FILE_REOPEN => return reopen(wrapper, args, dxpl, request),
            _ => return specific_of_open_file(wrapper, args, dxpl, request),
        }
    };
    // SAFETY: HDF5 passes what the callback below expects, but for the file access list.
    unsafe {
        forward_by_fapl(SLOT, Op::FileSpecific, fapl, request, |class, fapl| {
            if ours.op_type == H5VL_file_specific_t_H5VL_FILE_DELETE {
                ours.args.del.fapl_id = fapl;
            } else {
                ours.args.is_accessible.fapl_id = fapl;
            }
            Some(class.file_cls.specific?(ptr::null_mut(), &mut ours, dxpl, request))
        })
    }
}

unsafe fn specific_of_open_file(
    wrapper: *mut c_void,
    args: *mut H5VL_file_specific_args_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::FileSpecific, wrapper, request, |class, object| {
            Some(class.file_cls.specific?(object, args, dxpl, request))
        })
    }
}

/// The file that the connector below has reopened needs a wrapper.
unsafe fn reopen(
    wrapper: *mut c_void,
    args: *mut H5VL_file_specific_args_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours.
    let (_, below) = unsafe { Wrapper::parts(wrapper) };
    // SAFETY: as for any operation on an open file.
    let code = unsafe { specific_of_open_file(wrapper, args, dxpl, request) };
    if code >= 0 {
        // SAFETY: after a success the place in the arguments holds a file of the connector below.
        unsafe {
            let place = (*args).args.reopen.file;
            *place = (*place).wrapped(&below);
        }
    }
    code
}

unsafe extern "C" fn optional(
    wrapper: *mut c_void,
    args: *mut H5VL_optional_args_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::FileOptional, wrapper, request, |class, object| {
            Some(class.file_cls.optional?(object, args, dxpl, request))
        })
    }
}

unsafe extern "C" fn close(wrapper: *mut c_void, dxpl: hid_t, request: Request) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward_close(Op::FileClose, wrapper, request, |class, object| {
            Some(class.file_cls.close?(object, dxpl, request))
        })
    }
}

/// Runs `call` with the connector below that the options in `fapl` name, and a file access list made for it.
///
/// # Safety
/// `request` is null or a place that holds null or gets a request of the connector below.
unsafe fn forward_by_fapl<T: Outcome>(
    slot: usize,
    op: Op,
    fapl: hid_t,
    request: Request,
    call: impl FnOnce(&H5VL_class_t, hid_t) -> Option<T>,
) -> T {
    let Some(library) = Library::in_slot(slot) else { return T::FAILURE };
    counted(library, op, || {
        let (below, fapl): (Arc<Below>, PropertyList) =
            Below::open(library, &Info::config(library, fapl)?, fapl)?;
        let outcome = call(below.class(), fapl.id()).ok_or(Error::NoMethod)?;
        // SAFETY: the caller's promise.
        unsafe { wrap_request(request, &below) };
        Ok(outcome.wrapped(&below))
    })
}
