//! `cargo xtask bindings`: the C types of HDF5's public headers as Rust, for the `hdf5` crate.
//!
//! Types and constants only. Functions are bound at run time to the libhdf5 that called us, and data symbols are
//! never used, because executables copy-relocate them. Enums become integer constants: a newer HDF5 may hand us
//! values that these headers do not know. MPI handles differ between implementations, and no type of the public
//! headers contains one, so a stub stands in for `mpi.h`.

use crate::place;
use anyhow::{Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};

/// The committed result.
pub fn file() -> PathBuf {
    place::root().join("hdf5/src/sys/bindings.rs")
}

/// Generates the file, or another.
pub fn write(to: Option<PathBuf>) -> Result<()> {
    crate::setup::install_libclang()?;
    let to = to.unwrap_or_else(file);
    generate(&to)?;
    println!("bindings: wrote {}", to.display());
    Ok(())
}

/// Generates anew and compares with the file.
pub fn check() -> Result<()> {
    let fresh = place::target()?.join("xtask/bindings.rs");
    fs::create_dir_all(place::target()?.join("xtask"))?;
    generate(&fresh)?;
    let same = fs::read(&fresh)? == fs::read(file())?;
    ensure!(same, "{} is not what the headers give: run `cargo xtask bindings`", file().display());
    Ok(())
}

/// Runs xtask again with bindgen inside, which an ordinary build leaves out.
#[cfg(not(feature = "bindings"))]
fn generate(to: &Path) -> Result<()> {
    crate::proc::Run::new(place::cargo())
        .args([
            "run",
            "--quiet",
            "--package",
            "sago-xtask",
            "--features",
            "bindings",
            "--",
            "bindings",
            "--to",
        ])
        .arg(to)
        .dir(place::root())
        .ok()
        .map(|_| ())
}

#[cfg(feature = "bindings")]
use generate::generate;

#[cfg(feature = "bindings")]
mod generate {
    use super::{Path, Result, ensure, fs, place};
    use crate::world::{Mpi, World};
    use anyhow::Context;

    const HEADERS: [&str; 7] = [
        "hdf5.h",
        "H5VLconnector.h",
        "H5VLconnector_passthru.h",
        "H5VLnative.h",
        "H5FDdevelop.h",
        "H5PLextern.h",
        "H5ESdevelop.h",
    ];
    const STUB: &str = "typedef int MPI_Comm; typedef int MPI_Info; typedef int MPI_Datatype;\n";

    pub fn generate(to: &Path) -> Result<()> {
        let world = World::expected()?;
        let hdf5 = world.newest(Mpi::Mpich)?;
        ensure!(hdf5.ready(), "HDF5 {} is not there yet: run `cargo xtask setup`", hdf5.version);
        let stub = place::target()?.join("xtask/mpi-stub");
        fs::create_dir_all(&stub)?;
        fs::write(stub.join("mpi.h"), STUB)?;
        fs::write(stub.join("mpio.h"), "")?;
        let wrapper: String = HEADERS.iter().map(|h| format!("#include <{h}>\n")).collect();
        let bindings = bindgen::Builder::default()
            .header_contents("wrapper.h", &wrapper)
            .clang_arg(format!("-I{}", stub.display()))
            .clang_arg(format!("-I{}", hdf5.include().display()))
            .allowlist_type("H5.*|hid_t|herr_t|htri_t|hsize_t|hssize_t|haddr_t|hbool_t")
            .allowlist_var("H5[A-Z]+_.*|H5_VERS_.*|HADDR_.*|HSIZE_.*")
            .blocklist_var(".*_g")
            .default_enum_style(bindgen::EnumVariation::Consts)
            .layout_tests(true)
            .rustfmt_configuration_file(Some(place::root().join("rustfmt.toml")))
            .generate_comments(false)
            .rust_target(bindgen::RustTarget::stable(85, 0).map_err(|e| anyhow::anyhow!("{e}"))?)
            .rust_edition(bindgen::RustEdition::Edition2024)
            .raw_line("// Made by `cargo xtask bindings` from the headers of HDF5 2.x; do not edit.")
            .generate()
            .context("bindgen")?;
        fs::write(to, bindings.to_string()).with_context(|| format!("cannot write {}", to.display()))
    }
}
