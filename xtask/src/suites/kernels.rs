//! Suite `kernels`: the programs of `examples/` check their own files, natively and through the connector, on every
//! HDF5 and MPI. What goes through the connector is checked a second time by native HDF5.
//!
//! An ordinary run gives each program one rank count, one kind of access and one mode of the connector for each
//! installation, chosen so that together they cover 1 to 8 ranks, all kinds and all modes; `--full` runs all
//! combinations. Programs of equal rank counts share a launch, which costs more than they do; if it fails, each is
//! run by itself to see which it was.

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
const PER_LAUNCH: usize = 12;
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
                dir: context.scratch.clone(),
            };
            let (modes, _) = bench.kernels.modes(&context.scratch);
            for launch in launches(context.full, place, Io::of(hdf5.mpi)) {
                for mode in some_or_all(context.full, place + launch.ranks, &modes) {
                    bench.check(&launch, *mode, &on, log);
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

/// Programs that run one after the other on the same ranks.
struct Launch {
    ranks: usize,
    io: Io,
    /// A program's name and arguments.
    programs: Vec<String>,
}

/// Rank counts and kinds of access for all programs: all, or a share that differs by program and installation.
fn launches(full: bool, place: usize, ios: &[Io]) -> Vec<Launch> {
    let mut all = Vec::new();
    for (ranks, &io) in (1..=RANKS_MAX).flat_map(|ranks| ios.iter().map(move |io| (ranks, io))) {
        let chosen = |&(i, access): &(usize, usize)| {
            full || (ranks == 1 + (3 * i + 5 * place) % RANKS_MAX
                && access == (i + 2 * place) % ACCESS.len()
                && io == ios[i / RANKS_MAX % ios.len()])
        };
        let pairs = (0..PROGRAMS.len()).flat_map(|i| (0..ACCESS.len()).map(move |access| (i, access)));
        let programs: Vec<String> =
            pairs.filter(chosen).map(|(i, access)| format!("{} {}", PROGRAMS[i], ACCESS[access])).collect();
        all.extend(programs.chunks(PER_LAUNCH).map(|part| Launch { ranks, io, programs: part.to_vec() }));
    }
    all
}

fn some_or_all<T>(full: bool, turn: usize, all: &[T]) -> &[T] {
    if full { all } else { &all[turn % all.len()..][..1] }
}

struct Bench {
    kernels: Kernels,
    dir: PathBuf,
}

impl Bench {
    fn job(&self, words: &str, ranks: usize, io: Io) -> Job {
        let mut words = words.split_whitespace().map(str::to_owned);
        Job {
            ranks,
            io,
            kernel: words.next().unwrap_or_default(),
            args: words.collect(),
            file: self.file(0),
            env: Vec::new(),
            connector: None,
            limit: LIMIT,
        }
    }

    fn file(&self, program: usize) -> PathBuf {
        self.dir.join(format!("kernel-{program}.h5"))
    }

    fn check(&self, launch: &Launch, mode: Mode, on: &On, log: &mut Log) {
        let together = self.check_programs(&launch.programs, launch, mode);
        for program in &launch.programs {
            let name = format!("{program} ({} ranks, {}, {})", launch.ranks, launch.io.name(), mode.0);
            let alone = || self.check_programs(std::slice::from_ref(program), launch, mode);
            log.case(on, name, together.as_ref().map_or_else(|_| alone(), |()| Ok(())));
        }
        if let (Err(e), [_, _, ..]) = (together, &launch.programs[..]) {
            log.case(on, format!("{} programs in one launch", launch.programs.len()), Err(e));
        }
    }

    /// Natively; then through the connector, whose files native HDF5 must find right too.
    fn check_programs(&self, programs: &[String], launch: &Launch, mode: Mode) -> Result<()> {
        let native = |phases| self.verified(&self.batch(programs, launch, phases));
        native("write,read,verify")?;
        let through = self.batch(programs, launch, "write,read,verify");
        self.verified(&Job { connector: Some(mode.1.to_owned()), ..through })?;
        native("verify")
    }

    fn batch(&self, programs: &[String], launch: &Launch, phases: &str) -> Job {
        let mut job = self.job(&format!("{} --phases {phases}", programs[0]), launch.ranks, launch.io);
        for (i, program) in programs.iter().enumerate().skip(1) {
            let file = self.file(i);
            let words = format!("--then {program} --phases {phases} --file");
            job.args.extend(words.split_whitespace().map(str::to_owned));
            job.args.push(file.to_string_lossy().into_owned());
        }
        job
    }

    fn verified(&self, job: &Job) -> Result<()> {
        let result = self.kernels.run(job)?;
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
        let own_files = "hacc --form columns --size 3000 --per-process --phases write,verify";
        self.verified(&self.job(own_files, 3, io))?;
        self.verified(&self.job("posix --size 8K --wait futex --steps 2 --phases write,verify", 3, io))
    }

    /// One wrong byte must fail the check: else the checks of this suite would mean nothing.
    fn damaged(&self) -> Result<()> {
        let job = |phases: &str| {
            let words = format!("hacc --form packed --size 3000 --phases {phases}");
            self.job(&words, 2, Io::of(self.kernels.hdf5.mpi)[0])
        };
        self.verified(&job("write,verify"))?;
        let mut bytes = fs::read(self.file(0))?;
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(self.file(0), bytes)?;
        ensure!(self.verified(&job("verify")).is_err(), "a file with a wrong byte passed");
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
    fn the_share_covers_all_programs_ranks_and_kinds_on_each_installation() {
        for (place, ios) in [&[Io::Romio][..], &[Io::Ompio, Io::Romio], &[Io::Romio]].into_iter().enumerate()
        {
            let all = launches(false, place, ios);
            let programs: Vec<&String> = all.iter().flat_map(|l| &l.programs).collect();
            assert_eq!(programs.len(), PROGRAMS.len());
            assert!(PROGRAMS.iter().all(|p| programs.iter().any(|q| q.starts_with(p))));
            assert!((1..=RANKS_MAX).all(|ranks| all.iter().any(|l| l.ranks == ranks)));
            assert!(ACCESS.iter().all(|a| programs.iter().any(|q| q.ends_with(a))));
            assert!(ios.iter().all(|io| all.iter().any(|l| l.io == *io)));
        }
    }

    #[test]
    fn everything_is_every_combination() {
        let count: usize = launches(true, 0, &[Io::Romio]).iter().map(|l| l.programs.len()).sum();
        assert_eq!(count, PROGRAMS.len() * ACCESS.len() * RANKS_MAX);
    }
}
