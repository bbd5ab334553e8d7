//! Files. Opening one is where the options are read, the connector below is chosen and capture begins; flushing and
//! closing are where what waits is carried out.

use crate::below::{Below, Role, Wrapper};
use crate::capture;
use crate::forward::{Outcome, Request, counted, forward, forward_close, wrap_request};
use crate::info::Info;
use crate::op::Op;
use crate::state::State;
use sago_core::config::Layers;
use sago_hdf5::handle::PropertyList;
use sago_hdf5::sys::*;
use sago_hdf5::{Error, Library, error, guard};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::Arc;

pub const fn class<const SLOT: usize>() -> H5VL_file_class_t {
    H5VL_file_class_t {
        create: Some(create::<SLOT>),
        open: Some(open::<SLOT>),
        get: Some(get),
        specific: Some(specific::<SLOT>),
        optional: Some(optional),
        close: Some(close),
    }
}

unsafe extern "C" fn create<const SLOT: usize>(
    name: *const c_char,
    flags: c_uint,
    fcpl: hid_t,
    fapl: hid_t,
    dxpl: hid_t,
    request: Request,
) -> *mut c_void {
    // SAFETY: HDF5 passes what the callback below expects, but for the file access list.
    unsafe {
        note_default_list(SLOT, dxpl);
        open_by_fapl(SLOT, Op::FileCreate, name, H5F_ACC_RDWR, fapl, request, |class, fapl| {
            Some(class.file_cls.create?(name, flags, fcpl, fapl, dxpl, request))
        })
    }
}

unsafe extern "C" fn open<const SLOT: usize>(
    name: *const c_char,
    flags: c_uint,
    fapl: hid_t,
    dxpl: hid_t,
    request: Request,
) -> *mut c_void {
    // SAFETY: HDF5 passes what the callback below expects, but for the file access list.
    unsafe {
        note_default_list(SLOT, dxpl);
        open_by_fapl(SLOT, Op::FileOpen, name, flags, fapl, request, |class, fapl| {
            Some(class.file_cls.open?(name, flags, fapl, dxpl, request))
        })
    }
}

unsafe extern "C" fn get(
    wrapper: *mut c_void,
    args: *mut H5VL_file_get_args_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::FileGet, wrapper, request, |class, object| {
            Some(class.file_cls.get?(object, args, dxpl, request))
        })
    }
}

/// Two of the operations come without a file, by its name and access list; one opens the file anew.
unsafe extern "C" fn specific<const SLOT: usize>(
    wrapper: *mut c_void,
    args: *mut H5VL_file_specific_args_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    let Some(library) = Library::in_slot(SLOT) else { return -1 };
    // SAFETY: HDF5 passes arguments to read; a copy is changed in their place.
    let mut ours = unsafe { *args };
    if ours.op_type == H5VL_file_specific_t_H5VL_FILE_IS_ACCESSIBLE && error::pending(library) {
        // HDF5 could not open a file without us, and asks every plugin that it finds. We have no format of our own
        // to offer, so the answer is no, and the program gets the reason of that failure untouched.
        // SAFETY: the operation tells which member of the union is there; it holds a place to write to.
        unsafe { *ours.args.is_accessible.accessible = false };
        return 0;
    }
    #[allow(non_upper_case_globals)]
    // SAFETY: the operation tells which member of the union is there.
    let fapl = unsafe {
        match ours.op_type {
            H5VL_file_specific_t_H5VL_FILE_IS_ACCESSIBLE => ours.args.is_accessible.fapl_id,
            H5VL_file_specific_t_H5VL_FILE_DELETE => ours.args.del.fapl_id,
            H5VL_file_specific_t_H5VL_FILE_REOPEN => return reopen(wrapper, args, dxpl, request),
            _ => return specific_of_open_file(wrapper, args, dxpl, request),
        }
    };
    // SAFETY: HDF5 passes what the callback below expects, but for the file access list.
    unsafe {
        forward_by_fapl(SLOT, Op::FileSpecific, fapl, request, |class, fapl| {
            if ours.op_type == H5VL_file_specific_t_H5VL_FILE_DELETE {
                ours.args.del.fapl_id = fapl;
            } else {
                ours.args.is_accessible.fapl_id = fapl;
            }
            Some(class.file_cls.specific?(ptr::null_mut(), &mut ours, dxpl, request))
        })
    }
}

