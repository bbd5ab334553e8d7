//! Pieces of the cache: made once, marked complete last, made two at a time in the order of their needs.

use crate::proc::tail;
use anyhow::{Context, Result, anyhow};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Instant;

const MARK: &str = ".complete";
/// Two cores are the machine that this is for; more workers would only make each piece slower.
const WORKERS: usize = 2;

type Make = Box<dyn Fn(&Work) -> Result<()> + Send + Sync>;

/// Something that `setup` makes.
pub struct Piece {
    title: String,
    folder: PathBuf,
    needs: Vec<PathBuf>,
    make: Make,
}

/// What a piece is made with.
pub struct Work {
    /// Where the result goes; exists and is empty.
    pub folder: PathBuf,
    /// For things that are not part of the result; removed afterwards.
    pub scratch: PathBuf,
    /// Takes the output of the commands.
    pub log: PathBuf,
}

impl Piece {
    /// `folder` is final: results such as venvs and RPATHs name their own place. `needs` are folders of other pieces.
    pub fn new(
        title: impl Into<String>,
        folder: PathBuf,
        needs: Vec<PathBuf>,
        make: impl Fn(&Work) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self { title: title.into(), folder, needs, make: Box::new(make) }
    }

    pub fn ready(&self) -> bool {
        complete(&self.folder)
    }

    fn make(&self, cache: &Path) -> Result<()> {
        let name = self.folder.file_name().context("a piece has a folder name")?.to_string_lossy();
        let work = Work {
            folder: self.folder.clone(),
            scratch: cache.join("scratch").join(&*name),
            log: cache.join(format!("logs/{name}.log")),
        };
        for stale in [&work.folder, &work.scratch] {
            remove(stale)?;
            fs::create_dir_all(stale)?;
        }
        fs::create_dir_all(cache.join("logs"))?;
        fs::write(&work.log, "")?;
        (self.make)(&work).map_err(|e| explain(e, &self.title))?;
        remove(&work.scratch)?;
        mark(&self.folder)
    }
}

/// Whether the piece in this folder was made to its end.
pub fn complete(folder: &Path) -> bool {
    folder.join(MARK).exists()
}

/// A folder name that changes with the recipe: FNV-1a over its parts.
pub fn keyed(cache: &Path, name: &str, recipe: &[&str]) -> PathBuf {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in recipe.iter().flat_map(|part| part.bytes().chain([0])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    cache.join(format!("{name}-{:08x}", hash >> 32))
}

/// Makes all pieces that are not there, `WORKERS` at a time; the first failure stops the start of new ones.
pub fn make_all(pieces: &[Piece], cache: &Path) -> Result<()> {
    let board = Mutex::new(Board {
        waiting: (0..pieces.len()).filter(|&i| !pieces[i].ready()).collect(),
        running: 0,
        failure: None,
    });
    let changed = Condvar::new();
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| work(pieces, cache, &board, &changed));
        }
    });
    match board.into_inner().map_err(|_| anyhow!("a worker of setup panicked"))?.failure {
        Some(failure) => Err(failure),
        None => Ok(()),
    }
}

struct Board {
    waiting: Vec<usize>,
    running: usize,
    failure: Option<anyhow::Error>,
}

fn work(pieces: &[Piece], cache: &Path, board: &Mutex<Board>, changed: &Condvar) {
    let Ok(mut state) = board.lock() else { return };
    loop {
        if state.failure.is_some() || state.waiting.is_empty() {
            return;
        }
        let able = |&i: &usize| pieces[i].needs.iter().all(|n| complete(n));
        let Some(at) = state.waiting.iter().position(able) else {
            if state.running == 0 {
                state.failure = Some(anyhow!("pieces of setup wait for each other"));
                return;
            }
            match changed.wait(state) {
                Ok(next) => state = next,
                Err(_) => return,
            }
            continue;
        };
        let piece = &pieces[state.waiting.remove(at)];
        state.running += 1;
        drop(state);
        let result = timed(piece, cache);
        match board.lock() {
            Ok(next) => state = next,
            Err(_) => return,
        }
        state.running -= 1;
        if let Err(failure) = result {
            state.failure.get_or_insert(failure);
        }
        changed.notify_all();
    }
}

fn timed(piece: &Piece, cache: &Path) -> Result<()> {
    println!("setup: {} ...", piece.title);
    let started = Instant::now();
    piece.make(cache)?;
    println!("setup: {} done in {:.0} s", piece.title, started.elapsed().as_secs_f64());
    Ok(())
}

fn mark(folder: &Path) -> Result<()> {
    let unfinished = folder.join(".unfinished");
    fs::write(&unfinished, "")?;
    Ok(fs::rename(unfinished, folder.join(MARK))?)
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(e).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// Turns what a tool printed into what the user can do about it.
pub fn explain(error: anyhow::Error, title: &str) -> anyhow::Error {
    const NETWORK: [&str; 8] = [
        "Could not resolve host",
        "Temporary failure in name resolution",
        "Temporary failure resolving",
        "Name or service not known",
        "Connection refused",
        "Connection timed out",
        "Network is unreachable",
        "Failed to fetch",
    ];
    let text = format!("{error:#}");
    let advice = if text.contains("No space left on device") {
        "the disk is full: make room, or set SAGO_CACHE to a folder on another disk, and run this again"
    } else if NETWORK.iter().any(|sign| text.contains(sign)) {
        "the network does not answer: setup needs the Debian mirror, crates.io and PyPI; check the connection (and proxy settings) and run this again"
    } else {
        "run this again once the cause is removed; what is complete is kept"
    };
    anyhow!("{title}: {advice}\n{}", tail(&text, 40))
}
