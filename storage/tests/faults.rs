//! Failures are returned, named, and leave what was written before them.

use sago_storage::{
    Access, Counted, DirectFile, Error, Fault, Faulty, FileSystem, Memory, Op, PosixFile, Storage, Throttled,
};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const EIO: i32 = 5;

#[test]
fn a_full_device_is_named_and_keeps_what_fitted() {
    let storage = Faulty::new(Memory::new(), vec![Fault::FullAfter { bytes: 10_000 }]);
    storage.write(0, &[1; 6000]).unwrap();
    let found = storage.write(6000, &[2; 6000]);
    assert!(matches!(found, Err(Error::NoSpace { offset: 10_000 })), "{found:?}");
    let mut bytes = [0; 10_001];
    assert_eq!(storage.read(0, &mut bytes).unwrap(), 10_000);
    assert!(bytes[..6000].iter().all(|&b| b == 1) && bytes[6000..10_000].iter().all(|&b| b == 2));
    assert!(matches!(storage.write(0, &[1]), Err(Error::NoSpace { offset: 0 })));
}

#[test]
fn a_really_full_device() {
    let storage = PosixFile::open(Path::new("/dev/full"), Access::Write).unwrap();
    let found = storage.write(100, &[0; 10]);
    assert!(matches!(found, Err(Error::NoSpace { offset: 100 })), "{found:?}");
}

#[test]
fn the_nth_call_fails_and_the_next_works() {
    let fault = Fault::FailCall { op: Op::Write, call: 2, errno: EIO };
    let storage = Faulty::new(Memory::new(), vec![fault]);
    storage.write(0, &[1]).unwrap();
    let found = storage.write(1, &[1]);
    let Err(Error::Failed { op: Op::Write, offset: 1, cause }) = found else { panic!("{found:?}") };
    assert_eq!(cause.raw_os_error(), Some(EIO));
    storage.write(1, &[1]).unwrap();
    assert_eq!(storage.size().unwrap(), 2);
}

#[test]
fn a_bad_spot_stops_a_transfer_where_it_is() {
    let bad = |op| Fault::BadRange { op, range: 5000..5001, errno: EIO };
    let storage = Faulty::new(Memory::new(), vec![bad(Op::Write), bad(Op::Read)]);
    let found = storage.write(0, &[1; 9000]);
    assert!(matches!(found, Err(Error::Failed { op: Op::Write, offset: 5000, .. })), "{found:?}");
    assert_eq!(storage.size().unwrap(), 5000);
    storage.write(5001, &[2; 10]).unwrap();
    let found = storage.read(4000, &mut [0; 2000]);
    assert!(matches!(found, Err(Error::Failed { op: Op::Read, offset: 5000, .. })), "{found:?}");
}

#[test]
fn a_file_that_is_only_to_be_read_cannot_be_written() {
    let path =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("sago-read-only-{}", std::process::id()));
    std::fs::write(&path, b"text").unwrap();
    let storage = PosixFile::open(&path, Access::Read).unwrap();
    assert!(matches!(storage.write(0, b"x"), Err(Error::Failed { op: Op::Write, offset: 0, .. })));
    let mut bytes = [0; 10];
    assert_eq!(storage.read(0, &mut bytes).unwrap(), 4);
    std::fs::remove_file(&path).unwrap();
    assert!(PosixFile::open(&path, Access::Write).is_err());
}

/// Two direct writers whose strips share blocks, each flushing its own, for as long as the other: with read, change and
/// write back one would undo the other.
#[test]
fn direct_writers_do_not_undo_each_other() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("sago-direct-{}", std::process::id()));
    let writer = |first: usize| {
        let path = path.clone();
        move || {
            // A description of its own, as another process has.
            let storage = DirectFile::open(&path, Access::Create).unwrap();
            for round in 0..20_u8 {
                for strip in (first..64).step_by(2) {
                    storage.write(strip as u64 * 6000, &[strip as u8 ^ round; 6000]).unwrap();
                }
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(writer(0));
        scope.spawn(writer(1));
    });
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(bytes.len(), 64 * 6000);
    for (strip, found) in bytes.chunks(6000).enumerate() {
        assert!(found.iter().all(|&b| b == strip as u8 ^ 19), "strip {strip}");
    }
}

#[test]
fn throttled_storage_takes_its_time_for_all_together() {
    let storage = Throttled::new(Memory::new(), 1 << 20, Duration::ZERO);
    let started = Instant::now();
    std::thread::scope(|scope| {
        for i in 0..4 {
            let storage = &storage;
            scope.spawn(move || storage.write(i * 65536, &[0; 65536]).unwrap());
        }
    });
    assert!(
        started.elapsed() >= Duration::from_millis(250),
        "{:?} for 256 KiB at 1 MiB/s",
        started.elapsed()
    );
}

#[test]
fn calls_and_bytes_are_counted() {
    let storage = Counted::new(Memory::new());
    storage.write_pieces(0, &[&[1_u8; 10][..]; 2000]).unwrap();
    storage.read(0, &mut [0; 100]).unwrap();
    let counts = storage.counts();
    assert_eq!((counts.write_calls, counts.write_bytes), (2, 20_000), "1024 pieces at once, then the rest");
    assert_eq!((counts.read_calls, counts.read_bytes), (1, 100));
}

#[test]
fn a_file_system_says_what_it_is() {
    let disk = FileSystem::of(Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    assert!(Path::new(env!("CARGO_TARGET_TMPDIR")).starts_with(&disk.mount_point), "{disk:?}");
    assert_ne!(disk.kind, "unknown");
}
