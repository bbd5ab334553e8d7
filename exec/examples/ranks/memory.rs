//! What the kernel says of the memory that the ranks of a node have in common.

use crate::suite::extremes::held;
use sago_mpi::{Reduce, Transport};
use sago_storage::Storage;
use std::sync::Arc;

/// With one aggregator the node has one pair of buffers, of 2 MiB each, and little else.
pub fn one_pair_of_buffers(t: &dyn Transport, storage: Arc<dyn Storage>) -> Result<String, String> {
    let (counted, mapped) = held(t, storage, "aggregate", &mapped)?;
    let (mut sum, mut most) = ([counted], [mapped]);
    t.allreduce(Reduce::Sum, &mut sum).map_err(|e| e.to_string())?;
    t.allreduce(Reduce::Max, &mut most).map_err(|e| e.to_string())?;
    let told = format!("counted {} KiB, mapped {} KiB", sum[0] >> 10, most[0] >> 10);
    let right = |bytes: u64| (4 << 20..6 << 20).contains(&bytes);
    if right(sum[0]) && right(most[0]) { Ok(format!("ok 1 seeds\n{told}")) } else { Err(told) }
}

/// The sizes of all files in memory that this process has mapped for Sago.
fn mapped() -> u64 {
    let text = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
    let mut ours = false;
    let mut kib = 0;
    for line in text.lines() {
        match line.strip_prefix("Size:") {
            Some(size) if ours => kib += size.trim().trim_end_matches(" kB").parse().unwrap_or(0),
            Some(_) => {}
            None if line.contains('-') => ours = line.contains("memfd:sago"),
            None => {}
        }
    }
    kib << 10
}
