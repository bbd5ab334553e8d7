//! `cargo xtask bench`: the kernels of `examples/kernels`, natively and through Sago, side by side and against the limit.
//!
//! Nothing here asserts a time. Every variant first shows that its file is right, every run through the connector that
//! the connector was active, and every table whether the machine was calm enough to be believed.

mod calm;
mod cases;
mod core;
mod html;
mod latency;
pub mod launch;
mod measure;
mod report;
mod stats;
mod summary;
pub mod variants;

use crate::proc::Run;
use crate::world::{Hdf5, Mpi, World, plugin_dir};
use crate::{place, stage};
use anyhow::{Context, Result, ensure};
use cases::{CASES, Case};
use launch::{Io, Kernels};
use lexopt::prelude::*;
use measure::{Settings, Site};
use report::{Group, Machine};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

const HELP: &str = "\
cargo xtask bench [CASE]...
measures the I/O kernels against the limit, natively and through Sago; without CASE all of them
(`cargo xtask bench core --help`: commits alone, without HDF5)

  --list                list the cases; `latency` is one
  --quick               a few cases on MPICH, under three minutes
  --mpi mpich|openmpi   one MPI (both)
  --io romio|ompio      one MPI-IO (all that the MPI has)
  --hdf5 VERSION        (the newest)
  --ranks N             (4)
  --dir DIR             file system to write to, may be repeated (/dev/shm)
  --rounds N            interleaved repeats (7, quick 3)
  --seed N              order of the runs (from the clock)
  --read                measure reading back instead of writing
  --flush               H5Fflush after each step
  --native              without Sago
  --poll                let MPICH ranks poll without pause, as they do where each has a core of its own
  --strace              count system calls, in runs of their own
  --json FILE           all figures
  --html FILE           a page with bar plots
  --summary FILE...     print the JSON of earlier runs as one table, in Markdown
";

const LATENCY: &str = "latency";

/// The start of the name of a run's folder; its process follows.
const FOLDER: &str = "sago-bench-";

struct Options {
    cases: Vec<&'static Case>,
    latency: bool,
    mpis: Vec<Mpi>,
    io: Option<Io>,
    hdf5: Option<String>,
    dirs: Vec<PathBuf>,
    ranks: usize,
    poll: bool,
    native: bool,
    settings: Settings,
    json: Option<PathBuf>,
    html: Option<PathBuf>,
}

pub fn command(args: &mut lexopt::Parser) -> Result<()> {
    let Some(options) = parse(args)? else { return Ok(()) };
    let world = World::ready()?;
    stage::stage(None)?;
    let machine = machine(options.settings.seed)?;
    println!(
        "bench: {} cores, Linux {}, load {}, seed {}",
        machine.cores, machine.kernel, machine.load, machine.seed
    );
    calm::touch_memory();
    let mut groups = Vec::new();
    for &mpi in &options.mpis {
        let hdf5 = choose(&world, mpi, options.hdf5.as_deref())?;
        let scratch = place::target()?.join("xtask/bench");
        let kernels = Kernels::build(hdf5, &plugin_dir(), &scratch)?.polling(options.poll).timed();
        for &io in Io::of(mpi).iter().filter(|io| options.io.is_none_or(|wanted| wanted == **io)) {
            for dir in &options.dirs {
                groups.push(group(&options, &kernels, io, dir)?);
            }
        }
    }
    if let Some(file) = &options.json {
        fs::write(file, serde_json::to_string_pretty(&report::json(&machine, &groups))? + "\n")?;
    }
    if let Some(file) = &options.html {
        fs::write(file, html::page(&machine, &groups))?;
    }
    Ok(())
}

/// All cases in one configuration, printed as they are done.
fn group(options: &Options, kernels: &Kernels, io: Io, dir: &Path) -> Result<Group> {
    let own = OwnFolder::new(dir)?;
    let file_system = Run::new("stat").args(["-f", "-c", "%T"]).arg(dir).text()?;
    let site = Site { kernels, io, ranks: options.ranks, dir: own.0.clone() };
    let title = format!(
        "{} ({}), HDF5 {}, {} ranks, {} ({file_system}), {}",
        kernels.hdf5.mpi,
        io.name(),
        kernels.hdf5.version,
        options.ranks,
        dir.display(),
        if options.settings.read { "read" } else { "write" }
    );
    println!("\n{title}");
    let (modes, unavailable) = if options.native { Default::default() } else { kernels.modes(&site.dir) };
    // Off is measured in full runs: there it says what passing through costs.
    let modes: Vec<_> =
        modes.into_iter().filter(|mode| !(options.settings.quick && mode.1 == "mode=off")).collect();
    unavailable.iter().for_each(|(name, why)| println!("  {name}: not available ({why})"));
    let mut tables = Vec::new();
    for case in &options.cases {
        let table = measure::measure(case, &site, &modes, &options.settings)?;
        println!("{}", report::table(&table).trim_end());
        tables.push(table);
    }
    let latency =
        if options.latency { Some(latency::measure(&site, &modes, &options.settings)?) } else { None };
    latency.iter().for_each(|l| println!("{}", l.table().trim_end()));
    Ok(Group { title, tables, latency, unavailable })
}

