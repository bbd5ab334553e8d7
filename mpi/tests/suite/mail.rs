use super::{Check, number, pattern, text};
use crate::ensure;
use sago_mpi::{Lanes, Mail, Signal, Transport};

/// More than fits into a ring, so that writers have to wait for room.
const RECORDS: usize = 60;
const RECORD_BYTES: usize = 100;

pub fn one_sided(t: &dyn Transport) -> Check {
    let partners = partners(t);
    everybody_to_everybody(t, &partners, Box::new(Lanes::new(t, &partners, RECORD_BYTES).map_err(text)?))
}

pub fn messages(t: &dyn Transport) -> Check {
    let partners = partners(t);
    everybody_to_everybody(t, &partners, t.letters(&partners, RECORD_BYTES).map_err(text)?)
}

/// A rank that gives up is heard by its partners though it has no room for records, and only until all are calm again.
pub fn alarms(t: &dyn Transport) -> Check {
    let partners = partners(t);
    let lanes: Box<dyn Mail> = Box::new(Lanes::new(t, &partners, RECORD_BYTES).map_err(text)?);
    let mut ways = vec![lanes];
    // Where all meet in shared memory, nobody lets MPI do its work meanwhile.
    if !t.one_node() {
        ways.push(t.letters(&partners, RECORD_BYTES).map_err(text)?);
    }
    for mut mail in ways {
        for (victim, full) in [(0, false), (t.size() - 1, true), (0, true)] {
            let (near, mut sent) = (partners.contains(&victim), 0);
            if t.rank() == victim {
                // Messages of MPI may always find room.
                for &to in &partners {
                    while full && sent < RECORDS && mail.send(to, &[1; RECORD_BYTES]).map_err(text)? {
                        sent += 1;
                    }
                }
                mail.push().map_err(text)?;
                mail.alarm().map_err(text)?;
            }
            let mut look = || {
                while mail.receive()?.is_some() {}
                mail.alarmed()
            };
            if near {
                t.watch(&Signal::new(), 0, &mut look).map_err(text)?;
            }
            t.barrier().map_err(text)?;
            ensure!(near || !look().map_err(text)?, "rank {victim} is heard by a stranger");
            mail.calm().map_err(text)?;
            ensure!(!mail.alarmed().map_err(text)?, "the alarm of rank {victim} is not over");
            t.barrier().map_err(text)?;
        }
        mail.close().map_err(text)?;
    }
    Ok(())
}

/// Mutual: up to three neighbours on both sides.
fn partners(t: &dyn Transport) -> Vec<usize> {
    (0..t.size()).filter(|rank| (1..=3).contains(&rank.abs_diff(t.rank()))).collect()
}

/// Records of all lengths, numbered, in both directions of every pair at once.
fn everybody_to_everybody(t: &dyn Transport, partners: &[usize], mut mail: Box<dyn Mail>) -> Check {
    let (mut sent, mut got) = (vec![0_usize; t.size()], vec![0_usize; t.size()]);
    let (signal, me) = (Signal::new(), t.rank());
    let record = |from: usize, to: usize, number: usize| {
        let mut record = (number as u64).to_le_bytes().to_vec();
        record.extend(pattern(from, to, (number * 13 + from) % (RECORD_BYTES - 7)));
        record
    };
    let mut complaint = None;
    while complaint.is_none() && partners.iter().any(|r| sent[*r] < RECORDS || got[*r] < RECORDS) {
        for &to in partners {
            while sent[to] < RECORDS && mail.send(to, &record(me, to, sent[to])).map_err(text)? {
                sent[to] += 1;
            }
        }
        mail.push().map_err(text)?;
        let mut look = || {
            let Some((from, bytes)) = mail.receive()? else { return Ok(false) };
            if bytes != record(from, me, got[from]) {
                complaint = Some(format!("record {} of rank {from} is {bytes:?}", number(&bytes[..8])));
            }
            got[from] += 1;
            Ok(true)
        };
        while look().map_err(text)? {}
        // Somebody's records, or room for ours, which shows only when it is asked for.
        let mut asked = 0;
        let ready = &mut || {
            asked += 1;
            Ok(asked > 3 || look()?)
        };
        t.watch(&signal, 0, ready).map_err(text)?;
    }
    ensure!(
        mail.record_bytes_max(*partners.first().unwrap_or(&0)) >= RECORD_BYTES || partners.is_empty(),
        "room"
    );
    mail.close().map_err(text)?;
    complaint.map_or(Ok(()), Err)
}
