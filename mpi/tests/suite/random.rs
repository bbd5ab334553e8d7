use super::{Check, pattern, text};
use crate::ensure;
use sago_mpi::{Parts, Put, Receive, Reduce, Send, Transport};

/// A hundred operations drawn from the same seed on all ranks, on the group, its halves and its nodes by turns.
pub fn mixture(t: &dyn Transport) -> Check {
    let half = t.split(Some(t.rank() as u32 % 2), 0).map_err(text)?.ok_or("no half")?;
    let node = t.split_by_node().map_err(text)?;
    let mut state = 12345_u64;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for _ in 0..100 {
        let (group, what, len) = (draw(3), draw(6), draw(3000));
        // Open MPI 4.1 mixes up the windows of groups that were split from one another (see Transport::window).
        let group = if what == 5 && group == 1 { t } else { [t, &*half, &*node][group] };
        step(group, what, len).map_err(|e| format!("operation {what} on {len} bytes: {e}"))?;
    }
    half.close().map_err(text)?;
    node.close().map_err(text)
}

fn step(g: &dyn Transport, what: usize, len: usize) -> Check {
    let (n, me) = (g.size(), g.rank());
    match what {
        0 => g.barrier().map_err(text),
        1 => {
            let root = len % n;
            let mut bytes = if me == root { pattern(root, 1, len) } else { vec![0; len] };
            g.broadcast(root, &mut bytes).map_err(text)?;
            ensure!(bytes == pattern(root, 1, len), "broadcast from {root}");
            Ok(())
        }
        2 => {
            let mut values = vec![me as u64; len % 40 + 1];
            g.allreduce(Reduce::Max, &mut values).map_err(text)?;
            ensure!(values.iter().all(|&v| v == n as u64 - 1), "maximum of ranks");
            Ok(())
        }
        3 => {
            let parts: Vec<Vec<u8>> = (0..n).map(|to| pattern(me, to, (len + to) % 50)).collect();
            let all = g.alltoall(&parts.iter().map(Vec::as_slice).collect::<Parts>()).map_err(text)?;
            for (from, part) in all.iter().enumerate() {
                ensure!(part == pattern(from, me, (len + me) % 50), "part from {from}");
            }
            Ok(())
        }
        4 => {
            let (to, from) = ((me + len) % n, (me + n - len % n) % n);
            let (mine, mut bytes) = (pattern(me, to, len), vec![0; len]);
            g.exchange(1, &[Send { to, bytes: &mine }], &mut [Receive { from, bytes: &mut bytes }])
                .map_err(text)?;
            ensure!(bytes == pattern(from, me, len), "message from {from}");
            Ok(())
        }
        _ => {
            let window = g.window(8 + len).map_err(text)?;
            let to = (me + len) % n;
            let mine = pattern(me, to, len);
            window.put(&[Put { to, offset: 8, bytes: &mine }]).map_err(text)?;
            window.flush_all().map_err(text)?;
            window.fetch_add(to, 0, 1).map_err(text)?;
            window.wait(0, &|count| count == 1).map_err(text)?;
            let mut bytes = vec![0; len];
            window.read(8, &mut bytes).map_err(text)?;
            ensure!(bytes == pattern((me + n - len % n) % n, me, len), "put into the window");
            g.barrier().map_err(text)?;
            window.free().map_err(text)
        }
    }
}