fn choose<'a>(world: &'a World, mpi: Mpi, version: Option<&str>) -> Result<&'a Hdf5> {
    let Some(version) = version else { return world.newest(mpi) };
    let found = world.hdf5.iter().find(|h| h.mpi == mpi && h.version == version);
    found.with_context(|| format!("no HDF5 {version} for {mpi}; `cargo xtask paths` shows what there is"))
}

/// A folder that goes away with us.
struct OwnFolder(PathBuf);

impl OwnFolder {
    fn new(parent: &Path) -> Result<Self> {
        let parent = std::path::absolute(parent)?;
        remove_stale(&parent);
        let dir = parent.join(format!("{FOLDER}{}", std::process::id()));
        fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
        Ok(Self(dir))
    }
}

/// Folders of runs that were killed: on a memory file system they would hold memory for ever.
fn remove_stale(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.strip_prefix(FOLDER).is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        // Nothing can be done about a folder that does not want to go.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn machine(seed: u64) -> Result<Machine> {
    let load = fs::read_to_string("/proc/loadavg")?;
    Ok(Machine {
        cores: std::thread::available_parallelism()?.get(),
        kernel: fs::read_to_string("/proc/sys/kernel/osrelease")?.trim().to_owned(),
        load: load.split(' ').next().unwrap_or("?").to_owned(),
        seed,
        command: ["cargo xtask".to_owned()]
            .into_iter()
            .chain(std::env::args().skip(1))
            .collect::<Vec<_>>()
            .join(" "),
    })
}

fn list() {
    CASES.iter().for_each(|c| println!("{:<14} {:<46} {} {}", c.name, c.about, c.kernel, c.args));
    println!("{LATENCY:<14} microseconds per call");
}

/// The options; nothing if only help or a list was wanted.
fn parse(args: &mut lexopt::Parser) -> Result<Option<Options>> {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let (mut quick, mut names, mut rounds) = (false, Vec::new(), None);
    let mut o = Options {
        cases: Vec::new(),
        latency: false,
        mpis: Vec::new(),
        io: None,
        hdf5: None,
        dirs: Vec::new(),
        ranks: 4,
        poll: false,
        native: false,
        settings: Settings { rounds: 7, seed, read: false, flush: false, quick: false, count: false },
        json: None,
        html: None,
    };
    while let Some(arg) = args.next()? {
        match arg {
            Long("help") | Short('h') => {
                print!("{HELP}");
                return Ok(None);
            }
            Long("list") => {
                list();
                return Ok(None);
            }
            Long("summary") => {
                let files: Vec<PathBuf> = args.values()?.map(PathBuf::from).collect();
                print!("{}", summary::markdown(&files)?);
                return Ok(None);
            }
            Long("quick") => quick = true,
            Long("mpi") => o.mpis.push(Mpi::parse(&args.value()?.string()?)?),
            Long("io") => o.io = Some(Io::parse(&args.value()?.string()?)?),
            Long("hdf5") => o.hdf5 = Some(args.value()?.string()?),
            Long("dir") => o.dirs.push(PathBuf::from(args.value()?)),
            Long("ranks") => o.ranks = args.value()?.parse()?,
            Long("rounds") => rounds = Some(args.value()?.parse()?),
            Long("seed") => o.settings.seed = args.value()?.parse()?,
            Long("read") => o.settings.read = true,
            Long("flush") => o.settings.flush = true,
            Long("strace") => o.settings.count = true,
            Long("native") => o.native = true,
            Long("poll") => o.poll = true,
            Long("json") => o.json = Some(PathBuf::from(args.value()?)),
            Long("html") => o.html = Some(PathBuf::from(args.value()?)),
            Value(name) if name == "core" && names.is_empty() => {
                core::command(args)?;
                return Ok(None);
            }
            Value(name) => names.push(name.string()?),
            other => return Err(other.unexpected().into()),
        }
    }
    o.settings.rounds = rounds.unwrap_or(if quick { 3 } else { 7 });
    o.settings.quick = quick;
    ensure!(o.settings.rounds > 0 && o.ranks > 0, "at least one round and one rank");
    o.latency = names.is_empty() || names.iter().any(|n| n == LATENCY);
    o.cases = choose_cases(&names, quick)?;
    if o.mpis.is_empty() {
        o.mpis = if quick { vec![Mpi::Mpich] } else { vec![Mpi::Mpich, Mpi::OpenMpi] };
    }
    if o.dirs.is_empty() {
        o.dirs.push(PathBuf::from("/dev/shm"));
    }
    Ok(Some(o))
}

fn choose_cases(names: &[String], quick: bool) -> Result<Vec<&'static Case>> {
    if names.is_empty() {
        return Ok(CASES.iter().filter(|c| c.quick || !quick).collect());
    }
    let find = |name: &String| {
        cases::find(name).with_context(|| format!("no case `{name}`; `cargo xtask bench --list` names them"))
    };
    names.iter().filter(|n| *n != LATENCY).map(find).collect()
}