unsafe fn specific_of_open_file(
    wrapper: *mut c_void,
    args: *mut H5VL_file_specific_args_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::FileSpecific, wrapper, request, |class, object| {
            let specific = class.file_cls.specific.ok_or(Error::NoMethod)?;
            if (*args).op_type == H5VL_file_specific_t_H5VL_FILE_FLUSH {
                settle_before_flush(wrapper, &*args)?;
            }
            Ok(specific(object, args, dxpl, request))
        })
    }
}

/// What waits must be in the file, and in those mounted in it if they are flushed too.
///
/// # Safety
/// `wrapper` is a live wrapper, and `args` those of a flush.
unsafe fn settle_before_flush(wrapper: *mut c_void, args: &H5VL_file_specific_args_t) -> Result<(), Error> {
    // SAFETY: the operation tells which member of the union is there.
    let (kind, scope) = unsafe { (args.args.flush.obj_type, args.args.flush.scope) };
    // SAFETY: the caller's promise.
    match unsafe { capture::file_of(wrapper, kind) } {
        Some(file) if scope == H5F_scope_t_H5F_SCOPE_GLOBAL => capture::settle_flushed(&file),
        Some(file) => file.settle(),
        None => Ok(()),
    }
}

/// The file that the connector below has reopened needs a wrapper.
unsafe fn reopen(
    wrapper: *mut c_void,
    args: *mut H5VL_file_specific_args_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours.
    let (_, below) = unsafe { Wrapper::parts(wrapper) };
    // SAFETY: as for any operation on an open file.
    let code = unsafe { specific_of_open_file(wrapper, args, dxpl, request) };
    if code >= 0 {
        // SAFETY: after a success the place in the arguments holds a file of the connector below.
        unsafe {
            let place = (*args).args.reopen.file;
            *place = (*place).wrapped(&below);
            capture::file_found(*place, true);
        }
    }
    code
}

unsafe extern "C" fn optional(
    wrapper: *mut c_void,
    args: *mut H5VL_optional_args_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::FileOptional, wrapper, request, |class, object| {
            let optional = class.file_cls.optional.ok_or(Error::NoMethod)?;
            let Role::File(handle) = Wrapper::role(wrapper) else {
                return Ok(optional(object, args, dxpl, request));
            };
            let file = handle.file();
            let sets_atomicity = (*args).op_type == H5VL_NATIVE_FILE_SET_MPI_ATOMICITY as c_int;
            if sets_atomicity {
                file.settle()?;
            }
            // A rank's picture of the file has what it wrote.
            let pictured = (*args).op_type == H5VL_NATIVE_FILE_GET_FILE_IMAGE as c_int;
            if pictured {
                capture::show_beside(file)?;
            }
            let _alone = if pictured { file.show_while_read()? } else { None };
            let code = optional(object, args, dxpl, request);
            if sets_atomicity && code >= 0 {
                let set = (*args).args.cast::<H5VL_native_file_optional_args_t>();
                file.set_atomic((*set).set_mpi_atomicity.flag);
            }
            Ok(code)
        })
    }
}

unsafe extern "C" fn close(wrapper: *mut c_void, dxpl: hid_t, request: Request) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours.
    let (role, library) = unsafe { (Wrapper::role(wrapper), Wrapper::parts(wrapper).1.library) };
    let Role::File(handle) = role else {
        // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
        return unsafe { close_below(wrapper, dxpl, request) };
    };
    let (file, last) = (Arc::clone(handle.file()), handle.is_last());
    drop(handle);
    // What waits goes first. If it cannot be written, the file stays open, and closing it again gives it up.
    if guard(library, Op::FileClose.name(), || file.before_close(last).map(|()| 0)) < 0 {
        return -1;
    }
    // SAFETY: as above.
    let code = unsafe { close_below(wrapper, dxpl, request) };
    if code >= 0 {
        guard(library, Op::FileClose.name(), || {
            file.after_close();
            Ok(0)
        });
    }
    code
}

