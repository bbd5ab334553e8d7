//! `libsago_vol.so`: the two functions that HDF5 looks for in a plugin. Nothing happens before HDF5 calls them.

use sago_hdf5::sys::{H5PL_type_t, H5PL_type_t_H5PL_TYPE_VOL};
use sago_hdf5::{Library, guard};
use std::arch::naked_asm;
use std::ffi::c_void;
use std::io::Write as _;
use std::ptr;

#[unsafe(no_mangle)]
extern "C" fn H5PLget_plugin_type() -> H5PL_type_t {
    H5PL_type_t_H5PL_TYPE_VOL
}

/// Passes the address that it will return to on to [`plugin_info_for`]: it lies in the libhdf5 that calls.
#[unsafe(no_mangle)]
#[unsafe(naked)]
#[cfg(target_arch = "x86_64")]
extern "C" fn H5PLget_plugin_info() -> *const c_void {
    naked_asm!("mov rdi, [rsp]", "jmp {}", sym plugin_info_for)
}

/// Passes the address that it will return to on to [`plugin_info_for`]: it lies in the libhdf5 that calls.
#[unsafe(no_mangle)]
#[unsafe(naked)]
#[cfg(target_arch = "aarch64")]
extern "C" fn H5PLget_plugin_info() -> *const c_void {
    naked_asm!("mov x0, x30", "b {}", sym plugin_info_for)
}

extern "C" fn plugin_info_for(caller: *const c_void) -> *const c_void {
    guard::quiet_panics();
    match Library::of_address(caller) {
        Ok(library) => sago_vol::class_for(library).cast(),
        Err(error) => {
            // There is no library whose error stack could say it, and what HDF5 says next explains nothing.
            let _ = writeln!(std::io::stderr(), "sago: the plugin cannot work here: {error}");
            ptr::null()
        }
    }
}
