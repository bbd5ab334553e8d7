//! Compiling and launching C programs on an HDF5 installation, the same way everywhere.

use crate::proc::Run;
use crate::world::{Hdf5, Mpi};
use crate::{place, setup};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// What a program needs after its sources to build against an installation and find it at run time.
pub fn compile_flags(hdf5: &Hdf5) -> Vec<String> {
    let lib = hdf5.lib();
    vec![
        format!("-I{}", hdf5.include().display()),
        format!("-L{}", lib.display()),
        format!("-Wl,-rpath,{}", lib.display()),
        "-lhdf5".to_owned(),
        "-lm".to_owned(),
    ]
}

/// Compiles C sources with an installation's MPI into `program`, whose folder is made if needed.
pub fn compile(hdf5: &Hdf5, sources: &[&Path], program: &Path) -> Result<()> {
    fs::create_dir_all(program.parent().context("a program has a folder")?)?;
    Run::new(hdf5.mpi.mpicc())
        .args(["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(program)
        .args(sources)
        .args(compile_flags(hdf5))
        .ok()
        .map(|_| ())
}

/// `mpiexec -n RANKS`, to be followed by the program and its arguments.
pub fn mpiexec(mpi: Mpi, ranks: usize) -> Run {
    let run = Run::new(mpi.mpiexec()).args(mpiexec_args(mpi)).arg("-n").arg(ranks.to_string());
    let run = run.envs(mpiexec_env(mpi));
    match place::cache() {
        // Also where there is a core for each: other tests run beside.
        Ok(cache) if ranks > 1 => run.env("LD_PRELOAD", setup::idle_library(&cache)),
        _ => run,
    }
}

/// Arguments that let more ranks than cores run, as root too (containers, CI).
pub fn mpiexec_args(mpi: Mpi) -> &'static [&'static str] {
    match mpi {
        Mpi::Mpich => &[],
        Mpi::OpenMpi => &["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"],
    }
}

/// Variables that keep waiting ranks of Open MPI from starving working ones, and out of networks that a single
/// machine does not need. MPICH has none; `mpiexec` preloads a library for both.
pub fn mpiexec_env(mpi: Mpi) -> Vec<(String, String)> {
    let vars: &[(&str, &str)] = match mpi {
        Mpi::Mpich => &[],
        Mpi::OpenMpi => {
            &[("OMPI_MCA_mpi_yield_when_idle", "1"), ("OMPI_MCA_btl", "self,vader"), ("OMPI_MCA_pml", "ob1")]
        }
    };
    vars.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect()
}

/// A program of one C file, compiled to `NAME-2.2.0-mpich` in `dir`.
pub fn program(hdf5: &Hdf5, dir: &Path, source: &Path) -> Result<PathBuf> {
    let name = source.file_stem().context("a source has a name")?.to_string_lossy();
    let program = dir.join(format!("{name}-{}-{}", hdf5.version, hdf5.mpi));
    compile(hdf5, &[source], &program)?;
    Ok(program)
}

/// The program that compares two HDF5 files object by object, from `tests/h5same`.
pub fn h5same(hdf5: &Hdf5, dir: &Path) -> Result<PathBuf> {
    let program = dir.join(format!("h5same-{}-{}", hdf5.version, hdf5.mpi));
    let parts = ["h5same.c", "data.c", "lists.c", "values.c", "walk.c"];
    let parts = parts.map(|part| place::root().join("tests/h5same").join(part));
    compile(hdf5, &parts.each_ref().map(PathBuf::as_path), &program)?;
    Ok(program)
}
