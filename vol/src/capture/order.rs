//! The bytes of a write in the order of the file, where that makes long pieces of short ones: the rows of a block that lies
//! across several chunks, each of which is one piece of the file. Long pieces need neither sorting nor packing later, and may be written
//! ahead.

use sago_core::extent::Run;

/// Fewer runs than this are not worth it.
const RUNS_MIN: usize = 8;
/// Runs have so many blocks each, on average; more are columns, which are put together otherwise.
const BLOCKS_MAX: u64 = 16;
/// Longer pieces, on average, are good as they are.
const PIECE_BYTES_MAX: u64 = 64 << 10;
/// So many pieces are looked at to see whether others follow them in the file, before all are sorted.
const SAMPLES: usize = 4;
/// Pieces must become so many times longer.
const GAIN_MIN: usize = 4;

/// A write in another order.
#[derive(Debug, PartialEq, Eq)]
pub struct Ordered {
    /// In the order of the file, as long as can be.
    pub runs: Vec<Run>,
    pieces: Vec<Piece>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    file: u64,
    /// Where it lies in the stream of the write.
    stream: usize,
    len: usize,
}

impl Ordered {
    /// `None` if the order of the stream is as good. What overlaps stays in the order of the program.
    pub fn of(runs: &[Run]) -> Option<Self> {
        let in_order = || runs.is_sorted_by(|run, next| run.end() <= next.offset());
        let count = runs.iter().map(|run| run.count()).sum::<u64>();
        if runs.len() < RUNS_MIN || count > BLOCKS_MAX * runs.len() as u64 || in_order() {
            return None;
        }
        let bytes = runs.iter().map(|run| run.bytes()).sum::<u64>();
        if bytes / count >= PIECE_BYTES_MAX || !some_follow(runs) {
            return None;
        }
        let mut pieces: Vec<Piece> = Vec::new();
        pieces.try_reserve_exact(count as usize).ok()?;
        let mut stream = 0;
        for block in runs.iter().flat_map(|run| run.blocks()) {
            let piece = Piece { file: block.file, stream, len: block.len as usize };
            stream += piece.len;
            pieces.push(piece);
        }
        // Of two that begin at one place neither is left below.
        pieces.sort_unstable_by_key(|piece| piece.file);
        let mut ordered: Vec<Run> = Vec::new();
        for piece in &pieces {
            let len = piece.len as u64;
            match ordered.last_mut() {
                Some(last) if piece.file < last.end() => return None,
                Some(last) if piece.file == last.end() => {
                    *last = Run::contiguous(last.offset(), last.len() + len)
                }
                _ => ordered.push(Run::contiguous(piece.file, len)),
            }
        }
        (ordered.len() * GAIN_MIN <= pieces.len()).then_some(Self { runs: ordered, pieces })
    }

    /// Copies the stream of the write in the order of the file. Both are as long as the write.
    pub fn copy(&self, stream: &[u8], into: &mut [u8]) {
        let mut rest = into;
        for piece in &self.pieces {
            let (to, after) = rest.split_at_mut(piece.len);
            to.copy_from_slice(&stream[piece.stream..piece.stream + piece.len]);
            rest = after;
        }
    }
}

/// Whether there are pieces that another one follows in the file, as far as a few of them tell.
fn some_follow(runs: &[Run]) -> bool {
    let samples = (0..SAMPLES).map(|number| runs[(2 * number + 1) * runs.len() / (2 * SAMPLES)]);
    let follows = |end: u64| runs.iter().any(|run| run.bytes_in(end, end + 1) > 0);
    samples.into_iter().any(|run| follows(run.offset() + run.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sago_core::random::Random;

    /// Rows of blocks that lie across chunks.
    fn rows(chunks: u64, rows: u64, len: u64) -> Vec<Run> {
        let row = |row| (0..chunks).map(move |chunk| Run::contiguous(chunk * 5000 + 7 + row * len, len));
        (0..rows).flat_map(row).collect()
    }

    /// The same with a run for each row.
    fn strided_rows(chunks: u64, rows: u64, len: u64) -> Vec<Run> {
        (0..rows).filter_map(|row| Run::strided(7 + row * len, len, 5000, chunks)).collect()
    }

    #[test]
    fn rows_across_chunks_become_chunks() {
        for runs in [rows(3, 80, 16), strided_rows(3, 80, 16)] {
            let stream: Vec<u8> = (0..3 * 80 * 16).map(|i| (i / 16) as u8).collect();
            let ordered = Ordered::of(&runs).unwrap();
            assert_eq!(ordered.runs, [7, 5007, 10007].map(|at| Run::contiguous(at, 1280)));
            let mut copied = vec![0; stream.len()];
            ordered.copy(&stream, &mut copied);
            let row = |chunk: usize, row: usize| copied[chunk * 1280 + row * 16];
            for (chunk, number) in [(0, 0), (1, 0), (2, 79), (1, 17)] {
                assert_eq!(usize::from(row(chunk, number)), number * 3 + chunk);
            }
        }
    }

    #[test]
    fn what_gains_nothing_or_overlaps_stays_as_it_is() {
        let ascending: Vec<Run> = (0..200).map(|i| Run::contiguous(10 * i, 10)).collect();
        assert_eq!(Ordered::of(&ascending), None);
        let scattered: Vec<Run> = (0..200).map(|i| Run::contiguous(20 * (i * 7 % 200), 10)).collect();
        assert_eq!(Ordered::of(&scattered), None);
        let mut twice = rows(3, 40, 16);
        twice.push(Run::contiguous(10, 4));
        assert_eq!(Ordered::of(&twice), None);
        let columns: Vec<Run> = (0..100).filter_map(|i| Run::strided(4 * i, 4, 400, 1000)).collect();
        assert_eq!(Ordered::of(&columns), None);
        assert_eq!(Ordered::of(&rows(3, 2, 16)), None, "too few");
        let long: Vec<Run> =
            rows(3, 40, 1).iter().map(|run| Run::contiguous(run.offset() << 17, 1 << 17)).collect();
        assert_eq!(Ordered::of(&long), None, "long enough");
    }

    /// Each byte goes where it would have gone.
    #[test]
    fn bytes_keep_their_places() {
        for seed in 0..500 {
            let mut random = Random::new(seed);
            let (chunks, rows_of, len) = (1 + random.below(6), 10 + random.below(60), 1 + random.below(9));
            let make = if random.below(2) == 0 { rows } else { strided_rows };
            let mut runs = make(chunks, rows_of, len);
            (0..random.below(4)).for_each(|_| {
                let (a, b) =
                    (random.below(runs.len() as u64) as usize, random.below(runs.len() as u64) as usize);
                runs.swap(a, b);
            });
            let Some(ordered) = Ordered::of(&runs) else { continue };
            let places = |runs: &[Run]| {
                let blocks = runs.iter().flat_map(|run| run.blocks());
                blocks.flat_map(|block| block.file..block.file + block.len).collect::<Vec<_>>()
            };
            let stream: Vec<u8> = places(&runs).iter().map(|at| (at % 251) as u8).collect();
            let mut copied = vec![0; stream.len()];
            ordered.copy(&stream, &mut copied);
            let expected: Vec<u8> = places(&ordered.runs).iter().map(|at| (at % 251) as u8).collect();
            assert!(copied == expected, "seed {seed}");
        }
    }
}
