//! Which object of which file a handle of the native connector stands for.

use super::Origin;
use crate::below::Below;
use sago_hdf5::sys::*;
use std::ffi::{CStr, c_void};
use std::ptr;

/// Which object of which file.
pub(super) struct Identity {
    pub(super) file: u64,
    pub(super) token: [u8; 16],
    pub(super) links: u32,
}

impl Identity {
    /// # Safety
    /// `object` is an open object of the native connector `below`, of this type.
    pub(super) unsafe fn of(below: &Below, object: *mut c_void, kind: H5I_type_t) -> Option<Self> {
        // SAFETY: plain numbers and pointers, for which zero is a value.
        let (mut location, mut info): (H5VL_loc_params_t, H5O_info2_t) = unsafe { std::mem::zeroed() };
        (location.obj_type, location.type_) = (kind, H5VL_loc_type_t_H5VL_OBJECT_BY_SELF);
        let mut args = H5VL_object_get_args_t {
            op_type: H5VL_object_get_t_H5VL_OBJECT_GET_INFO,
            args: H5VL_object_get_args_t__bindgen_ty_1 {
                get_info: H5VL_object_get_args_t__bindgen_ty_1__bindgen_ty_4 {
                    oinfo: &mut info,
                    fields: H5O_INFO_BASIC,
                },
            },
        };
        // SAFETY: the caller's promise, and arguments as the operation wants them.
        let code = unsafe {
            below.class().object_cls.get?(object, &location, &mut args, H5P_DEFAULT, ptr::null_mut())
        };
        let (file, token, links) = (info.fileno, info.token.__data, info.rc);
        (code >= 0).then_some(Self { file, token, links })
    }
}

/// The path of a dataset that was opened by a name, for reports: HDF5 has it at hand, unless it opened what the path starts
/// from in another way. Then it may have to search, which needs all ranks where metadata are read collectively.
///
/// # Safety
/// `object` is an open dataset of the connector below.
pub(super) unsafe fn name_of(
    below: &Below,
    object: *mut c_void,
    origin: Origin,
    together: bool,
) -> Option<String> {
    if origin == Origin::Found || together || origin.collective_metadata(below.library) {
        return None;
    }
    let (mut buffer, mut len) = (vec![0_u8; 1024], 0_usize);
    // SAFETY: plain numbers and pointers, for which zero is a value.
    let mut location: H5VL_loc_params_t = unsafe { std::mem::zeroed() };
    (location.obj_type, location.type_) = (H5I_type_t_H5I_DATASET, H5VL_loc_type_t_H5VL_OBJECT_BY_SELF);
    let mut args = H5VL_object_get_args_t {
        op_type: H5VL_object_get_t_H5VL_OBJECT_GET_NAME,
        args: H5VL_object_get_args_t__bindgen_ty_1 {
            get_name: H5VL_object_get_args_t__bindgen_ty_1__bindgen_ty_2 {
                buf_size: buffer.len(),
                buf: buffer.as_mut_ptr().cast(),
                name_len: &mut len,
            },
        },
    };
    // SAFETY: the caller's promise, and arguments as the operation wants them.
    let code =
        unsafe { below.class().object_cls.get?(object, &location, &mut args, H5P_DEFAULT, ptr::null_mut()) };
    let name = CStr::from_bytes_until_nul(&buffer).ok()?.to_string_lossy().into_owned();
    (code >= 0 && !name.is_empty()).then_some(name)
}
