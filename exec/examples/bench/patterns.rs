//! The patterns that are measured: what HPC codes write in a time step, as runs of the file.

use sago_core::declare::{Declaration, Declared, Direction};
use sago_core::extent::Run;

/// What one rank writes in a step: one run for each variable.
pub struct Shape {
    runs: Vec<Run>,
}

const KB: u64 = 1 << 10;
const MB: u64 = 1 << 20;

impl Shape {
    pub fn named(name: &str, rank: u64, ranks: u64) -> Option<Self> {
        let runs = match name {
            "soa-1m" => arrays(rank, ranks, 9, MB),
            "soa-8m" => arrays(rank, ranks, 9, 8 * MB),
            // Guard cells are left out when the bytes are captured, so the core sees arrays.
            "flash" => arrays(rank, ranks, 24, 640 * KB),
            "packed" => arrays(rank, ranks, 1, 9 * MB),
            "columns-50k" => columns(rank, 50_000),
            "columns-500k" => columns(rank, 500_000),
            "tiles-4k" => tiles(rank, ranks, 8, 4 * KB, MB),
            "tiles-512" => tiles(rank, ranks, 24, 512, 128 * KB),
            "blocks-64k" => tiles(rank, ranks, 1, 64 * KB, 8 * MB),
            _ => return None,
        };
        Some(Self { runs: runs? })
    }

    pub fn bytes(&self) -> u64 {
        self.runs.iter().map(|run| run.bytes()).sum()
    }

    pub fn memory(&self) -> Vec<Vec<u8>> {
        let variable = |(number, run): (usize, &Run)| vec![number as u8 + 1; run.bytes() as usize];
        self.runs.iter().enumerate().map(variable).collect()
    }

    pub fn declared(&self, direction: Direction, shift: u64) -> Declared {
        let mut declaration = Declaration::new(direction);
        for run in &self.runs {
            let moved = Run::strided(run.offset() + shift, run.len(), run.stride(), run.count());
            declaration.variable(moved);
        }
        declaration.finish()
    }
}

/// Each variable an array, each rank a block of it.
fn arrays(rank: u64, ranks: u64, variables: u64, bytes: u64) -> Option<Vec<Run>> {
    (0..variables).map(|v| Some(Run::contiguous((v * ranks + rank) * bytes, bytes))).collect()
}

/// float[N][9], written column by column.
fn columns(rank: u64, particles: u64) -> Option<Vec<Run>> {
    (0..9).map(|column| Run::strided(rank * particles * 36 + column * 4, 4, 36, particles)).collect()
}

/// Each variable a plane, two tiles across.
fn tiles(rank: u64, ranks: u64, variables: u64, run: u64, bytes: u64) -> Option<Vec<Run>> {
    let (across, rows) = (ranks.min(2), bytes / run);
    let (x, y) = (rank % across, rank / across);
    let plane = |v: u64| v * ranks * bytes + (y * rows * across + x) * run;
    (0..variables).map(|v| Run::strided(plane(v), run, across * run, rows)).collect()
}
