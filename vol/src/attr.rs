//! Attributes: handed on as they are.

use crate::forward::{Request, forward, forward_close};
use crate::op::Op;
use sago_hdf5::sys::*;
use std::ffi::{c_char, c_void};

pub const CLASS: H5VL_attr_class_t = H5VL_attr_class_t {
    create: Some(create),
    open: Some(open),
    read: Some(read),
    write: Some(write),
    get: Some(get),
    specific: Some(specific),
    optional: Some(optional),
    close: Some(close),
};

unsafe extern "C" fn create(
    wrapper: *mut c_void,
    location: *const H5VL_loc_params_t,
    name: *const c_char,
    kind: hid_t,
    space: hid_t,
    acpl: hid_t,
    aapl: hid_t,
    dxpl: hid_t,
    request: Request,
) -> *mut c_void {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::AttrCreate, wrapper, request, |class, object| {
            Some(class.attr_cls.create?(object, location, name, kind, space, acpl, aapl, dxpl, request))
        })
    }
}

unsafe extern "C" fn open(
    wrapper: *mut c_void,
    location: *const H5VL_loc_params_t,
    name: *const c_char,
    aapl: hid_t,
    dxpl: hid_t,
    request: Request,
) -> *mut c_void {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::AttrOpen, wrapper, request, |class, object| {
            Some(class.attr_cls.open?(object, location, name, aapl, dxpl, request))
        })
    }
}

unsafe extern "C" fn read(
    wrapper: *mut c_void,
    memory_type: hid_t,
    buffer: *mut c_void,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::AttrRead, wrapper, request, |class, object| {
            Some(class.attr_cls.read?(object, memory_type, buffer, dxpl, request))
        })
    }
}

unsafe extern "C" fn write(
    wrapper: *mut c_void,
    memory_type: hid_t,
    buffer: *const c_void,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::AttrWrite, wrapper, request, |class, object| {
            Some(class.attr_cls.write?(object, memory_type, buffer, dxpl, request))
        })
    }
}

unsafe extern "C" fn get(
    wrapper: *mut c_void,
    args: *mut H5VL_attr_get_args_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::AttrGet, wrapper, request, |class, object| {
            Some(class.attr_cls.get?(object, args, dxpl, request))
        })
    }
}

unsafe extern "C" fn specific(
    wrapper: *mut c_void,
    location: *const H5VL_loc_params_t,
    args: *mut H5VL_attr_specific_args_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::AttrSpecific, wrapper, request, |class, object| {
            Some(class.attr_cls.specific?(object, location, args, dxpl, request))
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
        forward(Op::AttrOptional, wrapper, request, |class, object| {
            Some(class.attr_cls.optional?(object, args, dxpl, request))
        })
    }
}

unsafe extern "C" fn close(wrapper: *mut c_void, dxpl: hid_t, request: Request) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward_close(Op::AttrClose, wrapper, request, |class, object| {
            Some(class.attr_cls.close?(object, dxpl, request))
        })
    }
}
