//! `cargo xtask bench core`: the core without HDF5, on real ranks and real files, against the limit (every rank writes its
//! contiguous share). The library `exec/examples/bench` measures; this launches it, judges the noise and prints.

use super::OwnFolder;
use super::calm::watched;
use super::stats::{Noise, Quartiles};
use crate::suites::exec;
use crate::world::Mpi;
use crate::{mpi, place};
use anyhow::{Context, Result, ensure};
use lexopt::prelude::*;
use serde_json::{Value as Json, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const HELP: &str = "\
cargo xtask bench core [PATTERN]...
measures commits without HDF5 against the limit; without PATTERN all of them

  --mpi mpich|openmpi   (mpich)
  --ranks N             (4)
  --dir DIR             file system to write to, may be repeated (/dev/shm)
  --rounds N            interleaved repeats (9)
  --steps N             steps in a file (3)
  --seed N              order of the runs (from the clock)
  --options TEXT        options of Sago, e.g. \"exchange=aggregate buffer=1MiB\"
  --json FILE           all figures
";

const PATTERNS: &[&str] = &[
    "soa-1m",
    "soa-8m",
    "flash",
    "packed",
    "columns-50k",
    "columns-500k",
    "tiles-4k",
    "tiles-512",
    "blocks-64k",
];

struct Options {
    patterns: Vec<String>,
    mpi: Mpi,
    ranks: usize,
    dirs: Vec<PathBuf>,
    rounds: u64,
    steps: u64,
    seed: u64,
    sago: String,
    json: Option<PathBuf>,
}

pub fn command(args: &mut lexopt::Parser) -> Result<()> {
    let Some(options) = parse(args)? else { return Ok(()) };
    let library = exec::library("bench", true)?;
    let scratch = place::target()?.join("xtask/bench-core");
    fs::create_dir_all(&scratch)?;
    let host = exec::host(options.mpi, &scratch)?;
    let mut all = Vec::new();
    for dir in &options.dirs {
        let own = OwnFolder::new(dir)?;
        println!("\n{}, {} ranks, {}, seed {}", options.mpi, options.ranks, dir.display(), options.seed);
        println!("{HEAD}");
        for pattern in &options.patterns {
            let measured = measure(&options, &host, &library, &own.0, pattern)?;
            println!("{}", row(pattern, &measured)?);
            all.push(json!({ "dir": dir, "pattern": pattern, "measured": measured }));
        }
    }
    if let Some(file) = &options.json {
        fs::write(file, serde_json::to_string_pretty(&all)? + "\n")?;
    }
    Ok(())
}

fn measure(options: &Options, host: &Path, library: &Path, dir: &Path, pattern: &str) -> Result<Json> {
    let numbers = [options.rounds, options.steps, options.seed].map(|n| n.to_string());
    let run = mpi::mpiexec(options.mpi, options.ranks)
        .env("OMPI_MCA_osc", "^ucx")
        .arg(host)
        .arg(library)
        .arg(pattern)
        .arg(dir)
        .args(&numbers)
        .arg(&options.sago)
        .limit(Duration::from_secs(300));
    let (done, others) = watched(|| run.ok())?;
    let line = done.stdout.lines().find(|line| line.starts_with('{')).with_context(|| done.explain())?;
    let mut measured: Json = serde_json::from_str(line)?;
    measured["others"] = json!(others);
    Ok(measured)
}

const HEAD: &str = "pattern        of the limit (quartiles)  again  limit GB/s  first step  memory MiB  plan  copy  wait store agree us/step";

/// One line: the median of the ratios of neighbours in time, its quartiles, and where a rank's time of a step went.
fn row(pattern: &str, measured: &Json) -> Result<String> {
    let list = |name: &str| -> Result<Vec<f64>> {
        let values = measured[name].as_array().context("a list of times")?;
        Ok(values.iter().filter_map(Json::as_f64).collect())
    };
    let (limit, again, core) = (list("limit_s")?, list("again_s")?, list("core_s")?);
    ensure!(
        !limit.is_empty() && limit.len() == core.len() && again.len() == core.len(),
        "lists of one length"
    );
    let ratio = |other: &[f64]| -> Vec<f64> { limit.iter().zip(other).map(|(l, o)| l / o).collect() };
    let (of_limit, noise) = (Quartiles::of(&ratio(&core)), Quartiles::of(&ratio(&again)));
    let number = |name: &str| measured[name].as_f64().unwrap_or(0.0);
    let speed = number("bytes") / Quartiles::of(&limit).median / 1e9;
    let us = |name: &str| number(name) / number("ranks").max(1.0);
    let first = Quartiles::of(&core).median / number("first_s").max(1e-9);
    let verdict = match Noise::of(noise, number("others")) {
        Noise::Calm => "",
        other => other.sentence(),
    };
    Ok(format!(
        "{pattern:<14} {:>4.2} ({:.2}-{:.2})          {:>5.2}  {speed:>10.2}  {first:>10.2}  {:>10.1}  {:>4.0}  {:>4.0}  {:>4.0}  {:>4.0}  {:>4.0}  {verdict}",
        of_limit.median,
        of_limit.low,
        of_limit.high,
        noise.median,
        number("memory_bytes") / f64::from(1 << 20),
        us("plan_us"),
        us("copy_us"),
        us("wait_us"),
        us("store_us"),
        us("agree_us"),
    ))
}

/// The options; nothing if only help was wanted.
fn parse(args: &mut lexopt::Parser) -> Result<Option<Options>> {
    let mut o = Options {
        patterns: Vec::new(),
        mpi: Mpi::Mpich,
        ranks: 4,
        dirs: Vec::new(),
        rounds: 9,
        steps: 3,
        seed: SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs(),
        sago: String::new(),
        json: None,
    };
    while let Some(arg) = args.next()? {
        match arg {
            Long("help") | Short('h') => {
                print!("{HELP}\npatterns: {}\n", PATTERNS.join(" "));
                return Ok(None);
            }
            Long("mpi") => o.mpi = Mpi::parse(&args.value()?.string()?)?,
            Long("ranks") => o.ranks = args.value()?.parse()?,
            Long("dir") => o.dirs.push(PathBuf::from(args.value()?)),
            Long("rounds") => o.rounds = args.value()?.parse()?,
            Long("steps") => o.steps = args.value()?.parse()?,
            Long("seed") => o.seed = args.value()?.parse()?,
            Long("options") => o.sago = args.value()?.string()?,
            Long("json") => o.json = Some(PathBuf::from(args.value()?)),
            Value(name) => o.patterns.push(name.string()?),
            other => return Err(other.unexpected().into()),
        }
    }
    let unknown = o.patterns.iter().find(|name| !PATTERNS.contains(&name.as_str()));
    ensure!(unknown.is_none(), "no pattern `{}`; there are {}", o.patterns.concat(), PATTERNS.join(" "));
    ensure!(o.rounds > 0 && o.steps > 0 && o.ranks > 0, "at least one round, one step and one rank");
    if o.patterns.is_empty() {
        o.patterns = PATTERNS.iter().map(|name| (*name).to_owned()).collect();
    }
    if o.dirs.is_empty() {
        o.dirs.push(PathBuf::from("/dev/shm"));
    }
    Ok(Some(o))
}
