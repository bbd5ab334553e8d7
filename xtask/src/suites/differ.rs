//! Suite `differ`: random parallel programs read the same values and leave the same data natively and through the
//! connector, in every mode.
//!
//! The program (`tests/differ`) makes and interprets a random HDF5 program from a seed, checks every value that it reads
//! against a model of its own, and tells a hash of all that it saw. Many seeds share a launch; each must end without
//! anything wrong, and with the hash of the native run on every rank. Seeds that hang or go wrong natively, which a few
//! do, prove nothing and are counted apart.

mod launch;

use super::{Context, Log, On, Suite, Verdict};
use crate::world::{Hdf5, Mpi};
use crate::{mpi, place};
use anyhow::{Context as _, Result, anyhow, ensure};
use launch::{Launch, Results, Way};
use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::thread;

pub struct Differ;

/// The first ones of [`MODES`], in which every program runs; with `--full` the others take turns from launch to launch.
const PLAIN_MODES: usize = 3;

/// Programs on 1, 2, ... ranks, on each installation; with `--full`, more than 20,000 on all three.
const PROGRAMS: &[u64] = &[16; 4];
const PROGRAMS_FULL: &[u64] = &[1200, 1600, 1400, 1200, 500, 400, 250, 200];
/// Two ranks.
const PROGRAMS_BRIEF: &[u64] = &[0, 8];
/// Programs that share a launch.
const BATCH: u64 = 140;
/// Failures of one installation that are explained; of the rest only the seed is told.
const EXPLAINED_MAX: usize = 12;
/// Launches at once: the ranks of one mostly wait for each other.
const AT_ONCE: usize = 4;
/// How often a program that differed is run again without capture.
const ATTEMPTS: usize = 24;

/// Ways through the connector: all three modes; then windows and buffers so small that every program overflows them, and
/// pieces so short that all are written ahead, by each rank or together.
pub(super) const MODES: [&str; 7] = [
    "mode=off",
    "mode=immediate",
    "mode=window",
    "mode=window window=4KiB buffer=1KiB stripe=512B exchange=aggregate",
    "mode=window buffer=64B exchange=direct",
    "mode=window window=8MiB buffer=64B",
    "mode=immediate buffer=512B stripe=256B exchange=aggregate",
];

impl Suite for Differ {
    fn name(&self) -> &'static str {
        "differ"
    }

    fn about(&self) -> &'static str {
        "random parallel programs see and leave the same in every mode of the connector as natively"
    }

    fn run(&self, context: &Context, log: &mut Log) -> Result<()> {
        if context.brief {
            let hdf5 = context.world.newest(Mpi::Mpich)?;
            return Trial::new(context, hdf5)?.run(log, context.seed, PROGRAMS_BRIEF, &["mode=window"]);
        }
        let programs = if context.full { PROGRAMS_FULL } else { PROGRAMS };
        // With Open MPI native HDF5 itself leaves other values in some of these programs now and then.
        let steady = |hdf5: &&Hdf5| context.full || hdf5.mpi == Mpi::Mpich;
        for (i, hdf5) in (0..).zip(context.world.hdf5.iter().filter(steady)) {
            let first = context.seed + i * programs.iter().sum::<u64>();
            Trial::new(context, hdf5)?.run(log, first, programs, &MODES)?;
        }
        Ok(())
    }
}

/// One installation.
struct Trial<'a> {
    context: &'a Context,
    hdf5: &'a Hdf5,
    program: PathBuf,
}

impl<'a> Trial<'a> {
    fn new(context: &'a Context, hdf5: &'a Hdf5) -> Result<Self> {
        let program = context.scratch.join(format!("differ-{}-{}", hdf5.version, hdf5.mpi));
        let sources = sources(&place::root().join("tests/differ"))?;
        mpi::compile(hdf5, &sources.iter().map(PathBuf::as_path).collect::<Vec<_>>(), &program)?;
        Ok(Self { context, hdf5, program })
    }

