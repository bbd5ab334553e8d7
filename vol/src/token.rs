//! Object tokens: handed on as they are.

use crate::forward::forward;
use crate::op::Op;
use sago_hdf5::sys::*;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

pub const CLASS: H5VL_token_class_t =
    H5VL_token_class_t { cmp: Some(cmp), to_str: Some(to_str), from_str: Some(from_str) };

unsafe extern "C" fn cmp(
    wrapper: *mut c_void,
    a: *const H5O_token_t,
    b: *const H5O_token_t,
    result: *mut c_int,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::TokenCompare, wrapper, ptr::null_mut(), |class, object| {
            Some(class.token_cls.cmp?(object, a, b, result))
        })
    }
}

unsafe extern "C" fn to_str(
    wrapper: *mut c_void,
    kind: H5I_type_t,
    token: *const H5O_token_t,
    text: *mut *mut c_char,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::TokenToText, wrapper, ptr::null_mut(), |class, object| {
            Some(class.token_cls.to_str?(object, kind, token, text))
        })
    }
}

unsafe extern "C" fn from_str(
    wrapper: *mut c_void,
    kind: H5I_type_t,
    text: *const c_char,
    token: *mut H5O_token_t,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::TokenFromText, wrapper, ptr::null_mut(), |class, object| {
            Some(class.token_cls.from_str?(object, kind, text, token))
        })
    }
}
