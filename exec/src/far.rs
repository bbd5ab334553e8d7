//! Between nodes. A rank's bytes for an aggregator on another node travel packed, with a list of the blocks that they are,
//! into memory that the aggregator's node offers, and are unpacked there; what ranks of a node tell each other by counters
//! goes the same way, in order. Reading is the same backwards: a rank says which blocks it wants, and they are given.
//!
//! Every pair of ranks has a queue of its own, so nobody waits for a rank that it has no bytes in common with. Records
//! carry the number of their commit: what nobody waited for in one commit is not taken for news of the next.

use crate::Error;
use crate::wire::{Garbled, Reader, Writer};
use sago_core::schedule::{Blocks, WindowId};
use sago_mpi::{Lanes, Mail, Reduce, Transport};
use std::collections::VecDeque;

/// What a record says, its bytes aside.
#[derive(Debug)]
pub enum News {
    /// Bytes for a buffer.
    Bytes { window: WindowId, blocks: Vec<Blocks> },
    /// A member has put its bytes, or taken them.
    Arrived { window: WindowId, bytes: u64, ok: bool },
    /// An aggregator has released this many rounds.
    Released { area: u32, part: u32, rounds: u32, ok: bool },
    /// A member wants these blocks of a buffer.
    Wanted { window: WindowId, blocks: Vec<Blocks> },
    /// Here they are.
    Given { window: WindowId },
    /// Of an earlier commit, in which nobody waited for it.
    Stale,
}

/// From whom, what it says, and its bytes.
type Record<'a> = (usize, News, &'a [u8]);

/// Something to be sent to one partner.
#[derive(Debug)]
pub enum Parcel {
    /// A few words.
    Note(News),
    /// A member's bytes for a window.
    Put { window: WindowId, blocks: VecDeque<Blocks> },
    /// The blocks that a member wants.
    Want { window: WindowId, blocks: VecDeque<Blocks> },
    /// Blocks of a buffer, for a member that wants them.
    Give { window: WindowId, blocks: VecDeque<Blocks> },
}

/// Where the bytes of parcels are.
pub trait Source {
    /// Appends a member's bytes for these blocks.
    fn lent(&self, blocks: &Blocks, to: &mut Vec<u8>) -> Result<(), Error>;
    /// Appends the bytes of these blocks of an aggregator's buffer.
    fn buffered(&self, window: WindowId, blocks: &Blocks, to: &mut Vec<u8>) -> Result<(), Error>;
}

pub struct Far {
    mail: Box<dyn Mail>,
    partners: Vec<usize>,
    outboxes: Vec<Outbox>,
    commit: u64,
}

#[derive(Debug, Default)]
struct Outbox {
    parcels: VecDeque<Parcel>,
    /// A record that waits for room; empty if there is none.
    record: Vec<u8>,
    /// The window whose last byte is in that record.
    ends: Option<WindowId>,
}

/// How much memory a rank gives to records from others, and the shortest and longest record.
const MEMORY: usize = 16 << 20;
const RECORD_MIN: usize = 512;
const RECORD_MAX: usize = 256 << 10;
/// A record's rings and its copy at the sender.
const COPIES: usize = 5;
const WORD: usize = 8;
/// Words in front of the blocks, and of each block.
const HEAD: usize = 7 * WORD;
const BLOCK: usize = 4 * WORD;

impl Far {
    /// Collective. `partners` are sorted and mutual; `buffer_bytes` is the same everywhere.
    pub fn new(ranks: &dyn Transport, partners: Vec<usize>, buffer_bytes: usize) -> Result<Self, Error> {
        let mut most = [partners.len() as u64];
        ranks.allreduce(Reduce::Max, &mut most)?;
        let share = MEMORY / COPIES / usize::try_from(most[0]).unwrap_or(usize::MAX).max(1);
        let record_bytes = (buffer_bytes / 2).min(share).clamp(RECORD_MIN, RECORD_MAX);
        let lanes = Lanes::new(ranks, &partners, record_bytes);
        let mut all = [u64::from(lanes.is_ok())];
        ranks.allreduce(Reduce::Min, &mut all)?;
        let mail: Box<dyn Mail> = match lanes {
            Ok(lanes) if all[0] == 1 => Box::new(lanes),
            _ => ranks.letters(&partners, record_bytes)?,
        };
        let outboxes = partners.iter().map(|_| Outbox::default()).collect();
        Ok(Self { mail, partners, outboxes, commit: 0 })
    }

    pub fn partners(&self) -> &[usize] {
        &self.partners
    }

    pub fn memory_bytes(&self) -> usize {
        self.mail.memory_bytes() + self.outboxes.iter().map(|outbox| outbox.record.capacity()).sum::<usize>()
    }

    /// A new commit; all ranks count alike. What the last one left unsent is dropped.
    pub fn begin(&mut self, commit: u64) {
        self.commit = commit;
        self.outboxes.iter_mut().for_each(|outbox| {
            outbox.parcels.clear();
            outbox.record.clear();
            outbox.ends = None;
        });
    }

