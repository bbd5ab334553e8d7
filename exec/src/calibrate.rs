//! What this node can do, measured once and kept: how fast it copies, how fast one writer and several write to a file
//! system, what a message and a meeting of all ranks cost. Takes a quarter of a second at most.
//!
//! The result is text, one `name=value` a line, in a file of the user's cache that is named after host and file system.
//! The first rank reads or writes it and tells the others, so that all ranks plan with the same numbers. What cannot be
//! kept is measured again next time; what cannot be measured is the default.

use crate::Error;
use sago_core::cost::Calibration;
use sago_mpi::{Receive, Reduce, Send, Transport};
use sago_storage::{Access, FileSystem, PosixFile, Storage};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Instant;

/// What was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    pub host: String,
    pub file_system: String,
    pub copy_bytes_per_s: f64,
    /// Of all writers together, with 1, 2, 4 and so on of them.
    pub write_bytes_per_s: Vec<f64>,
    /// One write of 4 KiB.
    pub request_s: f64,
    /// One small message from rank to rank, there and back, halved.
    pub message_s: f64,
    /// One meeting of all ranks.
    pub meeting_s: f64,
    pub ranks: usize,
}

const COPY_BYTES: usize = 8 << 20;
const WRITE_BYTES: usize = 4 << 20;
const REPEATS: usize = 3;

impl Measured {
    /// Collective: what is kept for this host and the file system of `folder`, or, if nothing is, a measurement with a
    /// file of its own in `folder`. `cache` is [`cache_folder`] unless told otherwise.
    pub fn of(ranks: &dyn Transport, folder: &Path, cache: Option<&Path>) -> Result<Self, Error> {
        let file = cache.map(|cache| cache.join(name(folder)));
        let kept =
            if ranks.rank() == 0 { file.as_ref().and_then(|f| fs::read_to_string(f).ok()) } else { None };
        if let Ok(kept) = tell(ranks, kept.as_deref().unwrap_or(""))?.parse() {
            return Ok(kept);
        }
        let measured = measure(ranks, folder)?;
        let text = tell(ranks, &measured.to_string())?;
        if let (0, Some(file)) = (ranks.rank(), &file) {
            // Without a cache it is measured anew each time.
            let _ = keep(file, &text);
        }
        text.parse().map_err(|()| Error::Garbled)
    }

    /// As costs for the planner.
    pub fn calibration(&self) -> Calibration {
        let default = Calibration::default();
        let alone = self.write_bytes_per_s.first().copied().unwrap_or(default.target_bytes_per_s);
        let most = self.write_bytes_per_s.last().copied().unwrap_or(alone);
        let writers = 1_u32 << (self.write_bytes_per_s.len().max(1) - 1).min(20);
        let slower = (alone / most - 1.0).max(0.0) / f64::from(writers.max(2) - 1);
        Calibration {
            request_s: self.request_s,
            target_bytes_per_s: alone,
            crowding: slower,
            message_s: self.message_s,
            sync_s: self.meeting_s / self.ranks.max(1) as f64,
            ..default
        }
    }
}

/// Where measurements are kept: a folder of the user.
pub fn cache_folder() -> Option<PathBuf> {
    let var = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    var("SAGO_CACHE")
        .or_else(|| Some(var("XDG_CACHE_HOME")?.join("sago")))
        .or_else(|| Some(var("HOME")?.join(".cache/sago")))
}

fn host() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned()
}

fn file_system(folder: &Path) -> String {
    FileSystem::of(folder)
        .map_or("unknown".to_owned(), |found| format!("{}:{}", found.kind, found.mount_point.display()))
}

fn name(folder: &Path) -> String {
    let plain = |text: String| text.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "_");
    format!("calibration-{}-{}.txt", plain(host()), plain(file_system(folder)))
}

/// The first rank's text, on all ranks.
fn tell(ranks: &dyn Transport, text: &str) -> Result<String, Error> {
    let mine = if ranks.rank() == 0 { text } else { "" };
    let all = ranks.allgather(mine.as_bytes())?;
    Ok(String::from_utf8_lossy(all.part(0)).into_owned())
}

fn keep(file: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let new = file.with_extension(format!("{}.new", std::process::id()));
    fs::write(&new, text)?;
    fs::rename(new, file)
}

