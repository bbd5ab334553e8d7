//! Extents that are very many, and what memory a commit takes.

use super::{setting, text};
use sago_core::declare::{Declaration, Direction};
use sago_core::extent::Run;
use sago_exec::{Lent, Session, Taken};
use sago_mpi::Transport;
use sago_storage::Storage;
use std::sync::Arc;

/// `count` extents of 1 to 5 bytes on each rank, in an order and at distances that no pattern describes.
pub fn tiny(t: &dyn Transport, storage: Arc<dyn Storage>, count: u64) -> Result<(), String> {
    let (rank, ranks) = (t.rank() as u64, t.size() as u64);
    let len = |i: u64| 1 + i * i % 5;
    let at = |i: u64| (i * ranks + rank) * 7 + i % 2;
    let content = |offset: u64| (offset % 251) as u8 + 1;
    let order = || (0..count).map(|i| if i % 3 == 0 { count - 1 - i / 3 } else { i - i / 3 - 1 });
    let runs: Vec<Run> = order().map(|i| Run::contiguous(at(i), len(i))).collect();
    let bytes: Vec<u8> = runs.iter().flat_map(|run| (run.offset()..run.end()).map(content)).collect();
    let declared = |direction| {
        let mut declaration = Declaration::new(direction);
        declaration.variable(runs.iter().copied());
        declaration.finish()
    };
    let work = || -> Result<(), String> {
        let options = "exchange=aggregate buffer=64KiB stripe=4KiB aggregators=2";
        let mut session = Session::open(t, Arc::clone(&storage), setting(options)).map_err(text)?;
        session.commit(declared(Direction::Write), &Lent::new([bytes.as_slice()])).map_err(text)?;
        let mut back = vec![0; bytes.len()];
        let taken = &mut Taken::new([back.as_mut_slice()]);
        session.fetch(declared(Direction::Read), taken).map_err(text)?;
        session.close().map_err(text)?;
        if back == bytes { Ok(()) } else { Err("what was read differs".to_owned()) }
    };
    t.agree(work()).map_err(|e| e.to_string())
}

/// What a rank holds after a commit of interleaved blocks, with one aggregator or none, as the session counts it and as
/// `look` sees it.
pub fn held(
    t: &dyn Transport,
    storage: Arc<dyn Storage>,
    exchange: &str,
    look: &dyn Fn() -> u64,
) -> Result<(u64, u64), String> {
    const BLOCK: u64 = 1 << 10;
    const COUNT: u64 = 4 << 10;
    let (rank, ranks) = (t.rank() as u64, t.size() as u64);
    let options = format!("exchange={exchange} buffer=2MiB stripe=2MiB aggregators=1");
    let bytes = vec![1; (BLOCK * COUNT) as usize];
    let mut session = Session::open(t, storage, setting(&options)).map_err(text)?;
    let mut declaration = Declaration::new(Direction::Write);
    declaration.variable(Run::strided(rank * BLOCK, BLOCK, ranks * BLOCK, COUNT));
    session.commit(declaration.finish(), &Lent::new([bytes.as_slice()])).map_err(text)?;
    let held = (session.memory_bytes() as u64, look());
    session.close().map_err(text)?;
    Ok(held)
}
