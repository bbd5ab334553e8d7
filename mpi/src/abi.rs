//! The three binary interfaces of MPI, and how to tell which one a library has.
//!
//! They differ in the type of handles (`int` in MPICH and its relatives, pointers elsewhere) and in the values of
//! constants. A handle is one 64-bit word here: an `int` handle is kept sign-extended, which is how every 64-bit
//! Linux passes it in a register, and its low half is what MPI reads and writes through a pointer.
//!
//! MPICH and the standard fix handles as numbers. Open MPI's are addresses, which are asked of it by the fixed
//! Fortran numbers (`MPI_Type_f2c`), since data symbols may have been copied into the executable.

use crate::library::Functions;
use std::ffi::c_int;

/// A handle of MPI: communicator, datatype, operation, request, window, info or error handler.
pub type Handle = isize;

/// A binary interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abi {
    /// MPICH, Intel MPI, Cray MPICH, MVAPICH: the MPICH ABI initiative.
    Mpich,
    OpenMpi,
    /// MPI-5's own.
    Standard,
}

/// What a library tells about itself without being initialised.
#[derive(Clone, Debug)]
pub struct Facts {
    /// It has `ompi_mpi_comm_world`.
    pub ompi_symbol: bool,
    /// It has `MPIR_Err_create_code`.
    pub mpir_symbol: bool,
    /// The answer of `MPI_Abi_get_version`, where there is one; (-1, -1) means "not the standard ABI".
    pub abi_version: Option<(i32, i32)>,
    /// The answer of `MPI_Get_library_version`.
    pub version: String,
}

const MPICH_FAMILY: [&str; 5] = ["MPICH", "Intel(R) MPI", "MVAPICH", "CRAY MPICH", "ParaStation MPI"];

impl Abi {
    /// None when it is none of them.
    pub fn of(facts: &Facts) -> Option<Self> {
        let mpich_by_name = MPICH_FAMILY.iter().any(|name| facts.version.trim_start().starts_with(name));
        match facts.abi_version {
            Some((major, _)) if major >= 1 => Some(Self::Standard),
            _ if facts.ompi_symbol => Some(Self::OpenMpi),
            _ if facts.mpir_symbol || mpich_by_name => Some(Self::Mpich),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Mpich => "MPICH ABI",
            Self::OpenMpi => "Open MPI",
            Self::Standard => "MPI standard ABI",
        }
    }

    /// Whether eight zeroed bytes that MPI has written a communicator to can only be one of this ABI: an `int` of the
    /// right kind, or an address too high for an `int`.
    pub fn surely_comm(self, slot: Handle) -> bool {
        match self {
            Self::Mpich => slot >> 32 == 0 && slot >> 26 & 0xf == 1,
            Self::OpenMpi => slot >> 32 != 0,
            Self::Standard => false,
        }
    }

    /// A handle as MPI returned it, or as it lies in a slot of 8 bytes that MPI wrote to: the upper half of an `int`
    /// is not defined.
    pub fn clean(self, raw: Handle) -> Handle {
        match self {
            #[allow(clippy::cast_possible_truncation)]
            Self::Mpich => raw as i32 as Handle,
            Self::OpenMpi | Self::Standard => raw,
        }
    }
}

/// The values that Sago passes to MPI.
#[derive(Clone, Debug)]
pub struct Constants {
    pub comm_null: Handle,
    pub comm_world: Handle,
    pub comm_self: Handle,
    pub byte: Handle,
    pub int64: Handle,
    pub info_null: Handle,
    pub errors_return: Handle,
    pub min: Handle,
    pub max: Handle,
    pub sum: Handle,
    pub band: Handle,
    pub bor: Handle,
    pub comm_type_shared: c_int,
    pub undefined: c_int,
    pub any_source: c_int,
    pub any_tag: c_int,
    pub mode_nocheck: c_int,
    /// An address that means "no status wanted".
    pub status_ignore: usize,
}

