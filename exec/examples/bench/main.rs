//! The core against the limit, on real ranks: `tests/mpi/run.c` loads this library. One run measures one pattern; all that
//! is compared is measured in one process, in an order drawn anew for each repeat. Rank 0 prints one line of JSON.
//!
//! The limit: every rank writes its contiguous share of one file with one call per step. It waits as the core does.

mod patterns;

use patterns::Shape;
use sago_core::config::Config;
use sago_core::cost::Calibration;
use sago_core::declare::Direction;
use sago_core::plan::StorageFacts;
use sago_core::random::Random;
use sago_exec::{Lent, Session, Setting, Stats};
use sago_mpi::{Mpi, MpiRanks, Options, RawComm, Reduce, Transport};
use sago_storage::{Access, FileSystem, PosixFile, Storage};
use std::ffi::{CStr, c_char, c_int};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Called between MPI_Init and MPI_Finalize with `PATTERN FOLDER REPEATS STEPS SEED [OPTIONS]`.
///
/// # Safety
/// `comm` holds a live communicator in its low bytes; `argv` has `argc` C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sago_run(comm: isize, argc: c_int, argv: *const *const c_char) -> c_int {
    let argc = usize::try_from(argc).unwrap_or(0);
    // SAFETY: promised by the caller.
    let args: Vec<String> = unsafe { std::slice::from_raw_parts(argv, argc) }
        .iter()
        // SAFETY: as above.
        .map(|arg| unsafe { CStr::from_ptr(*arg) }.to_string_lossy().into_owned())
        .collect();
    let measured = Mpi::in_process().map_err(|e| e.to_string()).and_then(|mpi| {
        // SAFETY: promised by the caller; this is the thread that called MPI_Init.
        let ranks = unsafe { MpiRanks::new(mpi, RawComm(comm), Options::default()) };
        let ranks = ranks.map_err(|e| e.to_string())?;
        let line = Bench::new(&ranks, &args)?.run().map_err(|e| e.to_string())?;
        if ranks.rank() == 0 {
            println!("{line}");
        }
        Box::new(ranks).close().map_err(|e| e.to_string())
    });
    match measured {
        Ok(()) => 0,
        Err(complaint) => {
            println!("FAIL {}: {complaint}", args.join(" "));
            1
        }
    }
}

struct Bench<'a> {
    ranks: &'a dyn Transport,
    shape: Shape,
    folder: String,
    repeats: u64,
    steps: u64,
    seed: u64,
    setting: Setting,
}

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

impl<'a> Bench<'a> {
    fn new(ranks: &'a dyn Transport, args: &[String]) -> Result<Self, String> {
        let [name, folder, repeats, steps, seed, options @ ..] = args else {
            return Err("PATTERN FOLDER REPEATS STEPS SEED [OPTIONS]".to_owned());
        };
        let number = |text: &String| text.parse().map_err(|_| format!("not a number: {text}"));
        let (rank, size) = (ranks.rank() as u64, ranks.size() as u64);
        let shape = Shape::named(name, rank, size).ok_or_else(|| format!("no pattern `{name}`"))?;
        let config = Config::parse(&options.join(" ")).map_err(|e| e.to_string())?;
        let medium =
            FileSystem::of(Path::new(folder)).map_or_else(|_| Default::default(), |found| found.medium());
        let storage = StorageFacts { medium, ..StorageFacts::default() };
        let calibration = Calibration::of(&storage, !config.machine.is_empty());
        let setting = Setting { config, storage, calibration };
        let folder = folder.clone();
        let (repeats, steps, seed) = (number(repeats)?, number(steps)?, number(seed)?);
        Ok(Self { ranks, shape, folder, repeats, steps, seed, setting })
    }

