//! Is this MPI what it looked like? Asked once, before the first use, on this rank alone.
//!
//! The questions go from harmless to telling. MPI ends the program over a handle that it does not know, so the first
//! one asks for a handle without giving any: the parent of a job that nobody spawned is `MPI_COMM_NULL` (that of a
//! spawned one must at least look like a communicator). Then come
//! datatypes by name and size, the communicator of oneself, and every reduction on numbers that give each a different
//! answer. A wrong table of constants so becomes an error with a reason, and the file is written without Sago's help.

use crate::abi::{Abi, Constants, Handle};
use crate::error::{BindError, Error};
use crate::library::{Mpi, c_text};
use std::ffi::{c_char, c_int};

pub fn run(mpi: &Mpi, abi: Abi, constants: &Constants) -> Result<(), BindError> {
    let test = Test { mpi };
    test.parent(abi, constants)?;
    test.datatype(constants.byte, "MPI_BYTE", 1)?;
    test.datatype(constants.int64, "MPI_INT64_T", 8)?;
    let own = constants.comm_self;
    test.number("the size of MPI_COMM_SELF", 1, |n| {
        // SAFETY: a handle of the table under test and a place to write to.
        ("MPI_Comm_size", unsafe { (mpi.fns.MPI_Comm_size)(own, n) })
    })?;
    test.number("the rank in MPI_COMM_SELF", 0, |n| {
        // SAFETY: as above.
        ("MPI_Comm_rank", unsafe { (mpi.fns.MPI_Comm_rank)(own, n) })
    })?;
    for (op, what, expected) in [
        (constants.min, "the minimum of 6 and 5", 5_i64),
        (constants.max, "the maximum of 6 and 5", 6),
        (constants.sum, "the sum of 6 and 5", 11),
        (constants.band, "6 and 5, bit by bit,", 4),
        (constants.bor, "6 or 5, bit by bit,", 7),
    ] {
        test.reduction(constants.int64, op, what, expected)?;
    }
    Ok(())
}

struct Test<'a> {
    mpi: &'a Mpi,
}

impl Test<'_> {
    fn parent(&self, abi: Abi, constants: &Constants) -> Result<(), BindError> {
        let mut parent = 0;
        // SAFETY: a place of 8 bytes to write a handle of 4 or 8 to.
        self.mpi.check("MPI_Comm_get_parent", unsafe { (self.mpi.fns.MPI_Comm_get_parent)(&mut parent) })?;
        if parent == constants.comm_null || abi.surely_comm(parent) {
            return Ok(());
        }
        let expected = format!("{:#x}", constants.comm_null);
        self.expect("MPI_COMM_NULL", &expected, &format!("{parent:#x}"))
    }

    fn datatype(&self, handle: Handle, name: &'static str, size: c_int) -> Result<(), BindError> {
        let (mut text, mut len) = ([0 as c_char; 1024], 0);
        // SAFETY: a handle of the table under test; names have at most 128 characters in any MPI.
        let code = unsafe { (self.mpi.fns.MPI_Type_get_name)(handle, text.as_mut_ptr(), &mut len) };
        self.mpi.check("MPI_Type_get_name", code)?;
        self.expect("the name of a datatype", name, &c_text(&text))?;
        self.number("the size of a datatype", size, |n| {
            // SAFETY: as above.
            ("MPI_Type_size", unsafe { (self.mpi.fns.MPI_Type_size)(handle, n) })
        })
    }

    fn number(
        &self,
        what: &'static str,
        expected: c_int,
        ask: impl Fn(&mut c_int) -> (&'static str, c_int),
    ) -> Result<(), BindError> {
        let mut found = c_int::MIN;
        let (call, code) = ask(&mut found);
        self.mpi.check(call, code)?;
        self.expect(what, &expected.to_string(), &found.to_string())
    }

    fn reduction(
        &self,
        int64: Handle,
        op: Handle,
        what: &'static str,
        expected: i64,
    ) -> Result<(), BindError> {
        let (input, mut found) = (6_i64, 5_i64);
        // SAFETY: one number each, of the datatype that was just checked.
        let code = unsafe {
            (self.mpi.fns.MPI_Reduce_local)((&raw const input).cast(), (&raw mut found).cast(), 1, int64, op)
        };
        self.mpi.check("MPI_Reduce_local", code).map_err(|e: Error| BindError::Failed(e))?;
        self.expect(what, &expected.to_string(), &found.to_string())
    }

    fn expect(&self, what: &'static str, expected: &str, found: &str) -> Result<(), BindError> {
        if expected == found {
            return Ok(());
        }
        let (expected, found) = (expected.to_owned(), found.to_owned());
        Err(BindError::SelfTest { path: self.mpi.path().to_owned(), what, expected, found })
    }
}
