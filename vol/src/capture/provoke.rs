//! What goes wrong on demand, for the tests of what a program then sees. Without the feature `provoke`, nothing does.
//!
//! `SAGO_FAULT="rank=1 write=3 errno=5"` lets the third write call of rank 1 fail, `short=2` makes every second one
//! short, `full=65536` fills the device after so many bytes, `panic=PLACE` lets the rank panic when it comes to a place that
//! has this name, `times=2` when it does so for the first and for the second time. Without `rank` it concerns all.

#[cfg(not(feature = "provoke"))]
pub use never::{point, storage};
#[cfg(feature = "provoke")]
pub use on_demand::{point, storage};

#[cfg(not(feature = "provoke"))]
mod never {
    use sago_storage::{PosixFile, Storage};
    use std::sync::Arc;

    pub fn storage(file: PosixFile, _rank: usize) -> Arc<dyn Storage> {
        Arc::new(file)
    }

    pub const fn point(_place: &'static str) {}
}

#[cfg(feature = "provoke")]
mod on_demand {
    pub use sago_exec::provoke::point;

    use sago_exec::provoke::{PLACES, panic_at};
    use sago_storage::{Fault, Faulty, Op, PosixFile, Storage};
    use std::sync::Arc;

    /// In this crate.
    const OWN_PLACES: [&str; 5] = ["prepare", "convert", "declare", "look-up", "extent"];

    pub fn storage(file: PosixFile, rank: usize) -> Arc<dyn Storage> {
        let text = std::env::var("SAGO_FAULT").unwrap_or_default();
        let word = |name: &str| {
            let mut words = text.split_whitespace().filter_map(|word| word.split_once('='));
            words.find(|(key, _)| *key == name).map(|(_, value)| value)
        };
        let number = |name: &str| -> Option<u64> { word(name)?.parse().ok() };
        if number("rank").is_some_and(|concerned| concerned != rank as u64) {
            return Arc::new(file);
        }
        let mut places = PLACES.iter().chain(&OWN_PLACES).copied();
        let place = word("panic").and_then(|place| places.find(|known| *known == place));
        panic_at(place, number("times").unwrap_or(1));
        let errno = number("errno").unwrap_or(5) as i32;
        let faults = [
            number("write").map(|call| Fault::FailCall { op: Op::Write, call, errno }),
            number("read").map(|call| Fault::FailCall { op: Op::Read, call, errno }),
            number("short").map(|every| Fault::ShortEvery { op: Op::Write, every }),
            number("full").map(|bytes| Fault::FullAfter { bytes }),
        ];
        Arc::new(Faulty::new(file, faults.into_iter().flatten().collect()))
    }
}
