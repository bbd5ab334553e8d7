//! Ranks begin a repeated commit as they come, but nothing goes to the file before the last one has come.

#![allow(clippy::unwrap_used)] // In a test.

use sago_core::config::Config;
use sago_core::cost::Calibration;
use sago_core::declare::{Declaration, Declared, Direction};
use sago_core::extent::Run;
use sago_core::plan::StorageFacts;
use sago_exec::{Lent, Session, Setting};
use sago_mpi::Transport;
use sago_mpi::threads::{self, Options};
use sago_storage::{Counted, Memory, Storage};
use std::sync::Arc;
use std::time::Duration;

const BLOCK: u64 = 100;
const BLOCKS: u64 = 50;

fn declared(rank: u64, ranks: u64, step: u64) -> Declared {
    let mut declaration = Declaration::new(Direction::Write);
    let start = step * ranks * BLOCK * BLOCKS;
    declaration.variable(Run::strided(start + rank * BLOCK, BLOCK, ranks * BLOCK, BLOCKS));
    declaration.finish()
}

fn open(ranks: &dyn Transport, storage: &Arc<Counted<Memory>>, options: &str) -> Session {
    let (storage_facts, calibration) = (StorageFacts::default(), Calibration::default());
    let setting = Setting { config: Config::parse(options).unwrap(), storage: storage_facts, calibration };
    Session::open(ranks, Arc::clone(storage) as _, setting).unwrap()
}

fn check(options: &str, late: usize) {
    let storage = Arc::new(Counted::new(Memory::default()));
    threads::run(3, Options::default(), |ranks| {
        let mut session = open(ranks, &storage, options);
        let (rank, size) = (ranks.rank() as u64, ranks.size() as u64);
        let bytes = |step: u64| vec![(10 * step + rank) as u8; (BLOCK * BLOCKS) as usize];
        let mut step = 0;
        while !session.is_eager() {
            assert!(step < 5, "the plan never becomes steady");
            session.commit(declared(rank, size, step), &Lent::new([bytes(step).as_slice()])).unwrap();
            step += 1;
        }
        for step in step..step + 3 {
            ranks.barrier().unwrap();
            if ranks.rank() == late {
                let before = storage.counts().write_calls;
                std::thread::sleep(Duration::from_millis(40));
                assert_eq!(
                    storage.counts().write_calls,
                    before,
                    "{options}: written before rank {late} came"
                );
            }
            let done =
                session.repeat(&declared(rank, size, step), &Lent::new([bytes(step).as_slice()]), true);
            assert!(done.unwrap(), "{options}: not repeated");
            let (mut back, at) = (vec![0; BLOCK as usize], step * size * BLOCK * BLOCKS + rank * BLOCK);
            storage.read(at, &mut back).unwrap();
            assert!(back.iter().all(|byte| u64::from(*byte) == 10 * step + rank), "{options}, step {step}");
        }
        ranks.barrier().unwrap();
    });
}

/// The last rank comes late, and with another pattern: nobody stores, and the commit that follows does.
fn check_changed(options: &str) {
    let storage = Arc::new(Counted::new(Memory::default()));
    threads::run(3, Options::default(), |ranks| {
        let mut session = open(ranks, &storage, options);
        let (rank, size) = (ranks.rank() as u64, ranks.size() as u64);
        let bytes = vec![rank as u8 + 1; (BLOCK * BLOCKS) as usize];
        for step in 0..4 {
            session.commit(declared(rank, size, step), &Lent::new([bytes.as_slice()])).unwrap();
        }
        assert!(session.is_eager());
        ranks.barrier().unwrap();
        let before = storage.counts().write_calls;
        ranks.barrier().unwrap();
        let last = ranks.rank() == 2;
        if last {
            std::thread::sleep(Duration::from_millis(40));
        }
        let mut other = Declaration::new(Direction::Write);
        other.variable(Run::strided(1 << 20, BLOCK, BLOCK + 1, BLOCKS));
        let mine = if last { other.finish() } else { declared(rank, size, 4) };
        assert!(!session.repeat(&mine, &Lent::new([bytes.as_slice()]), true).unwrap(), "{options}: repeated");
        assert_eq!(storage.counts().write_calls, before, "{options}: stored by a plan that does not hold");
        ranks.barrier().unwrap();
        session.commit(mine, &Lent::new([bytes.as_slice()])).unwrap();
        let (mut back, at) = (vec![0], if last { 1 << 20 } else { 4 * size * BLOCK * BLOCKS + rank * BLOCK });
        storage.read(at, &mut back).unwrap();
        assert_eq!(back, [rank as u8 + 1], "{options}");
        ranks.barrier().unwrap();
    });
}

#[test]
fn nothing_is_stored_if_one_comes_with_another_pattern() {
    for options in ["exchange=direct", "exchange=aggregate aggregators=1", "exchange=aggregate buffer=4KiB"] {
        check_changed(options);
    }
}

#[test]
fn nothing_is_stored_before_all_have_come() {
    for late in 0..3 {
        check("exchange=direct", late);
        check("exchange=aggregate aggregators=1", late);
        check("exchange=aggregate aggregators=1 buffer=4KiB", late);
    }
}
