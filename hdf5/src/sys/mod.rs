//! The C types of HDF5's public headers, made by `cargo xtask bindings`. Types and constants only: functions are
//! bound at run time (see [`crate::library`]).

#[allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    unsafe_op_in_unsafe_fn,
    dead_code
)]
mod bindings;

pub use bindings::*;

/// `H5P_DEFAULT` and `H5E_DEFAULT`: macros that bindgen cannot turn into constants.
pub const H5P_DEFAULT: hid_t = 0;
pub const H5E_DEFAULT: hid_t = 0;
/// What a failing function that makes an identifier returns.
pub const H5I_INVALID_HID: hid_t = -1;
