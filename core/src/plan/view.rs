//! Intermediate views, from ParColl (its figure 4 (c)): where every rank's pieces are spread over the whole file, no cut
//! of the file gives a rank one area. So the file is looked at through a view in which each rank's pieces are joined and
//! ranks follow each other; there the subgroups are simply neighbours. Each subgroup still writes to the places in the
//! original file, and since its spans leave out what the others have, its buffers hold only its own bytes.

use super::area::Area;
use crate::declare::Summary;
use crate::ids::Rank;

/// Subgroups of neighbours in the view, even in bytes; `order` is the order of ranks in it.
pub(super) fn joined_areas(summaries: &[Summary], order: &[Rank], wanted: u32, least: u32) -> Vec<Area> {
    let bytes = |rank: &Rank| summaries[rank.index()].bytes;
    super::even_shares(order, wanted, bytes, |_| 1, least)
        .into_iter()
        .map(|ranks| {
            let mut members = ranks.to_vec();
            members.sort_unstable();
            Area { members, lo: 0, hi: u64::MAX }
        })
        .collect()
}
