//! What every [`Storage`] must do: one suite, run on all of them, with and without harmless trouble below.

mod suite;

use sago_storage::{Access, Counted, DirectFile, Fault, Faulty, Memory, Op, PosixFile, Storage, Throttled};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A file that is not there yet, below a folder, and goes with the test.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn below(folder: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::SeqCst);
        Self(PathBuf::from(folder).join(format!("sago-storage-{}-{number}", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

const DISK: &str = env!("CARGO_TARGET_TMPDIR");
const SHM: &str = "/dev/shm";

fn run(make: impl Fn() -> Box<dyn Storage>) {
    for (name, case) in suite::CASES {
        println!("{name}");
        case(&*make());
    }
}

/// Files go away with the scratch places, after the suite.
fn run_on_files(folder: &str, open: impl Fn(&PathBuf) -> Box<dyn Storage>) {
    let places = std::cell::RefCell::new(Vec::new());
    run(|| {
        let place = Scratch::below(folder);
        let storage = open(&place.0);
        places.borrow_mut().push(place);
        storage
    });
}

/// Short transfers and signals are part of life, and must not show.
fn trouble() -> Vec<Fault> {
    [Op::Write, Op::Read]
        .into_iter()
        .flat_map(|op| [Fault::ShortEvery { op, every: 3 }, Fault::InterruptEvery { op, every: 5 }])
        .collect()
}

#[test]
fn memory() {
    run(|| Box::new(Memory::new()));
}

#[test]
fn posix_on_disk() {
    run_on_files(DISK, |path| Box::new(PosixFile::open(path, Access::Create).unwrap()));
}

#[test]
fn posix_on_tmpfs() {
    run_on_files(SHM, |path| Box::new(PosixFile::open(path, Access::Create).unwrap()));
}

#[test]
fn direct_on_disk() {
    run_on_files(DISK, |path| Box::new(DirectFile::open(path, Access::Create).unwrap()));
}

#[test]
fn memory_with_trouble() {
    run(|| Box::new(Faulty::new(Memory::new(), trouble())));
}

#[test]
fn posix_with_trouble() {
    run_on_files(SHM, |path| {
        Box::new(Faulty::new(PosixFile::open(path, Access::Create).unwrap(), trouble()))
    });
}

#[test]
fn direct_with_trouble() {
    run_on_files(DISK, |path| {
        Box::new(Faulty::new(DirectFile::open(path, Access::Create).unwrap(), trouble()))
    });
}

#[test]
fn wrappers() {
    run(|| Box::new(Counted::new(Throttled::new(Memory::new(), 1 << 40, Duration::ZERO))));
}
