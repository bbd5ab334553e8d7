//! Patterns that come in turn, as the variables of each step do, are planned once.

#![allow(clippy::unwrap_used)] // In a test.

use sago_core::config::Config;
use sago_core::cost::Calibration;
use sago_core::declare::{Declaration, Declared, Direction};
use sago_core::extent::Run;
use sago_core::plan::StorageFacts;
use sago_exec::{Lent, Session, Setting};
use sago_mpi::threads::{self, Options};
use sago_storage::{Memory, Storage};
use std::sync::Arc;

const RANKS: usize = 3;
/// The blocks of each variable of a step; ranks take them in turn.
const VARIABLES: [u64; 7] = [100, 8, 24, 100, 100, 4, 60];
const BLOCKS: u64 = 20;
const STEPS: u64 = 6;
/// More than a step has bytes.
const STEP_BYTES: u64 = 1 << 16;

/// A variable's part of a rank in a step, and what is in it. In one step, one of the ranks has nothing of one variable.
fn part(rank: u64, step: u64, variable: usize) -> (Declared, Vec<u8>) {
    let block = VARIABLES[variable];
    let before: u64 = VARIABLES[..variable].iter().sum::<u64>() * BLOCKS * RANKS as u64;
    let mut declaration = Declaration::new(Direction::Write);
    let missing = (rank, step, variable) == (1, 3, 2);
    let run = Run::strided(step * STEP_BYTES + before + rank * block, block, RANKS as u64 * block, BLOCKS);
    declaration.variable(run.filter(|_| !missing));
    let bytes = declaration.stream_bytes() as usize;
    (declaration.finish(), vec![value(rank, step, variable); bytes])
}

fn value(rank: u64, step: u64, variable: usize) -> u8 {
    (1 + rank + 3 * step + 20 * variable as u64) as u8
}

fn check(options: &str, at_once: bool, plans: u64) {
    let storage = Arc::new(Memory::default());
    let reused = threads::run(RANKS, Options::default(), |ranks| {
        let setting = Setting {
            config: Config::parse(options).unwrap(),
            storage: StorageFacts::default(),
            calibration: Calibration::default(),
        };
        let mut session = Session::open(ranks, Arc::clone(&storage) as _, setting).unwrap();
        for step in 0..STEPS {
            for variable in 0..VARIABLES.len() {
                let (declared, bytes) = part(ranks.rank() as u64, step, variable);
                let lent = Lent::new([bytes.as_slice()]);
                if !at_once || !session.repeat(&declared, &lent, true).unwrap() {
                    session.commit(declared, &lent).unwrap();
                }
            }
        }
        session.stats().reused
    });
    for step in 0..STEPS {
        let mut at = step * STEP_BYTES;
        for (variable, block) in VARIABLES.into_iter().enumerate() {
            for _ in 0..BLOCKS {
                for rank in 0..RANKS as u64 {
                    let mut found = vec![0; block as usize];
                    storage.read(at, &mut found).unwrap();
                    let missing = (rank, step, variable) == (1, 3, 2);
                    let value = if missing { 0 } else { value(rank, step, variable) };
                    assert!(
                        found.iter().all(|byte| *byte == value),
                        "{options}, step {step}, {variable}, {rank}"
                    );
                    at += block;
                }
            }
        }
    }
    let commits = STEPS * VARIABLES.len() as u64;
    assert_eq!(reused, vec![commits - plans; RANKS], "{options}");
}

#[test]
fn the_variables_of_a_step_are_planned_once() {
    for at_once in [false, true] {
        // Of equal patterns the first one is planned, and what one rank has changed.
        check("exchange=aggregate", at_once, 5 + 1);
        check("exchange=direct", at_once, 5 + 1);
        // Where they are not at the same place of a stripe, each is.
        check("exchange=aggregate buffer=512B stripe=64B", at_once, 7 + 1);
    }
}

