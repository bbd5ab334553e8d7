//! Python environments: one per h5py wheel, one for each other package whose own tests run through the connector,
//! one with a parallel h5py compiled against our HDF5.
//!
//! Wheels bring their own libhdf5, which is what makes them worth testing: the connector meets each of them in the
//! wild. All versions are pinned, since the comparison with and without the connector is test by test.

use super::piece::{Piece, Work, keyed};
use crate::proc::{Run, prepend_path};
use crate::world::{Hdf5, Mpi, Python};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::thread;

/// Debian's own; another `python3` earlier in PATH may lack venv or headers.
const PYTHON: &str = "/usr/bin/python3";
const TOOLS: [&str; 3] = ["cmake==3.31.10", "ninja==1.13.0", "pip==25.3"];

struct Recipe {
    name: &'static str,
    h5py: Option<&'static str>,
    /// What `probe` must print: the libhdf5 versions inside.
    hdf5: &'static [&'static str],
    probe: &'static str,
    pins: &'static [&'static str],
}

const H5PY: &str = "import h5py; print(h5py.version.hdf5_version)";

const WHEELS: [Recipe; 5] = [
    Recipe {
        name: "h5py-3.16",
        h5py: Some("3.16.0"),
        hdf5: &["2.0.0"],
        probe: H5PY,
        pins: &["h5py==3.16.0", "numpy==2.3.5", "pytest==8.4.2", "pytest-mpi==0.6"],
    },
    Recipe {
        name: "h5py-3.14",
        h5py: Some("3.14.0"),
        hdf5: &["1.14.6"],
        probe: H5PY,
        pins: &["h5py==3.14.0", "numpy==2.2.6", "pytest==8.4.2", "pytest-mpi==0.6"],
    },
    Recipe {
        name: "h5py-3.11",
        h5py: Some("3.11.0"),
        hdf5: &["1.14.2"],
        probe: H5PY,
        pins: &["h5py==3.11.0", "numpy==1.26.4", "pytest==8.4.2", "pytest-mpi==0.6"],
    },
    Recipe {
        name: "tables",
        h5py: None,
        hdf5: &["1.14.3"],
        probe: "import tables; print(tables.hdf5_version)",
        pins: &["tables==3.10.2", "numpy==2.2.6", "pytest==8.4.2"],
    },
    Recipe {
        name: "netcdf4",
        h5py: Some("3.16.0"),
        hdf5: &["2.0.0", "1.14.6"],
        probe: "import h5py, netCDF4; print(h5py.version.hdf5_version, netCDF4.__hdf5libversion__)",
        pins: &["netCDF4==1.7.3", "h5py==3.16.0", "numpy==2.3.5", "pytest==8.4.2"],
    },
];

/// Build and run requirements of the parallel environment; h5py itself comes last, from source.
const PARALLEL: [&str; 8] = [
    "mpi4py==4.1.2",
    "numpy==2.3.5",
    "Cython==3.1.8",
    "setuptools==80.9.0",
    "wheel==0.45.1",
    "pkgconfig==1.5.5",
    "pytest==8.4.2",
    "pytest-mpi==0.6",
];
const PARALLEL_H5PY: &str = "3.16.0";
const PARALLEL_CFLAGS: &str = "-O1";

/// CMake, which Debian 12 has too old for HDF5 2.x, ninja, and the pip that fills the other environments.
pub fn tools(cache: &Path) -> Piece {
    Piece::new("CMake and ninja", tools_dir(cache), vec![], |work| {
        venv(work, &[])?;
        let python = work.folder.join("bin/python");
        pip(&python, work).args(["-m", "pip", "install"]).args(QUIET).args(TOOLS).ok()?;
        Ok(())
    })
}

pub fn tools_dir(cache: &Path) -> PathBuf {
    keyed(cache, "tools", &TOOLS)
}

/// The environments, with the variables that runs in them need.
pub fn environments(cache: &Path, hdf5: &[Hdf5]) -> Result<Vec<Python>> {
    let wheels = WHEELS.iter().map(|r| Python {
        name: r.name.to_owned(),
        h5py: r.h5py.map(str::to_owned),
        hdf5: r.hdf5.iter().map(|v| (*v).to_owned()).collect(),
        mpi: None,
        root: wheel_dir(cache, r),
        env: clean_env(),
    });
    let mut all: Vec<Python> = wheels.collect();
    let under = parallel_hdf5(hdf5)?;
    let root = parallel_dir(cache, under);
    all.push(Python {
        name: "parallel".to_owned(),
        h5py: Some(PARALLEL_H5PY.to_owned()),
        hdf5: vec![under.version.clone()],
        mpi: Some(under.mpi),
        env: clean_env().into_iter().chain(mpi_env(&root)).collect(),
        root,
    });
    Ok(all)
}

/// What makes the environments.
pub fn pieces(cache: &Path, hdf5: &[Hdf5]) -> Result<Vec<Piece>> {
    let tools = tools_dir(cache);
    let under = parallel_hdf5(hdf5)?.clone();
    let mut needs = vec![tools.clone()];
    if !under.external {
        needs.push(under.prefix.clone());
    }
    let parallel_root = parallel_dir(cache, &under);
    let title = format!(
        "Python environment parallel (h5py {PARALLEL_H5PY} on HDF5 {} and {})",
        under.version, under.mpi
    );
    let with = tools.clone();
    let mut all = vec![Piece::new(title, parallel_root, needs, move |work| parallel(&with, &under, work))];
    for recipe in &WHEELS {
        let title = format!("Python environment {} (HDF5 {})", recipe.name, recipe.hdf5.join(" and "));
        let with = tools.clone();
        all.push(Piece::new(title, wheel_dir(cache, recipe), vec![tools.clone()], move |work| {
            wheel(&with, recipe, work)
        }));
    }
    Ok(all)
}

