//! Storage that fails on one rank or on all: every rank must return the same error, no byte may be in the file that
//! nobody wrote there, and another file must work right afterwards.

use super::{Pattern, setting, text};
use sago_core::declare::Direction;
use sago_core::random::Random;
use sago_exec::{Error, Lent, Session, Taken};
use sago_mpi::Transport;
use sago_storage::{Fault, Faulty, Memory, Op, Storage};
use std::sync::Arc;

const NO_SPACE: i32 = 28;
const IO: i32 = 5;

/// On every rank the first complaint of any. Both storages are empty.
pub fn run(
    t: &dyn Transport,
    bad: Arc<dyn Storage>,
    good: Arc<dyn Storage>,
    seed: u64,
) -> Result<(), String> {
    let verdict = commit_with_fault(t, bad, good, seed).map_err(|e| format!("seed {seed}: {e}"));
    t.agree(verdict).map_err(|e| e.to_string())
}

/// A drawn fault; whether it is one that commits survive.
fn fault(random: &mut Random, direction: Direction, bytes: u64) -> (Fault, bool) {
    let op = if direction == Direction::Write { Op::Write } else { Op::Read };
    match random.below(5) {
        0 => (Fault::FailCall { op, call: 1 + random.below(3), errno: IO }, false),
        1 if op == Op::Write => (Fault::FullAfter { bytes: random.below(bytes.max(1)) }, false),
        2 => {
            let start = random.below(bytes.max(1));
            (Fault::BadRange { op, range: start..start + 1 + random.below(50), errno: IO }, false)
        }
        3 => (Fault::InterruptEvery { op, every: 2 }, true),
        _ => (Fault::ShortEvery { op, every: 1 + random.below(3) }, true),
    }
}

fn commit_with_fault(
    t: &dyn Transport,
    bad: Arc<dyn Storage>,
    good: Arc<dyn Storage>,
    seed: u64,
) -> Result<(), String> {
    let (rank, ranks) = (t.rank() as u64, t.size() as u64);
    let mut random = Random::new(seed ^ 0xfa01);
    let options = super::options(&mut random);
    let patterns: Vec<Pattern> =
        (0..ranks).map(|rank| Pattern::random(&mut Random::new(seed), rank, ranks, 0)).collect();
    let mut expected = Vec::new();
    patterns.iter().for_each(|pattern| pattern.apply(&mut expected));
    let victim = random.below(2 * ranks);
    let direction = if random.below(4) == 0 { Direction::Read } else { Direction::Write };
    let (fault, harmless) = fault(&mut random, direction, expected.len() as u64);
    let storage: Arc<dyn Storage> = if victim >= ranks || victim == rank {
        Arc::new(Faulty::new(Arc::clone(&bad), vec![fault.clone()]))
    } else {
        Arc::clone(&bad)
    };
    let mine = &patterns[t.rank()];
    if direction == Direction::Read {
        write(t, &bad, mine, &options, false).map_err(text)?;
    }
    let result = match direction {
        Direction::Write => write(t, &storage, mine, &options, random.below(2) == 0),
        Direction::Read => read(t, &storage, mine, &options),
    };
    same_everywhere(t, &result)?;
    if harmless && result.is_err() {
        return Err(format!("{fault:?} led to {result:?}"));
    }
    if let Err(error) = &result {
        let Error::Fault(told) = error else { return Err(format!("{error}")) };
        let code = if matches!(fault, Fault::FullAfter { .. }) { NO_SPACE } else { IO };
        if told.code != code || (victim < ranks && u64::from(told.rank.0) != victim) {
            return Err(format!("{fault:?} at {victim} is told as {told:?}"));
        }
    }
    nothing_else(&bad, &expected, result.is_ok())?;
    write(t, &good, mine, &options, false).map_err(text)?;
    nothing_else(&good, &expected, true)
}

/// `steady`: after steps that went well, to another file.
fn write(
    t: &dyn Transport,
    storage: &Arc<dyn Storage>,
    mine: &Pattern,
    options: &str,
    steady: bool,
) -> Result<(), Error> {
    let lent = Lent::new(mine.variables.iter().map(|(_, bytes)| bytes.as_slice()));
    let mut session = Session::open(t, Arc::new(Memory::default()), setting(options))?;
    for _ in 0..if steady { 3 } else { 0 } {
        session.commit(mine.declared(Direction::Write), &lent)?;
    }
    session.turn_to(Arc::clone(storage));
    let result = session.commit(mine.declared(Direction::Write), &lent);
    session.close()?;
    result
}

fn read(t: &dyn Transport, storage: &Arc<dyn Storage>, mine: &Pattern, options: &str) -> Result<(), Error> {
    let mut session = Session::open(t, Arc::clone(storage), setting(options))?;
    let mut back: Vec<Vec<u8>> = mine.variables.iter().map(|(_, bytes)| vec![0; bytes.len()]).collect();
    let mut taken = Taken::new(back.iter_mut().map(Vec::as_mut_slice));
    let result = session.fetch(mine.declared(Direction::Read), &mut taken);
    session.close()?;
    result
}

pub fn same_everywhere(t: &dyn Transport, result: &Result<(), Error>) -> Result<(), String> {
    let told = format!("{result:?}");
    let all = t.allgather(told.as_bytes()).map_err(|e| e.to_string())?;
    match all.iter().find(|other| *other != told.as_bytes()) {
        Some(other) => Err(format!("{told} here, {} elsewhere", String::from_utf8_lossy(other))),
        None => Ok(()),
    }
}

/// Every byte is the one that was to be written, or, after a failure, none; and the same on all ranks' storage.
fn nothing_else(storage: &Arc<dyn Storage>, expected: &[u8], all: bool) -> Result<(), String> {
    let mut found = vec![0; expected.len() + 100];
    let filled = storage.read(0, &mut found).map_err(|e| e.to_string())?;
    let right = |at: usize| match expected.get(at) {
        Some(byte) => found[at] == *byte || (!all && found[at] == 0),
        None => false,
    };
    match (0..filled).find(|at| !right(*at)) {
        Some(at) => Err(format!("byte {at} of {} is {}", expected.len(), found[at])),
        None if all && filled != expected.len() => Err(format!("{filled} bytes of {}", expected.len())),
        None => Ok(()),
    }
}
