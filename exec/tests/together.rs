//! Ranks begin a repeated commit as they come, but nothing goes to the file before the last one has come.

#![allow(clippy::unwrap_used)] // In a test.

use sago_core::config::Config;
use sago_core::cost::Calibration;
use sago_core::declare::{Declaration, Declared, Direction};
use sago_core::extent::Run;
use sago_core::plan::StorageFacts;
use sago_exec::{Lent, Session, Setting};
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

fn check(options: &str, late: usize) {
    let storage = Arc::new(Counted::new(Memory::default()));
    threads::run(3, Options::default(), |ranks| {
        let (storage_facts, calibration) = (StorageFacts::default(), Calibration::default());
        let setting =
            Setting { config: Config::parse(options).unwrap(), storage: storage_facts, calibration };
        let mut session = Session::open(ranks, Arc::clone(&storage) as _, setting).unwrap();
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
            let done = session.repeat(&declared(rank, size, step), &Lent::new([bytes(step).as_slice()]));
            assert!(done.unwrap(), "{options}: not repeated");
            let (mut back, at) = (vec![0; BLOCK as usize], step * size * BLOCK * BLOCKS + rank * BLOCK);
            storage.read(at, &mut back).unwrap();
            assert!(back.iter().all(|byte| u64::from(*byte) == 10 * step + rank), "{options}, step {step}");
        }
        ranks.barrier().unwrap();
    });
}

#[test]
fn nothing_is_stored_before_all_have_come() {
    for late in 0..3 {
        check("exchange=direct", late);
        check("exchange=aggregate aggregators=1", late);
        check("exchange=aggregate aggregators=1 buffer=4KiB", late);
    }
}
