//! A rank that panics between two meetings with the others.

use super::{setting, text};
use sago_core::declare::{Declaration, Declared, Direction};
use sago_core::extent::Run;
use sago_exec::{Error, Lent, Session, Taken, provoke};
use sago_mpi::Transport;
use sago_storage::{Fault, Faulty, Op, Storage};
use std::sync::Arc;

const PLACES: u64 = provoke::PLACES.len() as u64;
/// Each place and the storage, on the first or the last rank, in a commit or in a fetch, with and without aggregators, with a new
/// plan or with one that has been good before.
pub const CASES: u64 = (PLACES + 1) * 16;
const BLOCK: u64 = 100;
const COUNT: u64 = 50;

/// On every rank the first complaint of any. `storage` is empty.
pub fn run(t: &dyn Transport, storage: Arc<dyn Storage>, case: u64) -> Result<(), String> {
    let verdict = commit_with_panic(t, &storage, case).map_err(|e| format!("case {case}: {e}"));
    t.agree(verdict).map_err(|e| e.to_string())
}

fn commit_with_panic(t: &dyn Transport, storage: &Arc<dyn Storage>, case: u64) -> Result<(), String> {
    let (place, kind) = (case % (PLACES + 1), case / (PLACES + 1));
    let last = kind & 1 == 1;
    let direction = if kind & 2 == 0 { Direction::Write } else { Direction::Read };
    let exchange = if kind & 4 == 0 { "aggregate aggregators=2" } else { "direct" };
    let victim = if last { t.size() - 1 } else { 0 };
    let op = if direction == Direction::Write { Op::Write } else { Op::Read };
    let broken: Arc<dyn Storage> =
        Arc::new(Faulty::new(Arc::clone(storage), vec![Fault::Panic { op, call: 1 }]));
    let options = format!("exchange={exchange} buffer=1000B stripe=1000B group_ranks_min=1");
    let mut session = Session::open(t, Arc::clone(storage), setting(&options)).map_err(text)?;
    // So that there is something to read.
    step(&mut session, t, Direction::Write, 0).map_err(text)?;
    let steady = kind & 8 != 0;
    if steady {
        (0..3).try_for_each(|_| step(&mut session, t, direction, 1)).map_err(text)?;
    }
    let name = provoke::PLACES.get(place as usize).copied();
    let (stored, before) = (name.is_none(), session.stats().requests);
    if t.rank() == victim {
        provoke::panic_at(name, 1);
        if stored {
            session.turn_to(broken);
        }
    }
    let result = step(&mut session, t, direction, 1);
    provoke::panic_at(None, 0);
    session.turn_to(Arc::clone(storage));
    let reached = match name {
        Some("copy") => exchange != "direct",
        Some("outline" | "plan" | "schedule" | "duties") => !steady,
        _ => true,
    };
    super::faults::same_everywhere(t, &result)?;
    match &result {
        Err(Error::Refused { rank, reason }) if *rank == victim && reason.contains("provoked") => {}
        Ok(()) if !reached || (stored && !told(t, victim, session.stats().requests > before)?) => {}
        other => return Err(format!("{name:?} on rank {victim} led to {other:?}")),
    }
    for direction in [Direction::Write, Direction::Read] {
        step(&mut session, t, direction, 2).map_err(text)?;
    }
    session.close().map_err(text)
}

/// What the victim says.
fn told(t: &dyn Transport, victim: usize, mine: bool) -> Result<bool, String> {
    let mut told = [u8::from(mine)];
    t.broadcast(victim, &mut told).map_err(|e| e.to_string())?;
    Ok(told[0] == 1)
}

/// Interleaved blocks; another step has another pattern.
fn declared(t: &dyn Transport, direction: Direction, step: u64) -> Declared {
    let (rank, ranks) = (t.rank() as u64, t.size() as u64);
    let mut declaration = Declaration::new(direction);
    declaration.variable(Run::strided(rank * BLOCK, BLOCK, ranks * BLOCK, COUNT + step));
    declaration.finish()
}

fn step(session: &mut Session, t: &dyn Transport, direction: Direction, step: u64) -> Result<(), Error> {
    let declared = declared(t, direction, step);
    let mut bytes = vec![t.rank() as u8 + 1; declared.bytes() as usize];
    match direction {
        Direction::Write => session.commit(declared, &Lent::new([bytes.as_slice()])),
        Direction::Read => {
            bytes.fill(0);
            session.fetch(declared, &mut Taken::new([bytes.as_mut_slice()]))?;
            let right = bytes.iter().take((BLOCK * COUNT) as usize).all(|byte| *byte == t.rank() as u8 + 1);
            if right { Ok(()) } else { Err(Error::Garbled) }
        }
    }
}
