//! What is measured: the patterns, as arguments of the programs in `examples/kernels`. All of it is data.

/// A kernel with sizes.
#[derive(Debug)]
pub struct Case {
    pub name: &'static str,
    pub about: &'static str,
    pub kernel: &'static str,
    pub args: &'static str,
    /// Part of `--quick`.
    pub quick: bool,
    /// Variants that would take minutes and whose speed a smaller case shows.
    pub skip: &'static [&'static str],
}

const fn case(name: &'static str, about: &'static str, kernel: &'static str, args: &'static str) -> Case {
    Case { name, about, kernel, args, quick: false, skip: &[] }
}

impl Case {
    const fn quick(mut self) -> Self {
        self.quick = true;
        self
    }

    const fn skip(mut self, variants: &'static [&'static str]) -> Self {
        self.skip = variants;
        self
    }
}

/// Sizes are of one rank, variable and step.
pub const CASES: &[Case] = &[
    case("soa-1m", "HACC-IO, a dataset per variable, 1 MB each", "hacc", "--form soa --size 1M --steps 3")
        .quick(),
    case("soa-8m", "HACC-IO, a dataset per variable, 8 MB each", "hacc", "--form soa --size 8M --steps 2"),
    case("packed", "HACC-IO, packed records", "hacc", "--form packed --size 1M --steps 3"),
    case("padded", "HACC-IO, records from padded structs", "hacc", "--form padded --size 1M --steps 3"),
    case("members", "HACC-IO, records member by member", "hacc", "--form members --size 200000 --steps 3"),
    case("columns-50k", "HACC-IO, float[N][9] by columns", "hacc", "--form columns --size 200000 --steps 3")
        .quick(),
    case(
        "columns-500k",
        "HACC-IO, float[N][9] by columns",
        "hacc",
        "--form columns --size 2000000 --steps 2",
    )
    .skip(&["native independent"]),
    case("tiles-4k", "2-D tiles, 4 KB runs", "tile", "--run 4K --size 1M --vars 8 --steps 3"),
    case(
        "tiles-512",
        "2-D tiles, 512 B runs, 24 variables",
        "tile",
        "--run 512 --size 128K --vars 24 --steps 3",
    ),
    case(
        "tiles-ghost",
        "2-D tiles with ghost rows and columns",
        "tile",
        "--run 4K --size 1M --vars 4 --overlap 4 --steps 3",
    ),
    case("blocks-64k", "VORPAL-IO, 3-D blocks, 64 KB runs", "vorpal", "--run 64K --size 8M --steps 3"),
    case("blocks-512", "VORPAL-IO, 3-D blocks, 512 B runs", "vorpal", "--run 512 --size 1M --steps 3"),
    case("flash", "FLASH checkpoint, guard cells", "flash", "--cells 16 --size 640K --steps 3").quick(),
    case(
        "flash-fastest",
        "FLASH checkpoint, variable fastest in memory",
        "flash",
        "--cells 16 --size 640K --memory fastest --steps 3",
    ),
    case("flash-plot", "FLASH plot file", "flash", "--form plot --cells 16 --size 640K --steps 3"),
    case(
        "flash-corners",
        "FLASH plot file at corners",
        "flash",
        "--form corners --cells 16 --size 640K --steps 3",
    ),
    case("vpic", "VPIC-IO, 8 variables in H5Part's layout", "vpic", "--size 1M --steps 3"),
    case("vpic-chunked", "VPIC-IO, chunks of 256 KB", "vpic", "--size 1M --steps 3 --chunk 256K"),
    case(
        "vpic-compute",
        "VPIC-IO with 50 ms of work between steps",
        "vpic",
        "--size 1M --steps 4 --compute 0.05",
    ),
    case("gcrm", "GCRM-IO, ten panels of a geodesic grid", "gcrm", "--size 8M --steps 3"),
    case("btio", "BT-IO, diagonal multi-partitioning", "btio", "--size 4M --steps 3"),
    case("ior-segmented", "IOR segmented, 256 KB transfers", "ior", "--size 8M --transfer 256K --steps 3"),
    case(
        "ior-strided",
        "IOR strided, 16 KB transfers",
        "ior",
        "--form strided --size 2M --transfer 16K --steps 3",
    ),
    case("s3d", "S3D-IO, restart file of 4-D sub-arrays", "s3d", "--size 512K --steps 3"),
    case("s3d-chunked", "S3D-IO, chunks of 256 KB", "s3d", "--size 512K --steps 3 --chunk 256K"),
];

pub fn find(name: &str) -> Option<&'static Case> {
    CASES.iter().find(|c| c.name == name)
}

impl Case {
    /// The value of one of its options.
    pub fn option(&self, name: &str) -> Option<&'static str> {
        let mut words = self.args.split(' ');
        words.find(|w| w.strip_prefix("--") == Some(name))?;
        words.next()
    }

    pub fn steps(&self) -> u64 {
        self.option("steps").and_then(|s| s.parse().ok()).unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_steps_are_read() {
        for (i, case) in CASES.iter().enumerate() {
            assert!(CASES[..i].iter().all(|c| c.name != case.name), "{} twice", case.name);
            assert!(case.steps() > 1, "{} has several steps in a file", case.name);
        }
        assert_eq!(find("columns-50k").and_then(|c| c.option("form")), Some("columns"));
    }
}
