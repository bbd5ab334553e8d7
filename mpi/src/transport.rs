//! What a group of ranks can do, whoever provides it.
//!
//! Every method but `rank`, `size`, `one_node`, `exchange`, `wait` and `watch` is collective: all ranks of the group call it, in
//! the same order. Buffers are lent for the time of the call only.

use crate::error::Error;
use crate::mail::Mail;
use crate::memory::Shared;
use crate::signal::Signal;
use std::ops::Range;

/// A group of ranks, seen from one of them. It stays on the thread that made it.
pub trait Transport {
    fn rank(&self) -> usize;
    fn size(&self) -> usize;

    /// Whether all ranks have memory in common.
    fn one_node(&self) -> bool;

    fn barrier(&self) -> Result<(), Error>;

    /// Gives everybody the bytes of `root`; all buffers have the same length.
    fn broadcast(&self, root: usize, bytes: &mut [u8]) -> Result<(), Error>;

    /// Combines number by number; all ranks bring equally many. Sums wrap.
    fn allreduce(&self, op: Reduce, values: &mut [u64]) -> Result<(), Error>;

    /// Everybody's bytes, in the order of ranks; lengths may differ.
    fn allgather(&self, mine: &[u8]) -> Result<Parts, Error>;

    /// Part `i` goes to rank `i`; the result has, in part `i`, what came from rank `i`.
    fn alltoall(&self, parts: &Parts) -> Result<Parts, Error>;

    /// Messages between pairs of ranks: all are under way at once, and the call returns when all have been sent and
    /// received. The receiver knows the length; messages of one tag between the same two ranks keep their order.
    fn exchange(&self, tag: u16, sends: &[Send<'_>], receives: &mut [Receive<'_>]) -> Result<(), Error>;

    /// Subgroups by colour, ordered by key, then by rank; no colour, no subgroup.
    fn split(&self, colour: Option<u32>, key: u32) -> Result<Option<Box<dyn Transport>>, Error>;

    /// The same ranks once more, for callers who take turns with this one: what one of them does together, all ranks do
    /// with the same one. Collective.
    fn again(&self) -> Result<Box<dyn Transport>, Error> {
        let key = u32::try_from(self.rank()).unwrap_or(u32::MAX);
        self.split(Some(0), key)?.ok_or(Error::NotOneNode)
    }

    /// The ranks that have memory in common with this one.
    fn split_by_node(&self) -> Result<Box<dyn Transport>, Error>;

    /// Memory in common, zeroed: `bytes` of it as this rank's segment. Refused unless [`Transport::one_node`].
    fn share(&self, bytes: usize) -> Result<Shared, Error>;

    /// Memory that other ranks can reach from afar, zeroed: `bytes` of it on this rank.
    ///
    /// Make it on the whole group and let subgroups use it: Open MPI 4.1 confuses windows that two halves of a
    /// group make at the same time on one node. Some MPI set-ups have no windows between nodes at all and say so here,
    /// on every rank: then messages are the way.
    fn window(&self, bytes: usize) -> Result<Box<dyn Window>, Error>;

    /// Records between this rank and `partners` by messages, where [`Transport::window`] has none to offer; collective.
    /// Partners are mutual and sorted, and all ranks name the same `record_bytes`.
    fn letters(&self, partners: &[usize], record_bytes: usize) -> Result<Box<dyn Mail>, Error>;

    /// Returns once `done` holds for the signal's value: a short spin, then sleep.
    fn wait(&self, signal: &Signal, done: &dyn Fn(u32) -> bool) -> Result<(), Error>;

    /// Returns once the signal is no longer `seen`, or `ready` says so, which is asked again and again.
    fn watch(
        &self,
        signal: &Signal,
        seen: u32,
        ready: &mut dyn FnMut() -> Result<bool, Error>,
    ) -> Result<(), Error>;

    /// Gives back what the group holds. A group that is merely dropped leaves it to MPI until the program ends, since
    /// an error on one rank must not make others wait.
    fn close(self: Box<Self>) -> Result<(), Error>;

