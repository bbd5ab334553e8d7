//! Panics on demand, for the tests of what the other ranks then see. Without the feature `provoke` there are none.

use std::cell::Cell;

thread_local! {
    static PLACE: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// The places where a rank can be made to panic.
pub const PLACES: [&str; 7] = ["compare", "outline", "plan", "schedule", "duties", "engine", "copy"];

/// Lets this thread panic when it next comes to `place`; to none if it is not one of [`PLACES`] or the caller's.
pub fn panic_at(place: Option<&'static str>) {
    PLACE.set(place);
}

/// Panics if this is the place.
pub fn point(place: &'static str) {
    if PLACE.get() == Some(place) {
        PLACE.set(None);
        panic!("provoked at {place}");
    }
}
