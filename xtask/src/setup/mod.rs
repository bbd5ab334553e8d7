//! `cargo xtask setup`: everything that tests and demos run on, from Debian, crates.io and PyPI, into the cache.
//!
//! Each thing is a [`Piece`] in a folder of its own, whose name carries a hash of its recipe. A piece without its
//! completion mark is made anew, so an interrupted setup is simply repeated; a changed recipe makes a new folder.

mod apt;
mod existing;
mod hdf5;
mod idle;
mod piece;
mod python;

use crate::place;
use crate::world::{Mpi, World};
use anyhow::{Context, Result, bail};
use piece::Piece;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Instant;

pub use apt::install_libclang;
pub use idle::library as idle_library;
pub use piece::complete;

/// What the command line may ask for.
#[derive(Default)]
pub struct Options {
    /// Use this installation for this MPI instead of building one of the same major version.
    pub existing: Option<(PathBuf, Mpi)>,
    /// Forget the installations that were named before.
    pub forget: bool,
}

/// Brings what is missing. Under a second when nothing is.
pub fn run(options: &Options) -> Result<()> {
    let started = Instant::now();
    let cache = place::cache()?;
    fs::create_dir_all(&cache).with_context(|| {
        format!("cannot make {}: set SAGO_CACHE to a folder that you may write", cache.display())
    })?;
    if options.forget {
        existing::forget(&cache)?;
    }
    if let Some((prefix, mpi)) = &options.existing {
        let found = existing::name(&cache, prefix, *mpi)?;
        println!("setup: using HDF5 {} for {} in {}", found.version, found.mpi, found.prefix.display());
    }
    apt::install_base()?;
    if pieces(&cache)?.iter().all(Piece::ready) {
        return Ok(());
    }
    let _lock = lock(&cache)?;
    // Another setup may have made some while we waited.
    let pieces = pieces(&cache)?;
    let missing = pieces.iter().filter(|p| !p.ready()).count();
    if missing > 0 {
        room(&cache)?;
        println!("setup: {missing} of {} pieces to make in {}", pieces.len(), cache.display());
        piece::make_all(&pieces, &cache)?;
        println!("setup: ready after {:.0} s", started.elapsed().as_secs_f64());
    }
    Ok(())
}

/// What there is to run on once `run` has succeeded.
pub fn world(cache: &Path) -> Result<World> {
    let hdf5 = hdf5::installations(cache)?;
    let pythons = python::environments(cache, &hdf5)?;
    Ok(World { hdf5, pythons })
}

/// All pieces. The order fills two cores: the first HDF5 is compiled while wheels are downloaded, the parallel
/// h5py (one long compilation) beside the other HDF5 builds.
fn pieces(cache: &Path) -> Result<Vec<Piece>> {
    let installations = hdf5::installations(cache)?;
    let mut pieces = vec![idle::piece(cache), python::tools(cache)];
    pieces.extend(hdf5::sources(cache));
    let mut builds = hdf5::builds(cache, &installations).into_iter();
    pieces.extend(builds.next());
    pieces.extend(python::pieces(cache, &installations)?);
    pieces.extend(builds);
    Ok(pieces)
}

/// One setup at a time per cache; the lock goes with the process, however it ends.
fn lock(cache: &Path) -> Result<File> {
    let file = File::create(cache.join("lock"))?;
    if file.try_lock().is_err() {
        println!("setup: another setup is at work in {}; waiting for it", cache.display());
        file.lock()?;
    }
    Ok(file)
}

/// Says so before an hour of work ends for lack of space.
fn room(cache: &Path) -> Result<()> {
    const NEEDED_BYTES: u64 = 4 << 30;
    let path = std::ffi::CString::new(cache.as_os_str().as_encoded_bytes())?;
    // SAFETY: statvfs is plain data, valid as zeros.
    let mut stat: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path is NUL-terminated and the result has its place; both outlive the call.
    if unsafe { libc::statvfs(path.as_ptr(), &mut stat) } != 0 {
        return Ok(());
    }
    let free = stat.f_bavail * stat.f_frsize;
    if free < NEEDED_BYTES {
        bail!(
            "{} has {} MB free and setup needs {} MB: make room, or set SAGO_CACHE to a folder on another disk",
            cache.display(),
            free >> 20,
            NEEDED_BYTES >> 20
        );
    }
    Ok(())
}