    /// Every rank succeeds or every rank fails: with the reason of the lowest rank that failed, cut to
    /// [`MESSAGE_BYTES_MAX`]. One small reduction if all is well.
    fn agree(&self, verdict: Result<(), String>) -> Result<(), Error> {
        let nobody = u64::MAX;
        let mut first = [if verdict.is_err() { self.rank() as u64 } else { nobody }];
        self.allreduce(Reduce::Min, &mut first)?;
        if first[0] == nobody {
            return Ok(());
        }
        let rank = usize::try_from(first[0]).unwrap_or(usize::MAX);
        let mut message = [0; MESSAGE_BYTES_MAX];
        if let (true, Err(text)) = (rank == self.rank(), &verdict) {
            let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
            let end = ends.take_while(|&end| end <= MESSAGE_BYTES_MAX).last().unwrap_or(0);
            let text = &text.as_bytes()[..end];
            message[..text.len()].copy_from_slice(text);
        }
        self.broadcast(rank, &mut message)?;
        let len = message.iter().position(|&b| b == 0).unwrap_or(message.len());
        Err(Error::Refused { rank, message: String::from_utf8_lossy(&message[..len]).into_owned() })
    }

    /// For each number the smallest one and the lowest rank that has it.
    fn lowest(&self, values: &[u64]) -> Result<Vec<(u64, usize)>, Error> {
        let mut least = values.to_vec();
        self.allreduce(Reduce::Min, &mut least)?;
        let own = self.rank() as u64;
        let mut ranks: Vec<u64> =
            least.iter().zip(values).map(|(l, v)| if l == v { own } else { u64::MAX }).collect();
        self.allreduce(Reduce::Min, &mut ranks)?;
        Ok(least
            .into_iter()
            .zip(ranks.into_iter().map(|r| usize::try_from(r).unwrap_or(usize::MAX)))
            .collect())
    }

    /// The node of each rank; nodes are numbered in the order of their lowest rank.
    fn nodes(&self) -> Result<Vec<usize>, Error> {
        let node = self.split_by_node()?;
        let mut leader = [self.rank() as u64];
        node.allreduce(Reduce::Min, &mut leader)?;
        node.close()?;
        let leaders: Vec<u64> = self
            .allgather(&leader[0].to_le_bytes())?
            .iter()
            .map(|b| b.try_into().map_or(u64::MAX, u64::from_le_bytes))
            .collect();
        let mut order = leaders.clone();
        order.sort_unstable();
        order.dedup();
        Ok(leaders.iter().map(|l| order.binary_search(l).unwrap_or(0)).collect())
    }
}

/// How long a reason in [`Transport::agree`] can be.
pub const MESSAGE_BYTES_MAX: usize = 480;

/// How [`Transport::allreduce`] combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduce {
    Min,
    Max,
    Sum,
    And,
    Or,
}

impl Reduce {
    pub fn apply(self, a: u64, b: u64) -> u64 {
        match self {
            Self::Min => a.min(b),
            Self::Max => a.max(b),
            Self::Sum => a.wrapping_add(b),
            Self::And => a & b,
            Self::Or => a | b,
        }
    }
}

/// A message to a rank.
#[derive(Clone, Copy, Debug)]
pub struct Send<'a> {
    pub to: usize,
    pub bytes: &'a [u8],
}

/// Where a message from a rank goes; it has exactly this length.
#[derive(Debug)]
pub struct Receive<'a> {
    pub from: usize,
    pub bytes: &'a mut [u8],
}

/// Bytes to be put into a rank's window.
#[derive(Clone, Copy, Debug)]
pub struct Put<'a> {
    pub to: usize,
    pub offset: usize,
    pub bytes: &'a [u8],
}

/// Memory of each rank that the others reach one-sidedly. Only `free` is collective.
///
/// A put is in place at its target after [`Window::flush`]. The target learns of it by a counter: the origin flushes,
/// then adds to it; the target waits for it.
pub trait Window {
    /// Starts the puts and returns when their buffers may be used again; see [`Window::flush`].
    fn put(&self, puts: &[Put<'_>]) -> Result<(), Error>;

    /// Copies from a rank's window.
    fn get(&self, from: usize, offset: usize, into: &mut [u8]) -> Result<(), Error>;

    /// Returns when all our puts to this rank are in place.
    fn flush(&self, to: usize) -> Result<(), Error>;

    fn flush_all(&self) -> Result<(), Error>;

    /// Adds to the counter at a multiple of 8 in a rank's window, and returns what it was.
    fn fetch_add(&self, to: usize, offset: usize, value: u64) -> Result<u64, Error>;

    /// The value of the counter at a multiple of 8 in our own window.
    fn counter(&self, offset: usize) -> Result<u64, Error>;

    /// Returns once `done` holds for the counter in our own window.
    fn wait(&self, offset: usize, done: &dyn Fn(u64) -> bool) -> Result<(), Error>;

    /// Copies from our own window.
    fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), Error>;

    /// Copies into our own window.
    fn write(&self, offset: usize, bytes: &[u8]) -> Result<(), Error>;

    /// The bytes of our own window, for a system call that writes them to a file without a copy.
    ///
    /// # Safety
    /// While the slice lives, nobody writes to these bytes, from here or from afar.
    unsafe fn bytes(&self, range: Range<usize>) -> Result<&[u8], Error>;

    fn free(self: Box<Self>) -> Result<(), Error>;
}

/// Several runs of bytes in one buffer, one per rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Parts {
    /// Parts of these lengths, zeroed.
    pub fn zeroed(lengths: impl IntoIterator<Item = usize>) -> Self {
        let mut end = 0;
        let ends: Vec<usize> = lengths
            .into_iter()
            .map(|len| {
                end += len;
                end
            })
            .collect();
        Self { bytes: vec![0; end], ends }
    }