const MPICH: Constants = Constants {
    comm_null: 0x0400_0000,
    comm_world: 0x4400_0000,
    comm_self: 0x4400_0001,
    byte: 0x4c00_010d,
    int64: 0x4c00_083a,
    info_null: 0x1c00_0000,
    errors_return: 0x5400_0001,
    min: 0x5800_0002,
    max: 0x5800_0001,
    sum: 0x5800_0003,
    band: 0x5800_0006,
    bor: 0x5800_0008,
    comm_type_shared: 1,
    undefined: -32766,
    any_source: -2,
    any_tag: -1,
    mode_nocheck: 1024,
    status_ignore: 1,
};

const STANDARD: Constants = Constants {
    comm_null: 0x100,
    comm_world: 0x101,
    comm_self: 0x102,
    byte: 0x247,
    int64: 0x258,
    info_null: 0x130,
    errors_return: 0x143,
    min: 0x22,
    max: 0x23,
    sum: 0x21,
    band: 0x28,
    bor: 0x29,
    comm_type_shared: 221,
    undefined: -32766,
    any_source: -1,
    any_tag: -2,
    mode_nocheck: 1024,
    status_ignore: 0,
};

impl Constants {
    /// None when a conversion function is missing. MPI must be initialised.
    pub fn of(abi: Abi, functions: &Functions) -> Option<Self> {
        match abi {
            Abi::Mpich => Some(MPICH),
            Abi::Standard => Some(STANDARD),
            Abi::OpenMpi => open_mpi(functions),
        }
    }
}

fn open_mpi(functions: &Functions) -> Option<Constants> {
    let from = &functions.from_fortran;
    let (comm, datatype, op) = (from.comm?, from.datatype?, from.op?);
    let (info, errhandler) = (from.info?, from.errhandler?);
    // SAFETY: these functions look numbers up in tables and give a null handle for an unknown one.
    let op = |number: c_int| unsafe { op(number) };
    Some(Constants {
        // SAFETY: as above.
        comm_null: unsafe { comm(2) },
        // SAFETY: as above.
        comm_world: unsafe { comm(0) },
        // SAFETY: as above.
        comm_self: unsafe { comm(1) },
        // SAFETY: as above.
        byte: unsafe { datatype(1) },
        // SAFETY: as above.
        int64: unsafe { datatype(64) },
        // SAFETY: as above.
        info_null: unsafe { info(0) },
        // SAFETY: as above.
        errors_return: unsafe { errhandler(2) },
        min: op(2),
        max: op(1),
        sum: op(3),
        band: op(6),
        bor: op(8),
        comm_type_shared: 0,
        undefined: -32766,
        any_source: -1,
        any_tag: -1,
        mode_nocheck: 1,
        status_ignore: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(version: &str) -> Facts {
        Facts { ompi_symbol: false, mpir_symbol: false, abi_version: None, version: version.to_owned() }
    }

    #[test]
    fn libraries_are_told_apart_by_what_they_say() {
        let mpich = Facts { mpir_symbol: true, ..facts("MPICH Version:\t4.0.2") };
        assert_eq!(Abi::of(&mpich), Some(Abi::Mpich));
        // MPICH 5 has MPI_Abi_get_version in its own ABI too, and says there that it is not the standard one.
        let own = Facts { abi_version: Some((-1, -1)), ..mpich.clone() };
        assert_eq!(Abi::of(&own), Some(Abi::Mpich));
        let standard = Facts { abi_version: Some((1, 0)), ..mpich };
        assert_eq!(Abi::of(&standard), Some(Abi::Standard));
        let open_mpi = Facts { ompi_symbol: true, ..facts("Open MPI v4.1.4") };
        assert_eq!(Abi::of(&open_mpi), Some(Abi::OpenMpi));
        assert_eq!(Abi::of(&facts("Intel(R) MPI Library 2021.11")), Some(Abi::Mpich));
        assert_eq!(Abi::of(&facts("CRAY MPICH version 8.1.28")), Some(Abi::Mpich));
        assert_eq!(Abi::of(&facts("HPE MPT 2.28")), None);
    }

    #[test]
    fn an_int_handle_is_its_low_half_sign_extended() {
        assert_eq!(Abi::Mpich.clean(0x7fff_0000_8400_0001_u64 as isize), -0x7bff_ffff);
        assert_eq!(Abi::Mpich.clean(0x4400_0000), 0x4400_0000);
        assert_eq!(Abi::OpenMpi.clean(0x7fff_1234_5678_9abc), 0x7fff_1234_5678_9abc);
    }
}
