//! Wrapping of objects that HDF5 itself opens below us, for instance in iterations and when a reference is followed.

use crate::below::{Below, Wrapper};
use crate::capture;
use crate::forward::counted;
use crate::op::Op;
use crate::state::State;
use sago_hdf5::sys::{H5I_type_t, H5I_type_t_H5I_DATASET, H5I_type_t_H5I_FILE, H5VL_wrap_class_t, herr_t};
use sago_hdf5::{Error, Library};
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

pub const CLASS: H5VL_wrap_class_t = H5VL_wrap_class_t {
    get_object: Some(get_object),
    get_wrap_ctx: Some(get_wrap_ctx),
    wrap_object: Some(wrap_object),
    unwrap_object: Some(unwrap_object),
    free_wrap_ctx: Some(free_wrap_ctx),
};

/// What is needed to wrap an object without another one at hand.
struct Context {
    below: Arc<Below>,
    /// The context of the connector below, or null where it needs none, as the native one.
    inner: *mut c_void,
}

/// The object of the last connector of the stack.
unsafe extern "C" fn get_object(wrapper: *const c_void) -> *mut c_void {
    // SAFETY: HDF5 passes one of our wrappers.
    let (object, below) = unsafe { Wrapper::parts(wrapper) };
    counted(below.library, Op::WrapGetObject, || match below.class().wrap_cls.get_object {
        // SAFETY: the object belongs to the connector below.
        Some(get_object) => Ok(unsafe { get_object(object) }),
        None => Ok(object),
    })
}

unsafe extern "C" fn get_wrap_ctx(wrapper: *const c_void, context: *mut *mut c_void) -> herr_t {
    // SAFETY: HDF5 passes one of our wrappers.
    let (object, below) = unsafe { Wrapper::parts(wrapper) };
    let library: &Library = below.library;
    counted(library, Op::WrapGetContext, || {
        let mut inner = ptr::null_mut();
        if let Some(get_wrap_ctx) = below.class().wrap_cls.get_wrap_ctx {
            // SAFETY: the object belongs to the connector below; `inner` is a place to write to.
            if unsafe { get_wrap_ctx(object, &mut inner) } < 0 {
                return Err(Error::Reported);
            }
        }
        let ours = Box::into_raw(Box::new(Context { below, inner }));
        // SAFETY: HDF5 passes a place to write to.
        unsafe { *context = ours.cast() };
        Ok(0)
    })
}

unsafe extern "C" fn wrap_object(object: *mut c_void, kind: H5I_type_t, context: *mut c_void) -> *mut c_void {
    // SAFETY: HDF5 passes a context that `get_wrap_ctx` made and `free_wrap_ctx` has not freed.
    let context = unsafe { &*context.cast::<Context>() };
    counted(context.below.library, Op::WrapObject, || {
        let object = match context.below.class().wrap_cls.wrap_object {
            // SAFETY: object and context are those of the connector below.
            Some(wrap_object) => unsafe { wrap_object(object, kind, context.inner) },
            None => object,
        };
        if object.is_null() {
            return Err(Error::Reported);
        }
        let wrapper = Wrapper::around(object, &context.below);
        #[allow(non_upper_case_globals)]
        match kind {
            // SAFETY: a wrapper just made, of an object of that type.
            H5I_type_t_H5I_FILE => unsafe { capture::file_found(wrapper, false) },
            // SAFETY: as above.
            H5I_type_t_H5I_DATASET => unsafe {
                capture::dataset_opened(
                    wrapper,
                    State::of(context.below.library).default_transfer_list(),
                    capture::Origin::Found,
                    None,
                );
            },
            _ => {}
        }
        Ok(wrapper)
    })
}

unsafe extern "C" fn unwrap_object(wrapper: *mut c_void) -> *mut c_void {
    // SAFETY: HDF5 passes one of our wrappers.
    let (object, below) = unsafe { Wrapper::parts(wrapper) };
    counted(below.library, Op::WrapUnwrapObject, || {
        let object = match below.class().wrap_cls.unwrap_object {
            // SAFETY: the object belongs to the connector below.
            Some(unwrap_object) => unsafe { unwrap_object(object) },
            None => object,
        };
        if object.is_null() {
            return Err(Error::Reported);
        }
        // SAFETY: HDF5 takes the object and drops the wrapper.
        unsafe { Wrapper::free(wrapper) };
        Ok(object)
    })
}

unsafe extern "C" fn free_wrap_ctx(context: *mut c_void) -> herr_t {
    // SAFETY: made by `get_wrap_ctx`, and freed once.
    let Context { below, inner } = *unsafe { Box::from_raw(context.cast::<Context>()) };
    counted(below.library, Op::WrapFreeContext, || {
        let free_wrap_ctx = below.class().wrap_cls.free_wrap_ctx;
        if let (false, Some(free_wrap_ctx)) = (inner.is_null(), free_wrap_ctx) {
            // SAFETY: the context of the connector below that `get_wrap_ctx` took from it.
            return Ok(unsafe { free_wrap_ctx(inner) });
        }
        Ok(0)
    })
}