    fn run(&self) -> Outcome<String> {
        let bytes: Vec<Vec<u8>> = self.shape.memory();
        // Once: bytes that have just been put together would still be in the processor's cache.
        let joined = bytes.concat();
        let mut session = Session::open(self.ranks, self.file("core")?, self.setting.clone())?;
        // Not counted: memory is touched for the first time, and so is the file system.
        self.limit(&joined)?;
        let first = self.core(&mut session, &bytes, self.steps)?;
        let before = (session.stats(), session.memory_bytes());
        let (mut limit, mut again, mut core) = (Vec::new(), Vec::new(), Vec::new());
        let mut random = Random::new(self.seed);
        for _ in 0..self.repeats {
            let mut order = [0, 1, 2];
            order.swap(2, random.below(3) as usize);
            order.swap(1, random.below(2) as usize);
            for which in order {
                match which {
                    0 => limit.push(self.limit(&joined)?),
                    1 => again.push(self.limit(&joined)?),
                    _ => core.push(self.core(&mut session, &bytes, self.steps)?),
                }
            }
        }
        let grown = session.memory_bytes() - before.1;
        let stats = self.joined(before.0, session.stats(), core.len() as u64 * self.steps)?;
        let mut memory = [session.memory_bytes() as u64];
        self.ranks.allreduce(Reduce::Sum, &mut memory)?;
        session.close()?;
        let list = |values: &[f64]| {
            let texts: Vec<String> = values.iter().map(|v| format!("{v:.6}")).collect();
            texts.join(",")
        };
        Ok(format!(
            "{{\"ranks\":{},\"bytes\":{},\"first_s\":{first:.6},\"limit_s\":[{}],\"again_s\":[{}],\"core_s\":[{}],\
             \"memory_bytes\":{},\"grown_bytes\":{grown},{stats}}}",
            self.ranks.size(),
            self.shape.bytes() * self.ranks.size() as u64 * self.steps,
            list(&limit),
            list(&again),
            list(&core),
            memory[0],
        ))
    }

    /// A new file, open on all ranks.
    fn file(&self, name: &str) -> Outcome<Arc<dyn Storage>> {
        let path = Path::new(&self.folder).join(name);
        if self.ranks.rank() == 0 {
            let _ = std::fs::remove_file(&path);
            File::create(&path)?;
        }
        self.ranks.barrier()?;
        Ok(Arc::new(PosixFile::open(&path, Access::Write)?))
    }

    fn limit(&self, joined: &[u8]) -> Outcome<f64> {
        let path = Path::new(&self.folder).join("limit");
        if self.ranks.rank() == 0 {
            let _ = std::fs::remove_file(&path);
            File::create(&path)?;
        }
        self.ranks.barrier()?;
        let file = std::fs::OpenOptions::new().write(true).open(&path)?;
        let share = joined.len() as u64;
        self.ranks.barrier()?;
        let start = Instant::now();
        for step in 0..self.steps {
            let at = (step * self.ranks.size() as u64 + self.ranks.rank() as u64) * share;
            file.write_all_at(joined, at)?;
            self.ranks.barrier()?;
        }
        Ok(start.elapsed().as_secs_f64())
    }

    /// The same steps by way of the core, each further on in the file.
    fn core(&self, session: &mut Session, bytes: &[Vec<u8>], steps: u64) -> Outcome<f64> {
        session.turn_to(self.file("core")?);
        let total = self.shape.bytes() * self.ranks.size() as u64;
        self.ranks.barrier()?;
        let start = Instant::now();
        for step in 0..steps {
            let declared = self.shape.declared(Direction::Write, step * total.next_multiple_of(1 << 20));
            session.commit(declared, &Lent::new(bytes.iter().map(Vec::as_slice)))?;
        }
        Ok(start.elapsed().as_secs_f64())
    }

    /// Where the time of a step went, over all ranks.
    fn joined(&self, before: Stats, after: Stats, steps: u64) -> Outcome<String> {
        let mut numbers = [
            (after.planning - before.planning).as_micros() as u64,
            (after.copying - before.copying).as_micros() as u64,
            (after.waiting - before.waiting).as_micros() as u64,
            (after.storing - before.storing).as_micros() as u64,
            (after.background - before.background).as_micros() as u64,
            (after.agreeing - before.agreeing).as_micros() as u64,
            after.copied_bytes - before.copied_bytes,
            after.requests - before.requests,
            after.rounds - before.rounds,
        ];
        self.ranks.allreduce(Reduce::Sum, &mut numbers)?;
        let names = [
            "plan_us",
            "copy_us",
            "wait_us",
            "store_us",
            "background_us",
            "agree_us",
            "copied_bytes",
            "requests",
            "rounds",
        ];
        let each = |(name, number): (&str, u64)| format!("\"{name}\":{}", number / steps);
        Ok(names.into_iter().zip(numbers).map(each).collect::<Vec<_>>().join(","))
    }
}
