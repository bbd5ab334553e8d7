//! What a thread writes ahead, step by step.

use super::joint::{Board, Group};
use super::pace::Pace;
use sago_exec::Packing;
use sago_storage::Storage;
use std::ops::Range;
use std::sync::Arc;

pub struct Piece {
    pub storage: Arc<dyn Storage>,
    pub what: What,
    /// Of the collective call that all ranks must have made.
    pub epoch: u64,
    /// Of the commit that it would come before.
    pub commits: u32,
}

pub enum What {
    /// As it lies in the window.
    Straight { file: u64, part: Part },
    /// One window of a packing of this part.
    Packed { packing: Arc<Packing>, window: u32, part: Part },
    /// What all ranks wrote in a call, if it is long pieces of the file together.
    Joint(Arc<Board>),
    /// One window of it.
    Gathered { group: Arc<Group>, window: u32 },
}

/// Where bytes are laid together, kept from one piece to the next.
#[derive(Default)]
pub struct Room {
    pub packed: Vec<u8>,
    /// What was read from other processes.
    pub stream: Vec<u8>,
}

/// A part of the window, and its place there.
#[derive(Clone, Copy)]
pub struct Part {
    place: u64,
    start: *const u8,
    len: usize,
}

// SAFETY: memory of the window, which stays as it is until `Ahead::stop`.
unsafe impl Send for Part {}

impl Part {
    pub fn of(place: u64, bytes: &[u8]) -> Self {
        Self { place, start: bytes.as_ptr(), len: bytes.len() }
    }

    /// # Safety
    /// As long as the slice lives, [`super::Ahead::stop`] has not returned.
    unsafe fn bytes<'p>(self) -> &'p [u8] {
        // SAFETY: the window's memory, which stays as it is until then.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

impl Piece {
    /// Whether all ranks have come so far that it may be written.
    pub fn is_due(&self, pace: &Pace) -> bool {
        match &self.what {
            What::Joint(board) => board.all_done(self.epoch),
            _ => pace.reached(self.epoch),
        }
    }

    /// Whether it is what all ranks wrote in a call, and has not been begun: then nobody waits for it.
    pub fn is_unopened(&self) -> bool {
        matches!(self.what, What::Joint(_))
    }

    /// Whether other ranks wait for it before they use their memory again.
    pub fn has_claim(&self) -> bool {
        matches!(self.what, What::Gathered { .. })
    }

    /// How many bytes it writes.
    pub fn bytes(&self) -> u64 {
        match &self.what {
            What::Straight { part, .. } => part.len as u64,
            What::Packed { packing, window, .. } => packing.bytes(*window),
            What::Joint(_) => 0,
            What::Gathered { group, window } => group.bytes(*window),
        }
    }

    /// Whether its bytes must be laid together first.
    pub fn is_packed(&self) -> bool {
        !matches!(self.what, What::Straight { .. })
    }

    /// Its steps, if it is due and what all ranks wrote.
    pub fn open(&self) -> Option<Vec<Self>> {
        let What::Joint(board) = &self.what else { return None };
        let Some(group) = Group::of(board, self.epoch).map(Arc::new) else { return Some(Vec::new()) };
        let step = |window| Self {
            storage: Arc::clone(&self.storage),
            what: What::Gathered { group: Arc::clone(&group), window },
            ..*self
        };
        Some((0..group.windows()).map(step).collect())
    }

    /// Lays its bytes together where they must be; whether it could.
    ///
    /// # Safety
    /// As [`Part::bytes`].
    pub unsafe fn pack(&self, room: &mut Room) -> bool {
        match &self.what {
            What::Straight { .. } | What::Joint(_) => true,
            What::Packed { packing, window, part } => {
                // SAFETY: the caller's promise.
                let stream = unsafe { part.bytes() };
                let lent = |source: u64, len: u64| stream.get(source as usize..(source + len) as usize);
                packing.pack(*window, lent, &mut room.packed).is_ok()
            }
            What::Gathered { group, window } => group.pack(*window, room),
        }
    }

    /// Writes it, with what [`Piece::pack`] has laid into `room`; the places in the window that are in the file then, besides
    /// those that the ranks tell each other of. `None` if that failed.
    ///
    /// # Safety
    /// As [`Part::bytes`].
    pub unsafe fn store(&self, room: &Room) -> Option<Vec<Range<u64>>> {
        match &self.what {
            What::Straight { file, part } => {
                // SAFETY: the caller's promise.
                let written = self.storage.write(*file, unsafe { part.bytes() }).is_ok();
                let place = part.place..part.place + part.len as u64;
                written.then(|| std::iter::once(place).collect())
            }
            What::Packed { packing, window, part } => {
                let written = packing.store(*window, &*self.storage, &room.packed);
                let sources = packing.sources(*window);
                let places = sources.map(|range| part.place + range.start..part.place + range.end);
                matches!(written, Ok(Ok(()))).then(|| places.collect())
            }
            What::Joint(_) => Some(Vec::new()),
            What::Gathered { group, window } => {
                group.store(*window, &*self.storage, &room.packed).then(Vec::new)
            }
        }
    }
}
