//! The libhdf5 that called us, bound at run time.
//!
//! Invariants: a [`Library`] is made from the address of a caller inside it, never from a name, since a process can
//! hold two of them; it is never unloaded while we hold it; it has all functions, or it is refused as a whole.
//! Only function symbols are used: executables copy-relocate data symbols, which then read as uninitialised.

use crate::sys::*;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::fmt;
use std::ptr;
use std::sync::{Mutex, OnceLock, PoisonError};

/// How many different libhdf5 one process may hold. Two is a real case (wheels that bring their own).
pub const MAX_LIBRARIES: usize = 4;

/// A libhdf5 in this process and the functions of it that Sago calls.
#[derive(Debug)]
pub struct Library {
    slot: usize,
    handle: usize,
    path: String,
    version: (u32, u32, u32),
    pub fns: Functions,
    /// There if the library was built for MPI.
    pub parallel: Option<ParallelFunctions>,
    native: OnceLock<NativeClass>,
}

#[derive(Debug)]
struct NativeClass(*const H5VL_class_t);

// SAFETY: points to the constant class table of the native connector, which lives as long as the library.
unsafe impl Send for NativeClass {}
// SAFETY: as above; nobody writes to it.
unsafe impl Sync for NativeClass {}

/// Why a library could not be bound.
#[derive(Debug)]
pub enum BindError {
    NoCaller,
    NotLoaded { path: String },
    NoSymbol { path: String, name: &'static str },
    TooOld { path: String, version: (u32, u32, u32) },
    TooMany,
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCaller => write!(f, "cannot tell which HDF5 library loads the plugin"),
            Self::NotLoaded { path } => write!(f, "cannot get hold of the HDF5 library {path}"),
            Self::NoSymbol { path, name } => write!(
                f,
                "{path} does not export {name}; Sago needs HDF5 1.14 or newer as a shared library (or a \
                 program that exports its HDF5 symbols: link it with -rdynamic)"
            ),
            Self::TooOld { path, version: (major, minor, patch) } => {
                write!(f, "{path} is HDF5 {major}.{minor}.{patch}; Sago needs 1.14 or newer")
            }
            Self::TooMany => write!(f, "more than {MAX_LIBRARIES} different HDF5 libraries in one process"),
        }
    }
}

impl std::error::Error for BindError {}

static SLOTS: [OnceLock<Library>; MAX_LIBRARIES] = [const { OnceLock::new() }; MAX_LIBRARIES];
static BINDING: Mutex<()> = Mutex::new(());

impl Library {
    /// The library whose code contains `address`, bound on first sight.
    pub fn of_address(address: *const c_void) -> Result<&'static Self, BindError> {
        let (path, handle) = loaded_object(address)?;
        let _one_at_a_time = BINDING.lock().unwrap_or_else(PoisonError::into_inner);
        for (slot, place) in SLOTS.iter().enumerate() {
            match place.get() {
                Some(known) if known.handle == handle as usize => return Ok(known),
                Some(_) => {}
                None => {
                    let library = Self::bind(slot, path, handle)?;
                    return Ok(place.get_or_init(|| library));
                }
            }
        }
        Err(BindError::TooMany)
    }

    /// The library of a slot that [`Library::of_address`] has given out; see [`Library::slot`].
    pub fn in_slot(slot: usize) -> Option<&'static Self> {
        SLOTS.get(slot)?.get()
    }

    /// Which of the [`MAX_LIBRARIES`] this is: callbacks that come without an object find their library by it.
    pub fn slot(&self) -> usize {
        self.slot
    }

    pub fn path(&self) -> &str {
        &self.path
    }

    /// What dlopen gave for it. It is never closed.
    pub fn handle(&self) -> *mut c_void {
        self.handle as *mut c_void
    }

    pub fn version(&self) -> (u32, u32, u32) {
        self.version
    }

    /// The class table of the native connector. It is part of the library and constant.
    ///
    /// # Errors
    /// [`crate::Error::Reported`] when HDF5 refuses to name it.
    pub fn native_class(&'static self) -> Result<&'static H5VL_class_t, crate::Error> {
        if self.native.get().is_none() {
            let native = crate::handle::Connector::native(self)?;
            let class = native.class()?;
            let _ = self.native.set(NativeClass(class));
        }
        let class = self.native.get().ok_or(crate::Error::Reported)?;
        // SAFETY: a constant table inside the library, which is never unloaded.
        Ok(unsafe { &*class.0 })
    }

    fn bind(slot: usize, path: String, handle: *mut c_void) -> Result<Self, BindError> {
        // SAFETY: `handle` came from dlopen and is kept for good.
        let fns = unsafe { Functions::bind(handle) }
            .map_err(|name| BindError::NoSymbol { path: path.clone(), name })?;
        // SAFETY: as above.
        let parallel = unsafe { ParallelFunctions::bind(handle) }.ok();
        let (version, native) = ((0, 0, 0), OnceLock::new());
        let mut library = Self { slot, handle: handle as usize, path, version, fns, parallel, native };
        let (mut major, mut minor, mut patch) = version;
        // HDF5 may load us while it looks for someone to open a file, with the reason why it could not on the stack.
        crate::error::preserve(&library, || {
            // SAFETY: three places to write to.
            unsafe { (library.fns.H5get_libversion)(&mut major, &mut minor, &mut patch) }
        });
        library.version = (major, minor, patch);
        if (major, minor) < (1, 14) {
            return Err(BindError::TooOld { path: library.path, version: library.version });
        }
        Ok(library)
    }
}

