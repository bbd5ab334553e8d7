//! Which objects are loaded in this process, and which of them offers MPI.

use crate::error::BindError;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;

/// Something that `dlsym` takes: a loaded object with what it depends on, or the global scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope(*mut c_void);

/// A function that every MPI has, by which it is recognised.
const MARK: &CStr = c"MPI_Initialized";

impl Scope {
    /// # Safety
    /// `handle` came from dlopen and stays open for the rest of the process.
    pub unsafe fn of_handle(handle: *mut c_void) -> Self {
        Self(handle)
    }

    pub fn symbol(self, name: &CStr) -> Option<*mut c_void> {
        // SAFETY: a live handle, or RTLD_DEFAULT, and a C string.
        let address = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        (!address.is_null()).then_some(address)
    }

    pub fn has_mpi(self) -> bool {
        self.symbol(MARK).is_some()
    }

    /// The file that MPI's functions come from in this scope, and where it is loaded.
    pub fn mpi_file(self) -> Option<(String, usize)> {
        let mut info = libc::Dl_info {
            dli_fname: ptr::null(),
            dli_fbase: ptr::null_mut(),
            dli_sname: ptr::null(),
            dli_saddr: ptr::null_mut(),
        };
        // SAFETY: any address may be asked about; `info` is a place to write to.
        if unsafe { libc::dladdr(self.symbol(MARK)?, &mut info) } == 0 || info.dli_fname.is_null() {
            return None;
        }
        // SAFETY: the loader's own string for an object that is loaded.
        let path = unsafe { CStr::from_ptr(info.dli_fname) }.to_string_lossy().into_owned();
        Some((path, info.dli_fbase as usize))
    }

    fn initialised(self) -> bool {
        let Some(address) = self.symbol(MARK) else { return false };
        // SAFETY: the symbol is MPI's function of that name, which may be called at any time.
        let initialized: unsafe extern "C" fn(*mut c_int) -> c_int = unsafe { std::mem::transmute(address) };
        let mut yes = 0;
        // SAFETY: a place to write to.
        unsafe { initialized(&mut yes) == 0 && yes != 0 }
    }
}

/// The scope that offers MPI: the one given, else the global one, else the only one among all loaded objects (a
/// Python extension brings its MPI privately), or the only initialised one.
pub fn find(hint: Option<Scope>) -> Result<Scope, BindError> {
    if let Some(scope) = hint.into_iter().chain([Scope(libc::RTLD_DEFAULT)]).find(|s| s.has_mpi()) {
        return Ok(scope);
    }
    let mut found: BTreeMap<usize, (Scope, String)> = BTreeMap::new();
    for name in names() {
        // SAFETY: RTLD_NOLOAD only takes a reference to what is there already.
        let scope = Scope(unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) });
        if scope.0.is_null() {
            continue;
        }
        if let Some((path, base)) = scope.mpi_file() {
            found.entry(base).or_insert((scope, path));
        }
    }
    choose(found.into_values().collect(), Scope::initialised)
}

fn choose(found: Vec<(Scope, String)>, initialised: impl Fn(Scope) -> bool) -> Result<Scope, BindError> {
    match found[..] {
        [] => return Err(BindError::NoMpi),
        [(only, _)] if found.len() == 1 => return Ok(only),
        _ => {}
    }
    let mut running = found.iter().filter(|(scope, _)| initialised(*scope));
    match (running.next(), running.next()) {
        (Some((one, _)), None) => Ok(*one),
        _ => Err(BindError::Several { paths: found.into_iter().map(|(_, path)| path).collect() }),
    }
}

/// The names of all loaded objects, without the program itself, whose symbols are in the global scope.
fn names() -> Vec<CString> {
    unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _: usize, list: *mut c_void) -> c_int {
        // SAFETY: the loader passes a valid entry, and `list` is the vector below.
        let (info, list) = unsafe { (&*info, &mut *list.cast::<Vec<CString>>()) };
        let name: *const c_char = info.dlpi_name;
        // SAFETY: null or the loader's string, checked in this order.
        if !name.is_null() && unsafe { *name } != 0 {
            // SAFETY: a C string that lives for the call.
            list.push(unsafe { CStr::from_ptr(name) }.to_owned());
        }
        0
    }
    let mut list: Vec<CString> = Vec::new();
    // SAFETY: `add` is called during this call only, with `list` as its data.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut list).cast()) };
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loaded_objects_are_listed() {
        let names: Vec<String> = names().iter().map(|n| n.to_string_lossy().into_owned()).collect();
        assert!(names.iter().any(|n| n.contains("libc.so")), "{names:?}");
    }

    #[test]
    fn a_process_without_mpi_says_so() {
        assert_eq!(find(None).unwrap_err(), BindError::NoMpi);
    }

    #[test]
    fn of_several_the_running_one_is_chosen() {
        let (a, b) = (Scope(8 as *mut c_void), Scope(16 as *mut c_void));
        let both = || vec![(a, "a".to_owned()), (b, "b".to_owned())];
        assert_eq!(choose(both(), |s| s == b), Ok(b));
        assert_eq!(choose(vec![(a, "a".to_owned())], |_| false), Ok(a));
        let paths = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(choose(both(), |_| true), Err(BindError::Several { paths: paths.clone() }));
        assert_eq!(choose(both(), |_| false), Err(BindError::Several { paths }));
    }
}