unsafe fn close_below(wrapper: *mut c_void, dxpl: hid_t, request: Request) -> herr_t {
    // SAFETY: the caller passes on what HDF5 passed to it.
    unsafe {
        forward_close(Op::FileClose, wrapper, request, |class, object| {
            Some(class.file_cls.close?(object, dxpl, request))
        })
    }
}

/// HDF5 always opens files with its default transfer list, which otherwise cannot be told from others.
fn note_default_list(slot: usize, dxpl: hid_t) {
    if let Some(library) = Library::in_slot(slot) {
        State::of(library).set_default_transfer_list(dxpl);
    }
}

/// The same as [`forward_by_fapl`] for what opens a file, which is then captured if it can be.
///
/// # Safety
/// As for [`forward_by_fapl`], and `name` is a C string.
unsafe fn open_by_fapl(
    slot: usize,
    op: Op,
    name: *const c_char,
    flags: c_uint,
    fapl: hid_t,
    request: Request,
    call: impl FnOnce(&H5VL_class_t, hid_t) -> Option<*mut c_void>,
) -> *mut c_void {
    let Some(library) = Library::in_slot(slot) else { return ptr::null_mut() };
    counted(library, op, || {
        // Ranks that copy the access list meet over its communicator: first they must know that all will.
        let options = Info::layers(library, fapl);
        // SAFETY: the caller's promise.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        let writable = flags & H5F_ACC_RDWR != 0;
        let about = (&*name, writable);
        let gathered =
            error::preserve(library, || capture::gather(library, about, fapl, options.as_ref().ok()));
        let options = options?;
        let gathered = gathered?;
        // SAFETY: the caller's promise.
        let opened = unsafe { call_below(library, &options, fapl, request, call) };
        let (wrapper, below) = match opened {
            Ok((wrapper, below)) if !wrapper.is_null() => (wrapper, below),
            failed => {
                gathered.into_iter().for_each(|gathered| gathered.part(library));
                return failed.map(|(wrapper, _)| wrapper);
            }
        };
        let request = capture::Request { below: &below, name: &name, writable, fapl };
        // SAFETY: a live wrapper, just made.
        unsafe { capture::file_opened(wrapper, &request, gathered) };
        Ok(wrapper)
    })
}

/// Runs `call` with the connector below that the options in `fapl` name, and a file access list made for it.
///
/// # Safety
/// `request` is null or a place that holds null or gets a request of the connector below.
unsafe fn forward_by_fapl<T: Outcome>(
    slot: usize,
    op: Op,
    fapl: hid_t,
    request: Request,
    call: impl FnOnce(&H5VL_class_t, hid_t) -> Option<T>,
) -> T {
    let Some(library) = Library::in_slot(slot) else { return T::FAILURE };
    counted(library, op, || {
        let options = Info::layers(library, fapl)?;
        // SAFETY: the caller's promise.
        unsafe { call_below(library, &options, fapl, request, call) }.map(|(outcome, _)| outcome)
    })
}

/// The same with these options; what came of it, wrapped, and what it was called in.
///
/// # Safety
/// As for [`forward_by_fapl`].
unsafe fn call_below<T: Outcome>(
    library: &'static Library,
    options: &Layers,
    fapl: hid_t,
    request: Request,
    call: impl FnOnce(&H5VL_class_t, hid_t) -> Option<T>,
) -> Result<(T, Arc<Below>), Error> {
    let (below, fapl): (Arc<Below>, PropertyList) = Below::open(library, options.config(), fapl)?;
    let outcome = call(below.class(), fapl.id()).ok_or(Error::NoMethod)?;
    // SAFETY: the caller's promise.
    unsafe { wrap_request(request, &below) };
    Ok((outcome.wrapped(&below), below))
}
