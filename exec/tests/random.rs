//! Random patterns on ranks that are threads, compared byte by byte with a plain reference.

#![allow(clippy::unwrap_used)] // In a test.

use sago_core::config::Config;
use sago_core::cost::Calibration;
use sago_core::declare::{Declaration, Declared, Direction};
use sago_core::extent::Run;
use sago_core::plan::StorageFacts;
use sago_core::random::Random;
use sago_exec::{Lent, Session, Setting, Taken};
use sago_mpi::threads;
use sago_storage::{Memory, Storage};
use std::sync::Arc;

/// What one rank writes: variables, each some runs and their bytes.
struct Pattern {
    variables: Vec<(Vec<Run>, Vec<u8>)>,
}

impl Pattern {
    /// Runs of rank `rank` of `ranks`; ranks do not overlap each other, but a rank may overlap itself.
    fn random(random: &mut Random, rank: u64, ranks: u64, step: u64) -> Self {
        let kind = random.below(5);
        let variables = 1 + random.below(4);
        let unit = 1 + random.below(40);
        let count = random.below(200);
        let base = random.below(300);
        let mut list = Vec::new();
        for variable in 0..variables {
            let at = step + base + variable * unit * (count + 1) * ranks * 2;
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
                    let start = step + base + rank * record * count + variable * unit;
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
                _ => Vec::new(),
            };
            let bytes = runs.iter().map(|run| run.bytes()).sum();
            list.push((runs, (0..bytes).map(|_| 1 + random.below(255) as u8).collect()));
        }
        Self { variables: list }
    }

    fn declared(&self, direction: Direction) -> Declared {
        let mut declaration = Declaration::new(direction);
        self.variables.iter().for_each(|(runs, _)| {
            declaration.variable(runs.iter().copied());
        });
        declaration.finish()
    }

    /// The plain way: byte by byte, in the order of the declaration.
    fn apply(&self, file: &mut Vec<u8>) {
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

fn options(random: &mut Random) -> Config {
    let mut text = String::new();
    if random.below(3) > 0 {
        text += &format!(" buffer={}B", 16 + random.below(2000));
    }
    if random.below(2) > 0 {
        text += &format!(" stripe={}B", 8 + random.below(500));
    }
    text += [" exchange=auto", " exchange=direct", " exchange=aggregate"][random.below(3) as usize];
    if random.below(2) > 0 {
        text += &format!(" aggregators={}", 1 + random.below(5));
    }
    text += &format!(" groups={} group_ranks_min=1", 1 + random.below(3));
    Config::parse(&text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn run(seed: u64) {
    let mut random = Random::new(seed);
    let ranks = 1 + random.below(6);
    let config = options(&mut random);
    let steps = 1 + random.below(3);
    let storage: Arc<Memory> = Arc::new(Memory::default());
    // All ranks draw the same shape: only the bytes differ.
    let shaped = |rank: u64, step: u64| {
        let mut random = Random::new(seed + 1_000_003 * step);
        Pattern::random(&mut random, rank, ranks, 0)
    };
    let mut expected = Vec::new();
    for step in 0..steps {
        (0..ranks).for_each(|rank| shaped(rank, step).apply(&mut expected));
    }
    threads::run(ranks as usize, threads::Options::default(), |transport| {
        let setting = Setting {
            config: config.clone(),
            storage: StorageFacts::default(),
            calibration: Calibration::default(),
        };
        let rank = transport.rank() as u64;
        let mut session =
            Session::open(transport, Arc::clone(&storage) as Arc<dyn Storage>, setting).unwrap();
        for step in 0..steps {
            let pattern = shaped(rank, step);
            let lent = Lent::new(pattern.variables.iter().map(|(_, bytes)| bytes.as_slice()));
            session
                .commit(pattern.declared(Direction::Write), &lent)
                .unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        }
        let last = shaped(rank, steps - 1);
        let mut back: Vec<Vec<u8>> = last.variables.iter().map(|(_, bytes)| vec![0; bytes.len()]).collect();
        let mut taken = Taken::new(back.iter_mut().map(Vec::as_mut_slice));
        let expected = &expected;
        session
            .fetch(last.declared(Direction::Read), &mut taken)
            .unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        for ((runs, _), found) in last.variables.iter().zip(&back) {
            let blocks = runs.iter().flat_map(|run| run.blocks());
            let written: Vec<u8> =
                blocks.flat_map(|k| expected[k.file as usize..(k.file + k.len) as usize].to_vec()).collect();
            assert_eq!(*found, written, "seed {seed}: what was read");
        }
        session.close().unwrap();
    });
    let mut found = vec![0; expected.len()];
    storage.read(0, &mut found).unwrap();
    assert_eq!(found, expected, "seed {seed}");
    assert_eq!(storage.size().unwrap(), expected.len() as u64, "seed {seed}");
}

#[test]
fn random_patterns_are_written_as_by_the_plain_way() {
    let seeds = std::env::var("SAGO_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(300);
    (0..seeds).for_each(run);
}
