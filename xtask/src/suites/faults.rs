//! Suite `faults`: storage that fails below a program. The call that commits fails on every rank with an error stack that
//! names file, rank and reason; nothing hangs; what was in the file stays; later files work.
//!
//! A full disk is a real one, a small tmpfs. Single failing and short writes, and ranks that panic, come from a plugin with
//! the feature `provoke`, which takes them from the variable `SAGO_FAULT`.

use super::{Context, Log, On, Suite};
use crate::connector::Connector;
use crate::proc::Run;
use crate::world::Hdf5;
use crate::{mpi, place, stage};
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub struct Faults;

const RANKS: usize = 3;
const LIMIT: Duration = Duration::from_secs(60);
const DISK: &str = "size=3m";
const VARIABLE: &str = "SAGO_FAULT";
const MODES: [&str; 2] = ["mode=window", "mode=immediate"];
const TRANSFERS: [&str; 2] = ["collective", "independent"];
const FAULTS: [(&str, &str); 4] = [
    ("write=1 errno=5", "Input/output error"),
    ("rank=0 write=1 errno=5", "Input/output error"),
    ("rank=2 write=1 errno=28", "No space left on device"),
    ("full=65536", "No space left on device"),
];
/// Where a rank panics by itself, so that all fail; and where HDF5 does its part instead.
const PANICS: [&str; 7] = ["engine", "declare", "duties", "compare", "outline", "plan", "schedule"];
const SURVIVED: [&str; 2] = ["prepare", "convert"];
/// How ranks come to a dataset, where one of them panics while it looks it up, and how many panics do no harm: a rank looks twice,
/// and again when it uses the dataset, unless the others may have waited for it before.
const WAYS: [(&str, &str, u64); 5] = [
    ("created", "look-up", 1),
    ("created-chunked", "look-up", 1),
    ("opened", "look-up", 2),
    ("opened-chunked", "look-up", 2),
    ("extended", "extent", ALWAYS),
];
/// The ordinary window, one that is smaller than the dataset, and no waiting.
const WINDOWS: [&str; 3] = ["mode=window", "mode=window window=256KiB", "mode=immediate"];
/// Panics without end.
const ALWAYS: u64 = 1000;

impl Suite for Faults {
    fn name(&self) -> &'static str {
        "faults"
    }

    fn about(&self) -> &'static str {
        "full disks, failing and short writes and panics fail the committing call on every rank, and harm nothing else"
    }

    fn run(&self, context: &Context, log: &mut Log) -> Result<()> {
        let plugins = context.scratch.join("provoke/lib");
        stage::install(&stage::build(&["provoke"])?, &plugins)?;
        for hdf5 in context.world.hdf5.iter().filter(|h| context.full || h.release() >= (2, 0)) {
            let program = |name: &str| {
                mpi::program(hdf5, &context.scratch, &place::root().join("tests/faults").join(name))
            };
            let [program, lookup, remains] =
                [program("faults.c")?, program("lookup.c")?, program("remains.c")?];
            let bench = Bench { context, hdf5, program, lookup, remains, provoking: plugins.clone() };
            bench.full_disk(log)?;
            bench.injected(log);
            bench.lookups(log);
            bench.remains(log);
        }
        Ok(())
    }
}

struct Bench<'a> {
    context: &'a Context,
    hdf5: &'a Hdf5,
    program: PathBuf,
    lookup: PathBuf,
    remains: PathBuf,
    provoking: PathBuf,
}

