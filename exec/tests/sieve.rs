//! Small extents are written with what lies between them only where nobody else writes there.

#![allow(clippy::unwrap_used)] // In a test.

use sago_core::config::Config;
use sago_core::cost::Calibration;
use sago_core::declare::{Declaration, Direction};
use sago_core::extent::Run;
use sago_core::plan::StorageFacts;
use sago_exec::{Lent, Session, Setting};
use sago_mpi::threads::{self, Options};
use sago_storage::{Memory, Storage};
use std::io::{self, IoSlice, IoSliceMut};
use std::sync::Arc;
use std::time::Duration;

const RANKS: u64 = 4;
const COLUMN: u64 = 8;
const RECORDS: u64 = 500;

/// What is read is old by the time that it has been read.
#[derive(Default)]
struct Slow(Memory);

impl Storage for Slow {
    fn write_some(&self, offset: u64, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        self.0.write_some(offset, pieces)
    }

    fn read_some(&self, offset: u64, pieces: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        let read = self.0.read_some(offset, pieces);
        std::thread::sleep(Duration::from_millis(30));
        read
    }

    fn size(&self) -> io::Result<u64> {
        self.0.size()
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        self.0.set_size(size)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync()
    }
}

fn check(options: &str) {
    let storage = Arc::new(Slow::default());
    threads::run(RANKS as usize, Options::default(), |ranks| {
        let setting = Setting {
            config: Config::parse(options).unwrap(),
            storage: StorageFacts::default(),
            calibration: Calibration::default(),
        };
        let mut session = Session::open(ranks, Arc::clone(&storage) as _, setting).unwrap();
        session.set_exclusive(true);
        let rank = ranks.rank() as u64;
        for step in 1..4 {
            // A fifth column belongs to nobody.
            let mut declaration = Declaration::new(Direction::Write);
            declaration.variable(Run::strided(rank * COLUMN, COLUMN, (RANKS + 1) * COLUMN, RECORDS));
            let bytes = vec![(10 * step + rank) as u8; (COLUMN * RECORDS) as usize];
            session.commit(declaration.finish(), &Lent::new([bytes.as_slice()])).unwrap();
            ranks.barrier().unwrap();
            for record in [0, 1, RECORDS / 2, RECORDS - 1] {
                let mut found = vec![0; COLUMN as usize];
                storage.0.read((record * (RANKS + 1) + rank) * COLUMN, &mut found).unwrap();
                let right = found.iter().all(|byte| u64::from(*byte) == 10 * step + rank);
                assert!(right, "{options}: record {record} of rank {rank} in step {step}: {found:?}");
            }
            ranks.barrier().unwrap();
        }
    });
}

#[test]
fn groups_whose_bytes_lie_among_each_other_lose_nothing() {
    check("exchange=aggregate");
    check("exchange=aggregate aggregators=2 buffer=4KiB");
    check("exchange=aggregate groups=2 group_ranks_min=1");
    check("exchange=aggregate groups=4 group_ranks_min=1 buffer=4KiB");
    check("groups=2 group_ranks_min=1");
}
