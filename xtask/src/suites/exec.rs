//! Suite `exec`: commits and fetches on real ranks, on MPICH and Open MPI, on one node and on pretended ones, one-sided
//! and by messages; storage that fails, ranks that panic or are killed, extents that are many and long.
//!
//! `tests/mpi/run.c`, compiled with each MPI, loads the library of tests that cargo has built without any MPI.

use super::{Context, Log, On, Suite, Verdict};
use crate::proc::{Done, Run};
use crate::world::Mpi;
use crate::{mpi, place, setup};
use anyhow::{Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub struct Exec;

const LIMIT: Duration = Duration::from_secs(300);
/// What a system can refuse and ranks can go without; see `tests/mpi/refuse.c`.
const REFUSALS: [&str; 3] = ["memory", "programs", "threads"];
/// And between nodes.
const FAR_REFUSALS: [&str; 2] = ["epoch", "window"];
/// Runs a command where files in the node's memory have little room.
const LITTLE_ROOM: &str = "mount -t tmpfs -o size=1m tmpfs /dev/shm && exec \"$@\"";

impl Suite for Exec {
    fn name(&self) -> &'static str {
        "exec"
    }

    fn about(&self) -> &'static str {
        "schedules on real ranks and real files: random patterns against a plain reference, faults, panics, killed ranks"
    }

    fn run(&self, context: &Context, log: &mut Log) -> Result<()> {
        let library = library("ranks", false)?;
        for family in [Mpi::Mpich, Mpi::OpenMpi] {
            let host = host(family, &context.scratch)?;
            let program = Program { family, host, library: library.clone(), dir: context.scratch.clone() };
            program.patterns(context.full, log);
            program.refused(log)?;
            program.little_room(log)?;
            program.killed(log)?;
            if context.full {
                program.extremes(log);
            }
        }
        panics_on_threads(log);
        if context.full {
            threads(log);
            let host = host(Mpi::Mpich, &context.scratch)?;
            let program = Program { family: Mpi::Mpich, host, library, dir: context.scratch.clone() };
            program.valgrind(log);
        }
        Ok(())
    }
}

/// The example of `sago-exec` as a shared object.
pub fn library(example: &str, release: bool) -> Result<PathBuf> {
    let args = ["build", "--quiet", "--package", "sago-exec", "--example", example];
    // Panics on demand are for the tests.
    let features: &[&str] = if example == "ranks" { &["--features", "provoke"] } else { &[] };
    let profile: &[&str] = if release { &["--release"] } else { &[] };
    Run::new(place::cargo()).args(args).args(features).args(profile).dir(place::root()).ok()?;
    let folder = if release { "release" } else { "debug" };
    let library = place::target()?.join(folder).join("examples").join(format!("lib{example}.so"));
    let needed = Run::new("readelf").arg("-d").arg(&library).text()?;
    ensure!(!needed.contains("libmpi"), "{} is linked with an MPI:\n{needed}", library.display());
    Ok(library)
}

