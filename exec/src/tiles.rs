//! Strided copies in an order that the processor's cache likes. Nine columns of an array of records, copied one after the
//! other, touch every line of the buffer nine times, long after it has left the cache; tile by tile they touch it nine times
//! while it is there.

use crate::Error;
use sago_core::schedule::Blocks;

/// A part of a buffer that stays in the first cache, beside what is copied into it.
const TILE: u64 = 16 << 10;
/// With more lists of blocks than this, each has little in a tile.
const LISTS_MAX: usize = 64;

/// Calls `copy` with all blocks, cut into tiles where they interleave.
pub fn for_each(
    mut blocks: impl Iterator<Item = Blocks>,
    mut copy: impl FnMut(&Blocks) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut lists: Vec<Blocks> = blocks.by_ref().take(LISTS_MAX).collect();
    let interleaved = lists.len() > 1 && lists.iter().all(|list| list.count > 1 && list.stride < TILE / 4);
    if !interleaved {
        lists.iter().try_for_each(&mut copy)?;
        return blocks.try_for_each(|list| copy(&list));
    }
    let mut end = lists.iter().map(|list| list.buffer).min().unwrap_or(0);
    while !lists.is_empty() {
        end += TILE;
        for list in &mut lists {
            let count = end.saturating_sub(list.buffer).div_ceil(list.stride).min(list.count);
            if count > 0 {
                copy(&Blocks { count, ..*list })?;
                list.source += count * list.len;
                list.buffer += count * list.stride;
                list.count -= count;
            }
        }
        lists.retain(|list| list.count > 0);
    }
    blocks.try_for_each(|list| copy(&list))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sago_core::random::Random;
    use std::collections::BTreeSet;

    #[test]
    fn every_block_is_copied_once() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let lists: Vec<Blocks> = (0..1 + random.below(100))
                .map(|_| {
                    let len = 1 + random.below(20);
                    let stride = len + random.below(9000);
                    let (source, buffer) = (random.below(1 << 40), random.below(1 << 20));
                    Blocks { source, buffer, len, stride, count: 1 + random.below(60) }
                })
                .collect();
            let each = |list: &Blocks| {
                let list = *list;
                (0..list.count)
                    .map(move |i| (list.source + i * list.len, list.buffer + i * list.stride, list.len))
            };
            let expected: BTreeSet<_> = lists.iter().flat_map(each).collect();
            let mut found = BTreeSet::new();
            let copy = |list: &Blocks| {
                assert!(each(list).all(|block| found.insert(block)), "seed {seed}: twice");
                Ok(())
            };
            for_each(lists.iter().copied(), copy).unwrap();
            assert_eq!(found, expected, "seed {seed}");
        }
    }
}
