//! Suite `kernels`: the programs of `examples/` check their own files, natively and through the connector, on every
//! HDF5 and MPI. What goes through the connector is checked a second time by native HDF5.
//!
//! An ordinary run gives each program one rank count and one kind of access for each installation, chosen so that
//! together they cover 1 to 8 ranks and all kinds; `--full` runs all combinations.

use super::{Context, Log, On, Suite};
use crate::bench::launch::{self, Io, Job, Kernels};
use crate::bench::variants::Mode;
use anyhow::{Result, ensure};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

pub struct KernelSuite;

const PROGRAMS: &[&str] = &[
    "vpic --size 3000 --steps 2",
    "hacc --form soa --size 3000",
    "hacc --form packed --size 3000",
    "hacc --form padded --size 3000",
    "hacc --form members --size 3000",
    "hacc --form columns --size 3000 --steps 2",
    "flash --size 8K --cells 4",
    "flash --size 8K --memory fastest --steps 2",
    "flash --size 8K --form plot",
    "flash --size 8K --form corners",
    "vorpal --size 8K --run 256 --vars 2",
    "gcrm --size 30K",
    "tile --size 8K --run 256 --vars 3",
    "tile --size 8K --run 256 --overlap 3 --steps 2",
    "btio --size 8K",
    "ior --size 8K --transfer 1K",
    "ior --size 8K --transfer 1K --form strided",
    "s3d --size 4K --guard 1 --compute 0.001",
];

const ACCESS: &[&str] = &[
    "",
    "--independent",
    "--chunk 1000",
    "--independent --chunk 1000",
    "--flush --repeat 2",
    "--collective-metadata --align 4K",
];

const RANKS_MAX: usize = 8;
const LIMIT: Duration = Duration::from_secs(120);

impl Suite for KernelSuite {
    fn name(&self) -> &'static str {
        "kernels"
    }

    fn about(&self) -> &'static str {
        "the I/O kernels check their own files, natively and through the connector"
    }

    fn run(&self, context: &Context, log: &mut Log) -> Result<()> {
        for (place, hdf5) in context.world.hdf5.iter().enumerate() {
            let on = On::hdf5(hdf5);
            let bench = Bench {
                kernels: Kernels::build(hdf5, &context.plugins, &context.scratch)?,
                file: context.scratch.join("kernel.h5"),
            };
            let (modes, _) = bench.kernels.modes(&context.scratch);
            for (i, program) in PROGRAMS.iter().enumerate() {
                for (ranks, access) in combinations(context.full, place, i) {
                    let io = Io::of(hdf5.mpi)[i % Io::of(hdf5.mpi).len()];
                    let name = format!("{program} {access} ({ranks} ranks, {})", io.name());
                    let job = bench.job(&format!("{program} {access}"), ranks, io);
                    log.case(&on, name, bench.check(&job, &modes));
                }
            }
            for ranks in [1, 3] {
                log.case(&on, format!("latency ({ranks} ranks)"), bench.latency(ranks, &modes));
            }
            log.case(&on, "file per process and the limit check themselves", bench.without_connector());
            log.case(&on, "a damaged file is noticed", bench.damaged());
            if context.brief {
                break;
            }
        }
        python(context, log)
    }
}

/// Rank counts and kinds of access for a program: all, or a share that differs by program and installation.
fn combinations(full: bool, place: usize, program: usize) -> Vec<(usize, &'static str)> {
    if full {
        return (1..=RANKS_MAX).flat_map(|ranks| ACCESS.iter().map(move |a| (ranks, *a))).collect();
    }
    vec![(1 + (3 * program + 5 * place) % RANKS_MAX, ACCESS[(program + 2 * place) % ACCESS.len()])]
}

struct Bench {
    kernels: Kernels,
    file: PathBuf,
}

impl Bench {
    fn job(&self, words: &str, ranks: usize, io: Io) -> Job {
        let mut words = words.split_whitespace().map(str::to_owned);
        Job {
            ranks,
            io,
            kernel: words.next().unwrap_or_default(),
            args: words.collect(),
            file: self.file.clone(),
            env: Vec::new(),
            connector: None,
            limit: LIMIT,
        }
    }

