//! Links: handed on, with the objects in the arguments unwrapped.

use crate::below::Wrapper;
use crate::capture;
use crate::forward::{Request, forward};
use crate::op::Op;
use sago_hdf5::Error;
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
    let is_hard = ours.op_type == H5VL_link_create_t_H5VL_LINK_CREATE_HARD;
    let mut some = wrapper;
    if is_hard && some.is_null() {
        // SAFETY: the operation tells which member of the union is there.
        some = unsafe { ours.args.hard.curr_obj };
    }
    // SAFETY: at least one of the two objects is there, and what else the callback below expects.
    unsafe {
        forward(Op::LinkCreate, some, request, |class, _| {
            let create = class.link_cls.create.ok_or(Error::NoMethod)?;
            if is_hard {
                ours.args.hard.curr_obj = Wrapper::object_of(ours.args.hard.curr_obj, class)?;
            }
            let object = Wrapper::object_of(wrapper, class)?;
            Ok(create(&mut ours, object, location, lcpl, lapl, dxpl, request))
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
            let copy = class.link_cls.copy.ok_or(Error::NoMethod)?;
            let (source, target) = (Wrapper::object_of(source, class)?, Wrapper::object_of(target, class)?);
            Ok(copy(source, source_location, target, target_location, lcpl, lapl, dxpl, request))
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
            let move_ = class.link_cls.move_.ok_or(Error::NoMethod)?;
            let (source, target) = (Wrapper::object_of(source, class)?, Wrapper::object_of(target, class)?);
            Ok(move_(source, source_location, target, target_location, lcpl, lapl, dxpl, request))
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
            let specific = class.link_cls.specific.ok_or(Error::NoMethod)?;
            if (*args).op_type != H5VL_link_specific_t_H5VL_LINK_DELETE {
                return Ok(specific(object, location, args, dxpl, request));
            }
            capture::remove_links(wrapper, (*location).obj_type, || {
                specific(object, location, args, dxpl, request)
            })
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
