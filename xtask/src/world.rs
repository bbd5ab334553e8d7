//! What the tests and demos run on: the HDF5 installations and Python environments, with all that a caller needs
//! to use them. The list follows from the recipes in `setup` alone, so it can be shown before anything is built.

use crate::{place, setup};
use anyhow::{Context, Result};
use std::fmt;
use std::path::{Path, PathBuf};

/// An MPI implementation, as Debian packages it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mpi {
    Mpich,
    OpenMpi,
}

impl Mpi {
    pub fn name(self) -> &'static str {
        match self {
            Mpi::Mpich => "mpich",
            Mpi::OpenMpi => "openmpi",
        }
    }

    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "mpich" => Ok(Mpi::Mpich),
            "openmpi" => Ok(Mpi::OpenMpi),
            _ => anyhow::bail!("unknown MPI `{name}`: it is mpich or openmpi"),
        }
    }

    /// The C compiler wrapper; Debian's plain `mpicc` may be that of the other MPI.
    pub fn mpicc(self) -> PathBuf {
        PathBuf::from(format!("/usr/bin/mpicc.{}", self.name()))
    }

    /// The launcher. `crate::mpi::mpiexec` adds the arguments that it needs.
    pub fn mpiexec(self) -> PathBuf {
        PathBuf::from(format!("/usr/bin/mpiexec.{}", self.name()))
    }
}

impl fmt::Display for Mpi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A parallel HDF5 installation.
#[derive(Clone, Debug)]
pub struct Hdf5 {
    pub version: String,
    pub mpi: Mpi,
    pub prefix: PathBuf,
    /// Named by the user with `setup --hdf5`, not built by us.
    pub external: bool,
}

impl Hdf5 {
    pub fn include(&self) -> PathBuf {
        self.prefix.join("include")
    }

    pub fn lib(&self) -> PathBuf {
        self.prefix.join("lib")
    }

    pub fn ready(&self) -> bool {
        self.external || setup::complete(&self.prefix)
    }

    /// "2.2.0" -> (2, 2), for questions such as "is this 2.x?".
    pub fn release(&self) -> (u32, u32) {
        let mut parts = self.version.split('.').map(|p| p.parse().unwrap_or(0));
        (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
    }
}

/// A Python environment (a venv).
#[derive(Clone, Debug)]
pub struct Python {
    /// `h5py-3.16`, `tables`, `netcdf4`, `parallel`.
    pub name: String,
    /// Version of h5py in it, if any.
    pub h5py: Option<String>,
    /// The libhdf5 inside, in the order of the packages named by the environment.
    pub hdf5: Vec<String>,
    /// The MPI that mpi4py and h5py use, in the parallel environment.
    pub mpi: Option<Mpi>,
    pub root: PathBuf,
    /// Variables that a run in this environment needs.
    pub env: Vec<(String, String)>,
}

impl Python {
    pub fn python(&self) -> PathBuf {
        self.root.join("bin/python")
    }

    pub fn ready(&self) -> bool {
        setup::complete(&self.root)
    }
}

/// Everything there is to run on.
#[derive(Clone, Debug)]
pub struct World {
    pub hdf5: Vec<Hdf5>,
    pub pythons: Vec<Python>,
}

impl World {
    /// The installations as `setup` makes, or was told, them; not necessarily there yet.
    pub fn expected() -> Result<Self> {
        setup::world(&place::cache()?)
    }

    /// The installations, brought first where they are missing.
    pub fn ready() -> Result<Self> {
        setup::run(&setup::Options::default())?;
        Self::expected()
    }

    /// The newest HDF5 for an MPI: the one to use when only one is wanted.
    pub fn newest(&self, mpi: Mpi) -> Result<&Hdf5> {
        self.hdf5
            .iter()
            .filter(|h| h.mpi == mpi)
            .max_by_key(|h| h.release())
            .with_context(|| format!("no HDF5 for {mpi}"))
    }

    pub fn python(&self, name: &str) -> Result<&Python> {
        self.pythons
            .iter()
            .find(|p| p.name == name)
            .with_context(|| format!("no Python environment named {name}"))
    }
}

/// The folder that HDF5_PLUGIN_PATH points to.
pub fn plugin_dir() -> PathBuf {
    Path::new(place::root()).join("plugins/lib")
}
