use super::super::window::Region;
use super::*;
use sago_core::extent::Run;
use sago_mpi::threads;
use sago_storage::{Counted, Memory as InMemory};
use std::time::Duration;
use thread::LOOK_AGAIN;

const LEN: usize = 3 << 20;
const LEAST: u64 = 1000;

fn settled(ahead: &Ahead) {
    while ahead.thread.as_ref().is_some_and(|thread| !thread.is_idle()) {
        std::thread::sleep(Duration::from_micros(100));
    }
}

fn window() -> Window {
    Window::new(Region::new(2 * LEN as u64).unwrap())
}

/// Adds a write to a window, and lets it go ahead.
fn write(
    ahead: &mut Ahead,
    (window, file): (&mut Window, &Arc<dyn Storage>),
    runs: &[Run],
    bytes: &[u8],
    epoch: u64,
) {
    let mark = window.mark();
    window.spare(bytes.len() as u64).copy_from_slice(bytes);
    window.push(runs, bytes.len() as u64, epoch);
    let config = Config::parse("buffer=4KiB").unwrap();
    // SAFETY: the tests stop it, or drop it, before they change the window.
    unsafe { ahead.begin(file, window, mark, LEAST, (&config, &StorageFacts::default())) };
}

#[test]
fn long_pieces_are_in_the_file_and_named() {
    let storage = Arc::new(Counted::new(InMemory::default()));
    let file: Arc<dyn Storage> = storage.clone();
    let bytes: Vec<u8> = (0..LEN).map(|i| (i / 1000) as u8).collect();
    let (mut window, mut ahead) = (window(), Ahead::new(&*sago_mpi::single().unwrap()).unwrap());
    assert!(ahead.stop().is_empty());
    write(&mut ahead, (&mut window, &file), &[Run::contiguous(9, 150)], &[7; 150], 0);
    let long = [Run::contiguous(1 << 30, LEN as u64 / 2), Run::contiguous(0, LEN as u64 / 2)];
    write(&mut ahead, (&mut window, &file), &long, &bytes, 0);
    settled(&ahead);
    assert_eq!(ahead.stop(), vec![Range { start: 150, end: 150 + LEN as u64 }]);
    assert!(ahead.stop().is_empty());
    let mut back = vec![0; LEN / 2];
    storage.read(1 << 30, &mut back).unwrap();
    assert!(back == bytes[..LEN / 2]);
    storage.read(0, &mut back).unwrap();
    assert!(back == bytes[LEN / 2..]);
    assert_eq!(storage.counts().write_calls, (LEN / STEP_BYTES) as u64);
}

/// Three columns of records after other bytes, and the first of three more.
#[test]
fn columns_go_ahead_when_they_are_whole() {
    let storage = Arc::new(Counted::new(InMemory::default()));
    let file: Arc<dyn Storage> = storage.clone();
    let (mut window, mut ahead) = (window(), Ahead::new(&*sago_mpi::single().unwrap()).unwrap());
    write(&mut ahead, (&mut window, &file), &[Run::contiguous(1 << 20, 50)], &[7; 50], 0);
    let column = |at: u64| [Run::strided(at, 4, 12, 1000).unwrap()];
    for (number, at) in [0, 4, 8].into_iter().enumerate() {
        settled(&ahead);
        assert_eq!(storage.counts().write_calls, 0);
        write(&mut ahead, (&mut window, &file), &column(at), &[number as u8 + 1; 4000], 0);
    }
    write(&mut ahead, (&mut window, &file), &column(1 << 16), &[9; 4000], 0);
    settled(&ahead);
    assert_eq!(ahead.stop(), vec![Range { start: 50, end: 12050 }]);
    let mut back = vec![0; 12000];
    storage.read(0, &mut back).unwrap();
    assert!(back.iter().enumerate().all(|(i, byte)| *byte as usize == i % 12 / 4 + 1));
    assert_eq!(storage.counts().write_calls, 3);
}

/// As many bytes as they span, but one column twice and another not at all.
#[test]
fn a_group_with_holes_does_not_go_ahead() {
    let storage = Arc::new(Counted::new(InMemory::default()));
    let file: Arc<dyn Storage> = storage.clone();
    let (mut window, mut ahead) = (window(), Ahead::new(&*sago_mpi::single().unwrap()).unwrap());
    for at in [0, 8, 8] {
        let column = [Run::strided(at, 4, 12, 1000).unwrap()];
        write(&mut ahead, (&mut window, &file), &column, &[1; 4000], 0);
    }
    settled(&ahead);
    assert!(ahead.stop().is_empty());
    assert_eq!(storage.counts().write_calls, 0);
}

