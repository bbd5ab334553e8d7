//! Suite `arrows`: which crate may depend on which. The layers keep their promises (a pure core, two fences of
//! unsafe code) only as long as nothing reaches around them.

use super::{Context, Log, On, Suite};
use crate::place;
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

pub struct Arrows;

/// A crate and what it builds on directly; it may also use what those build on.
const ARROWS: [(&str, &[&str]); 15] = [
    ("sago-core", &[]),
    ("sago-report", &["sago-core"]),
    ("sago-tune", &["sago-core"]),
    ("sago-sim", &["sago-tune"]),
    ("sago-storage", &["sago-core"]),
    ("sago-mpi", &["sago-core"]),
    ("sago-exec", &["sago-tune", "sago-mpi", "sago-storage"]),
    ("sago-hdf5", &["sago-core"]),
    ("sago-vol", &["sago-hdf5", "sago-exec", "sago-report"]),
    ("sago-vfd", &["sago-hdf5", "sago-exec"]),
    ("sago-plugin-vol", &["sago-vol"]),
    ("sago-plugin-vfd", &["sago-vfd"]),
    ("sago", &["sago-exec"]),
    ("sago-cli", &["sago-exec", "sago-sim", "sago-hdf5", "sago-report"]),
    ("sago-xtask", &[]),
];

impl Suite for Arrows {
    fn name(&self) -> &'static str {
        "arrows"
    }

    fn about(&self) -> &'static str {
        "the crates depend on each other only as drawn"
    }

    fn run(&self, _: &Context, log: &mut Log) -> Result<()> {
        let metadata = place::metadata()?;
        let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
        for package in packages {
            let name = package["name"].as_str().context("a package has a name")?;
            log.case(&On::nothing(), name, check(name, package));
        }
        Ok(())
    }
}

fn check(name: &str, package: &Value) -> Result<()> {
    let allowed = reach(name)?;
    let dependencies = package["dependencies"].as_array().context("a package lists its dependencies")?;
    for dependency in dependencies {
        let other = dependency["name"].as_str().context("a dependency has a name")?;
        // Tests may look from anywhere, at anything.
        if dependency["kind"] == "dev" || !(other == "sago" || other.starts_with("sago-")) {
            continue;
        }
        ensure!(allowed.contains(&other), "{name} must not depend on {other} (see ARROWS in this suite)");
    }
    Ok(())
}

/// Everything below a crate.
fn reach(name: &str) -> Result<Vec<&'static str>> {
    let (_, below) = ARROWS.iter().find(|(n, _)| *n == name).with_context(|| {
        format!("{name} is a new crate: draw its arrows in this suite and in docs/ARCHITECTURE.md")
    })?;
    let mut all = below.to_vec();
    for next in *below {
        all.extend(reach(next)?);
    }
    Ok(all)
}
