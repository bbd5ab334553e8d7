//! The programs, built once per content: changing a source or the HDF5 installation makes a new folder.

use crate::proc::Run;
use crate::world::Hdf5;
use crate::{mpi, place};
use anyhow::{Context, Result};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The executables for one installation.
pub struct Programs {
    /// "2.2.0-mpich"
    pub label: String,
    /// All cases in one.
    pub conform: PathBuf,
    /// Compares two HDF5 files.
    pub h5same: PathBuf,
    /// Makes pairs of files for h5same's own test.
    pub pairs: PathBuf,
}

/// A case that runs on the number of ranks that was asked for.
#[derive(Clone, Debug)]
pub struct Case(String);

impl Case {
    /// `topic.case.variant`
    pub fn name(&self) -> &str {
        &self.0
    }

    pub fn topic(&self) -> &str {
        self.0.split('.').next().unwrap_or_default()
    }

    /// In the default file format.
    pub fn is_plain(&self) -> bool {
        !self.0.ends_with("-new")
    }
}

impl Programs {
    pub fn new(hdf5: &Hdf5) -> Result<Self> {
        let tests = place::root().join("tests");
        let conform = sources(&tests.join("conform"), |_| true)?;
        let h5same = sources(&tests.join("h5same"), |name| name != "pairs.c")?;
        let pairs = vec![tests.join("h5same/pairs.c")];
        Ok(Self {
            label: format!("{}-{}", hdf5.version, hdf5.mpi),
            conform: build(hdf5, "conform", &conform)?,
            h5same: build(hdf5, "h5same", &h5same)?,
            pairs: build(hdf5, "pairs", &pairs)?,
        })
    }

    /// The cases for so many ranks, in the order in which the program lists them.
    pub fn cases(&self, ranks: usize) -> Result<Vec<Case>> {
        let list = Run::new(&self.conform).arg("list").limit(Duration::from_secs(60)).text()?;
        let parse = |line: &str| {
            let mut words = line.split(' ');
            let name = words.next()?.to_owned();
            let (min, max) = (words.next()?.parse::<usize>().ok()?, words.next()?.parse::<usize>().ok()?);
            Some((Case(name), min..=max))
        };
        let all = list
            .lines()
            .map(|l| parse(l).with_context(|| format!("not a case: {l}")))
            .collect::<Result<Vec<_>>>()?;
        Ok(all.into_iter().filter(|(_, range)| range.contains(&ranks)).map(|(case, _)| case).collect())
    }
}

/// The C files of a folder, sorted.
fn sources(dir: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    let mut all: Vec<PathBuf> = fs::read_dir(dir)
        .with_context(|| format!("no sources in {}", dir.display()))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    all.retain(|p| {
        p.extension().is_some_and(|e| e == "c") && p.file_name().is_some_and(|n| wanted(&n.to_string_lossy()))
    });
    all.sort();
    Ok(all)
}

/// Compiles unless a program of the same sources, headers and installation is there.
fn build(hdf5: &Hdf5, name: &str, sources: &[PathBuf]) -> Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    hdf5.prefix.hash(&mut hasher);
    hdf5.mpi.hash(&mut hasher);
    let folder = sources.first().and_then(|s| s.parent()).context("a program has sources")?;
    let headers = fs::read_dir(folder)?.filter_map(|e| Some(e.ok()?.path()));
    let mut headers: Vec<PathBuf> = headers.filter(|p| p.extension().is_some_and(|e| e == "h")).collect();
    headers.sort();
    for file in sources.iter().chain(&headers) {
        file.hash(&mut hasher);
        fs::read(file)?.hash(&mut hasher);
    }
    let program = place::target()?.join(format!("xtask/programs/{:016x}", hasher.finish())).join(name);
    if !program.exists() {
        let unfinished = program.with_extension("new");
        let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
        mpi::compile(hdf5, &sources, &unfinished)?;
        fs::rename(&unfinished, &program)?;
    }
    Ok(program)
}
