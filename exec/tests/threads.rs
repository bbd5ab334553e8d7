//! Random patterns, failing storage and extreme extents on ranks that are threads, of one node and of several, running
//! freely and interleaved from a seed.

#![allow(clippy::unwrap_used)] // In a test.

mod suite;

use sago_core::declare::{Declaration, Direction};
use sago_core::extent::{Block, Run};
use sago_core::ids::{NodeId, Rank};
use sago_core::plan::bridge::Assignment;
use sago_core::topology::Machine;
use sago_exec::{Lent, Session};
use sago_mpi::threads::{self, Options};
use sago_storage::{Counted, Memory, Storage};
use std::sync::Arc;
use std::time::Instant;

/// `SAGO_SEEDS=first..last` widens the search, or replays a seed.
fn seeds() -> std::ops::Range<u64> {
    let text = std::env::var("SAGO_SEEDS").unwrap_or("0..200".to_owned());
    let (first, last) = text.split_once("..").unwrap();
    first.parse().unwrap()..last.parse().unwrap()
}

fn run(seed: u64, ranks: usize, options: Options) {
    let storage: Arc<Memory> = Arc::new(Memory::default());
    let results = threads::run(ranks, options, |transport| {
        suite::run(transport, Arc::clone(&storage) as Arc<dyn Storage>, seed)
    });
    results.into_iter().for_each(|result| assert_eq!(result, Ok(()), "{ranks} ranks, {options:?}"));
}

#[test]
fn on_one_node() {
    seeds().for_each(|seed| run(seed, 1 + seed as usize % 6, Options::default()));
}

#[test]
fn on_several_nodes() {
    for seed in seeds() {
        let (ranks, ranks_per_node) = (2 + seed as usize % 6, 1 + seed as usize % 3);
        run(seed, ranks, Options { ranks_per_node, no_windows: seed % 4 == 0, ..Options::default() });
    }
}

#[test]
fn in_drawn_interleavings() {
    for seed in seeds().step_by(8) {
        let (ranks, ranks_per_node) = (2 + seed as usize / 8 % 4, seed as usize / 8 % 3);
        let no_windows = seed % 5 == 0;
        run(seed, ranks, Options { ranks_per_node, no_windows, seed: Some(seed) });
    }
}

#[test]
fn storage_that_fails() {
    for seed in seeds() {
        let (ranks, ranks_per_node) = (1 + seed as usize % 6, seed as usize % 4);
        let (no_windows, drawn) = (seed % 3 == 0, (seed % 10 == 0).then_some(seed));
        let options = Options { ranks_per_node, no_windows, seed: drawn };
        let (bad, good): (Arc<dyn Storage>, Arc<dyn Storage>) =
            (Arc::new(Memory::default()), Arc::new(Memory::default()));
        let results = threads::run(ranks, options, |t| {
            suite::faults::run(t, Arc::clone(&bad), Arc::clone(&good), seed)
        });
        results.into_iter().for_each(|result| assert_eq!(result, Ok(()), "{ranks} ranks, {options:?}"));
    }
}

#[test]
fn very_many_tiny_extents() {
    let storage: Arc<dyn Storage> = Arc::new(Memory::default());
    for ranks_per_node in [0, 2] {
        let options = Options { ranks_per_node, ..Options::default() };
        let results = threads::run(4, options, |t| suite::extremes::tiny(t, Arc::clone(&storage), 20_000));
        results.into_iter().for_each(|result| assert_eq!(result, Ok(())));
    }
}

/// Nodes that have a nearer bridge with a free route send there; the others write for themselves.
#[test]
fn independent_writes_go_out_by_free_bridges() {
    const MACHINE: &str = "torus dims=4x4 link=1GB/s pset=8 bridges=0,1";
    let machine: Machine = MACHINE.parse().unwrap();
    let (default, aware) =
        (Assignment::default_of(&machine).unwrap(), Assignment::route_aware(&machine).unwrap());
    let expected: Vec<Option<Rank>> = (0..16)
        .map(NodeId)
        .map(|node| (node, aware.bridge_of(node), default.bridge_of(node)))
        .map(|(node, bridge, before)| (bridge != before && bridge != node).then_some(Rank(bridge.0)))
        .collect();
    assert!(expected.iter().flatten().count() > 0);
    let storage: Arc<dyn Storage> = Arc::new(Memory::default());
    let options = Options { ranks_per_node: 1, ..Options::default() };
    let went = threads::run(16, options, |t| {
        let setting = suite::setting(&format!("machine={{{MACHINE}}}"));
        let mut session = Session::open(t, Arc::clone(&storage), setting).unwrap();
        let bytes = [t.rank() as u8; 100];
        let run = Run::contiguous(100 * t.rank() as u64, 100);
        let mut to = Vec::new();
        for independent in [true, false] {
            session.set_independent(independent);
            session.set_trace(Some(Instant::now()));
            let mut declaration = Declaration::new(Direction::Write);
            declaration.variable([run]);
            session.commit(declaration.finish(), &Lent::new([&bytes[..]])).unwrap();
            let trace = session.take_trace().unwrap();
            let me = Rank(t.rank() as u32);
            to.push(trace.sent.keys().copied().find(|to| *to != me));
        }
        session.close().unwrap();
        to
    });
    assert_eq!(went.iter().map(|to| to[0]).collect::<Vec<_>>(), expected);
    assert_ne!(went.iter().map(|to| to[1]).collect::<Vec<_>>(), expected);
    let mut back = vec![0; 1600];
    storage.read(0, &mut back).unwrap();
    assert!((0..1600).all(|i| back[i] == (i / 100) as u8));
}

