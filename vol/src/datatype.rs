//! Committed datatypes: handed on as they are.

use crate::forward::{Request, forward, forward_close};
use crate::op::Op;
use sago_hdf5::sys::*;
use std::ffi::{c_char, c_void};

pub const CLASS: H5VL_datatype_class_t = H5VL_datatype_class_t {
    commit: Some(commit),
    open: Some(open),
    get: Some(get),
    specific: Some(specific),
    optional: Some(optional),
    close: Some(close),
};

unsafe extern "C" fn commit(
    wrapper: *mut c_void,
    location: *const H5VL_loc_params_t,
    name: *const c_char,
    kind: hid_t,
    lcpl: hid_t,
    tcpl: hid_t,
    tapl: hid_t,
    dxpl: hid_t,
    request: Request,
) -> *mut c_void {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::DatatypeCommit, wrapper, request, |class, object| {
            Some(class.datatype_cls.commit?(object, location, name, kind, lcpl, tcpl, tapl, dxpl, request))
        })
    }
}

unsafe extern "C" fn open(
    wrapper: *mut c_void,
    location: *const H5VL_loc_params_t,
    name: *const c_char,
    tapl: hid_t,
    dxpl: hid_t,
    request: Request,
) -> *mut c_void {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::DatatypeOpen, wrapper, request, |class, object| {
            Some(class.datatype_cls.open?(object, location, name, tapl, dxpl, request))
        })
    }
}

unsafe extern "C" fn get(
    wrapper: *mut c_void,
    args: *mut H5VL_datatype_get_args_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::DatatypeGet, wrapper, request, |class, object| {
            Some(class.datatype_cls.get?(object, args, dxpl, request))
        })
    }
}

unsafe extern "C" fn specific(
    wrapper: *mut c_void,
    args: *mut H5VL_datatype_specific_args_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::DatatypeSpecific, wrapper, request, |class, object| {
            Some(class.datatype_cls.specific?(object, args, dxpl, request))
        })
    }
}

unsafe extern "C" fn optional(
    wrapper: *mut c_void,
    args: *mut H5VL_optional_args_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::DatatypeOptional, wrapper, request, |class, object| {
            Some(class.datatype_cls.optional?(object, args, dxpl, request))
        })
    }
}

unsafe extern "C" fn close(wrapper: *mut c_void, dxpl: hid_t, request: Request) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward_close(Op::DatatypeClose, wrapper, request, |class, object| {
            Some(class.datatype_cls.close?(object, dxpl, request))
        })
    }
}