    pub fn post(&mut self, to: usize, parcel: Parcel) -> Result<(), Error> {
        let at = self.partners.binary_search(&to).map_err(|_| Error::Garbled)?;
        self.outboxes[at].parcels.push_back(parcel);
        Ok(())
    }

    /// Whether all that was posted has been sent.
    pub fn is_idle(&self) -> bool {
        self.outboxes.iter().all(|outbox| outbox.parcels.is_empty() && outbox.record.is_empty())
    }

    /// Sends what there is room for, and says which windows' bytes have been put wholly.
    pub fn send(&mut self, source: &dyn Source, put: &mut Vec<WindowId>) -> Result<u64, Error> {
        let mut bytes = 0;
        for (outbox, &to) in self.outboxes.iter_mut().zip(&self.partners) {
            loop {
                if outbox.record.is_empty()
                    && !outbox.pack(self.commit, self.mail.record_bytes_max(to), source)?
                {
                    break;
                }
                if !self.mail.send(to, &outbox.record)? {
                    break;
                }
                bytes += outbox.record.len() as u64;
                outbox.record.clear();
                put.extend(outbox.ends.take());
            }
        }
        self.mail.push()?;
        Ok(bytes)
    }

    /// The next record that has arrived.
    pub fn receive(&mut self) -> Result<Option<Record<'_>>, Error> {
        let Some((from, record)) = self.mail.receive()? else { return Ok(None) };
        let mut reader = Reader::new(record);
        if reader.word()? != self.commit {
            return Ok(Some((from, News::Stale, &[])));
        }
        let news = News::read(&mut reader)?;
        Ok(Some((from, news, reader.rest())))
    }

    /// Tells all partners that this rank gives up.
    pub fn alarm(&mut self) -> Result<(), Error> {
        Ok(self.mail.alarm()?)
    }

    /// Whether a partner has given up in this commit.
    pub fn alarmed(&mut self) -> Result<bool, Error> {
        Ok(self.mail.alarmed()?)
    }

    /// After a commit, and before the ranks meet again.
    pub fn calm(&mut self) -> Result<(), Error> {
        Ok(self.mail.calm()?)
    }

    /// Collective.
    pub fn close(self) -> Result<(), Error> {
        Ok(self.mail.close()?)
    }
}

impl Outbox {
    /// Makes the next record; `false` if there is nothing to send.
    fn pack(&mut self, commit: u64, room: usize, source: &dyn Source) -> Result<bool, Error> {
        let Some(parcel) = self.parcels.front_mut() else { return Ok(false) };
        let mut record = Writer::onto(std::mem::take(&mut self.record));
        record.word(commit);
        let done = match parcel {
            Parcel::Note(news) => {
                news.write(&mut record);
                true
            }
            Parcel::Put { window, blocks } => {
                let now = take(blocks, room - HEAD, BLOCK, true);
                News::Bytes { window: *window, blocks: now.clone() }.write(&mut record);
                now.iter().try_for_each(|blocks| source.lent(blocks, record.bytes_mut()))?;
                self.ends = blocks.is_empty().then_some(*window);
                blocks.is_empty()
            }
            Parcel::Want { window, blocks } => {
                let now = take(blocks, room - HEAD, BLOCK, false);
                News::Wanted { window: *window, blocks: now }.write(&mut record);
                blocks.is_empty()
            }
            Parcel::Give { window, blocks } => {
                let now = take(blocks, room - HEAD, 0, true);
                News::Given { window: *window }.write(&mut record);
                now.iter().try_for_each(|blocks| source.buffered(*window, blocks, record.bytes_mut()))?;
                blocks.is_empty()
            }
        };
        self.record = record.finish();
        if done {
            self.parcels.pop_front();
        }
        Ok(true)
    }
}

/// Takes from the front what fits into `room`, if each entry needs `each` and, where they go along, its bytes.
fn take(blocks: &mut VecDeque<Blocks>, mut room: usize, each: usize, with_bytes: bool) -> Vec<Blocks> {
    let mut taken = Vec::new();
    while let Some(next) = blocks.pop_front() {
        if room <= each {
            blocks.push_front(next);
            break;
        }
        room -= each;
        let most = if with_bytes { room as u64 } else { u64::MAX };
        let (now, rest) = split(next, most);
        rest.into_iter().rev().flatten().for_each(|rest| blocks.push_front(rest));
        room -= if with_bytes { now.bytes() as usize } else { 0 };
        taken.push(now);
    }
    taken
}

/// The first of these bytes, at most `most` and at least one, as blocks; and the rest.
pub fn split(blocks: Blocks, most: u64) -> (Blocks, [Option<Blocks>; 2]) {
    let Blocks { source, buffer, len, stride, count } = blocks;
    let whole = (most / len).min(count);
    if whole == count {
        return (blocks, [None, None]);
    }
    let after =
        |n: u64| Blocks { source: source + n * len, buffer: buffer + n * stride, count: count - n, ..blocks };
    if whole > 0 {
        return (Blocks { count: whole, ..blocks }, [Some(after(whole)), None]);
    }
    let piece = Blocks { len: most, stride: most, count: 1, ..blocks };
    let left = len - most;
    let first = Blocks { source: source + most, buffer: buffer + most, len: left, stride: left, count: 1 };
    (piece, [Some(first), (count > 1).then(|| after(1))])
}

