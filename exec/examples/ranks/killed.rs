//! A rank that dies in the middle of a commit. MPI must end the job: the other ranks wait, but not for ever.

use crate::suite::{setting, text};
use sago_core::declare::{Declaration, Direction};
use sago_core::extent::Run;
use sago_exec::{Lent, Session};
use sago_mpi::Transport;
use sago_storage::Storage;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Commits interleaved blocks again and again; after a second the victim kills itself, from a thread of its own, so
/// that it is somewhere inside of a commit. Every byte is its rank's number plus one.
pub fn commit_until(t: &dyn Transport, storage: Arc<dyn Storage>, victim: u64) -> Result<String, String> {
    const BLOCK: u64 = 1000;
    const COUNT: u64 = 20_000;
    let (rank, ranks) = (t.rank() as u64, t.size() as u64);
    let bytes = vec![rank as u8 + 1; (BLOCK * COUNT) as usize];
    let options = "exchange=aggregate buffer=1MiB aggregators=2";
    let mut session = Session::open(t, storage, setting(options)).map_err(text)?;
    if rank == victim {
        std::thread::spawn(|| {
            std::thread::sleep(Duration::from_secs(1));
            let _ = std::process::Command::new("kill").arg("-9").arg(std::process::id().to_string()).status();
        });
    }
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(60) {
        let mut declaration = Declaration::new(Direction::Write);
        declaration.variable(Run::strided(rank * BLOCK, BLOCK, ranks * BLOCK, COUNT));
        session.commit(declaration.finish(), &Lent::new([bytes.as_slice()])).map_err(text)?;
    }
    Err("nobody was killed".to_owned())
}
