//! Random commits and fetches, compared byte by byte with the plain way of doing them. Every rank draws the same from
//! the seed, so each knows what all write.

pub mod extremes;
pub mod faults;
#[cfg(feature = "provoke")]
pub mod panics;
mod pattern;

pub use pattern::Pattern;

use sago_core::config::Config;
use sago_core::cost::Calibration;
use sago_core::declare::Direction;
use sago_core::plan::StorageFacts;
use sago_core::random::Random;
use sago_exec::{Error, Lent, Session, Setting, Taken};
use sago_mpi::Transport;
use sago_storage::Storage;
use std::sync::Arc;

/// Beyond all that the ranks write otherwise, for each of them.
const ELSEWHERE: u64 = 300_000;
const ODD_RANKS_MAX: u64 = 8;

pub fn setting(options: &str) -> Setting {
    let config = Config::parse(options).unwrap_or_else(|e| panic!("{options}: {e}"));
    Setting { config, storage: StorageFacts::default(), calibration: Calibration::default() }
}

fn options(random: &mut Random) -> String {
    let mut text = String::new();
    if random.below(3) > 0 {
        text += &format!(" buffer={}B", 16 + random.below(2000));
    }
    if random.below(2) > 0 {
        text += &format!(" stripe={}B", 8 + random.below(500));
    }
    text += [" exchange=auto", " exchange=direct", " exchange=aggregate"][random.below(3) as usize];
    if random.below(2) > 0 {
        text += &format!(" aggregators={}", 1 + random.below(5));
    }
    text + &format!(" groups={} group_ranks_min=1", 1 + random.below(3))
}

/// A few commits and a fetch of all ranks on `storage`, which is empty; on every rank the first complaint of any.
pub fn run(t: &dyn Transport, storage: Arc<dyn Storage>, seed: u64) -> Result<(), String> {
    let verdict = commit_and_fetch(t, &storage, seed).map_err(|e| format!("seed {seed}: {e}"));
    t.agree(verdict).map_err(|e| e.to_string())
}

fn commit_and_fetch(t: &dyn Transport, storage: &Arc<dyn Storage>, seed: u64) -> Result<(), String> {
    let (rank, ranks) = (t.rank() as u64, t.size() as u64);
    let mut random = Random::new(seed);
    let setting = setting(&options(&mut random));
    let steps = 1 + random.below(6);
    // Half of the time a step is the one before, further on in the file; but for a rank, now and then, which is elsewhere, or
    // writes something else.
    let again = random.below(2) == 0;
    let odd = |step: u64| {
        let mut random = Random::new(seed ^ (77_777 * (step + 1)));
        let is_odd = again && ranks <= ODD_RANKS_MAX && random.below(4) == 0;
        is_odd.then(|| (random.below(ranks), random.below(2)))
    };
    let shaped = |rank: u64, step: u64| {
        let drawn = if again { 0 } else { 1_000_003 * step };
        let shift = if again { step * 8 * (1 + seed % 500) } else { 0 };
        match odd(step) {
            Some((odd, other)) if odd == rank => Pattern::random(
                &mut Random::new(seed + drawn + other),
                rank,
                ranks,
                shift + ELSEWHERE * ranks,
            ),
            _ => Pattern::random(&mut Random::new(seed + drawn), rank, ranks, shift),
        }
    };
    let mut expected = Vec::new();
    for step in 0..steps {
        (0..ranks).for_each(|rank| shaped(rank, step).apply(&mut expected));
    }
    let mut session = Session::open(t, Arc::clone(storage), setting).map_err(text)?;
    session.set_exclusive(true);
    for step in 0..steps {
        let pattern = shaped(rank, step);
        let lent = Lent::new(pattern.variables.iter().map(|(_, bytes)| bytes.as_slice()));
        if random.below(8) == 0 {
            refuse(t, &mut session, &pattern, &lent, random.below(ranks))?;
        }
        session.commit(pattern.declared(Direction::Write), &lent).map_err(text)?;
    }
    let last = shaped(rank, steps - 1);
    let mut back: Vec<Vec<u8>> = last.variables.iter().map(|(_, bytes)| vec![0; bytes.len()]).collect();
    let mut taken = Taken::new(back.iter_mut().map(Vec::as_mut_slice));
    session.fetch(last.declared(Direction::Read), &mut taken).map_err(text)?;
    session.close().map_err(text)?;
    for ((runs, _), found) in last.variables.iter().zip(&back) {
        let blocks = runs.iter().flat_map(|run| run.blocks());
        let written: Vec<u8> =
            blocks.flat_map(|k| expected[k.file as usize..(k.file + k.len) as usize].to_vec()).collect();
        if *found != written {
            return Err("what was read is not what is in the file".to_owned());
        }
    }
    let mut found = vec![0; expected.len()];
    storage.read(0, &mut found).map_err(|e| e.to_string())?;
    match found.iter().zip(&expected).position(|(a, b)| a != b) {
        Some(at) => Err(format!("byte {at} is {}, not {}", found[at], expected[at])),
        None if storage.size().ok() != Some(expected.len() as u64) => Err("the size differs".to_owned()),
        None => Ok(()),
    }
}

/// One rank has nothing to write, because it cannot: all must hear of it.
fn refuse(
    t: &dyn Transport,
    session: &mut Session,
    pattern: &Pattern,
    lent: &Lent<'_>,
    victim: u64,
) -> Result<(), String> {
    let result = if t.rank() as u64 == victim {
        Err(session.decline("no bytes today"))
    } else {
        session.commit(pattern.declared(Direction::Write), lent)
    };
    faults::same_everywhere(t, &result)?;
    match result {
        Err(Error::Refused { rank, reason }) if rank as u64 == victim && reason == "no bytes today" => Ok(()),
        other => Err(format!("a refusal led to {other:?}")),
    }
}

pub fn text(error: sago_exec::Error) -> String {
    error.to_string()
}