#[test]
fn nothing_is_written_before_all_ranks_have_called() {
    let storage = Arc::new(Counted::new(InMemory::default()));
    let file: Arc<dyn Storage> = storage.clone();
    threads::run(2, threads::Options::default(), |ranks| {
        let (mut window, mut ahead) = (window(), Ahead::new(ranks).unwrap());
        if ranks.rank() == 0 {
            ahead.enter(2);
            write(&mut ahead, (&mut window, &file), &[Run::contiguous(0, 1000)], &[1; 1000], 2);
            let halves = [0, 4].map(|at| [Run::strided(4000 + at, 4, 8, 500).unwrap()]);
            write(&mut ahead, (&mut window, &file), &halves[0], &[2; 2000], 0);
            write(&mut ahead, (&mut window, &file), &halves[1], &[2; 2000], 3);
            std::thread::sleep(LOOK_AGAIN * 2);
            assert_eq!(storage.counts().write_calls, 0);
        }
        ranks.barrier().unwrap();
        ahead.enter(2);
        if ranks.rank() == 0 {
            settled(&ahead);
            assert_eq!(ahead.stop(), vec![Range { start: 0, end: 5000 }]);
        }
        ranks.barrier().unwrap();
    });
}

const RANKS: usize = 3;
const ROWS: u64 = 400;
const ROW: u64 = 64;

/// Rows of a rank between those of the others, of one call after the other in the file.
fn rows(rank: usize, call: u64) -> [Run; 1] {
    let ranks = RANKS as u64;
    [Run::strided(call * ranks * ROW * ROWS + rank as u64 * ROW, ROW, ranks * ROW, ROWS).unwrap()]
}

fn value(rank: usize, call: u64) -> u8 {
    (10 * call) as u8 + rank as u8 + 1
}

fn with_board(ranks: &dyn Transport) -> Ahead {
    let mut ahead = Ahead::new(ranks).unwrap();
    let config = Config::parse("buffer=4KiB").unwrap();
    let board = Board::new(ranks, LEAST, (&config, &StorageFacts::default())).unwrap();
    ahead.set_board(Some(Arc::new(board.unwrap())), 0);
    ahead
}

/// What the file has of a rank's bytes of a call.
fn found(storage: &dyn Storage, rank: usize, call: u64) -> Vec<u8> {
    let mut found = vec![0; (RANKS as u64 * ROW * ROWS) as usize];
    storage.read(call * found.len() as u64, &mut found).unwrap();
    found.chunks(ROW as usize).skip(rank).step_by(RANKS).flatten().copied().collect()
}

#[test]
fn rows_of_all_ranks_go_ahead_together() {
    let storage = Arc::new(Counted::new(InMemory::default()));
    let file: Arc<dyn Storage> = storage.clone();
    let calls = 7;
    threads::run(RANKS, threads::Options::default(), |ranks| {
        let (mut window, mut ahead, me) = (window(), with_board(ranks), ranks.rank());
        for call in 0..calls {
            let epoch = 2 * call + 2;
            ahead.enter(epoch);
            // One rank stays out of one call, and HDF5 does its part.
            if (me, call) != (1, 3) {
                let bytes = vec![value(me, call); (ROW * ROWS) as usize];
                write(&mut ahead, (&mut window, &file), &rows(me, call), &bytes, epoch);
            }
        }
        ahead.finish(ranks, 2 * calls).unwrap();
        ranks.barrier().unwrap();
        // The one that stayed out has nothing of that call in its window.
        let (all, part) = (ROW * ROWS * calls, ROW * ROWS);
        let stored: u64 = ahead.stop().iter().map(|range| range.end - range.start).sum();
        assert_eq!((stored, window.len()), (all - part, if me == 1 { all - part } else { all }));
        ranks.barrier().unwrap();
    });
    for (rank, call) in (0..calls).flat_map(|call| (0..RANKS).map(move |rank| (rank, call))) {
        let expected = if call == 3 { 0 } else { value(rank, call) };
        assert!(found(&*storage, rank, call).iter().all(|byte| *byte == expected), "{rank} in {call}");
    }
    // In steps of a buffer each, not row by row.
    assert!(storage.counts().write_calls < ROWS * calls);
}

