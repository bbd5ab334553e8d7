//! Access patterns as text, for `explain`, the simulator, benchmarks and tests: what a job of any size declares, without
//! running it. `soa vars=9 bytes=1MiB`, `tiles grid=4x8 tile=1024x768 element=64`, `hacc particles=25000 layout=aos`.

mod text;

use crate::declare::{Declaration, Declared, Direction};
use crate::extent::Run;
use crate::ids::Rank;
use crate::random::Random;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessPattern {
    /// Each rank one block, in rank order; its variables of these sizes side by side in the block.
    Aos { variables: Vec<u64> },
    /// One array per variable; each rank has a block in each, in rank order.
    Soa { variables: Vec<u64> },
    /// Records of `vars` members of `size` bytes, written member by member.
    Columns { vars: u64, records: u64, size: u64 },
    /// Blocks dealt out over the ranks in turn.
    Interleaved { block: u64, count: u64 },
    /// A 2-D array cut into tiles, one per rank; `vars` such arrays.
    Tiles { grid: [u64; 2], tile: [u64; 2], element: u64, vars: u64 },
    /// A 3-D array cut into blocks, one per rank; `vars` such arrays.
    Blocks { grid: [u64; 3], block: [u64; 3], element: u64, vars: u64 },
    /// A square array of tiles in which each rank has those on one diagonal, all over the file.
    Diagonal { tile: [u64; 2], element: u64 },
    /// Random extents, from a seed.
    Random { seed: u64, extents: u64, len_max: u64, file: u64 },
    /// Extents of each rank in turn, as they stand.
    Listed(Vec<Vec<(u64, u64)>>),
}

/// Why a pattern does not fit a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternError {
    Grid { places: u64, ranks: u32 },
    TooLarge,
}

impl AccessPattern {
    /// What `rank` of `ranks` declares.
    pub fn declare(&self, rank: Rank, ranks: u32, direction: Direction) -> Result<Declared, PatternError> {
        Ok(self.declaration(rank, ranks, direction)?.finish())
    }

    /// The same variable by variable, as a program that writes each of them with a call of its own does.
    pub fn declare_each(
        &self,
        rank: Rank,
        ranks: u32,
        direction: Direction,
    ) -> Result<Vec<Declared>, PatternError> {
        Ok(self.declaration(rank, ranks, direction)?.finish_each())
    }

    fn declaration(&self, rank: Rank, ranks: u32, direction: Direction) -> Result<Declaration, PatternError> {
        self.fits(ranks)?;
        let mut declaration = Declaration::new(direction);
        let (me, all) = (u64::from(rank.0), u64::from(ranks));
        self.variables(me, all, &mut declaration).ok_or(PatternError::TooLarge)?;
        Ok(declaration)
    }

    /// How many ranks the pattern itself asks for, if it does.
    pub fn places(&self) -> Option<u64> {
        match self {
            Self::Tiles { grid, .. } => Some(grid.iter().product()),
            Self::Blocks { grid, .. } => Some(grid.iter().product()),
            Self::Listed(lists) => Some(lists.len() as u64),
            _ => None,
        }
    }

    fn fits(&self, ranks: u32) -> Result<(), PatternError> {
        match self.places() {
            Some(places) if places > u64::from(ranks) => Err(PatternError::Grid { places, ranks }),
            _ => Ok(()),
        }
    }

    fn variables(&self, me: u64, all: u64, to: &mut Declaration) -> Option<()> {
        if self.places().is_some_and(|places| me >= places) {
            return Some(());
        }
        match self {
            Self::Aos { variables } => {
                let mut at = variables.iter().sum::<u64>().checked_mul(me)?;
                for bytes in variables {
                    to.variable([Run::strided(at, *bytes, *bytes, 1)?]);
                    at += bytes;
                }
            }
            Self::Soa { variables } => {
                let mut array = 0_u64;
                for bytes in variables {
                    to.variable([Run::strided(
                        array.checked_add(bytes.checked_mul(me)?)?,
                        *bytes,
                        *bytes,
                        1,
                    )?]);
                    array = array.checked_add(bytes.checked_mul(all)?)?;
                }
            }
            Self::Columns { vars, records, size } => {
                let record = vars.checked_mul(*size)?;
                let base = record.checked_mul(*records)?.checked_mul(me)?;
                for var in 0..*vars {
                    to.variable([Run::strided(base + var * size, *size, record, *records)?]);
                }
            }
            Self::Interleaved { block, count } => {
                to.variable([Run::strided(block.checked_mul(me)?, *block, block.checked_mul(all)?, *count)?]);
            }
            Self::Tiles { grid, tile, element, vars } => {
                let whole = [1, grid[0] * tile[0], grid[1].checked_mul(tile[1])?];
                let at = [0, me / grid[1] * tile[0], me % grid[1] * tile[1]];
                boxes(whole, at, [1, tile[0], tile[1]], *element, *vars, to)?;
            }
            Self::Blocks { grid, block, element, vars } => {
                let whole = [0, 1, 2].map(|d| grid[d] * block[d]);
                let at = [me / (grid[1] * grid[2]), me / grid[2] % grid[1], me % grid[2]];
                boxes(whole, [0, 1, 2].map(|d| at[d] * block[d]), *block, *element, *vars, to)?;
            }
            Self::Diagonal { tile, element } => {
                let row = tile[1].checked_mul(*element)?;
                let width = row.checked_mul(all)?;
                let tile_at = |i: u64| {
                    let start = (i * tile[0]).checked_mul(width)?.checked_add((me + i) % all * row)?;
                    Run::strided(start, row, width, tile[0])
                };
                to.variable((0..all).map(tile_at).collect::<Option<Vec<_>>>()?);
            }
            Self::Random { seed, extents, len_max, file } => {
                let mut random = Random::new(seed.wrapping_add(me.wrapping_mul(0x2545_F491_4F6C_DD1D)));
                let mut any = || {
                    let len = 1 + random.below(*len_max);
                    Run::strided(random.below(*file), len, len, 1)
                };
                to.variable((0..*extents).map(|_| any()).collect::<Option<Vec<_>>>()?);
            }
            Self::Listed(lists) => {
                let runs =
                    lists[me as usize].iter().map(|(offset, len)| Run::strided(*offset, *len, *len, 1));
                to.variable(runs.collect::<Option<Vec<_>>>()?);
            }
        }
        Some(())
    }
}

/// A box of a 3-D array, once for each of `vars` arrays that follow each other.
fn boxes(
    whole: [u64; 3],
    at: [u64; 3],
    size: [u64; 3],
    element: u64,
    vars: u64,
    to: &mut Declaration,
) -> Option<()> {
    let row = whole[2].checked_mul(element)?;
    let plane = whole[1].checked_mul(row)?;
    let array = whole[0].checked_mul(plane)?;
    for var in 0..vars {
        let base = array.checked_mul(var)?.checked_add(at[1] * row + at[2] * element)?;
        let planes = (0..size[0]).map(|z| {
            Run::strided(base.checked_add((at[0] + z).checked_mul(plane)?)?, size[2] * element, row, size[1])
        });
        to.variable(planes.collect::<Option<Vec<_>>>()?);
    }
    Some(())
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grid { places, ranks } => {
                write!(f, "the pattern has places for {places} ranks, and the machine has {ranks}")
            }
            Self::TooLarge => f.write_str("the pattern ends beyond 2^63 bytes, where no file can end"),
        }
    }
}

impl std::error::Error for PatternError {}
