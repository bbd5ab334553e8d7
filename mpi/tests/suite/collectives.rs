use super::{Check, number, pattern, text};
use crate::ensure;
use sago_mpi::{Error, Parts, Reduce, Transport};

pub fn identity(t: &dyn Transport) -> Check {
    ensure!(t.rank() < t.size(), "rank {} of {}", t.rank(), t.size());
    let all = t.allgather(&(t.rank() as u64).to_le_bytes()).map_err(text)?;
    let ranks: Vec<u64> = all.iter().map(number).collect();
    ensure!(ranks == (0..t.size() as u64).collect::<Vec<_>>(), "ranks are {ranks:?}");
    Ok(())
}

pub fn barrier(t: &dyn Transport) -> Check {
    let window = t.window(8).map_err(text)?;
    for round in 1..=20 {
        window.fetch_add(0, 0, 1).map_err(text)?;
        t.barrier().map_err(text)?;
        let seen = window.fetch_add(0, 0, 0).map_err(text)?;
        ensure!(seen >= round * t.size() as u64, "{seen} arrived in round {round}");
        t.barrier().map_err(text)?;
    }
    window.free().map_err(text)
}

pub fn broadcast(t: &dyn Transport) -> Check {
    for root in (0..t.size()).step_by(t.size().div_ceil(4)) {
        for len in [0, 1, 7, 16_375, 16_376, 16_377, 100_003] {
            let expected = pattern(root, len, len);
            let mut bytes = if t.rank() == root { expected.clone() } else { vec![0; len] };
            t.broadcast(root, &mut bytes).map_err(text)?;
            ensure!(bytes == expected, "{len} bytes from {root} differ on {}", t.rank());
        }
    }
    let outside = t.broadcast(t.size(), &mut [0; 4]);
    ensure!(matches!(outside, Err(Error::NoSuchRank { .. })), "a root outside of the group: {outside:?}");
    Ok(())
}

pub fn allreduce(t: &dyn Transport) -> Check {
    let value = |rank: usize, i: usize| {
        let x = (rank as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(i as u64);
        x ^ x >> 29
    };
    for op in [Reduce::Min, Reduce::Max, Reduce::Sum, Reduce::And, Reduce::Or] {
        for &len in if t.size() > 8 { &[1, 2048][..] } else { &[1, 2, 2047, 2048, 5000] } {
            let mut values: Vec<u64> = (0..len).map(|i| value(t.rank(), i)).collect();
            t.allreduce(op, &mut values).map_err(text)?;
            for (i, &found) in values.iter().enumerate() {
                let expected = (1..t.size()).fold(value(0, i), |a, rank| op.apply(a, value(rank, i)));
                ensure!(found == expected, "{op:?} of number {i} of {len} is {found}, not {expected}");
            }
        }
    }
    Ok(())
}

pub fn allgather(t: &dyn Transport) -> Check {
    let lengths: [fn(usize, usize) -> usize; 6] = [
        |_, _| 0,
        |_, _| 1,
        |r, _| r,
        |r, n| (n - r) * 1000,
        |r, _| 16_367 + r % 4,
        |r, n| if r == n / 2 { 50_000 } else { 0 },
    ];
    for length in lengths {
        let len = |rank| length(rank, t.size());
        let all = t.allgather(&pattern(t.rank(), 3, len(t.rank()))).map_err(text)?;
        ensure!(all.len() == t.size(), "{} parts from {} ranks", all.len(), t.size());
        for (rank, part) in all.iter().enumerate() {
            ensure!(
                part == pattern(rank, 3, len(rank)),
                "the part of rank {rank} ({} bytes) is wrong",
                len(rank)
            );
        }
    }
    Ok(())
}

pub fn alltoall(t: &dyn Transport) -> Check {
    let lengths: [fn(usize, usize) -> usize; 6] = [
        |_, _| 0,
        |from, to| if (from, to) == (0, 1) { 100 } else { 0 },
        |_, _| 8,
        |from, to| (from * 7 + to * 3) % 11,
        |from, to| if from == 0 { to * 100 } else { 0 },
        |from, _| from % 8 * 1000,
    ];
    for length in lengths {
        let parts: Vec<Vec<u8>> =
            (0..t.size()).map(|to| pattern(t.rank(), to, length(t.rank(), to))).collect();
        let received = t.alltoall(&parts.iter().map(Vec::as_slice).collect::<Parts>()).map_err(text)?;
        for (from, part) in received.iter().enumerate() {
            let expected = pattern(from, t.rank(), length(from, t.rank()));
            ensure!(part == expected, "from {from}: {} bytes, expected {}", part.len(), expected.len());
        }
        // What follows is not mistaken for it.
        let mut ranks = [1];
        t.allreduce(Reduce::Sum, &mut ranks).map_err(text)?;
        ensure!(ranks[0] == t.size() as u64, "{} ranks", ranks[0]);
    }
    let few = t.alltoall(&Parts::default());
    ensure!(matches!(few, Err(Error::Mismatch { .. })), "no parts for {} ranks: {few:?}", t.size());
    Ok(())
}

pub fn lowest(t: &dyn Transport) -> Check {
    let n = t.size();
    let values = [(n - t.rank()) as u64, 7, t.rank() as u64 + 3, u64::MAX, (t.rank() as u64 + 1) % n as u64];
    let found = t.lowest(&values).map_err(text)?;
    let expected = [(1, n - 1), (7, 0), (3, 0), (u64::MAX, 0), (0, n - 1)];
    ensure!(found == expected, "{found:?}, not {expected:?}");
    Ok(())
}

pub fn agree(t: &dyn Transport) -> Check {
    t.agree(Ok(())).map_err(text)?;
    for culprit in 0..t.size() {
        let verdict = if t.rank() >= culprit { Err(format!("no room on {}", t.rank())) } else { Ok(()) };
        let expected = Error::Refused { rank: culprit, message: format!("no room on {culprit}") };
        let found = t.agree(verdict);
        ensure!(found == Err(expected.clone()), "{found:?}, not {expected:?}");
    }
    t.agree(Ok(())).map_err(text)
}

pub fn agree_long(t: &dyn Transport) -> Check {
    let long = "ä".repeat(1000);
    let last = t.size() - 1;
    let found = t.agree(if t.rank() == last { Err(long.clone()) } else { Ok(()) });
    let Err(Error::Refused { rank, message }) = found else { return Err(format!("{found:?}")) };
    ensure!(rank == last, "rank {rank} is named, not {last}");
    ensure!(message.len() > 100 && long.starts_with(&message), "the reason became {message:?}");
    Ok(())
}
