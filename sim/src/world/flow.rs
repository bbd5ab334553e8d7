//! A message or a batch of requests on its way, and the order of its stages.

use super::Stretch;
use super::storage::Chunk;
use crate::time::Time;

#[derive(Clone, Copy, Debug)]
pub(super) struct Flow<T> {
    pub end: End<T>,
    pub bytes: u64,
    /// Servers before the route, the route, and servers after it.
    pub before: Option<u32>,
    pub route: (u32, u32),
    pub after: [Option<u32>; 2],
    pub stage: Stage,
    pub tail: Time,
    pub chunk: Option<Chunk>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum End<T> {
    Token(T),
    Request(u32),
}

/// Where a flow's head is. Reads go to the target first, writes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Before,
    Route(u32),
    After(usize),
    Lock,
    Target,
    Done,
}

/// The parts of a stretch in each stripe; one that is not wholly asked for lies in one stripe already.
pub(super) fn stripes(stretch: &Stretch, stripe: u64) -> impl Iterator<Item = (u64, u64)> {
    let Stretch { offset, span, bytes, .. } = *stretch;
    let (end, whole) = (offset + span, span == bytes);
    let mut at = offset;
    std::iter::from_fn(move || {
        if at >= end {
            return None;
        }
        let from = at;
        at = if whole { ((at / stripe + 1) * stripe).min(end) } else { end };
        Some((from, if whole { at - from } else { bytes }))
    })
}

impl<T> Flow<T> {
    pub fn after_stage(&self) -> Stage {
        let write = self.chunk.is_none_or(|chunk| chunk.write);
        let first_link = Stage::Route(self.route.0);
        match self.stage {
            Stage::Before if write => first_link,
            Stage::Before => Stage::Done,
            Stage::Route(at) if at + 1 < self.route.1 => Stage::Route(at + 1),
            Stage::Route(_) if self.chunk.is_none() => Stage::Done,
            Stage::Route(_) if write => Stage::After(0),
            Stage::Route(_) => Stage::Before,
            Stage::After(0) if write => Stage::After(1),
            Stage::After(0) => first_link,
            Stage::After(_) if write => Stage::Lock,
            Stage::After(_) => Stage::After(0),
            Stage::Lock => Stage::Target,
            Stage::Target if write => Stage::Done,
            Stage::Target => Stage::After(1),
            Stage::Done => Stage::Done,
        }
    }
}
