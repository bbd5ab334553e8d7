//! The boundary to a real HDF5: binding, failure values, the error stack.

mod common;

use common::{function, quiet, stack};
use sago_hdf5::handle::Connector;
use sago_hdf5::sys::{H5VL_VERSION, herr_t};
use sago_hdf5::{Error, Library, error, guard};
use std::ffi::c_void;
use std::ptr;

#[test]
fn each_library_is_bound_once_and_apart() {
    let libraries = common::libraries();
    for (i, library) in libraries.iter().enumerate() {
        assert!(ptr::eq(*library, Library::in_slot(library.slot()).unwrap()));
        let again = function::<*const c_void>(library, c"H5Dwrite");
        assert!(ptr::eq(*library, Library::of_address(again).unwrap()));
        assert!(libraries[..i].iter().all(|other| other.slot() != library.slot()));
        assert!(library.version() >= (1, 14, 0));
        assert_eq!(library.native_class().unwrap().version, H5VL_VERSION);
    }
}

#[test]
fn a_process_without_hdf5_is_refused() {
    let here = a_process_without_hdf5_is_refused as *const c_void;
    let refused = Library::of_address(here).unwrap_err().to_string();
    assert!(refused.contains("does not export"), "{refused}");
}

#[test]
fn failures_are_pushed_on_top_of_what_hdf5_said() {
    for &library in common::libraries().iter() {
        quiet(library);
        let code: herr_t = guard(library, "test", || {
            // SAFETY: HDF5 refuses a bad identifier.
            assert!(unsafe { (library.fns.H5Pcopy)(-1) } < 0);
            Err(Error::Message("100 % gone".to_owned()))
        });
        assert_eq!(code, -1);
        let stack = stack(library);
        assert!(stack.len() >= 2, "{stack:?}");
        assert!(stack[0].starts_with("H5Pcopy: "), "{stack:?}");
        assert_eq!(stack[stack.len() - 1], "sago: test: 100 % gone");
    }
}

#[test]
fn clean_up_leaves_the_stack_alone() {
    for &library in common::libraries().iter() {
        quiet(library);
        // SAFETY: HDF5 refuses a bad identifier.
        assert!(unsafe { (library.fns.H5Pcopy)(-1) } < 0);
        let before = stack(library);
        assert!(!before.is_empty());
        error::preserve(library, || Connector::native(library).map(drop)).unwrap();
        assert_eq!(stack(library), before);
    }
}

#[test]
fn a_connector_that_is_not_there_is_not_found() {
    for &library in common::libraries().iter() {
        quiet(library);
        assert!(Connector::by_name(library, c"no-such-connector").is_err());
        assert!(Connector::by_name(library, c"native").is_ok());
    }
}
