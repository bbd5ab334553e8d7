//! Finding bytes that wait: a rank reads what it has written, though it may not be in the file yet, whatever others have put
//! there meanwhile.
//!
//! Writes are sorted in a few parts, of which each has more than twice as many as the next. So a write is sorted anew a few times
//! only, and a look-up is in few parts, however a program alternates between writing and reading.

use super::window::Window;
use sago_core::declare::{Declaration, Declared, Direction, SourcedRun};
use sago_core::extent::Run;
use std::ops::Range;

#[derive(Debug, Default)]
pub struct Index {
    parts: Vec<Part>,
}

/// Some writes of the window, one after the other.
#[derive(Debug)]
struct Part {
    writes: Range<usize>,
    /// Where they begin in the window.
    place: u64,
    declared: Declared,
    /// For each run, the greatest end of it and those before.
    reach: Vec<u64>,
}

impl Index {
    pub fn clear(&mut self) {
        self.parts.clear();
    }

    #[cfg(test)]
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Takes in what was added to the window.
    pub fn update(&mut self, window: &Window) {
        let all = window.count();
        let mut from = self.parts.last().map_or(0, |part| part.writes.end);
        if from == all {
            return;
        }
        while let Some(part) = self.parts.pop_if(|part| part.writes.len() <= 2 * (all - from)) {
            from = part.writes.start;
        }
        self.parts.push(Part::of(window, from..all));
    }

    /// Whether any byte of `lo .. hi` waits.
    pub fn touches(&self, lo: u64, hi: u64) -> bool {
        let mut runs = self.parts.iter().flat_map(|part| part.between(lo, hi));
        runs.any(|sourced| sourced.run.bytes_in(lo, hi) > 0)
    }

    /// Lays what waits over `bytes`, which have been read from these runs.
    pub fn lay_over(&self, window: &Window, runs: &[Run], bytes: &mut [u8]) {
        // Later writes after earlier ones.
        for part in &self.parts {
            let stream = &window.bytes()[part.place as usize..];
            let mut rest = &mut *bytes;
            for run in runs {
                let (into, after) = std::mem::take(&mut rest).split_at_mut(run.bytes() as usize);
                rest = after;
                part.between(run.offset(), run.end()).for_each(|sourced| lay(sourced, stream, *run, into));
            }
        }
    }
}

impl Part {
    fn of(window: &Window, writes: Range<usize>) -> Self {
        let mut declaration = Declaration::new(Direction::Write);
        let mut place = None;
        for (at, write) in writes.clone().map(|number| window.write(number)) {
            place.get_or_insert(at);
            declaration.variable(write.runs.iter().copied());
        }
        let declared = declaration.finish();
        let mut most = 0;
        let reach = |sourced: &SourcedRun| {
            most = most.max(sourced.run.end());
            most
        };
        let reach = declared.runs().iter().map(reach).collect();
        Self { writes, place: place.unwrap_or(0), declared, reach }
    }

    /// The runs that may have bytes there.
    fn between(&self, lo: u64, hi: u64) -> impl Iterator<Item = &SourcedRun> {
        let first = self.reach.partition_point(|end| *end <= lo);
        self.declared.runs()[first..].iter().take_while(move |sourced| sourced.run.offset() < hi)
    }
}

/// What both runs have: from the stream to the bytes of `run`.
fn lay(sourced: &SourcedRun, stream: &[u8], run: Run, into: &mut [u8]) {
    if apart(run, sourced.run) {
        return;
    }
    for block in run.blocks_in(sourced.run.offset(), sourced.run.end()) {
        for piece in sourced.run.blocks_in(block.file, block.file + block.len) {
            let from = (sourced.source + piece.before) as usize;
            let to = (block.before + (piece.file - block.file)) as usize;
            into[to..to + piece.len as usize].copy_from_slice(&stream[from..from + piece.len as usize]);
        }
    }
}

