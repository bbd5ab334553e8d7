//! Asynchronous requests. The native connector makes none; one below us may. HDF5 frees each request once, also
//! after it has been waited for, so only `free` releases the wrapper.

use crate::forward::{forward, forward_close};
use crate::op::Op;
use sago_hdf5::sys::*;
use std::ffi::c_void;
use std::ptr;

pub const CLASS: H5VL_request_class_t = H5VL_request_class_t {
    wait: Some(wait),
    notify: Some(notify),
    cancel: Some(cancel),
    specific: Some(specific),
    optional: Some(optional),
    free: Some(free),
};

unsafe extern "C" fn wait(wrapper: *mut c_void, timeout: u64, status: *mut H5VL_request_status_t) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::RequestWait, wrapper, ptr::null_mut(), |class, object| {
            Some(class.request_cls.wait?(object, timeout, status))
        })
    }
}

unsafe extern "C" fn notify(
    wrapper: *mut c_void,
    callback: H5VL_request_notify_t,
    context: *mut c_void,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::RequestNotify, wrapper, ptr::null_mut(), |class, object| {
            Some(class.request_cls.notify?(object, callback, context))
        })
    }
}

unsafe extern "C" fn cancel(wrapper: *mut c_void, status: *mut H5VL_request_status_t) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::RequestCancel, wrapper, ptr::null_mut(), |class, object| {
            Some(class.request_cls.cancel?(object, status))
        })
    }
}

unsafe extern "C" fn specific(wrapper: *mut c_void, args: *mut H5VL_request_specific_args_t) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::RequestSpecific, wrapper, ptr::null_mut(), |class, object| {
            Some(class.request_cls.specific?(object, args))
        })
    }
}

unsafe extern "C" fn optional(wrapper: *mut c_void, args: *mut H5VL_optional_args_t) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::RequestOptional, wrapper, ptr::null_mut(), |class, object| {
            Some(class.request_cls.optional?(object, args))
        })
    }
}

unsafe extern "C" fn free(wrapper: *mut c_void) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward_close(Op::RequestFree, wrapper, ptr::null_mut(), |class, object| {
            Some(class.request_cls.free?(object))
        })
    }
}
