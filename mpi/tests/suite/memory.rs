use super::{Check, pattern, text};
use crate::ensure;
use sago_mpi::{Error, Signal, Transport};

/// The cases run on the ranks of each node.
fn on_node(t: &dyn Transport, case: impl FnOnce(&dyn Transport) -> Check) -> Check {
    if !t.one_node() {
        let refused = t.share(64).err();
        ensure!(refused == Some(Error::NotOneNode), "memory in common of several nodes: {refused:?}");
    }
    let node = t.split_by_node().map_err(text)?;
    let verdict = case(&*node);
    node.close().map_err(text)?;
    verdict
}

pub fn segments(t: &dyn Transport) -> Check {
    on_node(t, |node| {
        let size = |rank: usize| if rank == 1 { 0 } else { 1000 * (rank + 1) };
        let shared = node.share(size(node.rank())).map_err(text)?;
        for rank in 0..node.size() {
            let mut bytes = vec![9; size(rank)];
            shared.get(rank, 0, &mut bytes).map_err(text)?;
            ensure!(bytes.iter().all(|&b| b == 0), "the segment of rank {rank} is not zeroed");
        }
        node.barrier().map_err(text)?;
        let next = (node.rank() + 1) % node.size();
        shared.put(next, 0, &pattern(node.rank(), next, size(next))).map_err(text)?;
        node.barrier().map_err(text)?;
        let before = (node.rank() + node.size() - 1) % node.size();
        let mut bytes = vec![0; size(node.rank())];
        shared.get(node.rank(), 0, &mut bytes).map_err(text)?;
        ensure!(bytes == pattern(before, node.rank(), bytes.len()), "what rank {before} wrote differs");
        node.barrier().map_err(text)?;
        Ok(())
    })
}

pub fn bounds(t: &dyn Transport) -> Check {
    on_node(t, |node| {
        let shared = node.share(128).map_err(text)?;
        let len = shared.len(0);
        ensure!(len == 128, "a segment of {len} bytes");
        for (what, result) in [
            ("a put past the end", shared.put(0, len - 3, &[0; 4])),
            ("a get past the end", shared.get(0, len, &mut [0; 1])),
            ("an offset that overflows", shared.put(0, usize::MAX, &[0; 2])),
            ("a signal past the end", shared.signal(0, len - 4).map(|_| ())),
            ("a signal off its alignment", shared.signal(0, 4).map(|_| ())),
        ] {
            ensure!(matches!(result, Err(Error::OutOfBounds { .. })), "{what}: {result:?}");
        }
        let outside = shared.put(node.size(), 0, &[1]);
        ensure!(matches!(outside, Err(Error::NoSuchRank { .. })), "no such rank: {outside:?}");
        shared.put(0, len, &[]).map_err(text)?;
        node.barrier().map_err(text)?;
        Ok(())
    })
}

/// A word goes round the ring; each rank sleeps until it is there.
pub fn signals(t: &dyn Transport) -> Check {
    on_node(t, |node| {
        let shared = node.share(64 + Signal::BYTES).map_err(text)?;
        let (me, next) = (node.rank(), (node.rank() + 1) % node.size());
        for round in 1..=30_u32 {
            if me != 0 {
                node.wait(shared.signal(me, 0).map_err(text)?, &|v| v == round).map_err(text)?;
            }
            let mut word = [0; 4];
            shared.get(me, 64, &mut word).map_err(text)?;
            let value = if me == 0 { round * 1000 } else { u32::from_le_bytes(word) };
            ensure!(value == round * 1000 + me as u32, "round {round}: rank {me} sees {value}");
            shared.put(next, 64, &(value + 1).to_le_bytes()).map_err(text)?;
            shared.signal(next, 0).map_err(text)?.add(1);
            if me == 0 {
                node.wait(shared.signal(me, 0).map_err(text)?, &|v| v == round).map_err(text)?;
            }
        }
        node.barrier().map_err(text)?;
        Ok(())
    })
}

const CHUNK: usize = 96;
const FREED: usize = 0;
const FILLED: [usize; 2] = [64, 128];
const BUFFERS: usize = 192;

/// The pattern of an aggregator: everybody fills the one buffer while rank 0 empties the other, with two counters per
/// buffer and no barrier.
pub fn double_buffer(t: &dyn Transport) -> Check {
    on_node(t, |node| {
        let (n, rounds) = (node.size(), 40_u32);
        let room = BUFFERS + 2 * n * CHUNK;
        let shared = node.share(if node.rank() == 0 { room } else { 0 }).map_err(text)?;
        let freed = shared.signal(0, FREED).map_err(text)?;
        for round in 0..rounds {
            let half = round as usize % 2;
            let filled = shared.signal(0, FILLED[half]).map_err(text)?;
            let start = BUFFERS + half * n * CHUNK;
            // A buffer may be filled again once round - 2 has been emptied.
            node.wait(freed, &|done| done + 2 > round).map_err(text)?;
            let mine = pattern(node.rank(), round as usize, CHUNK);
            shared.put(0, start + node.rank() * CHUNK, &mine).map_err(text)?;
            filled.add(1);
            if node.rank() == 0 {
                let full = (round / 2 + 1) * n as u32;
                node.wait(filled, &|count| count >= full).map_err(text)?;
                for rank in 0..n {
                    let mut bytes = [0; CHUNK];
                    shared.get(0, start + rank * CHUNK, &mut bytes).map_err(text)?;
                    ensure!(bytes[..] == pattern(rank, round as usize, CHUNK), "round {round}, rank {rank}");
                }
                freed.add(1);
            }
        }
        node.barrier().map_err(text)?;
        Ok(())
    })
}