/// Whether two runs of one stride have places of their own in it, as columns have.
fn apart(a: Run, b: Run) -> bool {
    let stride = a.stride();
    if a.is_contiguous() || b.is_contiguous() || b.stride() != stride {
        return false;
    }
    let from = (b.offset() % stride + stride - a.offset() % stride) % stride;
    from >= a.len() && from + b.len() <= stride
}

#[cfg(test)]
mod tests {
    use super::super::window::Region;
    use super::*;
    use sago_core::random::Random;
    use std::collections::BTreeMap;

    fn draw(random: &mut Random) -> Vec<Run> {
        let count = 1 + random.below(3);
        let one = |_| {
            let len = 1 + random.below(6);
            Run::strided(random.below(300), len, len + random.below(9), 1 + random.below(8))
        };
        (0..count).filter_map(one).collect()
    }

    #[test]
    fn a_read_sees_the_last_of_all_writes() {
        for seed in 0..400 {
            let mut random = Random::new(seed);
            let mut window = Window::new(Region::new(1 << 20).unwrap());
            let mut file: BTreeMap<u64, u8> = BTreeMap::new();
            for step in 0..40_u8 {
                let runs = draw(&mut random);
                let bytes: u64 = runs.iter().map(|run| run.bytes()).sum();
                if random.below(3) > 0 {
                    let values: Vec<u8> = (0..bytes).map(|i| step.wrapping_mul(7) ^ i as u8 | 1).collect();
                    window.spare(bytes).copy_from_slice(&values);
                    window.push(&runs, bytes, 0);
                    let places =
                        runs.iter().flat_map(|run| run.blocks()).flat_map(|b| b.file..b.file + b.len);
                    file.extend(places.zip(values));
                    continue;
                }
                let mut seen = vec![0; bytes as usize];
                window.lay_over(&runs, &mut seen);
                let places = runs.iter().flat_map(|run| run.blocks()).flat_map(|b| b.file..b.file + b.len);
                let expected: Vec<u8> = places.map(|at| file.get(&at).copied().unwrap_or(0)).collect();
                assert_eq!(seen, expected, "seed {seed}, step {step}");
                let (lo, len) = (random.below(350), random.below(20));
                assert_eq!(window.touches(lo, lo + len), file.range(lo..lo + len).next().is_some());
                if random.below(10) == 0 {
                    window.clear();
                    file.clear();
                }
            }
        }
    }

    #[test]
    fn columns_are_apart_and_neighbours_that_meet_are_not() {
        let run = |offset, len| Run::strided(offset, len, 36, 10).unwrap();
        for (a, b, expected) in [
            (run(0, 4), run(4, 4), true),
            (run(4, 4), run(0, 4), true),
            (run(100, 4), run(4, 4), true),
            (run(0, 8), run(4, 4), false),
            (run(4, 4), run(0, 8), false),
            (run(32, 8), run(0, 4), false),
            (run(0, 4), run(32, 8), false),
            (run(0, 4), run(72, 4), false),
        ] {
            let bytes = |run: Run| run.blocks().flat_map(|b| b.file..b.file + b.len).collect::<Vec<_>>();
            let (a_bytes, b_bytes) = (bytes(a), bytes(b));
            assert_eq!(apart(a, b), expected, "{a:?} {b:?}");
            assert!(!expected || a_bytes.iter().all(|byte| !b_bytes.contains(byte)));
        }
    }

    /// However reads and writes alternate, few parts are there.
    #[test]
    fn parts_are_few() {
        let mut window = Window::new(Region::new(1 << 20).unwrap());
        for number in 0..3000 {
            window.spare(1).fill(1);
            window.push(&[Run::contiguous(2 * number, 1)], 1, 0);
            assert!(window.touches(2 * number, 2 * number + 1));
            assert!(window.index_parts() <= 12, "{} after {number}", window.index_parts());
        }
    }
}