impl Bench<'_> {
    fn full_disk(&self, log: &mut Log) -> Result<()> {
        let on = On::hdf5(self.hdf5);
        let Some(disk) = Disk::small(&self.context.scratch.join("disk"))? else {
            log.skip(&on, "a full disk", "mounting a small tmpfs needs root");
            return Ok(());
        };
        let file = disk.0.join("f.h5");
        for transfer in TRANSFERS {
            // Where HDF5 itself has to write to a full disk, it can wait for ever: natively, and in immediate mode at the flush.
            let mode = "mode=window";
            let connector = self.context.connector("disk")?.options(mode);
            let seen = self.seen(&file, transfer, &connector, None).and_then(|seen| {
                connector.assert_active(RANKS)?;
                seen.failed_everywhere(&file, "No space left on device")?;
                seen.rest_is_well()
            });
            log.case(&on, format!("a full disk, {mode}, {transfer}"), seen);
        }
        Ok(())
    }

    fn injected(&self, log: &mut Log) {
        let on = On::hdf5(self.hdf5);
        let file = self.context.scratch.join("f.h5");
        for mode in MODES {
            // Independent writes in immediate mode are left to HDF5.
            let transfers = if mode == "mode=immediate" { &TRANSFERS[..1] } else { &TRANSFERS[..] };
            for transfer in transfers {
                for (fault, reason) in FAULTS {
                    let result = self.provoke(&file, mode, transfer, fault).and_then(|seen| {
                        seen.failed_everywhere(&file, reason)?;
                        seen.rest_is_well()
                    });
                    log.case(&on, format!("{fault}, {mode}, {transfer}"), result);
                }
                let short = self.provoke(&file, mode, transfer, "short=2").and_then(|seen| seen.whole());
                log.case(&on, format!("every second write short, {mode}, {transfer}"), short);
                self.panics(&file, mode, transfer, log);
            }
        }
    }

    /// A panic on one rank: nobody hangs.
    fn panics(&self, file: &Path, mode: &str, transfer: &str, log: &mut Log) {
        let on = On::hdf5(self.hdf5);
        for place in &PANICS[..if self.context.full { PANICS.len() } else { 2 }] {
            let seen = self.provoke(file, mode, transfer, &format!("rank=1 panic={place}"));
            let result = seen.and_then(|seen| {
                seen.failed_everywhere(file, &format!("provoked at {place}"))?;
                seen.rest_is_well()
            });
            log.case(&on, format!("a panic at `{place}`, {mode}, {transfer}"), result);
        }
        for place in SURVIVED.iter().filter(|_| mode == "mode=window") {
            let seen = self.provoke(file, mode, transfer, &format!("rank=1 panic={place}"));
            log.case(
                &on,
                format!("a panic at `{place}`, {mode}, {transfer}"),
                seen.and_then(|seen| seen.whole()),
            );
        }
    }

    /// A panic on one rank while it looks a dataset up: if it can do so the next time, nobody notices; if it never can, all
    /// hear of it.
    fn lookups(&self, log: &mut Log) {
        let on = On::hdf5(self.hdf5);
        let file = self.context.scratch.join("lookup.h5");
        for mode in WINDOWS {
            for (way, place, harmless) in WAYS {
                for times in [1, 2, ALWAYS] {
                    let fault = format!("rank=1 panic={place} times={times}");
                    let seen = self.look_up(&file, mode, way, &fault);
                    let result = seen.and_then(|seen| {
                        if times <= harmless { seen.whole() } else { seen.told_everywhere(place) }
                    });
                    log.case(&on, format!("a dataset {way}, {fault}, {mode}"), result);
                }
            }
        }
    }

    /// A write that is larger than the window and fails in the middle leaves nothing that could come later.
    fn remains(&self, log: &mut Log) {
        let file = self.context.scratch.join("remains.h5");
        for mode in ["mode=window window=256KiB", "mode=immediate window=256KiB"] {
            let fault = "rank=0 write=1 errno=28";
            let seen = self.provoking(mode).and_then(|connector| {
                let run = mpi::mpiexec(self.hdf5.mpi, RANKS).arg(&self.remains).arg(&file);
                let run = run.arg(VARIABLE).arg(fault).limit(LIMIT);
                let seen = Seen::of(connector.apply(run), &file)?;
                connector.assert_active(RANKS)?;
                seen.failed_everywhere(&file, "No space left on device")?;
                seen.rest_is_well()
            });
            log.case(&On::hdf5(self.hdf5), format!("a write that fails in the middle, {mode}"), seen);
        }
    }

    fn look_up(&self, file: &Path, mode: &str, way: &str, fault: &str) -> Result<Seen> {
        let connector = self.provoking(mode)?;
        let run = mpi::mpiexec(self.hdf5.mpi, RANKS).arg(&self.lookup).arg(file).arg(way);
        let run = run.arg(VARIABLE).arg(fault).limit(LIMIT);
        let seen = Seen::of(connector.apply(run), file)?;
        connector.assert_active(RANKS)?;
        Ok(seen)
    }

    fn provoking(&self, options: &str) -> Result<Connector> {
        let report = self.context.scratch.join("provoke.report");
        Ok(Connector::new(&self.provoking, &report)?.options(options))
    }

    fn provoke(&self, file: &Path, mode: &str, transfer: &str, fault: &str) -> Result<Seen> {
        // A write that fails once, ahead of the commit, is made good by the commit.
        let connector = self.provoking(&format!("{mode} background=off"))?;
        let seen = self.seen(file, transfer, &connector, Some(fault))?;
        connector.assert_active(RANKS)?;
        Ok(seen)
    }

    fn seen(&self, file: &Path, transfer: &str, through: &Connector, fault: Option<&str>) -> Result<Seen> {
        let later = self.context.scratch.join("later.h5");
        let run = mpi::mpiexec(self.hdf5.mpi, RANKS).arg(&self.program).arg(file).arg(later);
        let run = run.arg(transfer).arg(VARIABLE).limit(LIMIT);
        let run = match fault {
            None => through.apply(run),
            Some(fault) => through.apply(run).env(VARIABLE, fault),
        };
        Seen::of(run, file)
    }
}

