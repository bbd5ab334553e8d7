//! The MPI that is in the process, bound at run time.
//!
//! Invariants: nothing is linked, nothing is initialised or finalised; a library has all functions or is refused as a
//! whole; it is used only after its self-test has passed. Only function symbols are called or read.

use crate::abi::{Abi, Constants, Facts, Handle};
use crate::error::{BindError, Error};
use crate::loaded::{self, Scope};
use crate::selftest;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::{Mutex, OnceLock, PoisonError};

/// An MPI library in this process and the functions of it that Sago calls.
#[derive(Debug)]
pub struct Mpi {
    path: String,
    base: usize,
    version: String,
    abi: Abi,
    pub(crate) fns: Functions,
    constants: OnceLock<Constants>,
}

/// Where MPI is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    NotInitialised,
    Active,
    Finalised,
}

static BOUND: Mutex<Vec<&'static Mpi>> = Mutex::new(Vec::new());

impl Mpi {
    /// The MPI of this process: in the global scope, or in any loaded object.
    pub fn in_process() -> Result<&'static Self, BindError> {
        Self::in_scope(loaded::find(None)?)
    }

    /// The MPI that the object of this handle depends on, such as libhdf5, else as [`Mpi::in_process`].
    ///
    /// # Safety
    /// `handle` came from dlopen and stays open for the rest of the process.
    pub unsafe fn behind(handle: *mut c_void) -> Result<&'static Self, BindError> {
        // SAFETY: promised by the caller.
        Self::in_scope(loaded::find(Some(unsafe { Scope::of_handle(handle) }))?)
    }

    pub fn abi(&self) -> Abi {
        self.abi
    }

    pub fn path(&self) -> &str {
        &self.path
    }

    /// What the library says of itself, in one line.
    pub fn version(&self) -> &str {
        &self.version
    }

    pub fn state(&self) -> State {
        let (mut initialised, mut finalised) = (0, 0);
        // SAFETY: both may be called at any time, with a place to write to.
        unsafe {
            (self.fns.MPI_Initialized)(&mut initialised);
            (self.fns.MPI_Finalized)(&mut finalised);
        }
        match (initialised != 0, finalised != 0) {
            (_, true) => State::Finalised,
            (true, _) => State::Active,
            _ => State::NotInitialised,
        }
    }

    /// The constants, after the self-test on first use; refused while MPI is not active.
    pub(crate) fn constants(&self) -> Result<&Constants, BindError> {
        match self.state() {
            State::NotInitialised => return Err(BindError::NotInitialised),
            State::Finalised => return Err(BindError::Finalised),
            State::Active => {}
        }
        if let Some(known) = self.constants.get() {
            return Ok(known);
        }
        let constants = self.tested(self.abi)?;
        Ok(self.constants.get_or_init(|| constants))
    }

    /// Whether it has passed the self-test, or cannot be asked because it is not active.
    pub fn is_understood(&self) -> bool {
        self.state() != State::Active || self.constants().is_ok()
    }

    /// What the self-test says to the guess that this library has that ABI. For tests: a wrong guess must be refused.
    pub fn test_guess(&self, abi: Abi) -> Result<(), BindError> {
        self.tested(abi).map(|_| ())
    }

    fn tested(&self, abi: Abi) -> Result<Constants, BindError> {
        let constants = Constants::of(abi, &self.fns)
            .ok_or(BindError::NoSymbol { path: self.path.clone(), name: "MPI_Type_f2c" })?;
        selftest::run(self, abi, &constants)?;
        Ok(constants)
    }

    /// Turns the code that `call` returned into a result.
    pub(crate) fn check(&self, call: &'static str, code: c_int) -> Result<(), Error> {
        if code == 0 { Ok(()) } else { Err(Error::Mpi { call, code, text: self.error_text(code) }) }
    }

    fn error_text(&self, code: c_int) -> String {
        let (mut text, mut len) = ([0 as c_char; 1024], 0);
        // SAFETY: the longest text of any known MPI has 512 bytes.
        if unsafe { (self.fns.MPI_Error_string)(code, text.as_mut_ptr(), &mut len) } != 0 {
            return "unknown error".to_owned();
        }
        c_text(&text).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn in_scope(scope: Scope) -> Result<&'static Self, BindError> {
        let (path, base) = scope.mpi_file().ok_or(BindError::NoMpi)?;
        let mut bound = BOUND.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = bound.iter().find(|m| m.base == base) {
            return Ok(known);
        }
        let mpi: &'static Self = Box::leak(Box::new(Self::bind(scope, path, base)?));
        bound.push(mpi);
        Ok(mpi)
    }

    fn bind(scope: Scope, path: String, base: usize) -> Result<Self, BindError> {
        let fns = Functions::bind(scope).map_err(|name| BindError::NoSymbol { path: path.clone(), name })?;
        let facts = facts(scope, &fns);
        let version = facts.version.split_whitespace().take(12).collect::<Vec<_>>().join(" ");
        let Some(abi) = Abi::of(&facts) else { return Err(BindError::Unknown { path, version }) };
        Ok(Self { path, base, version, abi, fns, constants: OnceLock::new() })
    }
}