    pub fn push(&mut self, part: &[u8]) {
        self.bytes.extend_from_slice(part);
        self.ends.push(self.bytes.len());
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All parts, one after another.
    pub fn all(&self) -> &[u8] {
        &self.bytes
    }

    pub fn all_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    pub fn part(&self, i: usize) -> &[u8] {
        &self.bytes[self.range(i)]
    }

    pub fn part_mut(&mut self, i: usize) -> &mut [u8] {
        let range = self.range(i);
        &mut self.bytes[range]
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|i| self.part(i))
    }

    pub fn lengths(&self) -> impl Iterator<Item = usize> {
        (0..self.len()).map(|i| self.range(i).len())
    }

    /// The parts as separate buffers.
    pub fn split_mut(&mut self) -> Vec<&mut [u8]> {
        let mut rest = self.bytes.as_mut_slice();
        let mut start = 0;
        let mut parts = Vec::with_capacity(self.ends.len());
        for &end in &self.ends {
            let (part, after) = rest.split_at_mut(end - start);
            parts.push(part);
            (rest, start) = (after, end);
        }
        parts
    }

    pub fn range(&self, i: usize) -> Range<usize> {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        start..self.ends[i]
    }
}

impl<'a> FromIterator<&'a [u8]> for Parts {
    fn from_iter<I: IntoIterator<Item = &'a [u8]>>(parts: I) -> Self {
        let mut all = Self::default();
        parts.into_iter().for_each(|part| all.push(part));
        all
    }
}

/// [`Transport::alltoall`] for a group in which each rank can know everybody's lengths: lengths by `allgather`, bytes
/// by `exchange`.
pub fn alltoall_by_exchange(group: &dyn Transport, tag: u16, parts: &Parts) -> Result<Parts, Error> {
    check_parts(group, parts)?;
    let mine: Vec<u8> = parts.lengths().flat_map(|len| (len as u64).to_le_bytes()).collect();
    let everybody = group.allgather(&mine)?;
    let column = group.rank() * 8..group.rank() * 8 + 8;
    let lengths = everybody.iter().map(|row| {
        let len = row[column.clone()].try_into().map_or(0, u64::from_le_bytes);
        usize::try_from(len).unwrap_or(usize::MAX)
    });
    let mut received = Parts::zeroed(lengths);
    exchange_parts(group, tag, parts, &mut received)?;
    Ok(received)
}

/// Sends part `i` to rank `i` and receives part `i` from it; lengths are known.
pub fn exchange_parts(
    group: &dyn Transport,
    tag: u16,
    parts: &Parts,
    received: &mut Parts,
) -> Result<(), Error> {
    let own = group.rank();
    received.part_mut(own).copy_from_slice(parts.part(own));
    let others = |(rank, _): &(usize, _)| *rank != own;
    let sends: Vec<Send<'_>> =
        parts.iter().enumerate().filter(|(to, _)| *to != own).map(|(to, bytes)| Send { to, bytes }).collect();
    let mut receives: Vec<Receive<'_>> = received
        .split_mut()
        .into_iter()
        .enumerate()
        .filter(others)
        .map(|(from, bytes)| Receive { from, bytes })
        .collect();
    group.exchange(tag, &sends, &mut receives)
}

/// One part for each rank.
pub fn check_parts(group: &dyn Transport, parts: &Parts) -> Result<(), Error> {
    let expected = group.size();
    if parts.len() == expected {
        return Ok(());
    }
    Err(Error::Mismatch { rank: group.rank(), len: parts.len(), expected })
}

pub fn check_rank(rank: usize, size: usize) -> Result<(), Error> {
    if rank < size { Ok(()) } else { Err(Error::NoSuchRank { rank, size }) }
}