    /// So many programs on 1, 2, ... ranks, with seeds from `first` on.
    fn run(&self, log: &mut Log, mut first: u64, programs: &[u64], modes: &[&str]) -> Result<()> {
        let on = On::hdf5(self.hdf5);
        let mut coverage = BTreeMap::new();
        let mut explained = 0;
        let mut bad_natively = Vec::new();
        for (ranks, &count) in (1..).zip(programs) {
            let seeds = first..first + count;
            first = seeds.end;
            let mut equal = vec![0; modes.len()];
            for (number, batch) in batches(seeds).enumerate() {
                let plain = modes.len().min(PLAIN_MODES);
                let turn = plain + number % (modes.len() - plain).max(1);
                let runs = |m: usize| !self.context.full || m < plain || m == turn;
                let modes: Vec<(usize, &str)> =
                    modes.iter().copied().enumerate().filter(|(m, _)| runs(*m)).collect();
                let native = self.launch(ranks, &batch, Way::Native)?;
                native.add_coverage(&mut coverage);
                let bad = batch.clone().filter(|&seed| native.well(seed).is_err());
                bad_natively.extend(bad.map(|seed| format!("{seed} on {ranks}")));
                let through = self.launch_all(ranks, &batch, &modes)?;
                for (&(m, mode), through) in modes.iter().zip(&through) {
                    for seed in batch.clone().filter(|&seed| native.well(seed).is_ok()) {
                        match native.compare(through, seed) {
                            Ok(()) => equal[m] += 1,
                            Err(_)
                                if through.has_crashed_at(seed)
                                    && self.crashes_natively(ranks, &batch, seed) =>
                            {
                                bad_natively.push(format!("{seed} on {ranks}"));
                            }
                            Err(_) if self.is_unsteady(ranks, seed) => {
                                bad_natively.push(format!("{seed} on {ranks}"));
                            }
                            Err(e) => {
                                explained += 1;
                                let e = if explained <= EXPLAINED_MAX { e } else { anyhow!("it differs") };
                                log.note(format!("{e:#}"));
                                log.case(&on, format!("{ranks} ranks, {mode}: seed {seed}"), Err(e));
                            }
                        }
                    }
                    if let Err(e) = through.assert_active() {
                        log.case(&on, format!("{ranks} ranks, {mode}: the connector was active"), Err(e));
                    }
                }
            }
            for (mode, equal) in modes.iter().zip(equal).filter(|(_, equal)| *equal > 0) {
                log.record(&on, format!("{ranks} ranks, {mode}: random programs"), equal, Verdict::Pass);
            }
        }
        log.note(covered(&coverage)?);
        if !bad_natively.is_empty() {
            let which = format!("seeds on ranks {}", bad_natively.join(", "));
            log.record(
                &on,
                which,
                bad_natively.len(),
                Verdict::Skip("native HDF5 itself goes wrong".to_owned()),
            );
        }
        let all: u64 = programs.iter().sum();
        ensure!(bad_natively.len() as u64 <= 1 + all / 20, "too many programs go wrong natively");
        Ok(())
    }

    /// Whether the programs up to one that crashed also crash now and then without the connector: memory that one of them has damaged
    /// may show in a later one.
    fn crashes_natively(&self, ranks: usize, batch: &Range<u64>, seed: u64) -> bool {
        let seeds = batch.start..batch.end.min(seed + 2);
        let crashes = |_| self.launch(ranks, &seeds, Way::Careless).is_ok_and(|run| run.has_crashed());
        (0..ATTEMPTS).any(crashes)
    }

    /// Whether a program also goes wrong now and then when the connector captures nothing, or without it.
    fn is_unsteady(&self, ranks: usize, seed: u64) -> bool {
        let wrong = |attempt| {
            let way = if attempt % 2 == 0 { Way::Careless } else { Way::Through("mode=off") };
            let run = self.launch(ranks, &(seed..seed + 1), way);
            run.is_ok_and(|run| run.well(seed).is_err())
        };
        (0..ATTEMPTS).any(wrong)
    }

    /// The same programs in these modes.
    fn launch_all(&self, ranks: usize, seeds: &Range<u64>, modes: &[(usize, &str)]) -> Result<Vec<Results>> {
        let mut all = Vec::with_capacity(modes.len());
        for some in modes.chunks(AT_ONCE) {
            let done: Vec<_> = thread::scope(|scope| {
                let start = |mode| scope.spawn(move || self.launch(ranks, seeds, Way::Through(mode)));
                let started: Vec<_> = some.iter().map(|(_, mode)| start(*mode)).collect();
                started.into_iter().map(|one| one.join().expect("a launch does not panic")).collect()
            });
            all.extend(done.into_iter().collect::<Result<Vec<_>>>()?);
        }
        Ok(all)
    }

    fn launch(&self, ranks: usize, seeds: &Range<u64>, way: Way) -> Result<Results> {
        let Self { context, hdf5, program } = self;
        Launch { context, mpi: hdf5.mpi, program, ranks, way }.run(seeds.clone())
    }
}

fn batches(seeds: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    seeds.clone().step_by(BATCH as usize).map(move |from| from..(from + BATCH).min(seeds.end))
}

/// What the programs did, and that there is nothing that they never did.
fn covered(coverage: &BTreeMap<String, u64>) -> Result<String> {
    ensure!(coverage.len() > 40, "the programs did only {} kinds of things", coverage.len());
    let kinds: Vec<String> = coverage.iter().map(|(kind, times)| format!("{kind} {times}")).collect();
    Ok(format!("what the programs did, as rank 0 saw it: {}", kinds.join(", ")))
}

/// The C files of a folder, sorted.
pub(super) fn sources(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(dir).with_context(|| format!("no sources in {}", dir.display()))?;
    let mut all: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    all.retain(|path| path.extension().is_some_and(|e| e == "c"));
    all.sort();
    Ok(all)
}
