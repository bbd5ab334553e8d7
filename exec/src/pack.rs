//! Bytes of a rank that are one piece of the file and many of its memory: packed, and written by the rank itself. The engine
//! asks for it in a commit; a [`Packing`] does it at any other time.

use crate::Error;
use crate::store;
use crate::tiles;
use sago_core::config::Config;
use sago_core::declare::Declared;
use sago_core::plan::{Settings, StorageFacts};
use sago_core::schedule::{Blocks, Own};
use sago_mpi::copy;
use sago_storage::Storage;
use std::ops::Range;

/// Lays blocks of a window as they lie in the file into `room`. `lent` finds a part of the rank's stream.
pub fn pack<'m>(
    blocks: impl Iterator<Item = Blocks>,
    room: &mut [u8],
    lent: impl Fn(u64, u64) -> Option<&'m [u8]>,
) -> Result<(), Error> {
    tiles::for_each(blocks, |blocks| {
        let from = lent(blocks.source, blocks.bytes()).ok_or(Error::NoSuchBytes)?;
        copy::scatter(spanned(room, blocks)?, blocks.len as usize, blocks.stride as usize, from);
        Ok(())
    })
}

/// Not before it is needed: most ranks that write directly pack nothing.
pub fn make_room(work: &Own, room: &mut Vec<u8>) {
    let bytes = usize::try_from(work.room()).unwrap_or(usize::MAX);
    room.resize(room.len().max(bytes), 0);
}

/// The part of the buffer that some blocks span.
pub fn spanned<'b>(buffer: &'b mut [u8], blocks: &Blocks) -> Result<&'b mut [u8], Error> {
    let from = blocks.buffer as usize;
    let span = (blocks.stride * (blocks.count - 1) + blocks.len) as usize;
    buffer.get_mut(from..from + span).ok_or(Error::NoSuchBytes)
}

/// What one rank declares, to be packed and written window by window.
#[derive(Debug)]
pub struct Packing {
    declared: Declared,
    own: Own,
}

impl Packing {
    pub fn new(declared: Declared, config: &Config, storage: &StorageFacts) -> Self {
        let own = Own::whole(&Settings::of(config, storage), &declared);
        Self { declared, own }
    }

    pub fn windows(&self) -> u32 {
        self.own.windows().len() as u32
    }

    /// How many bytes a window has.
    pub fn bytes(&self, window: u32) -> u64 {
        self.own.windows().nth(window as usize).unwrap_or(0)
    }

    /// Lays a window's bytes together. `lent` finds a part of the stream.
    pub fn pack<'m>(
        &self,
        window: u32,
        lent: impl Fn(u64, u64) -> Option<&'m [u8]>,
        room: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.make_room(room);
        pack(self.blocks(window), room, lent)
    }

    /// Writes a window whose bytes lie in `room`. The inner error is one of storage.
    pub fn store(&self, window: u32, storage: &dyn Storage, room: &[u8]) -> Result<Result<(), i32>, Error> {
        for extent in self.own.extents(window) {
            let bytes = room.get(extent.buffer as usize..(extent.buffer + extent.len) as usize);
            let written = store::write(storage, extent.file, bytes.ok_or(Error::NoSuchBytes)?);
            if written.is_err() {
                return Ok(written);
            }
        }
        Ok(Ok(()))
    }

    /// Where parts of the stream belong in a window.
    pub fn blocks(&self, window: u32) -> impl Iterator<Item = Blocks> {
        self.own.blocks(&self.declared, window)
    }

    /// Room enough for any window.
    pub fn make_room(&self, room: &mut Vec<u8>) {
        make_room(&self.own, room);
    }

    /// Which parts of the stream are in a window.
    pub fn sources(&self, window: u32) -> impl Iterator<Item = Range<u64>> {
        self.blocks(window).map(|blocks| blocks.source..blocks.source + blocks.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sago_core::declare::{Declaration, Direction};
    use sago_core::extent::Run;
    use sago_storage::{Counted, Memory};

    #[test]
    fn columns_become_records_window_by_window() {
        let (columns, records) = (9_u64, 1000_u64);
        let mut declaration = Declaration::new(Direction::Write);
        for column in 0..columns {
            declaration.variable(Run::strided(70 + 4 * column, 4, 36, records));
        }
        let config = Config::parse("buffer=1KiB").unwrap();
        let packing = Packing::new(declaration.finish(), &config, &StorageFacts::default());
        let stream: Vec<u8> = (0..columns * records).flat_map(|i| (i as u32).to_le_bytes()).collect();
        let (storage, mut room) = (Counted::new(Memory::default()), Vec::new());
        let mut sources: Vec<Range<u64>> = Vec::new();
        for window in 0..packing.windows() {
            let lent = |source: u64, len: u64| stream.get(source as usize..(source + len) as usize);
            packing.pack(window, lent, &mut room).unwrap();
            packing.store(window, &storage, &room).unwrap().unwrap();
            sources.extend(packing.sources(window));
        }
        assert_eq!(storage.counts().write_calls, u64::from(packing.windows()));
        assert_eq!(sources.iter().map(|range| range.end - range.start).sum::<u64>(), stream.len() as u64);
        let mut back = vec![0; stream.len()];
        storage.read(70, &mut back).unwrap();
        for (i, value) in back.chunks_exact(4).enumerate() {
            let (record, column) = (i as u64 / columns, i as u64 % columns);
            assert_eq!(value, (column * records + record).to_le_bytes()[..4].to_vec(), "at {i}");
        }
    }
}
