//! Where things are: the repository, cargo's target folder, and the per-user cache that `setup` fills.

use anyhow::{Context, Result};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The repository's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// What `setup` brings lives here: `$SAGO_CACHE`, else `$XDG_CACHE_HOME/sago`, else `~/.cache/sago`.
pub fn cache() -> Result<PathBuf> {
    let from = |key: &str| env::var_os(key).filter(|v| !v.is_empty()).map(PathBuf::from);
    let dir = from("SAGO_CACHE")
        .or_else(|| from("XDG_CACHE_HOME").map(|d| d.join("sago")))
        .or_else(|| from("HOME").map(|d| d.join(".cache/sago")))
        .context(
            "none of SAGO_CACHE, XDG_CACHE_HOME and HOME is set: set SAGO_CACHE to a folder with 4 GB free",
        )?;
    Ok(std::path::absolute(dir)?)
}

/// Cargo's target folder as cargo itself sees it (`CARGO_TARGET_DIR`, configuration files, the default).
pub fn target() -> Result<PathBuf> {
    Ok(PathBuf::from(
        metadata()?["target_directory"].as_str().context("cargo metadata names no target folder")?,
    ))
}

/// `cargo metadata` of the workspace, without its dependencies.
pub fn metadata() -> Result<serde_json::Value> {
    let out = Command::new(cargo())
        .args(["metadata", "--format-version=1", "--no-deps"])
        .current_dir(root())
        .output()
        .context("cargo metadata")?;
    anyhow::ensure!(out.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&out.stderr));
    Ok(serde_json::from_slice(&out.stdout)?)
}

/// The cargo that runs us.
pub fn cargo() -> PathBuf {
    env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}
