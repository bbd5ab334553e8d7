//! Patterns from text and back.

use super::AccessPattern;
use crate::text::{Fields, TextError, size_bytes, size_bytes_text};
use std::fmt;
use std::str::FromStr;

const KINDS: &[&str] =
    &["aos", "soa", "hacc", "columns", "interleaved", "tiles", "blocks", "diagonal", "random", "list"];
const COUNT: &str = "a whole number from 1";
const SIZE: &str = "a size from 1B, for example 1MiB";

impl FromStr for AccessPattern {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let fields = Fields::parse("pattern", "soa vars=9 bytes=1MiB", text)?;
        let pattern = match fields.kind {
            "aos" => Self::Aos { variables: variables(&fields)? },
            "soa" => Self::Soa { variables: variables(&fields)? },
            "hacc" => hacc(&fields)?,
            "columns" => Self::Columns {
                vars: fields.required("vars", COUNT, count)?,
                records: fields.required("records", COUNT, count)?,
                size: fields.required("size", SIZE, size)?,
            },
            "interleaved" => Self::Interleaved {
                block: fields.required("block", SIZE, size)?,
                count: fields.required("count", COUNT, count)?,
            },
            "tiles" => Self::Tiles {
                grid: fields.required("grid", "rows x columns of ranks, for example 4x8", sizes)?,
                tile: fields.required("tile", "rows x columns of elements, for example 768x1024", sizes)?,
                element: fields.required("element", SIZE, size)?,
                vars: fields.optional("vars", COUNT, count)?.unwrap_or(1),
            },
            "blocks" => Self::Blocks {
                grid: fields.required("grid", "three numbers of ranks, for example 2x2x4", sizes)?,
                block: fields.required("block", "three numbers of elements, for example 32x32x32", sizes)?,
                element: fields.required("element", SIZE, size)?,
                vars: fields.optional("vars", COUNT, count)?.unwrap_or(1),
            },
            "diagonal" => Self::Diagonal {
                tile: fields.required("tile", "rows x columns of elements, for example 64x64", sizes)?,
                element: fields.required("element", SIZE, size)?,
            },
            "random" => Self::Random {
                seed: fields.required("seed", "a whole number", |text| text.parse().ok())?,
                extents: fields.required("extents", COUNT, count)?,
                len_max: fields.required("len_max", SIZE, size)?,
                file: fields.required("file", SIZE, size)?,
            },
            "list" => Self::Listed(fields.required("extents", LIST, listed)?),
            _ => return Err(fields.unknown_kind("pattern", KINDS)),
        };
        fields.finish()?;
        Ok(pattern)
    }
}

fn variables(fields: &Fields<'_>) -> Result<Vec<u64>, TextError> {
    let vars =
        fields.optional("vars", "a number from 1 to 4096", |text| count(text).filter(|n| *n <= 4096))?;
    let expects = "a size of one variable on one rank, or a list of them: 4KiB,4KiB,8KiB";
    let listed = |text: &str| text.split(',').map(size).collect::<Option<Vec<u64>>>();
    let bytes = fields.required("bytes", expects, listed)?;
    match (vars, bytes.len()) {
        (Some(vars), 1) => Ok(vec![bytes[0]; vars as usize]),
        (Some(vars), listed) if vars != listed as u64 => {
            Err(fields.bad("vars", &format!("as many as `bytes` lists, which is {listed}")))
        }
        _ => Ok(bytes),
    }
}

/// The HACC-I/O kernel: nine variables, 38 bytes a particle (xx, yy, zz, vx, vy, vz, phi, pid, mask).
fn hacc(fields: &Fields<'_>) -> Result<AccessPattern, TextError> {
    let particles = fields.required("particles", COUNT, count)?;
    let variables = [4, 4, 4, 4, 4, 4, 4, 8, 2].iter().map(|bytes| bytes * particles).collect();
    let aos = fields.required("layout", "`aos` or `soa`", |text| match text {
        "aos" => Some(true),
        "soa" => Some(false),
        _ => None,
    })?;
    Ok(if aos { AccessPattern::Aos { variables } } else { AccessPattern::Soa { variables } })
}

fn count(text: &str) -> Option<u64> {
    text.parse().ok().filter(|n| (1..=1 << 40).contains(n))
}

fn size(text: &str) -> Option<u64> {
    size_bytes(text).filter(|bytes| (1..=1 << 62).contains(bytes))
}

fn sizes<const N: usize>(text: &str) -> Option<[u64; N]> {
    let fits = |n: &u64| (1..=1 << 20).contains(n);
    let list: Vec<u64> = text.split('x').map(|n| n.parse().ok().filter(fits)).collect::<Option<_>>()?;
    list.try_into().ok()
}

const LIST: &str = "offset+length of each extent, ranks separated by `|`: {0+100,200+50|300+10}";

fn listed(text: &str) -> Option<Vec<Vec<(u64, u64)>>> {
    let extent = |text: &str| {
        let (offset, len) = text.trim().split_once('+')?;
        Some((size_bytes(offset)?, size(len)?))
    };
    let rank = |text: &str| {
        if text.trim().is_empty() { Some(Vec::new()) } else { text.split(',').map(extent).collect() }
    };
    text.split('|').map(rank).collect()
}

