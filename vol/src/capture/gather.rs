//! The ranks' parts of a report, brought together at rank 0.

use sago_mpi::{Receive, Send, Transport};
use sago_report::Contribution;

/// Fewer ranks tell everybody at once: ranks of one node then meet in memory, once.
const TREE_RANKS_MIN: usize = 65;

/// What all ranks know, at rank 0; of many ranks along a binary tree, so that none hears of more than a few others.
/// Collective.
pub fn gather(
    ranks: &dyn Transport,
    mut mine: Contribution,
) -> Result<Option<Contribution>, sago_mpi::Error> {
    const TAG: u16 = 0x5e90;
    let (me, size, mut step) = (ranks.rank(), ranks.size(), 1);
    if size < TREE_RANKS_MIN {
        let told = ranks.allgather(&serde_json::to_vec(&mine).unwrap_or_default())?;
        if me != 0 {
            return Ok(None);
        }
        // What cannot be read is missing in the report, and shows there as missing ranks.
        told.iter()
            .skip(1)
            .filter_map(|part| serde_json::from_slice(part).ok())
            .for_each(|part| mine.merge(part));
        return Ok(Some(mine));
    }
    while step < size {
        if me & step != 0 {
            let bytes = serde_json::to_vec(&mine).unwrap_or_default();
            let len = (bytes.len() as u64).to_le_bytes();
            let to = me - step;
            ranks.exchange(TAG, &[Send { to, bytes: &len }], &mut [])?;
            ranks.exchange(TAG, &[Send { to, bytes: &bytes }], &mut [])?;
            return Ok(None);
        }
        if me + step < size {
            let (from, mut len) = (me + step, [0; 8]);
            ranks.exchange(TAG, &[], &mut [Receive { from, bytes: &mut len }])?;
            let mut bytes = vec![0; u64::from_le_bytes(len) as usize];
            ranks.exchange(TAG, &[], &mut [Receive { from, bytes: &mut bytes }])?;
            serde_json::from_slice(&bytes).into_iter().for_each(|theirs| mine.merge(theirs));
        }
        step *= 2;
    }
    Ok(Some(mine))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sago_mpi::threads::{self, Options};
    use sago_report::Commits;

    #[test]
    fn every_rank_is_heard_once_at_rank_0() {
        for ranks in [1, 2, 7, TREE_RANKS_MIN - 1, TREE_RANKS_MIN, 100] {
            let gathered = threads::run(ranks, Options::default(), |transport| {
                let rank = transport.rank() as u32;
                let mine = Contribution {
                    times_us: vec![(rank, vec![u64::from(rank)])],
                    commits: Commits { alone: 1, ..Commits::default() },
                    sent: vec![(0, 0, u64::from(rank))],
                    ..Contribution::default()
                };
                gather(transport, mine).unwrap()
            });
            assert!(gathered[1..].iter().all(Option::is_none), "{ranks} ranks");
            let all = gathered[0].as_ref().unwrap();
            let mut heard: Vec<u32> = all.times_us.iter().map(|(rank, _)| *rank).collect();
            heard.sort_unstable();
            assert_eq!(heard, (0..ranks as u32).collect::<Vec<_>>());
            assert_eq!(all.commits.alone, ranks as u64);
            assert_eq!(all.sent, [(0, 0, (0..ranks as u64).sum())]);
        }
    }
}
