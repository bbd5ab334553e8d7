//! The hints that a program gives with the file's MPI_Info. They rank above the files of options and below the environment
//! and the connector's text. Other software reads them too, so what is wrong with them is said once, and left out.

use crate::state::State;
use sago_core::config::{Layers, LoadError};
use sago_hdf5::sys::hid_t;
use sago_hdf5::{Library, error};
use sago_mpi::{Mpi, RawInfo};
use std::io::Write as _;

/// Adds the hints of a file access list to the options; says what is wrong with some of them.
pub fn add(library: &'static Library, mpi: &Mpi, fapl: hid_t, options: &mut Layers) -> Vec<LoadError> {
    let Some(parallel) = library.parallel.as_ref() else { return Vec::new() };
    let mut info = 0;
    let asked = error::quietly(library, || {
        // SAFETY: a place with room for an info of any MPI; the communicator is not asked for.
        unsafe { (parallel.H5Pget_fapl_mpio)(fapl, std::ptr::null_mut(), &mut info) >= 0 }
    });
    if !asked {
        return Vec::new();
    }
    // SAFETY: HDF5 has duplicated the program's info for us, and we were called by a thread that may call MPI.
    let pairs = unsafe { mpi.take_info(RawInfo(info)) };
    let complaints = options.hints(pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())));
    if let Some(place) = options.config().report.clone() {
        State::of(library).report_to(place);
    }
    complaints
}

/// Tells whoever looks at the program what is wrong, each thing once.
pub fn complain(library: &Library, complaints: &[LoadError]) {
    for complaint in complaints.iter().map(ToString::to_string) {
        if State::of(library).is_news(&complaint) {
            // Where standard error is closed, nobody is left to tell.
            let _ = std::io::stderr().write_all(format!("sago: {complaint}; it is left out\n").as_bytes());
        }
    }
}
