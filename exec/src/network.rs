//! How fast the network between nodes is, where the options do not say: all nodes send to those half of them away, at the same
//! time. So what is slowest on the way, be it the uplinks of racks, counts as it would in an exchange.
//!
//! Costs come from kinds, not from measurements (docs/decisions/051), since those scatter; but networks differ by a factor of a
//! thousand, and an exchange through a slow one costs more than it saves. So only a slow one counts, and only by its order.

use crate::Error;
use sago_mpi::{Receive, Reduce, Send, Transport};
use std::time::{Duration, Instant};

/// Messages grow until one takes so long, or is so large: a network may let some bytes pass before it is slow.
const FIRST_BYTES: usize = 64 << 10;
const LAST_BYTES: usize = 1 << 20;
const ENOUGH: Duration = Duration::from_millis(5);
/// The shortest of so many: a rank may have had to wait for its core.
const REPEATS: usize = 3;
/// A faster network is not what anybody waits for. Far from what such networks have, so that it does not depend on the hour.
const SLOW_BYTES_PER_S: f64 = 200e6;
const TAG: u16 = 0;

/// The bytes per second from node to node when all send, as a power of two, if it is slow. `nodes` is the node of each rank.
/// Collective; the same on all ranks.
pub fn slow_bytes_per_s(ranks: &dyn Transport, nodes: &[usize]) -> Result<Option<f64>, Error> {
    let Some(partners) = Partners::of(ranks.rank(), nodes) else { return Ok(None) };
    let (bytes, mut room) = (vec![0; LAST_BYTES], vec![0; LAST_BYTES]);
    // Ways between ranks are made when they are first used.
    partners.send(ranks, &bytes[..1], &mut room[..1])?;
    let mut size = FIRST_BYTES;
    loop {
        let mut took = u64::MAX;
        for _ in 0..REPEATS {
            ranks.barrier()?;
            let start = Instant::now();
            partners.send(ranks, &bytes[..size], &mut room[..size])?;
            took = took.min(start.elapsed().as_nanos() as u64);
        }
        // The slowest way, at its best.
        let mut longest = [took.max(1)];
        ranks.allreduce(Reduce::Max, &mut longest)?;
        let took = Duration::from_nanos(longest[0]);
        if took >= ENOUGH || size == LAST_BYTES {
            let speed = size as f64 / took.as_secs_f64();
            return Ok((speed < SLOW_BYTES_PER_S).then(|| speed.log2().round().exp2()));
        }
        size *= 2;
    }
}

/// Whom this rank sends to and hears from, if it is the first one of its node.
struct Partners(Option<(usize, usize)>);

impl Partners {
    /// `None` if there is only one node.
    fn of(rank: usize, nodes: &[usize]) -> Option<Self> {
        let count = nodes.iter().max().map_or(0, |last| last + 1);
        let first = |node: usize| nodes.iter().position(|other| *other == node);
        let half = count / 2;
        let mine = nodes[rank];
        (half > 0).then(|| {
            let both = first((mine + half) % count).zip(first((mine + count - half) % count));
            Self(both.filter(|_| first(mine) == Some(rank)))
        })
    }

    fn send(&self, ranks: &dyn Transport, bytes: &[u8], room: &mut [u8]) -> Result<(), Error> {
        let Some((to, from)) = self.0 else { return Ok(()) };
        Ok(ranks.exchange(TAG, &[Send { to, bytes }], &mut [Receive { from, bytes: room }])?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_ranks_of_nodes_half_of_them_apart() {
        let partners = |rank, nodes: &[usize]| Partners::of(rank, nodes).unwrap().0;
        let nodes = [0, 0, 1, 1, 2, 2, 3, 3];
        assert_eq!(partners(0, &nodes), Some((4, 4)));
        assert_eq!(partners(2, &nodes), Some((6, 6)));
        assert_eq!(partners(1, &nodes), None);
        assert_eq!(partners(0, &[0, 1, 2]), Some((1, 2)));
        assert!(Partners::of(0, &[0, 0]).is_none());
    }
}
