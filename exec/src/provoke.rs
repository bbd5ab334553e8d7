//! Panics on demand, for the tests of what the other ranks then see. Without the feature `provoke` there are none.

use std::cell::Cell;

thread_local! {
    /// Where, and how many times more.
    static PLACE: Cell<Option<(&'static str, u64)>> = const { Cell::new(None) };
}

/// The places where a rank can be made to panic.
pub const PLACES: [&str; 7] = ["compare", "outline", "plan", "schedule", "duties", "engine", "copy"];

/// Lets this thread panic the next `times` that it comes to `place`; to none if it is not one of [`PLACES`] or the caller's.
pub fn panic_at(place: Option<&'static str>, times: u64) {
    PLACE.set(place.map(|place| (place, times)));
}

/// Panics if this is the place.
pub fn point(place: &'static str) {
    if let Some((here, times)) = PLACE.get().filter(|(here, times)| *here == place && *times > 0) {
        PLACE.set(Some((here, times - 1)));
        panic!("provoked at {place}");
    }
}
