//! Debian packages: only those that are missing, and the package index only when one is.

use super::piece::explain;
use crate::proc::Run;
use anyhow::{Context, Result, bail};
use std::time::Instant;

const BASE: [&str; 13] = [
    "gcc",
    "libc6-dev",
    "libc6-dbg", // valgrind reads the dynamic loader's symbols
    "zlib1g-dev",
    "mpich",
    "libmpich-dev",
    "openmpi-bin",
    "libopenmpi-dev",
    "python3",
    "python3-dev",
    "python3-venv",
    "strace",
    "valgrind",
];

/// Compilers, both MPIs, Python, and the tools that tests look through.
pub fn install_base() -> Result<()> {
    install(&BASE)
}

/// Needed by `cargo xtask bindings` alone.
pub fn install_libclang() -> Result<()> {
    install(&["libclang-dev"])
}

fn install(packages: &[&'static str]) -> Result<()> {
    let missing = missing(packages)?;
    if missing.is_empty() {
        return Ok(());
    }
    let list = missing.join(" ");
    // SAFETY: geteuid has no preconditions and cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        bail!("only root can install Debian packages: run `sudo apt-get install -y {list}`, then this again");
    }
    println!("setup: installing Debian packages: {list} ...");
    let started = Instant::now();
    apt(&["update", "-q"]).map_err(|e| explain(e, "apt-get update"))?;
    apt(&["install", "-q", "-y", "--no-install-recommends"].into_iter().chain(missing).collect::<Vec<_>>())
        .map_err(|e| explain(e, "apt-get install"))?;
    println!("setup: Debian packages done in {:.0} s", started.elapsed().as_secs_f64());
    Ok(())
}

fn missing(packages: &[&'static str]) -> Result<Vec<&'static str>> {
    let listed = Run::new("dpkg-query")
        .args(["-W", "-f", "${Package} ${db:Status-Status}\n"])
        .args(packages)
        .run()
        .context("this system has no dpkg: setup knows Debian 12 and its relatives; elsewhere, build HDF5 yourself and use `cargo xtask stage` alone")?;
    let installed: Vec<&str> = listed.stdout.lines().filter_map(|l| l.strip_suffix(" installed")).collect();
    Ok(packages.iter().copied().filter(|p| !installed.contains(p)).collect())
}

fn apt(args: &[&str]) -> Result<()> {
    Run::new("apt-get")
        .args(["-o", "DPkg::Lock::Timeout=300"])
        .args(args)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .ok()
        .map(|_| ())
}
