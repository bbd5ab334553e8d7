//! Groups: handed on as they are, but for the file in a mount.

use crate::below::{Role, Wrapper};
use crate::capture;
use crate::forward::{Request, forward, forward_close};
use crate::op::Op;
use sago_hdf5::Error;
use sago_hdf5::sys::*;
use std::ffi::{c_char, c_void};

pub const CLASS: H5VL_group_class_t = H5VL_group_class_t {
    create: Some(create),
    open: Some(open),
    get: Some(get),
    specific: Some(specific),
    optional: Some(optional),
    close: Some(close),
};

unsafe extern "C" fn create(
    wrapper: *mut c_void,
    location: *const H5VL_loc_params_t,
    name: *const c_char,
    lcpl: hid_t,
    gcpl: hid_t,
    gapl: hid_t,
    dxpl: hid_t,
    request: Request,
) -> *mut c_void {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        let group: *mut c_void = forward(Op::GroupCreate, wrapper, request, |class, object| {
            #[cfg(feature = "provoke")]
            provoke(name);
            Some(class.group_cls.create?(object, location, name, lcpl, gcpl, gapl, dxpl, request))
        });
        if name.is_null() && !group.is_null() {
            capture::group_without_name(group);
        }
        group
    }
}

/// For the test that a panic does not cross into HDF5.
#[cfg(feature = "provoke")]
unsafe fn provoke(name: *const c_char) {
    // SAFETY: HDF5 passes null or a C string.
    if !name.is_null() && unsafe { std::ffi::CStr::from_ptr(name) } == c"sago-provoke-panic" {
        panic!("provoked");
    }
}

unsafe extern "C" fn open(
    wrapper: *mut c_void,
    location: *const H5VL_loc_params_t,
    name: *const c_char,
    gapl: hid_t,
    dxpl: hid_t,
    request: Request,
) -> *mut c_void {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::GroupOpen, wrapper, request, |class, object| {
            Some(class.group_cls.open?(object, location, name, gapl, dxpl, request))
        })
    }
}

unsafe extern "C" fn get(
    wrapper: *mut c_void,
    args: *mut H5VL_group_get_args_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::GroupGet, wrapper, request, |class, object| {
            Some(class.group_cls.get?(object, args, dxpl, request))
        })
    }
}

/// A file that is mounted comes as a wrapper of ours, inside the arguments.
unsafe extern "C" fn specific(
    wrapper: *mut c_void,
    args: *mut H5VL_group_specific_args_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes arguments to read; a copy is changed in their place.
    let mut ours = unsafe { *args };
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::GroupSpecific, wrapper, request, |class, object| {
            let specific = class.group_cls.specific.ok_or(Error::NoMethod)?;
            if ours.op_type != H5VL_group_specific_t_H5VL_GROUP_MOUNT {
                return Ok(specific(object, args, dxpl, request));
            }
            let child = ours.args.mount.child_file;
            let child = if child.is_null() { Role::None } else { Wrapper::role(child) };
            ours.args.mount.child_file = Wrapper::object_of(ours.args.mount.child_file, class)?;
            let code = specific(object, &mut ours, dxpl, request);
            if let (Role::File(child), true) = (child, code >= 0) {
                child.file().set_mounted();
            }
            Ok(code)
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
        forward(Op::GroupOptional, wrapper, request, |class, object| {
            Some(class.group_cls.optional?(object, args, dxpl, request))
        })
    }
}

unsafe extern "C" fn close(wrapper: *mut c_void, dxpl: hid_t, request: Request) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward_close(Op::GroupClose, wrapper, request, |class, object| {
            Some(class.group_cls.close?(object, dxpl, request))
        })
    }
}