/// Path and handle of the loaded object that contains `address`; the handle keeps it loaded.
fn loaded_object(address: *const c_void) -> Result<(String, *mut c_void), BindError> {
    let mut info = libc::Dl_info {
        dli_fname: ptr::null(),
        dli_fbase: ptr::null_mut(),
        dli_sname: ptr::null(),
        dli_saddr: ptr::null_mut(),
    };
    let mut map: *mut LinkMap = ptr::null_mut();
    // SAFETY: `info` and `map` are places to write to; any address may be asked about.
    let found = unsafe { dladdr1(address, &mut info, (&raw mut map).cast(), RTLD_DL_LINKMAP) };
    if found == 0 || map.is_null() || info.dli_fname.is_null() {
        return Err(BindError::NoCaller);
    }
    // SAFETY: the loader's own string for an object that is loaded.
    let path = unsafe { CStr::from_ptr(info.dli_fname) }.to_string_lossy().into_owned();
    // SAFETY: the loader's entry of the same object; its name is a string or null.
    let name = unsafe { (*map).l_name };
    // SAFETY: `name` is null or a string, checked in this order.
    let is_program = name.is_null() || unsafe { *name } == 0;
    let name = if is_program { ptr::null() } else { name };
    // SAFETY: RTLD_NOLOAD only takes a reference to what is there already; null is the program itself.
    let handle = unsafe { libc::dlopen(name, libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if handle.is_null() { Err(BindError::NotLoaded { path }) } else { Ok((path, handle)) }
}

/// The start of glibc's and musl's `struct link_map`.
#[repr(C)]
struct LinkMap {
    l_addr: usize,
    l_name: *const c_char,
}

const RTLD_DL_LINKMAP: c_int = 2;

unsafe extern "C" {
    fn dladdr1(addr: *const c_void, info: *mut libc::Dl_info, extra: *mut *mut c_void, flags: c_int)
    -> c_int;
}

type PushError = unsafe extern "C" fn(
    hid_t,
    *const c_char,
    *const c_char,
    c_uint,
    hid_t,
    hid_t,
    hid_t,
    *const c_char,
    ...
) -> herr_t;

macro_rules! functions {
    ($(#[$doc:meta])* $table:ident { $($name:ident: $signature:ty;)* }) => {
        $(#[$doc])*
        #[allow(non_snake_case)]
        #[derive(Debug)]
        pub struct $table {
            $(pub $name: $signature,)*
        }

        impl $table {
            /// All of them, or the name of one that is not there.
            ///
            /// # Safety
            /// `handle` is a live handle of dlopen.
            unsafe fn bind(handle: *mut c_void) -> Result<Self, &'static str> {
                Ok(Self {
                    // SAFETY: the symbol is the C function of that name, whose signature is given in the list.
                    $($name: unsafe { std::mem::transmute::<*mut c_void, $signature>(symbol(handle, stringify!($name))?) },)*
                })
            }
        }
    };
}

/// The type of a C function.
macro_rules! c {
    ($($arg:ty),* $(=> $ret:ty)?) => { unsafe extern "C" fn($($arg),*) $(-> $ret)? };
}

functions! {
    /// The functions of HDF5 that Sago calls, by their C names.
    Functions {
        H5get_libversion: c!(*mut c_uint, *mut c_uint, *mut c_uint => herr_t);
        H5allocate_memory: c!(usize, bool => *mut c_void);
        H5free_memory: c!(*mut c_void => herr_t);

        H5Epush2: PushError;
        H5Eget_num: c!(hid_t => isize);
        H5Eget_auto2: c!(hid_t, *mut H5E_auto2_t, *mut *mut c_void => herr_t);
        H5Eset_auto2: c!(hid_t, H5E_auto2_t, *mut c_void => herr_t);
        H5Eget_current_stack: c!(=> hid_t);
        H5Eset_current_stack: c!(hid_t => herr_t);
        H5Eregister_class: c!(*const c_char, *const c_char, *const c_char => hid_t);
        H5Eunregister_class: c!(hid_t => herr_t);
        H5Ecreate_msg: c!(hid_t, H5E_type_t, *const c_char => hid_t);
        H5Eclose_msg: c!(hid_t => herr_t);

        H5Pcopy: c!(hid_t => hid_t);
        H5Pclose: c!(hid_t => herr_t);
        H5Pget: c!(hid_t, *const c_char, *mut c_void => herr_t);
        H5Pset: c!(hid_t, *const c_char, *const c_void => herr_t);
        H5Pget_userblock: c!(hid_t, *mut hsize_t => herr_t);
        H5Pget_vol_info: c!(hid_t, *mut *mut c_void => herr_t);
        H5Pset_vol: c!(hid_t, hid_t, *const c_void => herr_t);
        H5Pget_layout: c!(hid_t => H5D_layout_t);
        H5Pget_data_transform: c!(hid_t, *mut c_char, usize => isize);
        H5Pget_chunk: c!(hid_t, c_int, *mut hsize_t => c_int);
        H5Pget_nfilters: c!(hid_t => c_int);
        H5Pget_external_count: c!(hid_t => c_int);

        H5VLclose: c!(hid_t => herr_t);
        H5VLregister_connector_by_name: c!(*const c_char, hid_t => hid_t);
        H5VLregister_connector_by_value: c!(H5VL_class_value_t, hid_t => hid_t);
        H5VLintrospect_get_conn_cls: c!(*mut c_void, hid_t, H5VL_get_conn_lvl_t, *mut *const H5VL_class_t => herr_t);
        H5VLintrospect_get_cap_flags: c!(*const c_void, hid_t, *mut u64 => herr_t);
        H5VLconnector_str_to_info: c!(*const c_char, hid_t, *mut *mut c_void => herr_t);
        H5VLfree_connector_info: c!(hid_t, *mut c_void => herr_t);

        H5Sclose: c!(hid_t => herr_t);
        H5Sget_simple_extent_type: c!(hid_t => H5S_class_t);
        H5Sget_simple_extent_ndims: c!(hid_t => c_int);
        H5Sget_simple_extent_dims: c!(hid_t, *mut hsize_t, *mut hsize_t => c_int);
        H5Sget_select_npoints: c!(hid_t => hssize_t);
        H5Sget_select_type: c!(hid_t => H5S_sel_type);
        H5Sselect_none: c!(hid_t => herr_t);
        H5Sselect_valid: c!(hid_t => htri_t);
        H5Sis_regular_hyperslab: c!(hid_t => htri_t);
        H5Sget_regular_hyperslab: c!(hid_t, *mut hsize_t, *mut hsize_t, *mut hsize_t, *mut hsize_t => herr_t);
        H5Sget_select_bounds: c!(hid_t, *mut hsize_t, *mut hsize_t => herr_t);
        H5Ssel_iter_create: c!(hid_t, usize, c_uint => hid_t);
        H5Ssel_iter_get_seq_list: c!(hid_t, usize, usize, *mut usize, *mut usize, *mut hsize_t, *mut usize => herr_t);
        H5Ssel_iter_close: c!(hid_t => herr_t);

        H5Tcopy: c!(hid_t => hid_t);
        H5Tclose: c!(hid_t => herr_t);
        H5Tequal: c!(hid_t, hid_t => htri_t);
        H5Tget_class: c!(hid_t => H5T_class_t);
        H5Tget_size: c!(hid_t => usize);
        H5Tget_super: c!(hid_t => hid_t);
        H5Tis_variable_str: c!(hid_t => htri_t);
        H5Tget_nmembers: c!(hid_t => c_int);
        H5Tget_member_name: c!(hid_t, c_uint => *mut c_char);
        H5Tget_member_type: c!(hid_t, c_uint => hid_t);
        H5Tget_member_offset: c!(hid_t, c_uint => usize);
        H5Tcreate: c!(H5T_class_t, usize => hid_t);
        H5Tinsert: c!(hid_t, *const c_char, usize, hid_t => herr_t);
        H5Tfind: c!(hid_t, hid_t, *mut *mut H5T_cdata_t => *const c_void);
        H5Tconvert: c!(hid_t, hid_t, usize, *mut c_void, *mut c_void, hid_t => herr_t);
    }
}

functions! {
    /// Those of a library that was built for MPI. A communicator is passed as the place where its handle lies.
    ParallelFunctions {
        H5Pget_fapl_mpio: c!(hid_t, *mut isize, *mut isize => herr_t);
        H5Pget_dxpl_mpio: c!(hid_t, *mut H5FD_mpio_xfer_t => herr_t);
        H5Pset_dxpl_mpio: c!(hid_t, H5FD_mpio_xfer_t => herr_t);
        H5Pget_all_coll_metadata_ops: c!(hid_t, *mut bool => herr_t);
        H5Pget_coll_metadata_write: c!(hid_t, *mut bool => herr_t);
        H5Pget_mpio_actual_io_mode: c!(hid_t, *mut H5D_mpio_actual_io_mode_t => herr_t);
    }
}

fn symbol(handle: *mut c_void, name: &'static str) -> Result<*mut c_void, &'static str> {
    let c_name = CString::new(name).map_err(|_| name)?;
    // SAFETY: a live handle and a C string.
    let address = unsafe { libc::dlsym(handle, c_name.as_ptr()) };
    if address.is_null() { Err(name) } else { Ok(address) }
}
