//! Operations on objects of any class, handed on; before some of them what waits must be in the file.

use crate::below::Wrapper;
use crate::capture::{self, Held};
use crate::forward::{Request, forward};
use crate::op::Op;
use sago_hdf5::Error;
use sago_hdf5::sys::*;
use std::ffi::{c_char, c_void};

pub const CLASS: H5VL_object_class_t = H5VL_object_class_t {
    open: Some(open),
    copy: Some(copy),
    get: Some(get),
    specific: Some(specific),
    optional: Some(optional),
};

unsafe extern "C" fn open(
    wrapper: *mut c_void,
    location: *const H5VL_loc_params_t,
    opened: *mut H5I_type_t,
    dxpl: hid_t,
    request: Request,
) -> *mut c_void {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        let held = Held::for_opening(Wrapper::parts(wrapper).1.library);
        let object = forward(Op::ObjectOpen, wrapper, request, |class, object| {
            Some(class.object_cls.open?(object, location, opened, dxpl, request))
        });
        if !object.is_null() && *opened == H5I_type_t_H5I_DATASET {
            capture::dataset_opened(object, dxpl, capture::Origin::Found, held);
        }
        object
    }
}

unsafe extern "C" fn copy(
    source: *mut c_void,
    source_location: *const H5VL_loc_params_t,
    source_name: *const c_char,
    target: *mut c_void,
    target_location: *const H5VL_loc_params_t,
    target_name: *const c_char,
    ocpypl: hid_t,
    lcpl: hid_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes two wrappers of ours, and what else the callback below expects.
    unsafe {
        forward(Op::ObjectCopy, source, request, |class, object| {
            let copy = class.object_cls.copy.ok_or(Error::NoMethod)?;
            let (_alone, late) = capture::before_copy(target, (*target_location).obj_type)?;
            let target = Wrapper::object_of(target, class)?;
            late.follow(copy(
                object,
                source_location,
                source_name,
                target,
                target_location,
                target_name,
                ocpypl,
                lcpl,
                dxpl,
                request,
            ))
        })
    }
}

unsafe extern "C" fn get(
    wrapper: *mut c_void,
    location: *const H5VL_loc_params_t,
    args: *mut H5VL_object_get_args_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::ObjectGet, wrapper, request, |class, object| {
            Some(class.object_cls.get?(object, location, args, dxpl, request))
        })
    }
}

unsafe extern "C" fn specific(
    wrapper: *mut c_void,
    location: *const H5VL_loc_params_t,
    args: *mut H5VL_object_specific_args_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::ObjectSpecific, wrapper, request, |class, object| {
            let specific = class.object_cls.specific.ok_or(Error::NoMethod)?;
            let kind = (*location).obj_type;
            let native = || specific(object, location, args, dxpl, request);
            #[allow(non_upper_case_globals)]
            match (*args).op_type {
                H5VL_object_specific_t_H5VL_OBJECT_CHANGE_REF_COUNT if (*args).args.change_rc.delta < 0 => {
                    capture::remove_links(wrapper, kind, native)
                }
                H5VL_object_specific_t_H5VL_OBJECT_FLUSH => {
                    if let Some(file) = capture::file_of(wrapper, kind) {
                        capture::settle_flushed(&file)?;
                    }
                    Ok(native())
                }
                _ => Ok(native()),
            }
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
        forward(Op::ObjectOptional, wrapper, request, |class, object| {
            Some(class.object_cls.optional?(object, location, args, dxpl, request))
        })
    }
}
