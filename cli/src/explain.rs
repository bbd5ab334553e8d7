//! `sago explain`: what Sago would do for a job on a machine, and why.

use crate::arguments::Arguments;
use crate::complaint::{Complaint, printed};
use crate::json;
use sago_core::config::Config;
use sago_core::cost::Calibration;
use sago_core::declare::{Declared, Direction, Outline, Summary};
use sago_core::explain::Explanation;
use sago_core::ids::Rank;
use sago_core::pattern::AccessPattern;
use sago_core::plan::{Job, StorageFacts, plan};
use sago_core::schedule::Schedule;
use sago_core::text::TextError;
use sago_core::topology::{Machine, slurm};
use std::io::Write;

pub const USAGE: &str = "\
sago explain --machine TEXT --pattern TEXT [--options TEXT] [--slurm FILE] [--read] [--json]

  --machine TEXT   the machine in one line, or the path of a file with that line:
                     flat nodes=4 link=10GB/s ranks_per_node=4
                     torus dims=4x4x4x4x2 link=1.8GB/s latency=600ns pset=128 bridges=10,11 ranks_per_node=16
                     dragonfly groups=9 routers=6x16 nodes=4 local=14GB/s global=12.5GB/s gateways=unknown
                     fattree leaves=16 nodes=32 spines=8 oversubscription=2 link=12.5GB/s
                     tree shape=((2)(2)) link=50MB/s,6.25MB/s ranks_per_node=2
  --slurm FILE     take the shape of a tree from Slurm's topology.conf (tree or block)
  --pattern TEXT   what the ranks write:
                     aos vars=3 bytes=20             soa vars=9 bytes=1MiB
                     hacc particles=25000 layout=soa columns vars=9 records=50000 size=4
                     interleaved block=4KiB count=16 tiles grid=4x8 tile=768x1024 element=64
                     blocks grid=2x2x4 block=32x32x32 element=8 vars=24
                     diagonal tile=64x64 element=8   random seed=7 extents=5 len_max=4KiB file=1GiB
                     list extents={0+100,200+50|300+10}
  --options TEXT   options as for the connector, for example `stripe=8MiB targets=48 groups=4`
  --read           plan reading instead of writing
  --json           as JSON
";

pub const NAMED: &[&str] = &["--machine", "--slurm", "--pattern", "--options"];
pub const FLAGS: &[&str] = &["--read", "--json"];

pub fn run(arguments: &[String], out: &mut dyn Write) -> Result<(), Complaint> {
    let arguments = Arguments::parse("explain", arguments, NAMED, FLAGS)?;
    let machine = machine(&arguments)?;
    let pattern_text = arguments.required("--pattern")?;
    let pattern: AccessPattern =
        pattern_text.parse().map_err(|error| pointed("pattern", pattern_text, &error))?;
    let options = arguments.get("--options").unwrap_or_default();
    let config =
        Config::parse(options).map_err(|error| Complaint::at("options", &error, options, error.at()))?;
    let direction = if arguments.flag("--read") { Direction::Read } else { Direction::Write };

    let declare = |rank| pattern.declare(Rank(rank), machine.ranks(), direction);
    let declared: Vec<Declared> = (0..machine.ranks())
        .map(declare)
        .collect::<Result<_, _>>()
        .map_err(|error| Complaint::at("pattern", &error, pattern_text, 0))?;
    let (storage, calibration) = (StorageFacts::default(), Calibration::default());
    let job = Job { machine: &machine, config: &config, storage, calibration };
    let summaries: Vec<Summary> = declared.iter().map(Declared::summary).collect();
    let plan = plan(&job, &summaries, |rank| Outline::of(&declared[rank.index()]))
        .map_err(|error| Complaint::plain(format!("sago explain: {error}\n")))?;
    let schedule = Schedule::new(&plan, &declared);
    schedule
        .validate(&plan, &declared)
        .map_err(|error| Complaint::plain(format!("sago explain: {error}; please report this\n")))?;
    let explanation = Explanation::new(&job, &plan, &schedule, &declared);
    if arguments.flag("--json") {
        return printed(writeln!(out, "{:#}", json::explanation(&explanation)));
    }
    printed(write!(out, "pattern     {pattern}\n{explanation}"))
}

fn machine(arguments: &Arguments<'_>) -> Result<Machine, Complaint> {
    let given = arguments.required("--machine")?;
    let mut text = match std::fs::read_to_string(given) {
        Ok(content) => content.trim().to_owned(),
        Err(_) => given.to_owned(),
    };
    if let Some(path) = arguments.get("--slurm") {
        let conf = std::fs::read_to_string(path)
            .map_err(|error| Complaint::plain(format!("sago explain: cannot read {path}: {error}\n")))?;
        let found = slurm::read(&conf)
            .map_err(|error| Complaint::plain(format!("sago explain: {path}: {error}\n")))?;
        text = format!("{text} shape={}", found.shape);
    }
    text.parse().map_err(|error| pointed("machine", &text, &error))
}

fn pointed(what: &str, text: &str, error: &TextError) -> Complaint {
    Complaint::at(what, error, text, error.at())
}
