//! A small file, written or checked through a libhdf5 that is named by its path: for a program that wants to know
//! whether an HDF5 works here, with the connector that the environment names. It loads the library into the calling
//! process for good, so that should be a process of its own.

use libc::{RTLD_GLOBAL, RTLD_NOW, dlerror, dlopen, dlsym};
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::{mem, ptr};

type Id = i64;

const DEFAULT: Id = 0;
const ALL: Id = 0;
const TRUNCATE: c_uint = 2;
const READ_ONLY: c_uint = 0;
const VALUES: u64 = 4096;
const NAME: &CStr = c"values";

/// The functions of one library.
pub struct Trial {
    library: *mut c_void,
}

impl Trial {
    pub fn load(library: &Path) -> Result<Self, String> {
        let path = c_text(library)?;
        // SAFETY: a C string; the constructors of a library that the user named run, as they would in any program.
        let handle = unsafe { dlopen(path.as_ptr(), RTLD_NOW | RTLD_GLOBAL) };
        if handle.is_null() { Err(load_error()) } else { Ok(Self { library: handle }) }
    }

    pub fn version(&self) -> Result<(u32, u32, u32), String> {
        type Version = unsafe extern "C" fn(*mut c_uint, *mut c_uint, *mut c_uint) -> c_int;
        let (mut major, mut minor, mut patch) = (0, 0, 0);
        // SAFETY: the type is that of HDF5's headers, and so it is in all calls below.
        let get: Version = unsafe { self.function(c"H5get_libversion") }?;
        // SAFETY: three places to write to.
        done("H5get_libversion", unsafe { get(&mut major, &mut minor, &mut patch) }.into())?;
        Ok((major, minor, patch))
    }

    /// Creates the file with a dataset of numbers that [`Trial::verify`] knows. The name of the connector that did it.
    pub fn write(&self, file: &Path) -> Result<String, String> {
        type Create = unsafe extern "C" fn(*const c_char, c_uint, Id, Id) -> Id;
        type Space = unsafe extern "C" fn(c_int, *const u64, *const u64) -> Id;
        type Dataset = unsafe extern "C" fn(Id, *const c_char, Id, Id, Id, Id, Id) -> Id;
        type Write = unsafe extern "C" fn(Id, Id, Id, Id, Id, *const c_void) -> c_int;
        let int = self.int()?;
        let (path, data) = (c_text(file)?, numbers());
        let connector;
        // SAFETY: C strings, identifiers that the library gave, and as many numbers as the space has.
        unsafe {
            let create: Create = self.function(c"H5Fcreate")?;
            let space: Space = self.function(c"H5Screate_simple")?;
            let dataset: Dataset = self.function(c"H5Dcreate2")?;
            let write: Write = self.function(c"H5Dwrite")?;
            let file = done("H5Fcreate", create(path.as_ptr(), TRUNCATE, DEFAULT, DEFAULT))?;
            connector = self.connector(file)?;
            let space = done("H5Screate_simple", space(1, &VALUES, ptr::null()))?;
            let id = dataset(file, NAME.as_ptr(), int, space, DEFAULT, DEFAULT, DEFAULT);
            let id = done("H5Dcreate2", id)?;
            done("H5Dwrite", write(id, int, ALL, ALL, DEFAULT, data.as_ptr().cast()).into())?;
            self.close(c"H5Dclose", id)?;
            self.close(c"H5Sclose", space)?;
            self.close(c"H5Fclose", file)?;
        }
        self.end()?;
        Ok(connector)
    }

    /// # Safety
    /// `object` is an identifier that the library gave.
    unsafe fn connector(&self, object: Id) -> Result<String, String> {
        type Name = unsafe extern "C" fn(Id, *mut c_char, usize) -> isize;
        let mut name: [c_char; 64] = [0; 64];
        // SAFETY: as in `version`.
        let get: Name = unsafe { self.function(c"H5VLget_connector_name") }?;
        // SAFETY: room for as many bytes as is said, of which the last stays zero.
        let length = unsafe { get(object, name.as_mut_ptr(), name.len() - 1) };
        done("H5VLget_connector_name", length as Id)?;
        // SAFETY: it ends with a zero.
        Ok(unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned())
    }

