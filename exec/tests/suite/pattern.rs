//! What one rank writes, drawn from a seed.

use sago_core::declare::{Declaration, Declared, Direction};
use sago_core::extent::Run;
use sago_core::random::Random;

/// Variables, each some runs and their bytes.
pub struct Pattern {
    pub variables: Vec<(Vec<Run>, Vec<u8>)>,
}

/// From one piece to the next, where they are few.
const FAR: u64 = 3001;

impl Pattern {
    /// Runs of rank `rank` of `ranks`; ranks do not overlap each other, but a rank may overlap itself.
    pub fn random(random: &mut Random, rank: u64, ranks: u64, shift: u64) -> Self {
        let kind = random.below(7);
        let variables = 1 + random.below(4);
        let unit = 1 + random.below(40);
        let count = random.below(200);
        let base = shift + random.below(300);
        let mut list = Vec::new();
        for variable in 0..variables {
            let at = base + variable * unit * (count + 1) * ranks * 2;
            let runs: Vec<Run> = match kind {
                // Blocks of ranks side by side.
                0 => Run::strided(at + rank * unit * count, unit * count, unit * count, 1)
                    .into_iter()
                    .collect(),
                // Ranks interleaved.
                1 => Run::strided(at + rank * unit, unit, unit * ranks, count).into_iter().collect(),
                // Columns of one array of records, each rank a block of it.
                2 => {
                    let record = unit * variables;
                    let start = base + rank * record * count + variable * unit;
                    Run::strided(start, unit, record, count).into_iter().collect()
                }
                // Irregular pieces in the rank's own range, some of them twice.
                3 => (0..random.below(20))
                    .filter_map(|_| {
                        let room = unit * (count + 1);
                        let from = random.below(room);
                        Run::strided(at + rank * room + from, 1 + random.below(room - from), room, 1)
                    })
                    .collect(),
                // Tiles of a plane, some ranks without any.
                4 => {
                    let (across, rows) = (ranks.div_ceil(2), 1 + count / 20);
                    let (x, y) = (rank % across, rank / across);
                    let row = |r: u64| at + ((y * rows + r) * across + x) * unit;
                    let mine = (0..rows).filter(|_| !(rank + unit).is_multiple_of(3));
                    mine.filter_map(|r| Run::strided(row(r), unit, unit, 1)).collect()
                }
                // A byte here and there, far apart.
                5 => {
                    let at = base + variable * (count / 10 + 1) * ranks * FAR;
                    let place = |i: u64| at + (i * ranks + rank) * FAR;
                    (0..count / 10).filter_map(|i| Run::strided(place(i), 1 + i % 3, 3, 1)).collect()
                }
                _ => Vec::new(),
            };
            let bytes = runs.iter().map(|run| run.bytes()).sum();
            list.push((runs, (0..bytes).map(|_| 1 + random.below(255) as u8).collect()));
        }
        Self { variables: list }
    }

    pub fn declared(&self, direction: Direction) -> Declared {
        let mut declaration = Declaration::new(direction);
        self.variables.iter().for_each(|(runs, _)| {
            declaration.variable(runs.iter().copied());
        });
        declaration.finish()
    }

    /// The plain way: byte by byte, in the order of the declaration.
    pub fn apply(&self, file: &mut Vec<u8>) {
        for (runs, bytes) in &self.variables {
            let mut next = bytes.iter();
            for block in runs.iter().flat_map(|run| run.blocks()) {
                let end = (block.file + block.len) as usize;
                if file.len() < end {
                    file.resize(end, 0);
                }
                file[block.file as usize..end].iter_mut().zip(&mut next).for_each(|(to, from)| *to = *from);
            }
        }
    }
}