/// The aggregator of the first pattern has nothing to do with the second one, for which there must be other buffers.
#[test]
fn a_plan_is_good_after_others_needed_other_buffers() {
    const BLOCK: u64 = 64;
    let storage = Arc::new(Memory::default());
    threads::run(4, Options::default(), |ranks| {
        let config = Config::parse("exchange=aggregate buffer=1KiB stripe=1KiB").unwrap();
        let (storage_facts, calibration) = (StorageFacts::default(), Calibration::default());
        let setting = Setting { config, storage: storage_facts, calibration };
        let mut session = Session::open(ranks, Arc::clone(&storage) as _, setting).unwrap();
        let (rank, all) = (ranks.rank() as u64, ranks.size() as u64);
        for step in 0..6 {
            let (first, count) = if step % 2 == 0 { (0, all) } else { (2, 2) };
            let start = step * all * BLOCK * BLOCKS;
            let mut declaration = Declaration::new(Direction::Write);
            if rank >= first {
                let offset = start + (rank - first) * BLOCK;
                declaration.variable(Run::strided(offset, BLOCK, count * BLOCK, BLOCKS));
            }
            let bytes = vec![(1 + step * all + rank) as u8; declaration.stream_bytes() as usize];
            session.commit(declaration.finish(), &Lent::new([bytes.as_slice()])).unwrap();
            ranks.barrier().unwrap();
            for block in 0..if rank >= first { BLOCKS } else { 0 } {
                let mut found = vec![0; BLOCK as usize];
                storage.read(start + (block * count + rank - first) * BLOCK, &mut found).unwrap();
                assert!(
                    found.iter().all(|byte| u64::from(*byte) == 1 + step * all + rank),
                    "step {step}, block {block}"
                );
            }
        }
    });
}

/// More patterns than are kept, large ones among them, and now and then a rank that cannot: all ranks keep the same, and go on.
#[test]
fn more_patterns_than_are_kept_and_refusals() {
    const PATTERNS: u64 = 19;
    const PLACES: u64 = 40_000;
    let storage = Arc::new(Memory::default());
    threads::run(RANKS, Options::default(), |ranks| {
        let config = Config::parse("exchange=aggregate buffer=4KiB stripe=64B").unwrap();
        let (storage_facts, calibration) = (StorageFacts::default(), Calibration::default());
        let setting = Setting { config, storage: storage_facts, calibration };
        let mut session = Session::open(ranks, Arc::clone(&storage) as _, setting).unwrap();
        let (rank, all) = (ranks.rank() as u64, ranks.size() as u64);
        // Some come again soon, some late, in an order that changes.
        for step in 0..120_u64 {
            let pattern = [step % PATTERNS, step % 3, (step * step) % PATTERNS][(step / 30 % 3) as usize];
            let (block, pieces) = (8 * (pattern + 1), if pattern % 5 == 4 { 1200 } else { 30 });
            // Not in equal distances, so that each piece is a run of its own.
            let place = |piece: u64| piece * all * block + piece * piece % 7 * 8 * all * 160;
            let start = step % 4 * PLACES * 64 * all;
            let mut declaration = Declaration::new(Direction::Write);
            let runs =
                (0..pieces).map(|piece| Run::contiguous(start + place(piece) * 8 + rank * block, block));
            if pattern % 7 != 3 || rank != 1 {
                declaration.variable(runs.clone());
            }
            let value = (1 + (step * all + rank) % 250) as u8;
            let bytes = vec![value; declaration.stream_bytes() as usize];
            let (declared, lent) = (declaration.finish(), Lent::new([bytes.as_slice()]));
            let refuses = step % 11 == 5;
            if refuses && rank == step % all {
                session.decline("not today");
                continue;
            }
            let written = session.commit(declared, &lent);
            assert_eq!(written.is_err(), refuses, "step {step}: {written:?}");
            if refuses || bytes.is_empty() {
                continue;
            }
            for run in [0, pieces / 2, pieces - 1].map(|piece| runs.clone().nth(piece as usize).unwrap()) {
                let mut found = vec![0; block as usize];
                storage.read(run.offset(), &mut found).unwrap();
                assert!(found.iter().all(|byte| *byte == value), "step {step}, rank {rank}: {run:?}");
            }
        }
        session.stats().reused
    })
    .windows(2)
    .for_each(|pair| assert_eq!(pair[0], pair[1]));
}
