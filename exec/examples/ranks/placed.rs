//! Ranks whose bytes lie in the file in the opposite order of their numbers, interleaved between neighbours: whoever gives
//! the first part of the file to the first ranks sends everything across the machine.

use crate::suite::{setting, text};
use sago_core::declare::{Declaration, Direction};
use sago_core::extent::Run;
use sago_exec::{Lent, Session};
use sago_mpi::Transport;
use sago_storage::Storage;
use std::sync::Arc;
use std::time::Instant;

const BLOCK: u64 = 4096;

/// Commits `steps` times `blocks` blocks of each rank with these options, compares the file with what it must be, and
/// says how long the commits took.
pub fn commits(
    t: &dyn Transport,
    storage: Arc<dyn Storage>,
    options: &str,
    blocks: u64,
    steps: u64,
) -> Result<String, String> {
    let ranks = t.size() as u64;
    // Two neighbours have a stretch of the file together, and take turns in it.
    let place = |rank: u64| {
        let from_the_end = ranks - 1 - rank;
        (from_the_end / 2 * 2 * blocks + from_the_end % 2) * BLOCK
    };
    let run = |rank: u64| Run::strided(place(rank), BLOCK, 2 * BLOCK, blocks);
    let byte = |rank: u64, step: u64| (rank * 29 + step * 7 + 1) as u8;
    let mine = t.rank() as u64;
    let mut session = Session::open(t, Arc::clone(&storage), setting(options)).map_err(text)?;
    t.barrier().map_err(|e| e.to_string())?;
    let start = Instant::now();
    for step in 0..steps {
        let bytes = vec![byte(mine, step); (BLOCK * blocks) as usize];
        let mut declaration = Declaration::new(Direction::Write);
        declaration.variable(run(mine));
        session.commit(declaration.finish(), &Lent::new([bytes.as_slice()])).map_err(text)?;
    }
    let seconds = start.elapsed().as_secs_f64();
    let (far, stats) = (session.stats().far_bytes, session.stats());
    session.close().map_err(text)?;
    let check = || {
        let mut found = vec![0; BLOCK as usize];
        for rank in 0..ranks {
            for block in run(rank).iter().flat_map(|run| run.blocks()) {
                storage.read(block.file, &mut found).map_err(|e| e.to_string())?;
                if found.iter().any(|b| *b != byte(rank, steps - 1)) {
                    return Err(format!("the block of rank {rank} at {} is wrong", block.file));
                }
            }
        }
        Ok(())
    };
    let verdict = if mine == 0 { check() } else { Ok(()) };
    t.agree(verdict).map_err(|e| e.to_string())?;
    let mut sum = [far];
    t.allreduce(sago_mpi::Reduce::Sum, &mut sum).map_err(|e| e.to_string())?;
    Ok(format!("ok 1 seeds\nseconds {seconds:.3} between_nodes {} waiting {:?}", sum[0], stats.waiting))
}