const QUIET: [&str; 3] = ["--quiet", "--no-input", "--disable-pip-version-check"];

fn wheel_dir(cache: &Path, recipe: &Recipe) -> PathBuf {
    keyed(cache, &format!("python-{}", recipe.name), recipe.pins)
}

fn parallel_dir(cache: &Path, under: &Hdf5) -> PathBuf {
    let prefix = under.prefix.to_string_lossy();
    let recipe: Vec<&str> = PARALLEL.into_iter().chain([PARALLEL_H5PY, &*prefix]).collect();
    keyed(cache, "python-parallel", &recipe)
}

/// The parallel environment stands on the newest HDF5 for MPICH, whose ABI the mpi4py wheel speaks.
fn parallel_hdf5(hdf5: &[Hdf5]) -> Result<&Hdf5> {
    let mpich = hdf5.iter().filter(|h| h.mpi == Mpi::Mpich);
    mpich.max_by_key(|h| h.release()).context("no HDF5 for MPICH")
}

fn wheel(tools: &Path, recipe: &Recipe, work: &Work) -> Result<()> {
    venv(work, &["--without-pip"])?;
    let python = work.folder.join("bin/python");
    install(tools, work).args(["--only-binary=:all:"]).args(recipe.pins).ok()?;
    let found = Run::new(&python).args(["-c", recipe.probe]).envs(clean_env()).text()?;
    let expected = recipe.hdf5.join(" ");
    ensure!(found == expected, "the {} wheels carry HDF5 {found}, not {expected} as expected", recipe.name);
    Ok(())
}

/// The mpi4py wheel, then h5py from source. With build isolation pip would compile an mpi4py of its own, which
/// takes more memory than most machines have.
fn parallel(tools: &Path, under: &Hdf5, work: &Work) -> Result<()> {
    venv(work, &["--without-pip"])?;
    mpi_shim(&work.folder)?;
    install(tools, work).args(["--only-binary=:all:"]).args(PARALLEL).ok()?;
    // Without this setuptools compiles one file at a time.
    let all_cores = work.scratch.join("build.cfg");
    fs::write(&all_cores, format!("[build_ext]\nparallel = {}\n", thread::available_parallelism()?))?;
    install(tools, work)
        .args(["--no-build-isolation", "--no-deps", "--no-binary=h5py", "--no-cache-dir"])
        .arg(format!("h5py=={PARALLEL_H5PY}"))
        .envs(mpi_env(&work.folder))
        .env("HDF5_MPI", "ON")
        .env("HDF5_DIR", &under.prefix)
        .env("CC", under.mpi.mpicc())
        .env("CFLAGS", PARALLEL_CFLAGS)
        .env("DIST_EXTRA_CONFIG", &all_cores)
        .env("PATH", prepend_path("PATH", &work.folder.join("bin")))
        .env("LDFLAGS", format!("-Wl,-rpath,{}", under.lib().display()))
        .ok()?;
    let probe = "import h5py; assert h5py.get_config().mpi; print(h5py.version.hdf5_version)";
    let found = Run::new(work.folder.join("bin/python"))
        .args(["-c", probe])
        .dir(&work.scratch)
        .envs(clean_env())
        .envs(mpi_env(&work.folder))
        .text()?;
    ensure!(found == under.version, "the parallel h5py runs on HDF5 {found}, not {}", under.version);
    Ok(())
}

fn venv(work: &Work, flags: &[&str]) -> Result<()> {
    Run::new(PYTHON)
        .args(["-m", "venv"])
        .args(flags)
        .arg(&work.folder)
        .envs(clean_env())
        .log(&work.log)
        .ok()?;
    Ok(())
}

/// `pip install` into the piece's environment, by the pip of the tools.
fn install(tools: &Path, work: &Work) -> Run {
    pip(&tools.join("bin/python"), work)
        .args(["-m", "pip", "--python"])
        .arg(work.folder.join("bin/python"))
        .arg("install")
        .args(QUIET)
}

fn pip(python: &Path, work: &Work) -> Run {
    Run::new(python).envs(clean_env()).dir(&work.scratch).log(&work.log)
}

/// Keeps packages of the user's own out.
fn clean_env() -> Vec<(String, String)> {
    [("PYTHONNOUSERSITE", "1"), ("PYTHONPATH", "")].map(|(k, v)| (k.to_owned(), v.to_owned())).to_vec()
}

/// The mpi4py wheel looks for MPICH as `libmpi.so.12`, a name that Debian does not use; and with both MPIs installed
/// it would choose Open MPI, which is not what HDF5 is built with.
fn mpi_env(root: &Path) -> Vec<(String, String)> {
    let path = prepend_path("LD_LIBRARY_PATH", &root.join("mpi"));
    vec![
        ("MPI4PY_MPIABI".to_owned(), "mpich".to_owned()),
        ("LD_LIBRARY_PATH".to_owned(), path.to_string_lossy().into_owned()),
    ]
}

fn mpi_shim(root: &Path) -> Result<()> {
    let library = Run::new("/usr/bin/gcc").arg("-print-file-name=libmpich.so.12").text()?;
    let library =
        fs::canonicalize(&library).context("Debian's libmpich.so.12 is not where gcc looks for libraries")?;
    fs::create_dir(root.join("mpi"))?;
    Ok(symlink(library, root.join("mpi/libmpi.so.12"))?)
}
