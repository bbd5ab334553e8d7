//! HDF5 installations that the user named: remembered in the cache, used instead of building.

use crate::world::{Hdf5, Mpi};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Checks an installation and remembers it for this MPI and major version.
pub fn name(cache: &Path, prefix: &Path, mpi: Mpi) -> Result<Hdf5> {
    let prefix =
        prefix.canonicalize().with_context(|| format!("--hdf5 {}: no such folder", prefix.display()))?;
    let found = inspect(&prefix, mpi)?;
    let mut all = named(cache)?;
    all.retain(|h| h.mpi != mpi || h.release().0 != found.release().0);
    all.push(found.clone());
    let list: Vec<Value> = all
        .iter()
        .map(|h| json!({ "version": h.version, "mpi": h.mpi.name(), "prefix": h.prefix }))
        .collect();
    let new = file(cache).with_extension("new");
    fs::write(&new, serde_json::to_string_pretty(&list)?)?;
    fs::rename(new, file(cache))?;
    Ok(found)
}

/// The installations named so far.
pub fn named(cache: &Path) -> Result<Vec<Hdf5>> {
    let Ok(text) = fs::read_to_string(file(cache)) else { return Ok(Vec::new()) };
    let broken = || format!("{} is damaged: remove it", file(cache).display());
    let list: Vec<Value> = serde_json::from_str(&text).with_context(broken)?;
    list.iter()
        .map(|h| {
            let field = |key: &str| h[key].as_str().with_context(broken);
            Ok(Hdf5 {
                version: field("version")?.to_owned(),
                mpi: Mpi::parse(field("mpi")?)?,
                prefix: PathBuf::from(field("prefix")?),
                external: true,
            })
        })
        .collect()
}

/// Goes back to what setup builds by itself.
pub fn forget(cache: &Path) -> Result<()> {
    match fs::remove_file(file(cache)) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e.into()),
        _ => Ok(()),
    }
}

fn file(cache: &Path) -> PathBuf {
    cache.join("existing.json")
}

fn inspect(prefix: &Path, mpi: Mpi) -> Result<Hdf5> {
    let header = prefix.join("include/H5pubconf.h");
    let text = fs::read_to_string(&header).with_context(|| {
        format!("{} is not there: --hdf5 wants the prefix of an installation with headers", header.display())
    })?;
    let library = prefix.join("lib/libhdf5.so");
    ensure!(library.exists(), "{} is not there: the connector needs a shared libhdf5", library.display());
    ensure!(
        text.contains("#define H5_HAVE_PARALLEL 1"),
        "{} holds a serial HDF5: build it with MPI",
        prefix.display()
    );
    let version = text
        .lines()
        .find_map(|l| l.strip_prefix("#define H5_VERSION \""))
        .and_then(|l| l.split(['"', '-']).next())
        .with_context(|| format!("{} names no H5_VERSION", header.display()))?;
    let found = Hdf5 { version: version.to_owned(), mpi, prefix: prefix.to_owned(), external: true };
    ensure!(
        found.release() >= (1, 14),
        "{} holds HDF5 {version}: the connector needs 1.14 or newer",
        prefix.display()
    );
    Ok(found)
}