/// A rank that does not make a call that the others make, as where HDF5 refuses it there, leaves nobody waiting in the commit.
#[test]
fn a_call_that_one_rank_does_not_make_ends_with_the_commit() {
    let file: Arc<dyn Storage> = Arc::new(InMemory::default());
    threads::run(RANKS, threads::Options::default(), |ranks| {
        let (mut window, mut ahead, me) = (window(), with_board(ranks), ranks.rank());
        let calls = if me == 1 { 2 } else { 5 };
        for call in 0..calls {
            ahead.enter(2 * call + 2);
            let bytes = vec![value(me, call); (ROW * ROWS) as usize];
            write(&mut ahead, (&mut window, &file), &rows(me, call), &bytes, 2 * call + 2);
            let long = [Run::contiguous((1 << 20) + 10_000 * call, 8000)];
            write(&mut ahead, (&mut window, &file), &long, &[7; 8000], 2 * call + 2);
        }
        ahead.finish(ranks, 2 * calls).unwrap();
        ranks.barrier().unwrap();
        ahead.stop();
        ranks.barrier().unwrap();
    });
}

/// Ranks may be further apart than there are slots, and make more calls than that before a commit.
#[test]
fn many_calls_are_stored_or_not() {
    let storage = Arc::new(Counted::new(InMemory::default()));
    let file: Arc<dyn Storage> = storage.clone();
    let calls = 2500;
    threads::run(RANKS, threads::Options::default(), |ranks| {
        let (mut window, mut ahead, me) = (window(), with_board(ranks), ranks.rank() as u64);
        for call in 0..calls {
            ahead.enter(2 * call + 2);
            let run = [Run::strided(call * 1200 + 4 * me, 4, 12, 100).unwrap()];
            write(&mut ahead, (&mut window, &file), &run, &[call as u8; 400], 2 * call + 2);
        }
        ahead.finish(ranks, 2 * calls).unwrap();
        ranks.barrier().unwrap();
        for range in ahead.stop() {
            assert!(range.start.is_multiple_of(400) && range.end.is_multiple_of(400));
            for call in range.start / 400..range.end / 400 {
                let mut found = [0; 1200];
                storage.read(call * 1200, &mut found).unwrap();
                assert!(found == [call as u8; 1200], "call {call}");
            }
        }
        ranks.barrier().unwrap();
    });
    assert!(storage.counts().write_calls > 0);
}

/// A rank takes its bytes back at any time: what it is told is in the file is there, and its memory is its own again.
#[test]
fn bytes_that_are_taken_back_are_stored_or_not() {
    let stored = std::sync::atomic::AtomicUsize::new(0);
    for seed in 0..60 {
        let storage = Arc::new(InMemory::default());
        let file: Arc<dyn Storage> = storage.clone();
        threads::run(RANKS, threads::Options::default(), |ranks| {
            let (mut window, mut ahead, me) = (window(), with_board(ranks), ranks.rank());
            let mut random = sago_core::random::Random::new(seed * 7 + me as u64);
            let calls = 6;
            for call in 0..calls {
                let epoch = 2 * call + 2;
                ahead.enter(epoch);
                let bytes = vec![value(me, call); (ROW * ROWS) as usize];
                write(&mut ahead, (&mut window, &file), &rows(me, call), &bytes, epoch);
                std::thread::sleep(Duration::from_micros(random.below(300)));
                if random.below(4) > 0 {
                    continue;
                }
                let first = call + 1 - window.count() as u64;
                for range in ahead.stop() {
                    for number in range.start / (ROW * ROWS)..range.end / (ROW * ROWS) {
                        let call = first + number;
                        assert!(found(&*file, me, call).iter().all(|byte| *byte == value(me, call)));
                        stored.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    }
                }
                let len = window.len();
                window.clear();
                window.spare(len).fill(0xee);
            }
            ahead.finish(ranks, 2 * calls).unwrap();
            ahead.stop();
            ranks.barrier().unwrap();
        });
        for (rank, call) in (0..6).flat_map(|call| (0..RANKS).map(move |rank| (rank, call))) {
            let right = |byte: &u8| *byte == 0 || *byte == value(rank, call);
            assert!(found(&*storage, rank, call).iter().all(right), "seed {seed}: {rank} in {call}");
        }
    }
    assert!(stored.into_inner() > 0, "nothing was ever stored");
}
