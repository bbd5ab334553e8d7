//! Datasets. Writes and collective reads are captured where they can be; the rest is handed on.

use crate::below::{Role, Wrapper};
use crate::capture::{self, Afterwards, Call, Held, Origin};
use crate::forward::{Request, forward, forward_close};
use crate::op::Op;
use sago_hdf5::Error;
use sago_hdf5::sys::*;
use std::ffi::{c_char, c_void};
use std::slice;

pub const CLASS: H5VL_dataset_class_t = H5VL_dataset_class_t {
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
    lcpl: hid_t,
    kind: hid_t,
    space: hid_t,
    dcpl: hid_t,
    dapl: hid_t,
    dxpl: hid_t,
    request: Request,
) -> *mut c_void {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        let held = Held::for_creation(Wrapper::parts(wrapper).1.library, dcpl);
        let created = forward(Op::DatasetCreate, wrapper, request, |class, object| {
            Some(class.dataset_cls.create?(
                object, location, name, lcpl, kind, space, dcpl, dapl, dxpl, request,
            ))
        });
        capture::dataset_opened(created, dxpl, Origin::Created(dapl), held);
        created
    }
}

unsafe extern "C" fn open(
    wrapper: *mut c_void,
    location: *const H5VL_loc_params_t,
    name: *const c_char,
    dapl: hid_t,
    dxpl: hid_t,
    request: Request,
) -> *mut c_void {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        let held = Held::for_opening(Wrapper::parts(wrapper).1.library);
        let opened = forward(Op::DatasetOpen, wrapper, request, |class, object| {
            Some(class.dataset_cls.open?(object, location, name, dapl, dxpl, request))
        });
        capture::dataset_opened(opened, dxpl, Origin::Opened(dapl), held);
        opened
    }
}

unsafe extern "C" fn read(
    count: usize,
    wrappers: *mut *mut c_void,
    memory_types: *mut hid_t,
    memory_spaces: *mut hid_t,
    file_spaces: *mut hid_t,
    dxpl: hid_t,
    buffers: *mut *mut c_void,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes `count` wrappers of ours, at least one, and arrays of as many of the rest.
    unsafe {
        forward_many(Op::DatasetRead, count, wrappers, request, |class, objects| {
            let read = class.dataset_cls.read.ok_or(Error::NoMethod)?;
            let native =
                || read(count, objects, memory_types, memory_spaces, file_spaces, dxpl, buffers, request);
            let call = call(count, wrappers, [memory_types, memory_spaces, file_spaces], buffers, dxpl);
            let late = capture::make_way(call.library, call.wrappers, dxpl, false)?;
            late.follow(call.follow(capture::read(&call)?, native)?)
        })
    }
}

unsafe extern "C" fn write(
    count: usize,
    wrappers: *mut *mut c_void,
    memory_types: *mut hid_t,
    memory_spaces: *mut hid_t,
    file_spaces: *mut hid_t,
    dxpl: hid_t,
    buffers: *mut *const c_void,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes `count` wrappers of ours, at least one, and arrays of as many of the rest.
    unsafe {
        forward_many(Op::DatasetWrite, count, wrappers, request, |class, objects| {
            if cfg!(feature = "sabotage") {
                return Ok(0);
            }
            let write = class.dataset_cls.write.ok_or(Error::NoMethod)?;
            let native =
                || write(count, objects, memory_types, memory_spaces, file_spaces, dxpl, buffers, request);
            let call =
                call(count, wrappers, [memory_types, memory_spaces, file_spaces], buffers.cast(), dxpl);
            let late = capture::make_way(call.library, call.wrappers, dxpl, true)?;
            late.follow(call.follow(capture::write(&call)?, native)?)
        })
    }
}