    /// Natively; then in each mode through the connector, whose file native HDF5 must find right too.
    fn check(&self, job: &Job, modes: &[Mode]) -> Result<()> {
        self.verified(job, "write,read,verify")?;
        for (_, words) in modes {
            let through = Job { connector: Some((*words).to_owned()), ..job.clone() };
            self.verified(&through, "write,read,verify")?;
            self.verified(job, "verify")?;
        }
        Ok(())
    }

    fn verified(&self, job: &Job, phases: &str) -> Result<()> {
        let mut job = job.clone();
        job.args.extend(["--phases".to_owned(), phases.to_owned()]);
        let result = self.kernels.run(&job)?;
        ensure!(result["verified"] == true, "nothing was verified: {result}");
        Ok(())
    }

    fn latency(&self, ranks: usize, modes: &[Mode]) -> Result<()> {
        let job = self.job("latency --calls 20", ranks, Io::of(self.kernels.hdf5.mpi)[0]);
        self.kernels.run(&job)?;
        for (_, words) in modes {
            self.kernels.run(&Job { connector: Some((*words).to_owned()), ..job.clone() })?;
        }
        Ok(())
    }

    fn without_connector(&self) -> Result<()> {
        let io = Io::of(self.kernels.hdf5.mpi)[0];
        for words in
            ["hacc --form columns --size 3000 --per-process", "posix --size 8K --wait futex --steps 2"]
        {
            self.verified(&self.job(words, 3, io), "write,verify")?;
        }
        Ok(())
    }

    /// One wrong byte must fail the check: else the checks of this suite would mean nothing.
    fn damaged(&self) -> Result<()> {
        let job = self.job("hacc --form packed --size 3000", 2, Io::of(self.kernels.hdf5.mpi)[0]);
        self.verified(&job, "write,verify")?;
        let mut bytes = fs::read(&self.file)?;
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&self.file, bytes)?;
        ensure!(self.verified(&job, "verify").is_err(), "a file with a wrong byte passed");
        Ok(())
    }
}

/// The Python kernels: parallel h5py on ranks, and serial h5py from each wheel.
fn python(context: &Context, log: &mut Log) -> Result<()> {
    let file = context.scratch.join("python.h5");
    let file = file.to_string_lossy();
    for python in context.world.pythons.iter().filter(|p| p.h5py.is_some()) {
        let parallel: &[(&str, usize, &str)] = &[
            ("particles.py", 3, "--steps=2"),
            ("particles.py", 4, "--independent"),
            ("field.py", 4, "--steps=2"),
            ("field.py", 2, "--chunks"),
        ];
        let scripts = if python.mpi.is_some() { parallel } else { &[("series.py", 1, "--steps=20")] };
        for (i, &(script, ranks, option)) in scripts.iter().enumerate() {
            let args = ["--file", &file, "--size", "20K", option];
            let connector = context.connector(&format!("python-{}-{i}", python.name))?;
            let result = launch::python(python, script, ranks, &args, None, &context.scratch)
                .and_then(|_| {
                    launch::python(python, script, ranks, &args, Some(&connector), &context.scratch)
                })
                .and_then(|_| {
                    let again = [&args[..], &["--phases", "verify"]].concat();
                    launch::python(python, script, ranks, &again, None, &context.scratch)
                });
            log.case(&On::python(python), format!("{script} {option} ({ranks} ranks)"), result.map(|_| ()));
        }
        if context.brief {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_covers_all_ranks_and_kinds_on_each_installation() {
        for place in 0..3 {
            let all: Vec<_> = (0..PROGRAMS.len()).flat_map(|i| combinations(false, place, i)).collect();
            for ranks in 1..=RANKS_MAX {
                assert!(all.iter().any(|c| c.0 == ranks), "{ranks} ranks at installation {place}");
            }
            for access in ACCESS {
                assert!(all.iter().any(|c| c.1 == *access), "`{access}` at installation {place}");
            }
        }
    }
}
