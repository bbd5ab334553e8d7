//! What the connector says of itself, and of the connector below.

use crate::below;
use crate::class;
use crate::forward::{counted, forward};
use crate::info::Info;
use crate::op::Op;
use sago_hdf5::Library;
use sago_hdf5::sys::*;
use std::ffi::{c_int, c_void};
use std::ptr;

pub const fn class<const SLOT: usize>() -> H5VL_introspect_class_t {
    H5VL_introspect_class_t {
        get_conn_cls: Some(get_conn_cls::<SLOT>),
        get_cap_flags: Some(get_cap_flags::<SLOT>),
        opt_query: Some(opt_query),
    }
}

/// Our own table, or that of the last connector of the stack.
unsafe extern "C" fn get_conn_cls<const SLOT: usize>(
    wrapper: *mut c_void,
    level: H5VL_get_conn_lvl_t,
    table: *mut *const H5VL_class_t,
) -> herr_t {
    if level == H5VL_get_conn_lvl_t_H5VL_GET_CONN_LVL_CURR {
        // SAFETY: HDF5 passes a place to write to.
        unsafe { *table = class::table(SLOT) };
        return 0;
    }
    // SAFETY: HDF5 passes a wrapper of ours, and a place to write to.
    unsafe {
        forward(Op::IntrospectClass, wrapper, ptr::null_mut(), |class, object| {
            Some(class.introspect_cls.get_conn_cls?(object, level, table))
        })
    }
}

/// What the connector below can do: we add nothing, and take nothing away.
unsafe extern "C" fn get_cap_flags<const SLOT: usize>(info: *const c_void, flags: *mut u64) -> herr_t {
    let Some(library) = Library::in_slot(SLOT) else { return -1 };
    counted(library, Op::IntrospectFlags, || {
        // SAFETY: HDF5 passes null or an info of ours.
        let config = unsafe { Info::peek(library, info) }?;
        let connector = below::connector(library, &config)?;
        let info = below::connector_info(&connector, &config)?;
        // SAFETY: HDF5 passes a place to write to.
        unsafe { *flags = connector.cap_flags(&info)? };
        Ok(0)
    })
}

unsafe extern "C" fn opt_query(
    wrapper: *mut c_void,
    subclass: H5VL_subclass_t,
    operation: c_int,
    flags: *mut u64,
) -> herr_t {
    // SAFETY: HDF5 passes a wrapper of ours, and a place to write to.
    unsafe {
        forward(Op::IntrospectOptional, wrapper, ptr::null_mut(), |class, object| {
            Some(class.introspect_cls.opt_query?(object, subclass, operation, flags))
        })
    }
}
