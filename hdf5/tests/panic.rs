//! A panic inside a callback. Alone in its process, since it silences panics.

mod common;

use common::{quiet, stack};
use sago_hdf5::guard;
use std::ffi::c_void;

#[test]
fn panics_become_errors_with_their_place() {
    guard::quiet_panics();
    for &library in common::libraries().iter() {
        quiet(library);
        let object: *mut c_void = guard::guard(library, "test", || panic!("three is {}", 3));
        assert!(object.is_null());
        let entry = &stack(library)[0];
        assert!(entry.starts_with("sago: test: internal error at hdf5/tests/panic.rs:"), "{entry}");
        assert!(entry.contains("three is 3"), "{entry}");
    }
}