/// The arrays of a read or a write.
///
/// # Safety
/// There are `count` of each, and the wrappers are live.
unsafe fn call<'c>(
    count: usize,
    wrappers: *mut *mut c_void,
    [kinds, memory_spaces, file_spaces]: [*mut hid_t; 3],
    buffers: *mut *mut c_void,
    dxpl: hid_t,
) -> Call<'c> {
    // SAFETY: the caller's promise.
    unsafe {
        let wrappers = slice::from_raw_parts(wrappers, count);
        Call {
            library: Wrapper::parts(wrappers[0]).1.library,
            wrappers,
            kinds: slice::from_raw_parts(kinds, count),
            memory_spaces: slice::from_raw_parts(memory_spaces, count),
            file_spaces: slice::from_raw_parts(file_spaces, count),
            buffers: slice::from_raw_parts(buffers, count),
            dxpl,
        }
    }
}

/// [`forward`] for several datasets in one call. They must have the same connector below, as HDF5 asks of the
/// datasets of one call that they have the same connector.
///
/// # Safety
/// `wrappers` holds `count` live wrappers, at least one; `request` is as for [`forward`].
unsafe fn forward_many(
    op: Op,
    count: usize,
    wrappers: *mut *mut c_void,
    request: Request,
    call: impl FnOnce(&H5VL_class_t, *mut *mut c_void) -> Result<herr_t, Error>,
) -> herr_t {
    // SAFETY: the caller's promise; HDF5 refuses a call with no dataset before it comes to us.
    let first = unsafe { *wrappers };
    // SAFETY: the caller's promise.
    unsafe {
        forward(op, first, request, |class, mut object| {
            if count == 1 {
                return call(class, &mut object);
            }
            let wrappers = slice::from_raw_parts(wrappers, count).iter();
            let mut objects =
                wrappers.map(|&w| Wrapper::object_of(w, class)).collect::<Result<Vec<_>, _>>()?;
            call(class, objects.as_mut_ptr())
        })
    }
}

unsafe extern "C" fn get(
    wrapper: *mut c_void,
    args: *mut H5VL_dataset_get_args_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::DatasetGet, wrapper, request, |class, object| {
            Some(class.dataset_cls.get?(object, args, dxpl, request))
        })
    }
}

unsafe extern "C" fn specific(
    wrapper: *mut c_void,
    args: *mut H5VL_dataset_specific_args_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes arguments to read, and a wrapper of ours.
    let (operation, role) = unsafe { ((*args).op_type, Wrapper::role(wrapper)) };
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::DatasetSpecific, wrapper, request, |class, object| {
            let specific = class.dataset_cls.specific.ok_or(Error::NoMethod)?;
            let Role::Dataset(dataset) = role else { return Ok(specific(object, args, dxpl, request)) };
            if operation != H5VL_dataset_specific_t_H5VL_DATASET_REFRESH {
                dataset.file.settle()?;
            }
            let code = specific(object, args, dxpl, request);
            if code >= 0 && operation == H5VL_dataset_specific_t_H5VL_DATASET_SET_EXTENT {
                let (_, below) = Wrapper::parts(wrapper);
                capture::extent_changed(&dataset, &below, object, dxpl)?;
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
        forward(Op::DatasetOptional, wrapper, request, |class, object| {
            let optional = class.dataset_cls.optional.ok_or(Error::NoMethod)?;
            let make_way =
                |writing| capture::make_way(Wrapper::parts(wrapper).1.library, &[wrapper], dxpl, writing);
            let late = capture::moves_chunks(&*args).map(make_way).transpose()?.unwrap_or_default();
            let afterwards = match Wrapper::role(wrapper) {
                Role::Dataset(dataset) => capture::before_optional(&dataset, args, dxpl)?,
                _ => Afterwards::Nothing,
            };
            let code = optional(object, args, dxpl, request);
            afterwards.follow(code >= 0)?;
            late.follow(code)
        })
    }
}

unsafe extern "C" fn close(wrapper: *mut c_void, dxpl: hid_t, request: Request) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward_close(Op::DatasetClose, wrapper, request, |class, object| {
            Some(class.dataset_cls.close?(object, dxpl, request))
        })
    }
}
