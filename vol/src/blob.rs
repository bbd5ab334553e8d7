//! Blobs, in which variable-length data is kept: handed on as they are.

use crate::forward::forward;
use crate::op::Op;
use sago_hdf5::sys::*;
use std::ffi::c_void;
use std::ptr;

pub const CLASS: H5VL_blob_class_t =
    H5VL_blob_class_t { put: Some(put), get: Some(get), specific: Some(specific), optional: Some(optional) };

unsafe extern "C" fn put(
    wrapper: *mut c_void,
    buffer: *const c_void,
    size: usize,
    blob: *mut c_void,
    context: *mut c_void,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::BlobPut, wrapper, ptr::null_mut(), |class, object| {
            Some(class.blob_cls.put?(object, buffer, size, blob, context))
        })
    }
}

unsafe extern "C" fn get(
    wrapper: *mut c_void,
    blob: *const c_void,
    buffer: *mut c_void,
    size: usize,
    context: *mut c_void,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::BlobGet, wrapper, ptr::null_mut(), |class, object| {
            Some(class.blob_cls.get?(object, blob, buffer, size, context))
        })
    }
}

unsafe extern "C" fn specific(
    wrapper: *mut c_void,
    blob: *mut c_void,
    args: *mut H5VL_blob_specific_args_t,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::BlobSpecific, wrapper, ptr::null_mut(), |class, object| {
            Some(class.blob_cls.specific?(object, blob, args))
        })
    }
}

unsafe extern "C" fn optional(
    wrapper: *mut c_void,
    blob: *mut c_void,
    args: *mut H5VL_optional_args_t,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::BlobOptional, wrapper, ptr::null_mut(), |class, object| {
            Some(class.blob_cls.optional?(object, blob, args))
        })
    }
}