impl News {
    fn write(&self, to: &mut Writer) {
        let window =
            |kind: u64, w: &WindowId| [kind, u64::from(w.area), u64::from(w.part), u64::from(w.round)];
        let (head, tail, blocks) = match self {
            Self::Bytes { window: w, blocks } => (window(0, w), [blocks.len() as u64, 0], blocks.as_slice()),
            Self::Arrived { window: w, bytes, ok } => (window(1, w), [*bytes, u64::from(*ok)], &[][..]),
            Self::Released { area, part, rounds, ok } => {
                let w = WindowId { area: *area, part: *part, round: *rounds };
                (window(2, &w), [0, u64::from(*ok)], &[][..])
            }
            Self::Wanted { window: w, blocks } => (window(3, w), [blocks.len() as u64, 0], blocks.as_slice()),
            Self::Given { window: w } => (window(4, w), [0, 0], &[][..]),
            Self::Stale => ([5, 0, 0, 0], [0, 0], &[][..]),
        };
        head.into_iter().chain(tail).for_each(|word| {
            to.word(word);
        });
        for Blocks { buffer, len, stride, count, .. } in blocks {
            to.word(*buffer).word(*len).word(*stride).word(*count);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Garbled> {
        let [kind, area, part, round, number, flag] = [(); 6].map(|()| from.word());
        let small = |word: Result<u64, Garbled>| u32::try_from(word?).map_err(|_| Garbled);
        let (area, part, rounds, ok) = (small(area)?, small(part)?, small(round)?, flag? == 1);
        let window = WindowId { area, part, round: rounds };
        let number = number?;
        let blocks = |from: &mut Reader<'_>| {
            let block = |from: &mut Reader<'_>| {
                let (buffer, len, stride, count) = (from.word()?, from.word()?, from.word()?, from.word()?);
                len.checked_mul(count).filter(|bytes| *bytes > 0).ok_or(Garbled)?;
                Ok(Blocks { source: 0, buffer, len, stride, count })
            };
            (0..number).map(|_| block(from)).collect::<Result<Vec<_>, Garbled>>()
        };
        Ok(match kind? {
            0 => Self::Bytes { window, blocks: blocks(from)? },
            1 => Self::Arrived { window, bytes: number, ok },
            2 => Self::Released { area, part, rounds, ok },
            3 => Self::Wanted { window, blocks: blocks(from)? },
            4 => Self::Given { window },
            _ => return Err(Garbled),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All bytes of the blocks: place in the stream, place in the buffer.
    fn bytes(blocks: &[Blocks]) -> Vec<(u64, u64)> {
        let block = |b: &Blocks, i: u64| {
            let (b, from) = (*b, i * b.len);
            (0..b.len).map(move |at| (b.source + from + at, b.buffer + i * b.stride + at))
        };
        blocks.iter().flat_map(|b| (0..b.count).flat_map(move |i| block(b, i))).collect()
    }

    #[test]
    fn blocks_are_cut_to_any_room_without_losing_a_byte() {
        let all = [
            Blocks { source: 0, buffer: 5, len: 7, stride: 11, count: 9 },
            Blocks { source: 63, buffer: 200, len: 100, stride: 100, count: 1 },
            Blocks { source: 163, buffer: 1, len: 1, stride: 2, count: 2 },
        ];
        for room in 33..400 {
            let mut rest = VecDeque::from(all);
            let mut taken = Vec::new();
            while !rest.is_empty() {
                let now = take(&mut rest, room, BLOCK, true);
                assert!(!now.is_empty(), "room {room}");
                let used: u64 = now.iter().map(|b| b.bytes() + BLOCK as u64).sum();
                assert!(used <= room as u64, "room {room}: {used}");
                taken.extend(now);
            }
            assert_eq!(bytes(&taken), bytes(&all), "room {room}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let window = WindowId { area: 1, part: 2, round: 3 };
        let blocks = vec![Blocks { source: 0, buffer: 4, len: 5, stride: 6, count: 7 }];
        for news in [
            News::Bytes { window, blocks: blocks.clone() },
            News::Arrived { window, bytes: 9, ok: true },
            News::Released { area: 4, part: 5, rounds: 6, ok: false },
            News::Wanted { window, blocks },
            News::Given { window },
        ] {
            let mut record = Writer::default();
            news.write(&mut record);
            let record = record.finish();
            let mut reader = Reader::new(&record);
            let read = News::read(&mut reader).map(|read| format!("{read:?}"));
            assert_eq!(read, Ok(format!("{news:?}")));
            assert!(reader.is_empty());
            assert!(News::read(&mut Reader::new(&record[..record.len() - 1])).is_err());
        }
    }
}
