//! Storage that fails as the environment says, for the tests of what a program then sees:
//! `SAGO_FAULT="rank=1 write=3 errno=5"` lets the third write call of rank 1 fail, `short=2` makes every second one
//! short, `full=65536` fills the device after so many bytes. Without `rank` it concerns all.

use sago_storage::{Fault, Faulty, Op, PosixFile, Storage};
use std::sync::Arc;

pub fn storage(file: PosixFile, rank: usize) -> Arc<dyn Storage> {
    let text = std::env::var("SAGO_FAULT").unwrap_or_default();
    let number = |name: &str| -> Option<u64> {
        let mut words = text.split_whitespace().filter_map(|word| word.split_once('='));
        words.find(|(key, _)| *key == name)?.1.parse().ok()
    };
    if number("rank").is_some_and(|concerned| concerned != rank as u64) {
        return Arc::new(file);
    }
    let errno = number("errno").unwrap_or(5) as i32;
    let faults = [
        number("write").map(|call| Fault::FailCall { op: Op::Write, call, errno }),
        number("read").map(|call| Fault::FailCall { op: Op::Read, call, errno }),
        number("short").map(|every| Fault::ShortEvery { op: Op::Write, every }),
        number("full").map(|bytes| Fault::FullAfter { bytes }),
    ];
    Arc::new(Faulty::new(file, faults.into_iter().flatten().collect()))
}
