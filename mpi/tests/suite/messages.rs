use super::{Check, pattern, text};
use crate::ensure;
use sago_mpi::{Error, Receive, Send, Transport};

pub fn ring(t: &dyn Transport) -> Check {
    let (to, from) = ((t.rank() + 1) % t.size(), (t.rank() + t.size() - 1) % t.size());
    for len in [0, 1, 1000, 300_000] {
        let (mine, mut bytes) = (pattern(t.rank(), to, len), vec![0; len]);
        let receive = Receive { from, bytes: &mut bytes };
        t.exchange(5, &[Send { to, bytes: &mine }], &mut [receive]).map_err(text)?;
        ensure!(bytes == pattern(from, t.rank(), len), "{len} bytes from {from} differ");
    }
    Ok(())
}

pub fn all_pairs(t: &dyn Transport) -> Check {
    let len = |from: usize, to: usize| (from * 100 + to * 10) % 977;
    let mine: Vec<Vec<u8>> = (0..t.size()).map(|to| pattern(t.rank(), to, len(t.rank(), to))).collect();
    let mut theirs: Vec<Vec<u8>> = (0..t.size()).map(|from| vec![0; len(from, t.rank())]).collect();
    let sends: Vec<Send<'_>> = mine.iter().enumerate().map(|(to, bytes)| Send { to, bytes }).collect();
    let mut receives: Vec<Receive<'_>> =
        theirs.iter_mut().enumerate().map(|(from, bytes)| Receive { from, bytes }).collect();
    t.exchange(6, &sends, &mut receives).map_err(text)?;
    for (from, bytes) in theirs.iter().enumerate() {
        ensure!(*bytes == pattern(from, t.rank(), bytes.len()), "from {from} differs");
    }
    Ok(())
}

/// Twenty messages each way between neighbours; those of one tag arrive in the order in which they were sent.
pub fn order(t: &dyn Transport) -> Check {
    let partner = t.rank() ^ 1;
    if partner >= t.size() {
        return Ok(());
    }
    let mine: Vec<[u8; 2]> = (0..20).map(|i| [t.rank() as u8, i]).collect();
    let mut theirs = [[0; 2]; 20];
    for tag in [1, 2] {
        let sends: Vec<Send<'_>> = mine.iter().map(|bytes| Send { to: partner, bytes }).collect();
        let mut receives: Vec<Receive<'_>> =
            theirs.iter_mut().map(|bytes| Receive { from: partner, bytes }).collect();
        t.exchange(tag, &sends, &mut receives).map_err(text)?;
        for (i, found) in theirs.iter().enumerate() {
            ensure!(*found == [partner as u8, i as u8], "message {i} is {found:?}");
        }
    }
    Ok(())
}

pub fn no_such_rank(t: &dyn Transport) -> Check {
    let found = t.exchange(0, &[Send { to: t.size(), bytes: &[1] }], &mut []);
    ensure!(matches!(found, Err(Error::NoSuchRank { .. })), "{found:?}");
    Ok(())
}