fn facts(scope: Scope, fns: &Functions) -> Facts {
    // Eight times what any MPI declares as its maximum.
    let (mut text, mut len) = (vec![0 as c_char; 65536], 0);
    // SAFETY: may be called at any time; the buffer is large enough.
    unsafe { (fns.MPI_Get_library_version)(text.as_mut_ptr(), &mut len) };
    let abi_version = fns.abi_version.map(|ask| {
        let (mut major, mut minor) = (-1, -1);
        // SAFETY: may be called at any time, with places to write to.
        unsafe { ask(&mut major, &mut minor) };
        (major, minor)
    });
    Facts {
        ompi_symbol: scope.symbol(c"ompi_mpi_comm_world").is_some(),
        mpir_symbol: scope.symbol(c"MPIR_Err_create_code").is_some(),
        abi_version,
        version: c_text(&text),
    }
}

/// The text up to the terminating NUL, or all of it.
pub(crate) fn c_text(text: &[c_char]) -> String {
    #[allow(clippy::cast_sign_loss)]
    let bytes: Vec<u8> = text.iter().map(|&c| c as u8).take_while(|&c| c != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

type AbiVersion = Option<unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int>;
type InfoGet = Option<unsafe extern "C" fn(Handle, *const c_char, c_int, *mut c_char, *mut c_int) -> c_int>;
type InfoGetString =
    Option<unsafe extern "C" fn(Handle, *const c_char, *mut c_int, *mut c_char, *mut c_int) -> c_int>;
type FromFortran = Option<unsafe extern "C" fn(c_int) -> Handle>;

/// Open MPI's way to its predefined handles.
#[derive(Debug)]
pub struct FromFortranTable {
    pub comm: FromFortran,
    pub datatype: FromFortran,
    pub op: FromFortran,
    pub info: FromFortran,
    pub errhandler: FromFortran,
}

macro_rules! functions {
    ($($name:ident($($arg:ty),*);)*) => {
        /// The functions of MPI that Sago calls, by their C names. All return an error code.
        #[allow(non_snake_case)]
        #[derive(Debug)]
        pub struct Functions {
            $(pub $name: unsafe extern "C" fn($($arg),*) -> c_int,)*
            pub abi_version: AbiVersion,
            pub info_get: InfoGet,
            pub info_get_string: InfoGetString,
            pub from_fortran: FromFortranTable,
        }

        impl Functions {
            fn bind(scope: Scope) -> Result<Self, &'static str> {
                Ok(Self {
                    // SAFETY: the symbol is the MPI function of that name, whose signature is given in the list;
                    // handles are words, see `abi`.
                    $($name: unsafe {
                        std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($arg),*) -> c_int>(
                            symbol(scope, stringify!($name))?,
                        )
                    },)*
                    // SAFETY: as above; a function that is missing is None.
                    abi_version: unsafe { std::mem::transmute::<*mut c_void, AbiVersion>(optional(scope, c"MPI_Abi_get_version")) },
                    // SAFETY: as above.
                    info_get: unsafe { std::mem::transmute::<*mut c_void, InfoGet>(optional(scope, c"MPI_Info_get")) },
                    // SAFETY: as above.
                    info_get_string: unsafe {
                        std::mem::transmute::<*mut c_void, InfoGetString>(optional(scope, c"MPI_Info_get_string"))
                    },
                    from_fortran: FromFortranTable {
                        comm: from_fortran(scope, c"MPI_Comm_f2c"),
                        datatype: from_fortran(scope, c"MPI_Type_f2c"),
                        op: from_fortran(scope, c"MPI_Op_f2c"),
                        info: from_fortran(scope, c"MPI_Info_f2c"),
                        errhandler: from_fortran(scope, c"MPI_Errhandler_f2c"),
                    },
                })
            }
        }
    };
}

