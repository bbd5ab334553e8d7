//! Runs of one stride as rectangles: a row is one stride of the file, and a run has the same places in each of its rows. Between two rows in
//! which a run starts or ends, all rows look the same, so one of them is resolved for all. A run that is seen in its
//! whole width stays one piece, however many rows that is; only where a part of its width is seen, each row is a piece,
//! since the bytes of two rows are not neighbours in the stream.
//!
//! Rows begin where no strided run goes on from one row into the next, if there is such a place.

use super::{SourcedRun, Taken, places};
use crate::extent::Run;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

struct Grid {
    stride: u64,
    /// How far before the file the first row begins.
    lead: u64,
}

/// The same places in some rows.
struct Rectangle {
    rows: Range<u64>,
    places: Range<u64>,
    /// Of its first byte in the stream.
    source: u64,
    /// From one row to the next in the stream.
    pitch: u64,
}

/// The parts of runs that no later one replaces, in no order; `None` if their strides differ, or if there are so many
/// different rows that it is less work to look at each block.
pub fn visible(runs: &[SourcedRun]) -> Option<Vec<SourcedRun>> {
    let grid = Grid::of(runs)?;
    let mut rectangles: Vec<Rectangle> = runs.iter().flat_map(|sourced| grid.rectangles(sourced)).collect();
    let mut edges: Vec<u64> = rectangles.iter().flat_map(|r| [r.rows.start, r.rows.end]).collect();
    edges.sort_unstable();
    edges.dedup();
    let at = |row: u64| edges.partition_point(|edge| *edge < row) as u64;
    let steps: u64 = rectangles.iter().map(|r| at(r.rows.end) - at(r.rows.start)).sum();
    if steps > runs.iter().map(|sourced| sourced.run.count()).sum::<u64>().saturating_mul(2) {
        return None;
    }
    rectangles.sort_unstable_by_key(|rectangle| Reverse(rectangle.rows.start));
    let mut pieces = Vec::new();
    // The last declaration first.
    let mut here: BTreeMap<Reverse<u64>, Rectangle> = BTreeMap::new();
    for rows in edges.windows(2).map(|pair| pair[0]..pair[1]) {
        here.retain(|_, rectangle| rectangle.rows.end > rows.start);
        while let Some(next) = rectangles.pop_if(|rectangle| rectangle.rows.start == rows.start) {
            here.insert(Reverse(next.source), next);
        }
        let mut taken = Taken::default();
        for rectangle in here.values() {
            let Range { start, end } = rectangle.places;
            taken.free_parts(start, end, |from, to| grid.add(rectangle, &rows, from..to, &mut pieces));
        }
    }
    Some(pieces)
}

impl Grid {
    /// `None` if there is no stride, or several.
    fn of(runs: &[SourcedRun]) -> Option<Self> {
        let mut strided = runs.iter().map(|sourced| sourced.run).filter(|run| !run.is_contiguous());
        let stride = strided.clone().next()?.stride();
        if strided.any(|run| run.stride() != stride) {
            return None;
        }
        let strided = runs.iter().map(|sourced| sourced.run).filter(|run| !run.is_contiguous());
        let arcs = places::arcs(strided, stride);
        let mut cuts = arcs.iter().zip(places::cuts_before(&arcs, stride));
        let begin = cuts.find(|(_, cut)| *cut).map_or(0, |(arc, _)| arc.start);
        Some(Self { stride, lead: stride - begin })
    }

    fn rectangles(
        &self,
        &SourcedRun { run, source }: &SourcedRun,
    ) -> impl Iterator<Item = Rectangle> + use<> {
        let stride = self.stride;
        let (row, place) = ((run.offset() + self.lead) / stride, (run.offset() + self.lead) % stride);
        let (len, count) = (run.len(), run.count());
        // What a block has in the row where it begins.
        let head = len.min(stride - place);
        let (whole, tail) = ((len - head) / stride, (len - head) % stride);
        let pitch = |width| if run.is_contiguous() { width } else { len };
        let part = |row, count, places: Range<u64>, before| {
            let pitch = pitch(places.end - places.start);
            Rectangle { rows: row..row + count, places, source: source + before, pitch }
        };
        let parts = [
            part(row, count, place..place + head, 0),
            // Blocks of strided runs are not longer than a row.
            part(row + 1, whole, 0..stride, head),
            part(row + 1 + whole, count, 0..tail, head + whole * stride),
        ];
        parts.into_iter().filter(|part| !part.rows.is_empty() && !part.places.is_empty())
    }

    fn add(&self, from: &Rectangle, rows: &Range<u64>, places: Range<u64>, pieces: &mut Vec<SourcedRun>) {
        let len = places.end - places.start;
        let file = |row: u64| row * self.stride + places.start - self.lead;
        let source = |row: u64| {
            from.source + (row - from.rows.start) * from.pitch + (places.start - from.places.start)
        };
        let whole = (len == from.pitch)
            .then(|| Run::strided(file(rows.start), len, self.stride, rows.end - rows.start))
            .flatten();
        match whole {
            Some(run) => pieces.push(SourcedRun { run, source: source(rows.start) }),
            None => pieces.extend(
                rows.clone()
                    .map(|row| SourcedRun { run: Run::contiguous(file(row), len), source: source(row) }),
            ),
        }
    }
}
