//! The conformance suite on threads and on a single rank, freely and under drawn interleavings.

mod suite;

use sago_mpi::threads::{self, Options};
use sago_mpi::{Error, Put, Signal, Transport, single};
use std::panic;
use std::time::{Duration, Instant};

fn all_cases(size: usize, options: Options) {
    for case in suite::CASES {
        let results = threads::run(size, options, |t| suite::run(t, case));
        for (rank, result) in results.into_iter().enumerate() {
            assert_eq!(result, Ok(()), "rank {rank} of {size}, {options:?}");
        }
    }
}

#[test]
fn single_rank() {
    for case in suite::CASES {
        assert_eq!(suite::run(&*single().unwrap(), case), Ok(()));
    }
}

#[test]
fn free_threads_on_one_node() {
    for size in [1, 2, 3, 5, 8] {
        all_cases(size, Options::default());
    }
}

#[test]
fn free_threads_on_several_nodes() {
    all_cases(6, Options { ranks_per_node: 2, seed: None, ..Options::default() });
    all_cases(7, Options { ranks_per_node: 3, seed: None, ..Options::default() });
}

#[test]
fn sixty_four_ranks() {
    all_cases(64, Options::default());
}

/// `SAGO_SEEDS=first..last` widens or replays the search.
#[test]
fn drawn_interleavings() {
    let range = std::env::var("SAGO_SEEDS").unwrap_or("0..40".to_owned());
    let (first, last) = range.split_once("..").unwrap();
    for seed in first.parse::<u64>().unwrap()..last.parse().unwrap() {
        let size = 2 + seed as usize % 4;
        let ranks_per_node = if seed % 5 == 0 { 2 } else { 0 };
        all_cases(size, Options { ranks_per_node, seed: Some(seed), ..Options::default() });
    }
}

#[test]
fn a_seed_is_an_interleaving() {
    let run = |seed| {
        let body = |t: &dyn Transport| suite::run(t, &("mixture", suite::CASES.last().unwrap().1));
        let options = Options { ranks_per_node: 0, seed: Some(seed), ..Options::default() };
        threads::run_traced(4, options, body).1
    };
    let traces: Vec<u64> = (0..8).map(run).collect();
    assert_eq!(traces, (0..8).map(run).collect::<Vec<_>>());
    let mut different = traces.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), traces.len(), "two seeds gave the same interleaving");
}

/// The schedule must be able to find what free threads hardly ever show: a counter that is raised before the flush.
#[test]
fn a_missing_flush_is_found() {
    let wrong_in = |seed| {
        let body = |t: &dyn Transport| {
            let window = t.window(16).unwrap();
            if t.rank() == 0 {
                window.put(&[Put { to: 1, offset: 8, bytes: &[7] }]).unwrap();
                window.fetch_add(1, 0, 1).unwrap();
                window.flush(1).unwrap();
                return false;
            }
            window.wait(0, &|count| count == 1).unwrap();
            let mut byte = [0];
            window.read(8, &mut byte).unwrap();
            byte != [7]
        };
        threads::run(2, Options { ranks_per_node: 0, seed: Some(seed), ..Options::default() }, body)[1]
    };
    assert!((0..50).any(wrong_in));
}

/// A lost update that needs a switch between two particular steps.
#[test]
fn a_race_is_found() {
    let lost_in = |seed| {
        let body = |t: &dyn Transport| {
            let shared = t.share(8).unwrap();
            let mut word = [0; 8];
            shared.get(0, 0, &mut word).unwrap();
            t.wait(&Signal::new(), &|_| true).unwrap();
            shared.put(0, 0, &(u64::from_le_bytes(word) + 1).to_le_bytes()).unwrap();
            t.barrier().unwrap();
            shared.get(0, 0, &mut word).unwrap();
            u64::from_le_bytes(word) != 2
        };
        threads::run(2, Options { ranks_per_node: 0, seed: Some(seed), ..Options::default() }, body)[0]
    };
    let lost = (0..50).filter(|&seed| lost_in(seed)).count();
    assert!(lost > 0 && lost < 50, "lost in {lost} of 50 interleavings");
}

#[test]
fn a_deadlock_is_named() {
    let body = |t: &dyn Transport| t.wait(&Signal::new(), &|v| v == 1);
    let results = threads::run(3, Options { ranks_per_node: 0, seed: Some(1), ..Options::default() }, body);
    assert!(results.iter().all(|r| *r == Err(Error::Deadlock)), "{results:?}");
}

#[test]
fn a_rank_that_panics_leaves_nobody_waiting() {
    for seed in [None, Some(3)] {
        let started = Instant::now();
        let outcome = panic::catch_unwind(|| {
            threads::run(4, Options { ranks_per_node: 0, seed, ..Options::default() }, |t| {
                assert_ne!(t.rank(), 2, "rank two fails");
                let found = t.barrier();
                assert_eq!(found, Err(Error::PeerGone { rank: 2 }));
            })
        });
        let cause = outcome.unwrap_err();
        assert!(cause.downcast_ref::<String>().unwrap().contains("rank two fails"));
        assert!(started.elapsed() < Duration::from_secs(5));
    }
}

/// A rank that waits sleeps: four that wait for a fifth use next to no processor time.
#[test]
fn waiting_does_not_burn_the_core() {
    let processor_time = |t: &dyn Transport| {
        if t.rank() == 0 {
            std::thread::sleep(Duration::from_millis(500));
        }
        let before = thread_time();
        t.barrier().unwrap();
        thread_time() - before
    };
    for (rank, used) in threads::run(5, Options::default(), processor_time).into_iter().enumerate() {
        assert!(used < Duration::from_millis(50), "rank {rank} used {used:?}");
    }
}

fn thread_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a place to write to.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