    /// Whether the file holds what [`Trial::write`] writes.
    pub fn verify(&self, file: &Path) -> Result<(), String> {
        type Open = unsafe extern "C" fn(*const c_char, c_uint, Id) -> Id;
        type Dataset = unsafe extern "C" fn(Id, *const c_char, Id) -> Id;
        type Read = unsafe extern "C" fn(Id, Id, Id, Id, Id, *mut c_void) -> c_int;
        let int = self.int()?;
        let (path, mut data) = (c_text(file)?, vec![0; VALUES as usize]);
        // SAFETY: C strings, identifiers that the library gave, and room for all numbers.
        unsafe {
            let open: Open = self.function(c"H5Fopen")?;
            let dataset: Dataset = self.function(c"H5Dopen2")?;
            let read: Read = self.function(c"H5Dread")?;
            let file = done("H5Fopen", open(path.as_ptr(), READ_ONLY, DEFAULT))?;
            let id = done("H5Dopen2", dataset(file, NAME.as_ptr(), DEFAULT))?;
            done("H5Dread", read(id, int, ALL, ALL, DEFAULT, data.as_mut_ptr().cast()).into())?;
            self.close(c"H5Dclose", id)?;
            self.close(c"H5Fclose", file)?;
        }
        self.end()?;
        if data == numbers() {
            Ok(())
        } else {
            Err("the file holds other numbers than were written".to_owned())
        }
    }

    /// The type of a C int; nobody has copied the library's variable, since this program does not name it.
    fn int(&self) -> Result<Id, String> {
        type Open = unsafe extern "C" fn() -> c_int;
        // SAFETY: as in `version`.
        let open: Open = unsafe { self.function(c"H5open") }?;
        // SAFETY: it takes nothing.
        done("H5open", unsafe { open() }.into())?;
        let place = self.symbol(c"H5T_NATIVE_INT_g")?.cast::<Id>();
        // SAFETY: a variable of the library, set by H5open.
        Ok(unsafe { *place })
    }

    /// Lets the library end, and with it the connector, which then reports.
    fn end(&self) -> Result<(), String> {
        type Close = unsafe extern "C" fn() -> c_int;
        // SAFETY: as in `version`.
        let close: Close = unsafe { self.function(c"H5close") }?;
        // SAFETY: it takes nothing, and no identifier is used after it.
        done("H5close", unsafe { close() }.into()).map(|_| ())
    }

    unsafe fn close(&self, name: &'static CStr, id: Id) -> Result<(), String> {
        type Close = unsafe extern "C" fn(Id) -> c_int;
        // SAFETY: as in `version`.
        let close: Close = unsafe { self.function(name) }?;
        // SAFETY: the caller's identifier.
        done(&name.to_string_lossy(), unsafe { close(id) }.into()).map(|_| ())
    }

    fn symbol(&self, name: &'static CStr) -> Result<*mut c_void, String> {
        // SAFETY: the library stays loaded.
        let found = unsafe { dlsym(self.library, name.as_ptr()) };
        if found.is_null() { Err(format!("it has no {}", name.to_string_lossy())) } else { Ok(found) }
    }

    /// # Safety
    /// `F` is the type of a pointer to that function.
    unsafe fn function<F: Copy>(&self, name: &'static CStr) -> Result<F, String> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        let symbol = self.symbol(name)?;
        // SAFETY: the caller's promise; function pointers and data pointers have the same size here.
        Ok(unsafe { mem::transmute_copy(&symbol) })
    }
}

/// What a library of a plugin folder is to HDF5: whether it can be loaded, and has the two functions of a plugin.
pub fn is_plugin(library: &Path) -> Result<bool, String> {
    let trial = Trial::load(library)?;
    Ok(trial.symbol(c"H5PLget_plugin_type").is_ok() && trial.symbol(c"H5PLget_plugin_info").is_ok())
}

fn numbers() -> Vec<c_int> {
    (0..VALUES as c_int).map(|i| i * 7919 + 3).collect()
}

fn done(call: &str, result: Id) -> Result<Id, String> {
    if result < 0 { Err(format!("{call} failed")) } else { Ok(result) }
}

fn c_text(path: &Path) -> Result<CString, String> {
    CString::new(path.as_os_str().as_encoded_bytes()).map_err(|_| "a path with a zero byte".to_owned())
}

fn load_error() -> String {
    // SAFETY: the string is that of this thread until its next call of dlopen and the like.
    let text = unsafe { dlerror() };
    if text.is_null() {
        return "it cannot be loaded".to_owned();
    }
    // SAFETY: as above; a C string.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
