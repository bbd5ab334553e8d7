//! Links: handed on, with the objects in the arguments unwrapped.

use crate::below::Wrapper;
use crate::forward::{Request, forward};
use crate::op::Op;
use sago_hdf5::sys::*;
use std::ffi::c_void;

pub const CLASS: H5VL_link_class_t = H5VL_link_class_t {
    create: Some(create),
    copy: Some(copy),
    move_: Some(move_),
    get: Some(get),
    specific: Some(specific),
    optional: Some(optional),
};

/// The object that a hard link is to lead to comes as a wrapper of ours, inside the arguments.
unsafe extern "C" fn create(
    args: *mut H5VL_link_create_args_t,
    wrapper: *mut c_void,
    location: *const H5VL_loc_params_t,
    lcpl: hid_t,
    lapl: hid_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes arguments to read.
    let mut ours = unsafe { *args };
    let mut some = wrapper;
    if ours.op_type == H5VL_link_create_t_H5VL_LINK_CREATE_HARD {
        // SAFETY: the operation tells which member of the union is there.
        let hard = unsafe { &mut ours.args.hard };
        if some.is_null() {
            some = hard.curr_obj;
        }
        // SAFETY: null or a wrapper of ours.
        hard.curr_obj = unsafe { Wrapper::object(hard.curr_obj) };
    }
    // SAFETY: at least one of the two objects is there, and what else the callback below expects.
    unsafe {
        forward(Op::LinkCreate, some, request, |class, _| {
            let create = class.link_cls.create?;
            Some(create(&mut ours, Wrapper::object(wrapper), location, lcpl, lapl, dxpl, request))
        })
    }
}

unsafe extern "C" fn copy(
    source: *mut c_void,
    source_location: *const H5VL_loc_params_t,
    target: *mut c_void,
    target_location: *const H5VL_loc_params_t,
    lcpl: hid_t,
    lapl: hid_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    let some = if source.is_null() { target } else { source };
    // SAFETY: HDF5 passes two wrappers of ours, one of which may be null, and what else the callback below expects.
    unsafe {
        forward(Op::LinkCopy, some, request, |class, _| {
            let copy = class.link_cls.copy?;
            let (source, target) = (Wrapper::object(source), Wrapper::object(target));
            Some(copy(source, source_location, target, target_location, lcpl, lapl, dxpl, request))
        })
    }
}

unsafe extern "C" fn move_(
    source: *mut c_void,
    source_location: *const H5VL_loc_params_t,
    target: *mut c_void,
    target_location: *const H5VL_loc_params_t,
    lcpl: hid_t,
    lapl: hid_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    let some = if source.is_null() { target } else { source };
    // SAFETY: HDF5 passes two wrappers of ours, one of which may be null, and what else the callback below expects.
    unsafe {
        forward(Op::LinkMove, some, request, |class, _| {
            let move_ = class.link_cls.move_?;
            let (source, target) = (Wrapper::object(source), Wrapper::object(target));
            Some(move_(source, source_location, target, target_location, lcpl, lapl, dxpl, request))
        })
    }
}

unsafe extern "C" fn get(
    wrapper: *mut c_void,
    location: *const H5VL_loc_params_t,
    args: *mut H5VL_link_get_args_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::LinkGet, wrapper, request, |class, object| {
            Some(class.link_cls.get?(object, location, args, dxpl, request))
        })
    }
}

unsafe extern "C" fn specific(
    wrapper: *mut c_void,
    location: *const H5VL_loc_params_t,
    args: *mut H5VL_link_specific_args_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::LinkSpecific, wrapper, request, |class, object| {
            Some(class.link_cls.specific?(object, location, args, dxpl, request))
        })
    }
}

unsafe extern "C" fn optional(
    wrapper: *mut c_void,
    location: *const H5VL_loc_params_t,
    args: *mut H5VL_optional_args_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::LinkOptional, wrapper, request, |class, object| {
            Some(class.link_cls.optional?(object, location, args, dxpl, request))
        })
    }
}
