//! Parallel HDF5 from the sources that the `hdf5-metno-src` crates carry, fetched by `cargo vendor`.

use super::piece::{Piece, Work, keyed};
use super::{existing, python};
use crate::place;
use crate::proc::Run;
use crate::world::{Hdf5, Mpi};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};

/// HDF5 version, and the version of the crate that carries it.
type Source = (&'static str, &'static str);
const HDF5_2: Source = ("2.2.0", "0.10.4");
const HDF5_1: Source = ("1.14.5", "0.9.4");

/// What is built, the one that most waits for first.
const BUILDS: [(Source, Mpi); 3] = [(HDF5_2, Mpi::Mpich), (HDF5_2, Mpi::OpenMpi), (HDF5_1, Mpi::Mpich)];

/// As a site would install it: shared, parallel, deflate, deprecated calls; not thread-safe, which HDF5 1.14 does
/// not support together with MPI or the high-level library. Line tables make valgrind and perf readable.
const FLAGS: [&str; 16] = [
    "-DCMAKE_BUILD_TYPE=Release",
    "-DCMAKE_C_FLAGS_RELEASE=-O2 -g1 -DNDEBUG",
    "-DCMAKE_INSTALL_LIBDIR=lib",
    "-DCMAKE_INSTALL_RPATH=$ORIGIN",
    "-DCMAKE_INSTALL_RPATH_USE_LINK_PATH=ON",
    "-DBUILD_SHARED_LIBS=ON",
    "-DBUILD_STATIC_LIBS=OFF",
    "-DBUILD_TESTING=OFF",
    "-DHDF5_BUILD_EXAMPLES=OFF",
    "-DHDF5_BUILD_TOOLS=OFF",
    "-DHDF5_BUILD_HL_LIB=ON",
    "-DHDF5_ENABLE_PARALLEL=ON",
    "-DHDF5_ENABLE_THREADSAFE=OFF",
    "-DHDF5_ENABLE_ZLIB_SUPPORT=ON",  // 2.x
    "-DHDF5_ENABLE_Z_LIB_SUPPORT=ON", // 1.14
    "-DHDF5_NO_PACKAGES=ON",
];

/// The installations to run on: what the user named, and what is built beside it.
pub fn installations(cache: &Path) -> Result<Vec<Hdf5>> {
    let named = existing::named(cache)?;
    Ok(BUILDS
        .iter()
        .map(|&((version, _), mpi)| {
            let built = Hdf5 {
                version: version.to_owned(),
                mpi,
                prefix: prefix(cache, version, mpi),
                external: false,
            };
            let instead = named.iter().find(|h| h.mpi == mpi && h.release().0 == built.release().0);
            instead.cloned().unwrap_or(built)
        })
        .collect())
}

/// The source trees.
pub fn sources(cache: &Path) -> Vec<Piece> {
    [HDF5_2, HDF5_1]
        .into_iter()
        .map(|(version, krate)| {
            Piece::new(format!("sources of HDF5 {version}"), source(cache, version), vec![], move |work| {
                vendor(krate, work)
            })
        })
        .collect()
}

/// The builds, except those that an existing installation replaces.
pub fn builds(cache: &Path, installations: &[Hdf5]) -> Vec<Piece> {
    let ours = installations.iter().filter(|h| !h.external);
    ours.map(|h| {
        let source = source(cache, &h.version);
        let tools = python::tools_dir(cache);
        let needs = vec![source.clone(), tools.clone()];
        let (title, mpi) = (format!("HDF5 {} for {}", h.version, h.mpi), h.mpi);
        Piece::new(title, h.prefix.clone(), needs, move |work| build(&source, &tools, mpi, work))
    })
    .collect()
}

fn source(cache: &Path, version: &str) -> PathBuf {
    let (_, krate) = if version == HDF5_2.0 { HDF5_2 } else { HDF5_1 };
    keyed(cache, &format!("source-hdf5-{version}"), &[krate])
}

fn prefix(cache: &Path, version: &str, mpi: Mpi) -> PathBuf {
    let recipe: Vec<&str> = FLAGS.into_iter().chain([version, mpi.name()]).collect();
    keyed(cache, &format!("hdf5-{version}-{mpi}"), &recipe)
}

/// Gets the crate by a scratch manifest, and keeps HDF5's own tree.
fn vendor(krate: &str, work: &Work) -> Result<()> {
    let manifest = format!(
        "[package]\nname = \"scratch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n\n[dependencies]\nhdf5-metno-src = \"={krate}\"\n"
    );
    fs::create_dir_all(work.scratch.join("src"))?;
    fs::write(work.scratch.join("src/lib.rs"), "")?;
    fs::write(work.scratch.join("Cargo.toml"), manifest)?;
    Run::new(place::cargo())
        .args(["vendor", "--quiet", "vendor"])
        .dir(&work.scratch)
        .env_remove("CARGO_TARGET_DIR")
        .log(&work.log)
        .ok()?;
    let tree = work.scratch.join("vendor/hdf5-metno-src/ext/hdf5");
    ensure!(tree.join("CMakeLists.txt").exists(), "hdf5-metno-src {krate} carries no HDF5 sources");
    fs::rename(&tree, work.folder.join("hdf5")).context("moving the sources of HDF5")
}

fn build(source: &Path, tools: &Path, mpi: Mpi, work: &Work) -> Result<()> {
    let (cmake, ninja) = (tools.join("bin/cmake"), tools.join("bin/ninja"));
    let build = work.scratch.join("build");
    Run::new(&cmake)
        .args(["-G", "Ninja", "-S"])
        .arg(source.join("hdf5"))
        .arg("-B")
        .arg(&build)
        .args(FLAGS)
        .arg(format!("-DCMAKE_INSTALL_PREFIX={}", work.folder.display()))
        .arg(format!("-DCMAKE_MAKE_PROGRAM={}", ninja.display()))
        .arg("-DCMAKE_C_COMPILER=/usr/bin/gcc")
        .arg(format!("-DMPI_C_COMPILER={}", mpi.mpicc().display()))
        .arg(format!("-DMPIEXEC_EXECUTABLE={}", mpi.mpiexec().display()))
        .log(&work.log)
        .ok()?;
    Run::new(&ninja).arg("-C").arg(&build).arg("install").log(&work.log).ok()?;
    let library = work.folder.join("lib/libhdf5.so");
    ensure!(library.exists(), "the build of HDF5 left no {}", library.display());
    Ok(())
}