/// The program that loads it.
pub fn host(family: Mpi, dir: &Path) -> Result<PathBuf> {
    let program = dir.join(format!("run-{family}"));
    Run::new(family.mpicc())
        .args(["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&program)
        .arg(place::root().join("tests/mpi/run.c"))
        .arg("-ldl")
        .ok()?;
    Ok(program)
}

/// The library that refuses.
fn refusing(family: Mpi, dir: &Path) -> Result<PathBuf> {
    let library = dir.join(format!("refuse-{family}.so"));
    Run::new(family.mpicc())
        .args(["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(place::root().join("tests/mpi/refuse.c"))
        .arg("-ldl")
        .ok()?;
    Ok(library)
}

struct Program {
    family: Mpi,
    host: PathBuf,
    library: PathBuf,
    dir: PathBuf,
}

impl Program {
    fn on(&self) -> On {
        On { mpi: Some(self.family), ..On::default() }
    }

    fn launch(&self, ranks: usize, test: &str, args: &[&str]) -> Run {
        let file = self.dir.join(format!("{}-{test}", self.family));
        // Without a fast network Open MPI's UCX component complains about itself.
        mpi::mpiexec(self.family, ranks)
            .env("OMPI_MCA_osc", "^ucx")
            .arg(&self.host)
            .arg(&self.library)
            .arg(test)
            .arg(file)
            .args(args)
            .limit(LIMIT)
    }

    fn case(&self, ranks: usize, test: &str, args: &[&str], log: &mut Log) {
        let what = format!("{test}, {ranks} ranks {}", args.join(" "));
        self.record(what, self.launch(ranks, test, args).run(), log);
    }

    fn record(&self, what: String, done: Result<Done>, log: &mut Log) {
        match done {
            Ok(done) => match seeds(&done) {
                Some(seeds) if done.success() => log.record(&self.on(), what, seeds, Verdict::Pass),
                _ => log.record(&self.on(), what, 1, Verdict::Fail(done.explain())),
            },
            Err(e) => log.record(&self.on(), what, 1, Verdict::Fail(format!("{e:#}"))),
        }
    }

    /// One node, pretended nodes with windows between them, and pretended nodes without.
    fn patterns(&self, full: bool, log: &mut Log) {
        let last = if full { "last=400" } else { "last=25" };
        for ranks in if full { &[2, 3, 4, 5][..] } else { &[4] } {
            self.case(*ranks, "random", &[last], log);
            self.case(*ranks, "random", &[last, "nodes-of=2"], log);
            self.case(*ranks, "random", &[last, "nodes-of=1", "messages"], log);
        }
        self.case(4, "faults", &[last], log);
        self.case(4, "faults", &[last, "nodes-of=2"], log);
        let every = if full { "every=1" } else { "every=3" };
        self.case(4, "panics", &[every], log);
        self.case(4, "panics", &[every, "nodes-of=2"], log);
        if full {
            self.case(4, "panics", &[every, "nodes-of=2", "messages"], log);
            self.case(4, "panics", &[every, "nodes-of=1"], log);
        }
        self.case(4, "memory", &[], log);
        self.case(4, "tiny", &["count=20000"], log);
    }

    /// Ranks go without what the system refuses, and all is right.
    fn refused(&self, log: &mut Log) -> Result<()> {
        let refusing = refusing(self.family, &self.dir)?;
        let preload = format!("{}:{}", refusing.display(), setup::idle_library(&place::cache()?).display());
        let mut case = |ranks: usize, args: &[&str], refusal: &str| {
            let run = self.launch(ranks, "random", args);
            let done = run.env("LD_PRELOAD", &preload).env("REFUSE", refusal).run();
            self.record(format!("random, {ranks} ranks {}, {refusal} refused", args.join(" ")), done, log);
        };
        for refusal in REFUSALS {
            case(1, &["last=10"], refusal);
            case(3, &["last=10"], refusal);
        }
        // MPICH ends a program that leaves it windows, which nobody can free without the last rank.
        let windows = if self.family == Mpi::Mpich { 1 } else { FAR_REFUSALS.len() };
        for refusal in &FAR_REFUSALS[..windows] {
            case(3, &["last=10", "nodes-of=1"], refusal);
        }
        Ok(())
    }

    /// Where MPI's own windows would be files for which there is no room.
    fn little_room(&self, log: &mut Log) -> Result<()> {
        if self.family != Mpi::Mpich {
            return Ok(());
        }
        if !Run::new("unshare").args(["--mount", "true"]).run()?.success() {
            log.skip(&self.on(), "little room in /dev/shm", "only root can mount a small one");
            return Ok(());
        }
        // MPICH's own messages would need some of it; over TCP it can hang in MPI_Finalize, which this library prevents.
        let finalizing = self.dir.join("idle.so");
        let idle = place::root().join("tests/cluster/bin/idle.c");
        Run::new("cc").args(["-O2", "-shared", "-fPIC", "-o"]).arg(&finalizing).arg(idle).arg("-ldl").ok()?;
        let run = Run::new("unshare").args(["--mount", "sh", "-c", LITTLE_ROOM, "sh"]);
        let run = run.env("UCX_TLS", "tcp,self").env("LD_PRELOAD", &finalizing);
        let run = run.arg(self.family.mpiexec()).args(["-n", "4"]).arg(&self.host).arg(&self.library);
        let run = run.arg("placed").arg(self.dir.join("little-room")).args(["nodes-of=1", "blocks=512"]);
        let done = run.arg("options=exchange=aggregate aggregators=4 buffer=4MiB").limit(LIMIT).run();
        self.record("placed, 4 ranks, little room in /dev/shm".to_owned(), done, log);
        Ok(())
    }

    fn extremes(&self, log: &mut Log) {
        self.case(4, "tiny", &["count=300000"], log);
        self.case(4, "tiny", &["count=100000", "nodes-of=2"], log);
        self.case(2, "large", &[], log);
        self.case(2, "large", &["nodes-of=1"], log);
    }

    /// The job must end soon, with a failure, without leaving a process, and without a byte that nobody wrote.
    fn killed(&self, log: &mut Log) -> Result<()> {
        for victim in [0, 3] {
            let start = Instant::now();
            let done = self.launch(4, "killed", &[&format!("victim={victim}")]).run()?;
            let verdict = self.ended_well(&done, start.elapsed());
            log.case(&self.on(), format!("rank {victim} of 4 is killed in a commit"), verdict);
        }
        Ok(())
    }

    fn ended_well(&self, done: &Done, took: Duration) -> Result<()> {
        ensure!(!done.success() && took < Duration::from_secs(40), "{took:?}: {}", done.explain());
        std::thread::sleep(Duration::from_secs(2));
        for process in fs::read_dir("/proc")?.flatten() {
            let name = fs::read(process.path().join("cmdline")).unwrap_or_default();
            let ours = name.split(|b| *b == 0).next() == Some(self.host.as_os_str().as_encoded_bytes());
            ensure!(!ours, "process {:?} is left over", process.file_name());
        }
        let bytes = fs::read(self.dir.join(format!("{}-killed", self.family)))?;
        ensure!(!bytes.is_empty(), "nothing had been written");
        let wrong = |(at, byte): (usize, &u8)| *byte != 0 && usize::from(*byte) != at / 1000 % 4 + 1;
        match bytes.iter().enumerate().position(wrong) {
            Some(at) => bail!("byte {at} is {}", bytes[at]),
            None => Ok(()),
        }
    }

    /// A share of the seeds under valgrind. What MPI itself does is not looked at.
    fn valgrind(&self, log: &mut Log) {
        let file = self.dir.join("valgrind");
        let done = mpi::mpiexec(self.family, 2)
            .args(["valgrind", "--quiet", "--error-exitcode=9", "--suppressions=/dev/null"])
            .args(["--undef-value-errors=no"])
            .arg(&self.host)
            .arg(&self.library)
            .arg("random")
            .arg(file)
            .arg("last=20")
            .limit(LIMIT)
            .run();
        let verdict = done.and_then(|done| {
            ensure!(done.success() && seeds(&done).is_some(), "{}", done.explain());
            Ok(())
        });
        log.case(&self.on(), "random, 2 ranks under valgrind", verdict);
    }
}

/// How many seeds a run says that it has passed.
fn seeds(done: &Done) -> Option<usize> {
    let line = done.stdout.lines().find(|line| line.starts_with("ok "))?;
    line.split(' ').nth(1)?.parse().ok()
}

/// Ten thousand seeds on threads.
fn threads(log: &mut Log) {
    let args = ["test", "--quiet", "--release", "--package", "sago-exec", "--test", "threads"];
    let run = Run::new(place::cargo()).args(args).dir(place::root()).env("SAGO_SEEDS", "0..10000");
    let verdict = run.limit(Duration::from_secs(3600)).ok().map(|_| ());
    log.case(&On::nothing(), "10,000 seeds on threads", verdict);
}

/// Ranks that panic, on threads, in interleavings from a seed.
fn panics_on_threads(log: &mut Log) {
    let args = ["test", "--quiet", "--package", "sago-exec", "--features", "provoke", "--test", "threads"];
    let run = Run::new(place::cargo()).args(args).arg("panics").dir(place::root());
    let verdict = run.limit(LIMIT).ok().and_then(|done| {
        ensure!(done.stdout.contains("1 passed"), "{}", done.explain());
        Ok(())
    });
    log.case(&On::nothing(), "a rank that panics, on threads", verdict);
}
