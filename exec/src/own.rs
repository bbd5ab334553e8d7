//! Storing a rank's own bytes: those that no other rank gathers. An extent of the file whose pieces in memory are long is stored
//! straight from there or into it; one of short pieces by way of a buffer, and so is a short extent where several of them can
//! be stored at once. Bytes that the caller says are in the file already are left out, in extents of the second kind only if
//! all of it is there.

use crate::Error;
use crate::drive::{Drive, Memory};
use crate::pack;
use crate::store::{self, Extents, Sieve};
use crate::tiles;
use sago_core::schedule::{Blocks, BufferExtent, Own, STRAIGHT_BYTES_MIN};
use sago_mpi::copy;

/// An extent of the file in a window, and how its bytes lie in memory.
#[derive(Clone, Copy, Debug)]
pub struct Lying {
    extent: BufferExtent,
    pieces: u64,
    /// In the file already.
    stored: u64,
}

/// Which extents go by way of the buffer.
#[derive(Clone, Copy)]
struct Rule {
    /// Pieces of so many bytes are long.
    least: u64,
    /// Short extents can be stored with their neighbours.
    together: bool,
}

impl Rule {
    const fn packs(self, lying: &Lying) -> bool {
        let short = lying.extent.len < self.least.saturating_mul(lying.pieces);
        short && (lying.pieces > 1 || self.together)
    }
}

/// The extent that a place of the buffer lies in. They are in order.
fn lying_at(lying: &mut [Lying], buffer: u64) -> Option<&mut Lying> {
    let after = lying.partition_point(|lying| lying.extent.buffer <= buffer);
    let found = &mut lying[after.checked_sub(1)?];
    (buffer < found.extent.buffer + found.extent.len).then_some(found)
}

impl Drive<'_, '_> {
    /// Stores a window. The inner error is one of storage.
    pub(crate) fn store_own(&mut self, work: &Own, window: u32) -> Result<Result<(), i32>, Error> {
        let rule = Rule {
            least: self.prepared.plan.frame.settings.buffer_bytes.min(STRAIGHT_BYTES_MIN),
            together: matches!(self.memory, Memory::Taken(_)) || self.sieve_alone().is_some(),
        };
        let shift = self.offset.own().ok_or(Error::Garbled)?;
        let mut lying = std::mem::take(self.lying);
        lying.clear();
        lying.extend(work.extents(window).map(|extent| Lying {
            extent: BufferExtent { file: extent.file.wrapping_add(shift), ..extent },
            pieces: 0,
            stored: 0,
        }));
        let result = self.store_lying(work, window, rule, &mut lying);
        *self.lying = lying;
        result
    }

    fn store_lying(
        &mut self,
        work: &Own,
        window: u32,
        rule: Rule,
        lying: &mut Vec<Lying>,
    ) -> Result<Result<(), i32>, Error> {
        for blocks in work.blocks(self.declared, window) {
            let lying = lying_at(lying, blocks.buffer).ok_or(Error::Garbled)?;
            lying.pieces += blocks.count;
            if let Memory::Lent(memory) = &self.memory {
                lying.stored += memory.stored(blocks.source).min(blocks.bytes());
            }
        }
        if !lying.iter().all(|lying| rule.packs(lying)) {
            for blocks in work.blocks(self.declared, window) {
                let lying = lying_at(lying, blocks.buffer).ok_or(Error::Garbled)?;
                if rule.packs(lying) {
                    continue;
                }
                let stored = self.store_straight(&blocks, lying.extent)?;
                if stored.is_err() {
                    return Ok(stored);
                }
            }
        }
        lying.retain(|lying| rule.packs(lying) && lying.stored < lying.extent.len);
        if lying.is_empty() { Ok(Ok(())) } else { self.store_packed(work, window, lying) }
    }

    /// How a rank that writes its own bytes bridges holes: only if there is no other, whose bytes may lie there.
    fn sieve_alone(&self) -> Option<Sieve> {
        self.sieve.filter(|_| self.ranks.size() == 1)
    }

    /// Blocks of one extent.
    fn store_straight(&mut self, blocks: &Blocks, extent: BufferExtent) -> Result<Result<(), i32>, Error> {
        for number in 0..blocks.count {
            let within = blocks.buffer + number * blocks.stride - extent.buffer;
            let (mut file, mut source) = (extent.file + within, blocks.source + number * blocks.len);
            let end = file + blocks.len;
            if end > extent.file + extent.len {
                return Err(Error::Garbled);
            }
            while file < end {
                let mut len = end - file;
                let result = match &mut self.memory {
                    Memory::Lent(memory) if memory.stored(source) > 0 => {
                        len = len.min(memory.stored(source));
                        Ok(())
                    }
                    Memory::Lent(memory) => {
                        len = len.min(memory.unstored(source));
                        self.stats.count(len);
                        let from = memory.at(source, len).ok_or(Error::NoSuchBytes)?;
                        store::write(&**self.storage, file, from)
                    }
                    Memory::Taken(memory) => {
                        self.stats.count(len);
                        let into = memory.at(source, len).ok_or(Error::NoSuchBytes)?;
                        store::read(&**self.storage, file, into)
                    }
                };
                if result.is_err() {
                    return Ok(result);
                }
                (file, source) = (file + len, source + len);
            }
        }
        Ok(Ok(()))
    }

    /// These extents of a window, by way of the buffer.
    fn store_packed(
        &mut self,
        work: &Own,
        window: u32,
        lying: &mut [Lying],
    ) -> Result<Result<(), i32>, Error> {
        let sieve = self.sieve_alone();
        let (storage, buffer) = (&**self.storage, &mut *self.pack);
        pack::make_room(work, buffer);
        lying.iter().for_each(|lying| self.stats.count(lying.extent.len));
        let all = lying.len() == work.extents(window).count();
        let chosen = |blocks: &Blocks, lying: &mut [Lying]| all || lying_at(lying, blocks.buffer).is_some();
        match &mut self.memory {
            Memory::Lent(memory) => {
                let blocks = work.blocks(self.declared, window).filter(|blocks| chosen(blocks, lying));
                pack::pack(blocks, buffer, |source, len| memory.at(source, len))?;
                let mut packed = Packed { buffer, lying };
                Ok(store::write_all(storage, &mut packed, sieve, self.scratch))
            }
            Memory::Taken(memory) => {
                let result = store::read_all(storage, &mut Packed { buffer, lying }, self.scratch);
                let blocks = work.blocks(self.declared, window).filter(|blocks| chosen(blocks, lying));
                tiles::for_each(blocks, |blocks| {
                    let into = memory.at(blocks.source, blocks.bytes()).ok_or(Error::NoSuchBytes)?;
                    let from = pack::spanned(buffer, blocks)?;
                    copy::gather(from, blocks.len as usize, blocks.stride as usize, into);
                    Ok(())
                })?;
                Ok(result)
            }
        }
    }
}

/// Extents in the buffer for a rank's own bytes.
struct Packed<'p> {
    buffer: &'p mut [u8],
    lying: &'p [Lying],
}

impl Extents for Packed<'_> {
    fn len(&self) -> usize {
        self.lying.len()
    }

    fn place(&self, i: usize) -> (u64, usize) {
        let BufferExtent { file, len, .. } = self.lying[i].extent;
        (file, len as usize)
    }

    fn bytes(&mut self, i: usize) -> &mut [u8] {
        let BufferExtent { buffer, len, .. } = self.lying[i].extent;
        &mut self.buffer[buffer as usize..(buffer + len) as usize]
    }
}