functions! {
    MPI_Initialized(*mut c_int);
    MPI_Finalized(*mut c_int);
    MPI_Get_library_version(*mut c_char, *mut c_int);
    MPI_Error_string(c_int, *mut c_char, *mut c_int);

    MPI_Comm_rank(Handle, *mut c_int);
    MPI_Comm_size(Handle, *mut c_int);
    MPI_Comm_test_inter(Handle, *mut c_int);
    MPI_Comm_compare(Handle, Handle, *mut c_int);
    MPI_Comm_dup(Handle, *mut Handle);
    MPI_Comm_split(Handle, c_int, c_int, *mut Handle);
    MPI_Comm_split_type(Handle, c_int, c_int, Handle, *mut Handle);
    MPI_Comm_set_errhandler(Handle, Handle);
    MPI_Comm_free(*mut Handle);
    MPI_Comm_get_parent(*mut Handle);

    MPI_Info_get_nkeys(Handle, *mut c_int);
    MPI_Info_get_nthkey(Handle, c_int, *mut c_char);
    MPI_Info_free(*mut Handle);

    MPI_Type_size(Handle, *mut c_int);
    MPI_Type_get_name(Handle, *mut c_char, *mut c_int);
    MPI_Reduce_local(*const c_void, *mut c_void, c_int, Handle, Handle);

    MPI_Ibarrier(Handle, *mut Handle);
    MPI_Ibcast(*mut c_void, c_int, Handle, c_int, Handle, *mut Handle);
    MPI_Iallreduce(*const c_void, *mut c_void, c_int, Handle, Handle, Handle, *mut Handle);
    MPI_Iallgather(*const c_void, c_int, Handle, *mut c_void, c_int, Handle, Handle, *mut Handle);
    MPI_Iallgatherv(*const c_void, c_int, Handle, *mut c_void, *const c_int, *const c_int, Handle, Handle, *mut Handle);
    MPI_Ialltoall(*const c_void, c_int, Handle, *mut c_void, c_int, Handle, Handle, *mut Handle);
    MPI_Isend(*const c_void, c_int, Handle, c_int, c_int, Handle, *mut Handle);
    MPI_Irecv(*mut c_void, c_int, Handle, c_int, c_int, Handle, *mut Handle);
    MPI_Iprobe(c_int, c_int, Handle, *mut c_int, *mut c_void);
    MPI_Test(*mut Handle, *mut c_int, *mut c_void);

    MPI_Win_create(*mut c_void, isize, c_int, Handle, Handle, *mut Handle);
    MPI_Win_set_errhandler(Handle, Handle);
    MPI_Win_free(*mut Handle);
    MPI_Win_lock_all(c_int, Handle);
    MPI_Win_unlock_all(Handle);
    MPI_Win_flush(c_int, Handle);
    MPI_Win_flush_all(Handle);
    MPI_Win_sync(Handle);
    MPI_Put(*const c_void, c_int, Handle, c_int, isize, c_int, Handle, Handle);
    MPI_Get(*mut c_void, c_int, Handle, c_int, isize, c_int, Handle, Handle);
    MPI_Fetch_and_op(*const c_void, *mut c_void, Handle, c_int, isize, Handle, Handle);
}

fn symbol(scope: Scope, name: &'static str) -> Result<*mut c_void, &'static str> {
    CString::new(name).ok().and_then(|n| scope.symbol(&n)).ok_or(name)
}

fn optional(scope: Scope, name: &CStr) -> *mut c_void {
    scope.symbol(name).unwrap_or(std::ptr::null_mut())
}

fn from_fortran(scope: Scope, name: &CStr) -> FromFortran {
    // SAFETY: the symbol is the MPI function of that name; null becomes None.
    unsafe { std::mem::transmute::<*mut c_void, FromFortran>(optional(scope, name)) }
}
