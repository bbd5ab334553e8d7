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
                if !at_once || !session.repeat(&declared, &lent).unwrap() {
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
