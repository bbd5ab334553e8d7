//! The class table that HDF5 gets. There is one per libhdf5 in the process: callbacks that come without an object
//! (opening a file, reading options) know their library by the slot that they were made for.

use crate::forward::{Request, counted, forward};
use crate::op::Op;
use crate::report;
use crate::state::State;
use crate::{
    attr, blob, dataset, datatype, file, group, info, introspect, link, object, request, token, wrap,
};
use sago_hdf5::sys::*;
use sago_hdf5::{Library, MAX_LIBRARIES};
use std::ffi::{CStr, c_void};

/// The connector's name, as in `HDF5_VOL_CONNECTOR=sago`.
pub const NAME: &CStr = c"sago";

/// The connector's number: S-A-G-O on a telephone. Numbers below 512 are HDF5's own or for testing.
pub const VALUE: H5VL_class_value_t = 7246;

/// What the native connector can do; `get_cap_flags` answers for the connector that is really below.
const CAP_FLAGS: u64 = (H5VL_CAP_FLAG_FILL_VALUES << 1)
    - 1
    - (H5VL_CAP_FLAG_THREADSAFE | H5VL_CAP_FLAG_ASYNC | H5VL_CAP_FLAG_MAP_BASIC | H5VL_CAP_FLAG_MAP_MORE)
        as u64;

/// The class table for the connector in `library`.
pub fn class_for(library: &Library) -> *const H5VL_class_t {
    table(library.slot())
}

pub fn table(slot: usize) -> *const H5VL_class_t {
    &raw const TABLES[slot].0
}

struct Table(H5VL_class_t);

// SAFETY: constant: a name and function pointers.
unsafe impl Sync for Table {}

static TABLES: [Table; MAX_LIBRARIES] = [make::<0>(), make::<1>(), make::<2>(), make::<3>()];

const fn make<const SLOT: usize>() -> Table {
    Table(H5VL_class_t {
        version: H5VL_VERSION,
        value: VALUE,
        name: NAME.as_ptr(),
        conn_version: 1,
        cap_flags: CAP_FLAGS,
        initialize: None,
        terminate: Some(terminate::<SLOT>),
        info_cls: info::class::<SLOT>(),
        wrap_cls: wrap::CLASS,
        attr_cls: attr::CLASS,
        dataset_cls: dataset::CLASS,
        datatype_cls: datatype::CLASS,
        file_cls: file::class::<SLOT>(),
        group_cls: group::CLASS,
        link_cls: link::CLASS,
        object_cls: object::CLASS,
        introspect_cls: introspect::class::<SLOT>(),
        request_cls: request::CLASS,
        blob_cls: blob::CLASS,
        token_cls: token::CLASS,
        optional: Some(optional),
    })
}

/// HDF5 lets go of the connector: at exit, at `H5close`, or when it is unregistered. It may come back later.
unsafe extern "C" fn terminate<const SLOT: usize>() -> herr_t {
    let Some(library) = Library::in_slot(SLOT) else { return 0 };
    counted(library, Op::Terminate, || {
        report::write(library, State::of(library));
        State::of(library).end();
        Ok(0)
    })
}

unsafe extern "C" fn optional(
    wrapper: *mut c_void,
    args: *mut H5VL_optional_args_t,
    dxpl: hid_t,
    request: Request,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and what else the callback below expects.
    unsafe {
        forward(Op::Optional, wrapper, request, |class, object| {
            Some(class.optional?(object, args, dxpl, request))
        })
    }
}
