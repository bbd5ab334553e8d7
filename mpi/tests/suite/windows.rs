use super::{Check, number, pattern, text};
use crate::ensure;
use sago_mpi::{Error, Put, Transport};

const COUNTER: usize = 0;
const DATA: usize = 64;

/// Everybody puts into everybody's window, then says so by a counter.
pub fn puts(t: &dyn Transport) -> Check {
    let (n, len) = (t.size(), 700);
    let window = t.window(DATA + n * len).map_err(text)?;
    let mut bytes = vec![9; n * len];
    window.read(DATA, &mut bytes).map_err(text)?;
    ensure!(bytes.iter().all(|&b| b == 0), "the window is not zeroed");
    t.barrier().map_err(text)?;
    let mine: Vec<Vec<u8>> = (0..n).map(|to| pattern(t.rank(), to, len)).collect();
    // In pieces of odd sizes.
    let puts: Vec<Put<'_>> = mine
        .iter()
        .enumerate()
        .flat_map(|(to, bytes)| {
            let offset = DATA + t.rank() * len;
            bytes.chunks(123).enumerate().map(move |(i, bytes)| Put { to, offset: offset + i * 123, bytes })
        })
        .collect();
    window.put(&puts).map_err(text)?;
    for to in 0..n {
        window.flush(to).map_err(text)?;
        window.fetch_add(to, COUNTER, 1).map_err(text)?;
    }
    window.wait(COUNTER, &|count| count == n as u64).map_err(text)?;
    window.read(DATA, &mut bytes).map_err(text)?;
    for (from, part) in bytes.chunks(len).enumerate() {
        ensure!(part == pattern(from, t.rank(), len), "the bytes of rank {from} differ");
    }
    t.barrier().map_err(text)?;
    window.free().map_err(text)
}

pub fn gets(t: &dyn Transport) -> Check {
    let len = |rank: usize| 100 + rank * 1000;
    let window = t.window(len(t.rank())).map_err(text)?;
    window.write(0, &pattern(t.rank(), 0, len(t.rank()))).map_err(text)?;
    t.barrier().map_err(text)?;
    for from in (0..t.size()).rev() {
        let mut bytes = vec![0; len(from) - 5];
        window.get(from, 5, &mut bytes).map_err(text)?;
        ensure!(bytes == pattern(from, 0, len(from))[5..], "the window of rank {from} differs");
    }
    t.barrier().map_err(text)?;
    window.free().map_err(text)
}

pub fn tickets(t: &dyn Transport) -> Check {
    let each = 25;
    let window = t.window(16).map_err(text)?;
    let last = t.size() - 1;
    let mine: Vec<u64> =
        (0..each).map(|_| window.fetch_add(last, 8, 1)).collect::<Result<_, _>>().map_err(text)?;
    let bytes: Vec<u8> = mine.iter().flat_map(|v| v.to_le_bytes()).collect();
    let all = t.allgather(&bytes).map_err(text)?;
    let mut drawn: Vec<u64> = all.all().chunks(8).map(number).collect();
    drawn.sort_unstable();
    ensure!(drawn == (0..each * t.size() as u64).collect::<Vec<_>>(), "tickets are {drawn:?}");
    window.free().map_err(text)
}

/// Rank 0 gathers in rounds with two halves of its window; the others learn by a counter in their own windows that a
/// half is free again. No barrier.
pub fn rounds(t: &dyn Transport) -> Check {
    let (n, len, rounds) = (t.size(), 64, 20_u64);
    let window = t.window(DATA + 2 * n * len).map_err(text)?;
    let mut freed = 0;
    for round in 0..rounds {
        let start = DATA + (round as usize % 2) * n * len;
        window.wait(COUNTER + 8, &|done| done + 2 > round).map_err(text)?;
        let mine = pattern(t.rank(), round as usize, len);
        window.put(&[Put { to: 0, offset: start + t.rank() * len, bytes: &mine }]).map_err(text)?;
        window.flush(0).map_err(text)?;
        window.fetch_add(0, COUNTER + 16 + (round as usize % 2) * 8, 1).map_err(text)?;
        if t.rank() == 0 {
            let full = (round / 2 + 1) * n as u64;
            window.wait(COUNTER + 16 + (round as usize % 2) * 8, &|count| count >= full).map_err(text)?;
            let mut bytes = vec![0; n * len];
            window.read(start, &mut bytes).map_err(text)?;
            for (from, part) in bytes.chunks(len).enumerate() {
                ensure!(part == pattern(from, round as usize, len), "round {round}: rank {from} differs");
            }
            freed += 1;
            (0..n).try_for_each(|to| window.fetch_add(to, COUNTER + 8, 1).map(|_| ())).map_err(text)?;
        }
    }
    ensure!(t.rank() != 0 || freed == rounds, "{freed} rounds");
    t.barrier().map_err(text)?;
    window.free().map_err(text)
}

pub fn bounds(t: &dyn Transport) -> Check {
    let window = t.window(100).map_err(text)?;
    for (what, result) in [
        ("a put past the end", window.put(&[Put { to: 0, offset: 99, bytes: &[1, 2] }])),
        ("a get past the end", window.get(0, 101, &mut [0; 1])),
        ("an offset that overflows", window.get(0, usize::MAX, &mut [0; 2])),
        ("a counter past the end", window.fetch_add(0, 96, 1).map(|_| ())),
        ("a counter off its alignment", window.fetch_add(0, 4, 1).map(|_| ())),
    ] {
        ensure!(matches!(result, Err(Error::OutOfBounds { .. })), "{what}: {result:?}");
    }
    let outside = window.flush(t.size());
    ensure!(matches!(outside, Err(Error::NoSuchRank { .. })), "no such rank: {outside:?}");
    t.barrier().map_err(text)?;
    window.free().map_err(text)
}
