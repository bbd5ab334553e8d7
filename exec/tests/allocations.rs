//! From the second step of a pattern on, a commit takes no memory for buffers: neither on one node nor between nodes.

#![allow(clippy::unwrap_used)] // In a test.

use sago_core::config::Config;
use sago_core::cost::Calibration;
use sago_core::declare::{Declaration, Declared, Direction};
use sago_core::extent::Run;
use sago_core::plan::StorageFacts;
use sago_exec::{Lent, Session, Setting};
use sago_mpi::Transport;
use sago_mpi::threads::{self, Options};
use sago_storage::Memory;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts what could be a buffer.
struct Counting;

const LARGE: usize = 16 << 10;
static COUNT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(usize::from(layout.size() >= LARGE), Ordering::SeqCst);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const BLOCK: u64 = 100;
const COUNT_OF_BLOCKS: u64 = 4000;

fn declared(rank: u64, ranks: u64, step: u64) -> Declared {
    let mut declaration = Declaration::new(Direction::Write);
    let start = step * ranks * BLOCK * COUNT_OF_BLOCKS;
    declaration.variable(Run::strided(start + rank * BLOCK, BLOCK, ranks * BLOCK, COUNT_OF_BLOCKS));
    declaration.finish()
}

fn steps(t: &dyn Transport, storage: &Arc<Memory>, options: &str) -> usize {
    let (storage_facts, calibration) = (StorageFacts::default(), Calibration::default());
    let setting = Setting { config: Config::parse(options).unwrap(), storage: storage_facts, calibration };
    let mut session = Session::open(t, Arc::clone(storage) as _, setting).unwrap();
    let (rank, ranks) = (t.rank() as u64, t.size() as u64);
    let bytes = vec![1; (BLOCK * COUNT_OF_BLOCKS) as usize];
    let mut commit =
        |step| session.commit(declared(rank, ranks, step), &Lent::new([bytes.as_slice()])).unwrap();
    (0..2).for_each(&mut commit);
    t.barrier().unwrap();
    let before = COUNT.load(Ordering::SeqCst);
    t.barrier().unwrap();
    (2..6).for_each(&mut commit);
    t.barrier().unwrap();
    let grown = COUNT.load(Ordering::SeqCst) - before;
    t.barrier().unwrap();
    assert_eq!(session.stats().reused, 5);
    assert_eq!(session.stats().fill() > 0.5, session.stats().rounds > 0, "{}", session.stats().fill());
    session.close().unwrap();
    grown
}

#[test]
fn a_repeated_step_takes_no_buffers() {
    for ranks_per_node in [0, 2] {
        for exchange in ["aggregate", "direct"] {
            let storage = Arc::new(Memory::default());
            let options = format!("exchange={exchange} aggregators=2 buffer=64KiB stripe=100B");
            let run = |t: &dyn Transport| steps(t, &storage, &options);
            let grown = threads::run(4, Options { ranks_per_node, ..Options::default() }, run);
            assert_eq!(grown, [0; 4], "{options}, nodes of {ranks_per_node}");
        }
    }
}
