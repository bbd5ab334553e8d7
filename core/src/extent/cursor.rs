//! A list of runs, taken piece by piece from its start.

use super::Run;

#[derive(Clone, Debug)]
pub struct Cursor<'r> {
    runs: &'r [Run],
    /// Bytes of the first run that have been taken.
    done: u64,
}

impl<'r> Cursor<'r> {
    pub const fn new(runs: &'r [Run]) -> Self {
        Self { runs, done: 0 }
    }

    /// The next bytes, at most `max`: whole blocks of one run, or a part of one block. `None` at the end.
    pub fn take(&mut self, max: u64) -> Option<Run> {
        let (&run, rest) = self.runs.split_first()?;
        let (block, within) = (self.done / run.len(), self.done % run.len());
        let offset = run.offset() + block * run.stride();
        let piece = if within > 0 || max < run.len() {
            Run::strided(offset + within, (run.len() - within).min(max), run.stride(), 1)
        } else {
            Run::strided(offset, run.len(), run.stride(), (run.count() - block).min(max / run.len()))
        }?;
        self.done += piece.bytes();
        if self.done == run.bytes() {
            (self.runs, self.done) = (rest, 0);
        }
        Some(piece)
    }

    /// Calls `visit` with the next `bytes` bytes, or as many as are left.
    pub fn take_all(&mut self, mut bytes: u64, mut visit: impl FnMut(Run)) {
        while bytes > 0
            && let Some(piece) = self.take(bytes)
        {
            bytes -= piece.bytes();
            visit(piece);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn pieces_are_the_whole_in_order() {
        for seed in 0..3000 {
            let mut random = Random::new(seed);
            let runs: Vec<Run> = (0..random.below(6))
                .filter_map(|_| {
                    let len = 1 + random.below(5);
                    Run::strided(random.below(100), len, len + random.below(4), 1 + random.below(5))
                })
                .collect();
            let bytes = |run: &Run| run.blocks().flat_map(|b| b.file..b.file + b.len).collect::<Vec<_>>();
            let whole: Vec<u64> = runs.iter().flat_map(bytes).collect();
            let mut cursor = Cursor::new(&runs);
            let mut pieces = Vec::new();
            while let Some(piece) = cursor.take(1 + random.below(9)) {
                pieces.extend(bytes(&piece));
            }
            assert_eq!(pieces, whole, "seed {seed}");
        }
    }
}
