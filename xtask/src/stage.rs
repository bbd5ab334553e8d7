//! `cargo xtask stage`: the plugin, built and installed where HDF5_PLUGIN_PATH may point.
//!
//! HDF5 opens every library in that folder while it searches, so ours must be the only one in it.

use crate::place;
use crate::proc::Run;
use crate::world::plugin_dir;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

const LIBRARY: &str = "libsago_vol.so";
const ENV_SH: &str = include_str!("env.sh");

/// Builds the release plugin and installs `PREFIX/lib/libsago_vol.so` and `PREFIX/env.sh`.
pub fn stage(prefix: Option<&Path>) -> Result<PathBuf> {
    let default = place::root().join("plugins");
    let prefix = std::path::absolute(prefix.unwrap_or(&default))?;
    let lib = prefix.join("lib");
    install(&build(&[])?, &lib)?;
    replace(&prefix.join("env.sh"), ENV_SH.as_bytes(), &prefix)?;
    Ok(prefix)
}

/// Whether the default place holds a plugin.
pub fn staged() -> bool {
    plugin_dir().join(LIBRARY).exists()
}

/// Builds the plugin with cargo features and says where it is. Each set of features has a target folder of its own,
/// so that none makes another build anew.
pub fn build(features: &[&str]) -> Result<PathBuf> {
    let mut target = place::target()?;
    if !features.is_empty() {
        target = target.join(format!("plugin-{}", features.join("-")));
    }
    Run::new(place::cargo())
        .args(["build", "--quiet", "--release", "--package", "sago-plugin-vol"])
        .args(["--features", &features.join(",")])
        .arg("--target-dir")
        .arg(&target)
        .dir(place::root())
        .ok()
        .context("building the plugin")?;
    Ok(target.join("release/libsago_vol_plugin.so"))
}

/// Installs a built plugin as the only library of a folder, atomically: a program that starts meanwhile sees the
/// old one or the new one.
pub fn install(built: &Path, lib: &Path) -> Result<()> {
    fs::create_dir_all(lib).with_context(|| format!("cannot make {}", lib.display()))?;
    for entry in fs::read_dir(lib)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == LIBRARY {
            continue;
        }
        if name.starts_with("libsago") {
            fs::remove_file(entry.path())?;
        } else {
            bail!(
                "{} is in the plugin folder, where HDF5 opens everything it finds: move it away, or stage to a folder of its own with --prefix",
                entry.path().display()
            );
        }
    }
    let bytes = fs::read(built).with_context(|| format!("cannot read {}", built.display()))?;
    replace(&lib.join(LIBRARY), &bytes, lib.parent().context("a plugin folder has a prefix")?)
}

/// Writes in `beside`, then renames: never a half-written file, never a second one in the plugin folder.
fn replace(file: &Path, bytes: &[u8], beside: &Path) -> Result<()> {
    let new = beside.join(format!(".sago-stage-{}", std::process::id()));
    fs::write(&new, bytes)
        .and_then(|()| fs::rename(&new, file))
        .with_context(|| format!("cannot write {}", file.display()))
}