impl fmt::Display for AccessPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = size_bytes_text;
        let join = |list: &[u64]| list.iter().map(u64::to_string).collect::<Vec<_>>().join("x");
        match self {
            Self::Aos { variables } | Self::Soa { variables } => {
                let kind = if matches!(self, Self::Aos { .. }) { "aos" } else { "soa" };
                let list: Vec<_> = variables.iter().map(|bytes| size(*bytes)).collect();
                write!(f, "{kind} bytes={}", list.join(","))
            }
            Self::Columns { vars, records, size: bytes } => {
                write!(f, "columns vars={vars} records={records} size={}", size(*bytes))
            }
            Self::Interleaved { block, count } => {
                write!(f, "interleaved block={} count={count}", size(*block))
            }
            Self::Tiles { grid, tile, element, vars } => {
                let (grid, tile, element) = (join(grid), join(tile), size(*element));
                write!(f, "tiles grid={grid} tile={tile} element={element} vars={vars}")
            }
            Self::Blocks { grid, block, element, vars } => {
                let (grid, block, element) = (join(grid), join(block), size(*element));
                write!(f, "blocks grid={grid} block={block} element={element} vars={vars}")
            }
            Self::Diagonal { tile, element } => {
                write!(f, "diagonal tile={} element={}", join(tile), size(*element))
            }
            Self::Random { seed, extents, len_max, file } => {
                write!(
                    f,
                    "random seed={seed} extents={extents} len_max={} file={}",
                    size(*len_max),
                    size(*file)
                )
            }
            Self::Listed(lists) => {
                let rank = |list: &Vec<(u64, u64)>| {
                    list.iter().map(|(offset, len)| format!("{offset}+{len}")).collect::<Vec<_>>().join(",")
                };
                write!(f, "list extents={{{}}}", lists.iter().map(rank).collect::<Vec<_>>().join("|"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declare::{Direction, Pattern};
    use crate::ids::Rank;

    const EXAMPLES: &[(&str, Pattern)] = &[
        ("aos vars=3 bytes=20", Pattern::ArrayOfStructures),
        ("soa bytes=4KiB,8KiB", Pattern::StructureOfArrays),
        ("hacc particles=25000 layout=soa", Pattern::StructureOfArrays),
        ("columns vars=9 records=50000 size=4", Pattern::ArrayOfStructures),
        ("interleaved block=4KiB count=16", Pattern::Strided),
        ("tiles grid=2x2 tile=16x8 element=4 vars=2", Pattern::Strided),
        ("blocks grid=1x2x2 block=4x4x4 element=8", Pattern::Irregular),
        ("diagonal tile=4x4 element=8", Pattern::Irregular),
        ("random seed=3 extents=5 len_max=100 file=1TiB", Pattern::Irregular),
        ("list extents={0+10,20+10,50+3|5+5||7+1}", Pattern::Irregular),
    ];

    #[test]
    fn patterns_are_read_printed_and_recognised() {
        for (text, expected) in EXAMPLES {
            let pattern: AccessPattern = text.parse().unwrap();
            assert_eq!(pattern.to_string().parse::<AccessPattern>().unwrap(), pattern, "{text}");
            let declared = pattern.declare(Rank(0), 4, Direction::Write).unwrap();
            assert_eq!(declared.pattern(), *expected, "{text}");
        }
    }

    #[test]
    fn arrays_are_covered_once_and_wholly_by_all_ranks() {
        for text in EXAMPLES
            .iter()
            .map(|(text, _)| *text)
            .filter(|t| !t.starts_with("random") && !t.starts_with("list"))
        {
            let pattern: AccessPattern = text.parse().unwrap();
            let declared: Vec<_> =
                (0..4).map(|r| pattern.declare(Rank(r), 4, Direction::Write).unwrap()).collect();
            let total: u64 = declared.iter().map(|d| d.bytes()).sum();
            let fused = crate::extent::fuse(declared.iter().flat_map(|d| d.coverage().iter().copied()));
            let flat: crate::extent::ExtentSet = fused
                .iter()
                .flat_map(|r| r.blocks())
                .map(|k| crate::extent::Extent::new(k.file, k.len))
                .collect();
            assert_eq!(flat.as_slice(), [crate::extent::Extent::new(0, total)], "{text}");
        }
    }

    #[test]
    fn mistakes_point_at_the_place() {
        let refused = |text: &str| {
            let error = text.parse::<AccessPattern>().unwrap_err();
            (error.at(), error.to_string())
        };
        assert_eq!(refused("soaa vars=3 bytes=4").0, 0);
        assert!(refused("soaa vars=3 bytes=4").1.contains("did you mean `soa`?"));
        assert_eq!(refused("soa vars=3 bytes=4,4").0, 9);
        assert_eq!(refused("tiles grid=4x tile=2x2 element=4").0, 11);
        assert!(refused("list extents={3-4}").1.contains("offset+length"));
        let far: AccessPattern = "soa vars=3 bytes=4611686018427387904".parse().unwrap();
        assert!(far.declare(Rank(1), 4, Direction::Write).is_err());
        let grid: AccessPattern = "tiles grid=4x4 tile=2x2 element=4".parse().unwrap();
        assert!(grid.declare(Rank(0), 4, Direction::Write).unwrap_err().to_string().contains("16 ranks"));
    }
}