/// What the ranks told.
struct Seen {
    lines: Vec<String>,
}

impl Seen {
    /// What they tell while `run` uses this file. All must come to their end.
    fn of(run: Run, file: &Path) -> Result<Self> {
        let done = run.run()?;
        let _ = fs::remove_file(file);
        let lines: Vec<String> = done.stdout.lines().map(str::to_owned).collect();
        let ended = lines.iter().filter(|l| l.ends_with(" end")).count();
        ensure!(done.success() && ended == RANKS, "{}", done.explain());
        Ok(Self { lines })
    }

    fn text(&self) -> String {
        self.lines.join("\n")
    }

    /// Every rank has a failing call among those that commit, with a stack that names file, rank and reason.
    fn failed_everywhere(&self, file: &Path, reason: &str) -> Result<()> {
        let name = file.file_name().context("a file has a name")?.to_string_lossy();
        for rank in 0..RANKS {
            let commits = ["write", "flush", "close"].map(|call| format!("{rank} {call} failed:"));
            let first = self.lines.iter().find(|l| commits.iter().any(|c| l.starts_with(c)));
            let first = first.with_context(|| format!("no call failed on rank {rank}\n{}", self.text()))?;
            for word in [&name, "rank ", reason] {
                ensure!(first.contains(word), "`{word}` is missing in: {first}");
            }
        }
        Ok(())
    }

    /// No call has failed, and all is in the file.
    fn whole(&self) -> Result<()> {
        ensure!(!self.lines.iter().any(|l| l.contains(" failed:")), "{}", self.text());
        ensure!(self.lines.iter().any(|l| l == "0 whole ok"), "{}", self.text());
        Ok(())
    }

    /// Every rank has a call that failed, and one of them says where the panic was.
    fn told_everywhere(&self, place: &str) -> Result<()> {
        for rank in 0..RANKS {
            let failed = |l: &&String| l.starts_with(&format!("{rank} ")) && l.contains(" failed:");
            ensure!(self.lines.iter().any(|l| failed(&l)), "no call failed on rank {rank}\n{}", self.text());
        }
        ensure!(self.text().contains(&format!("provoked at {place}")), "no reason:\n{}", self.text());
        Ok(())
    }

    fn rest_is_well(&self) -> Result<()> {
        for line in ["0 kept ok", "0 later ok"] {
            ensure!(self.lines.iter().any(|l| l == line), "`{line}` is missing:\n{}", self.text());
        }
        Ok(())
    }
}

/// A small file system in memory, for as long as this lives.
struct Disk(PathBuf);

impl Disk {
    /// `None` if this process may not mount.
    fn small(dir: &Path) -> Result<Option<Self>> {
        fs::create_dir_all(dir)?;
        let mount = Run::new("mount").args(["-t", "tmpfs", "-o", DISK, "sago-faults"]).arg(dir).limit(LIMIT);
        Ok(mount.run()?.success().then(|| Self(dir.to_owned())))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Run::new("umount").arg(&self.0).limit(LIMIT).run();
    }
}