#[test]
fn only_aggregators_hold_buffers() {
    let storage: Arc<dyn Storage> = Arc::new(Memory::default());
    let held = |exchange| {
        let run =
            |t: &dyn sago_mpi::Transport| suite::extremes::held(t, Arc::clone(&storage), exchange, &|| 0);
        let held = threads::run(4, Options::default(), run);
        held.into_iter().map(|held| held.unwrap().0 >> 20).collect::<Vec<u64>>()
    };
    let mut aggregated = held("aggregate");
    aggregated.sort_unstable();
    assert_eq!(aggregated, [0, 0, 0, 4]);
    // Here every rank writes its own blocks from where they are.
    assert_eq!(held("direct"), [0; 4]);
}

/// Long pieces, short ones beside them and alone, and two columns, in all ways in which some are in the file already, whole or
/// half: the file is right, and what was there is not written again, unless it is packed with what was not.
#[test]
fn what_is_in_the_file_is_left_out() {
    let runs = [
        Run::contiguous(0, 1000),
        Run::contiguous(1000, 30),
        Run::contiguous(5000, 20),
        Run::contiguous(9000, 1000),
        Run::strided(6000, 4, 8, 100).unwrap(),
        Run::strided(6004, 4, 8, 100).unwrap(),
    ];
    const COLUMNS: usize = 4;
    let start = |number: usize| runs[..number].iter().map(|run| run.bytes()).sum::<u64>();
    let bytes: Vec<u8> = (0..start(runs.len())).map(|i| (i % 251) as u8 + 1).collect();
    let blocks = |number: usize| {
        let part = move |from: u64, len: u64| from as usize..(from + len) as usize;
        let place = move |block: Block| (block.file, part(start(number) + block.before, block.len));
        runs[number].blocks().map(place)
    };
    for (stored, half) in (0..1_u32 << runs.len()).flat_map(|stored| [(stored, false), (stored, true)]) {
        let there = (0..runs.len()).filter(|number| stored >> number & 1 == 1);
        let share = |number: usize| runs[number].bytes() / if half { 2 } else { 1 };
        let ranges: Vec<_> =
            there.map(|number| (number, start(number)..start(number) + share(number))).collect();
        let storage = Arc::new(Counted::new(Memory::default()));
        for (number, range) in &ranges {
            for (file, part) in blocks(*number) {
                let end = part.end.min(range.end as usize).max(part.start);
                storage.write(file, &bytes[part.start..end]).unwrap();
            }
        }
        let before = storage.counts().write_bytes;
        threads::run(1, Options::default(), |t| {
            let setting = suite::setting("exchange=direct buffer=100B");
            let mut session = Session::open(t, storage.clone(), setting).unwrap();
            let mut declaration = Declaration::new(Direction::Write);
            for run in runs {
                declaration.variable([run]);
            }
            let except = ranges.iter().map(|(_, range)| range.clone()).collect();
            let memory = Lent::new([bytes.as_slice()]).except(except);
            session.commit(declaration.finish(), &memory).unwrap();
        });
        let written = storage.counts().write_bytes - before;
        let straight: u64 = ranges.iter().filter(|(n, _)| *n < COLUMNS).map(|(_, r)| r.end - r.start).sum();
        let packed = if stored >> COLUMNS == 3 && !half { 0 } else { start(runs.len()) - start(COLUMNS) };
        let expected = start(COLUMNS) - straight + packed;
        assert!(written <= expected && (half || written == expected), "stored {stored:b}, half {half}");
        for (file, part) in (0..runs.len()).flat_map(blocks) {
            let mut back = vec![0; part.len()];
            storage.read(file, &mut back).unwrap();
            assert_eq!(back, bytes[part], "stored {stored:b}, half {half}");
        }
    }
}

/// Anywhere in a commit or a fetch.
#[cfg(feature = "provoke")]
#[test]
fn a_rank_that_panics_fails_them_all() {
    for (ranks_per_node, no_windows) in [(0, false), (2, false), (1, true)] {
        for case in 0..suite::panics::CASES {
            // Drawn interleavings find a deadlock by themselves; free ones are as they are in programs.
            let seed = (case % 3 > 0).then_some(case);
            let options = Options { ranks_per_node, no_windows, seed };
            let storage: Arc<dyn Storage> = Arc::new(Memory::default());
            let results = threads::run(4, options, |t| suite::panics::run(t, Arc::clone(&storage), case));
            results.into_iter().for_each(|result| assert_eq!(result, Ok(()), "{options:?}"));
        }
    }
}