fn measure(ranks: &dyn Transport, folder: &Path) -> Result<Measured, Error> {
    let defaults = Calibration::default();
    let bytes = vec![1_u8; COPY_BYTES];
    let mut to = vec![0_u8; COPY_BYTES];
    let copy_s = best(ranks, || {
        std::hint::black_box(&mut to).copy_from_slice(std::hint::black_box(&bytes));
        Ok(())
    })?;
    let scratch = folder.join(format!(".sago-calibration-{}", tell(ranks, &std::process::id().to_string())?));
    let made = if ranks.rank() == 0 { fs::File::create(&scratch).is_ok() } else { true };
    ranks.barrier()?;
    let file = PosixFile::open(&scratch, Access::Write).ok().filter(|_| made);
    let mut all = [u64::from(file.is_some())];
    ranks.allreduce(Reduce::Min, &mut all)?;
    let file = file.filter(|_| all[0] == 1);
    let counts = (0..).map(|power| 1_usize << power).take_while(|writers| *writers <= ranks.size());
    let mut write_bytes_per_s = Vec::new();
    for writers in counts.filter(|_| all[0] == 1) {
        let write = || -> Result<(), Error> {
            let mine = ranks.rank() < writers;
            let at = (ranks.rank() * WRITE_BYTES) as u64;
            // A write that fails shows as a speed that is wrong, and in the commits that follow.
            let _ = file.as_ref().filter(|_| mine).map(|f| f.write(at, &bytes[..WRITE_BYTES]));
            Ok(())
        };
        write_bytes_per_s.push((WRITE_BYTES * writers) as f64 / best(ranks, write)?);
    }
    let small = |file: &PosixFile| {
        let start = Instant::now();
        let calls = 200;
        (0..calls).for_each(|i| {
            let _ = file.write(i * 4096, &bytes[..4096]);
        });
        start.elapsed().as_secs_f64() / calls as f64
    };
    let first = file.as_ref().filter(|_| ranks.rank() == 0);
    let request_s = first.map_or(defaults.request_s, small);
    let message_s = message(ranks)?;
    let meeting_s = best(ranks, || (0..50).try_for_each(|_| ranks.barrier()).map_err(Error::from))? / 50.0;
    drop(file);
    if ranks.rank() == 0 {
        let _ = fs::remove_file(&scratch);
    }
    Ok(Measured {
        host: host(),
        file_system: file_system(folder),
        copy_bytes_per_s: COPY_BYTES as f64 / copy_s,
        write_bytes_per_s,
        request_s,
        message_s,
        meeting_s,
        ranks: ranks.size(),
    })
}

/// The shortest of several times, from the meeting before to the meeting after.
fn best(ranks: &dyn Transport, mut work: impl FnMut() -> Result<(), Error>) -> Result<f64, Error> {
    let mut least = f64::INFINITY;
    for _ in 0..REPEATS {
        ranks.barrier()?;
        let start = Instant::now();
        work()?;
        ranks.barrier()?;
        least = least.min(start.elapsed().as_secs_f64());
    }
    Ok(least.max(1e-9))
}

/// Between the first two ranks.
fn message(ranks: &dyn Transport) -> Result<f64, Error> {
    const TAG: u16 = 0;
    const ROUNDS: u32 = 20;
    if ranks.size() < 2 || ranks.rank() > 1 {
        return Ok(Calibration::default().message_s);
    }
    let other = 1 - ranks.rank();
    let (mine, mut theirs) = ([1_u8; 8], [0_u8; 8]);
    let start = Instant::now();
    for _ in 0..ROUNDS {
        ranks.exchange(
            TAG,
            &[Send { to: other, bytes: &mine }],
            &mut [Receive { from: other, bytes: &mut theirs }],
        )?;
    }
    Ok(start.elapsed().as_secs_f64() / f64::from(ROUNDS))
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let speeds: Vec<String> = self.write_bytes_per_s.iter().map(|s| format!("{s:.0}")).collect();
        writeln!(f, "host={}\nfile_system={}", self.host, self.file_system)?;
        writeln!(f, "copy_bytes_per_s={:.0}\nwrite_bytes_per_s={}", self.copy_bytes_per_s, speeds.join(","))?;
        writeln!(f, "request_s={:e}\nmessage_s={:e}", self.request_s, self.message_s)?;
        writeln!(f, "meeting_s={:e}\nranks={}", self.meeting_s, self.ranks)
    }
}

impl FromStr for Measured {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let value =
            |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).ok_or(());
        let positive = |text: &str| text.parse().ok().filter(|n: &f64| n.is_finite() && *n > 0.0).ok_or(());
        let speeds = value("write_bytes_per_s")?;
        let speeds = speeds.split(',').filter(|speed| !speed.is_empty()).map(positive);
        Ok(Self {
            host: value("host")?.to_owned(),
            file_system: value("file_system")?.to_owned(),
            copy_bytes_per_s: positive(value("copy_bytes_per_s")?)?,
            write_bytes_per_s: speeds.collect::<Result<_, ()>>()?,
            request_s: positive(value("request_s")?)?,
            message_s: positive(value("message_s")?)?,
            meeting_s: positive(value("meeting_s")?)?,
            ranks: value("ranks")?.parse().map_err(|_| ())?,
        })
    }
}
