//! Measurements are kept, the same on all ranks, and no worse for being damaged.

#![allow(clippy::unwrap_used)] // In a test.

use sago_exec::Measured;
use sago_mpi::threads::{self, Options};
use std::fs;

#[test]
fn what_is_measured_is_kept_and_the_same_on_all_ranks() {
    let folder = std::env::temp_dir().join(format!("sago-calibration-{}", std::process::id()));
    let cache = folder.join("cache");
    fs::create_dir_all(&folder).unwrap();
    let run = || threads::run(4, Options::default(), |t| Measured::of(t, &folder, Some(&cache)).unwrap());
    let first = run();
    assert!(first.iter().all(|other| *other == first[0]), "{first:?}");
    let measured = &first[0];
    assert_eq!(measured.write_bytes_per_s.len(), 3);
    assert_eq!(measured.to_string().parse(), Ok(measured.clone()));
    let costs = measured.calibration();
    assert!(costs.request_s > 0.0 && costs.target_bytes_per_s > 1e6 && costs.crowding >= 0.0, "{costs:?}");
    assert_eq!(run(), first, "kept");
    let kept: Vec<_> = fs::read_dir(&cache).unwrap().flatten().collect();
    assert_eq!(kept.len(), 1);
    fs::write(kept[0].path(), "copy_bytes_per_s=-1").unwrap();
    assert!(run()[0].copy_bytes_per_s > 0.0, "measured again");
    let left: Vec<_> = fs::read_dir(&folder).unwrap().flatten().map(|e| e.file_name()).collect();
    assert_eq!(left, ["cache"], "nothing is left behind");
    fs::remove_dir_all(&folder).unwrap();
}
