//! A scenario: a machine, its file system, what the ranks write, and how. It is text, one `key value` per line, `#` for
//! comments; the values are the same small language as everywhere else in Sago. What cannot be right is refused with a
//! sentence and the place.
//!
//! ```text
//! machine     dragonfly groups=2 routers=6x16 nodes=4 local=14GB/s global=12.5GB/s ranks_per_node=16
//! storage     lustre targets=48 stripe=8MiB target=3GB/s lock=1ms
//! pattern     hacc particles=25000 layout=aos
//! options     aggregators=48 buffer=8MiB
//! two-phase   aggregators=96 domains=striped
//! ```

mod fault;
mod lines;
mod named;
mod storage;
mod two_phase;

pub use fault::{Fault, Slow, Who};
pub use lines::{Lines, ScenarioError};
pub use named::{NAMED, Named, named};
pub use storage::{FileSystem, LockHolder};
pub use two_phase::{Domains, Holes, Order, TwoPhaseOptions};

use crate::strategy::Strategy;
use sago_core::config::Config;
use sago_core::cost::Calibration;
use sago_core::declare::Direction;
use sago_core::pattern::AccessPattern;
use sago_core::text::{Fields, TextError, bytes_per_s, duration_s};
use sago_core::topology::Machine;

#[derive(Clone, Debug)]
pub struct Scenario {
    pub about: String,
    pub machine: Machine,
    pub storage: FileSystem,
    pub pattern: AccessPattern,
    pub direction: Direction,
    pub config: Config,
    pub two_phase: TwoPhaseOptions,
    /// One file for this many ranks, one after the other; all ranks if 0.
    pub file_ranks: u32,
    pub costs: Costs,
    pub strategies: Vec<Strategy>,
    pub faults: Vec<Fault>,
    pub seed: u64,
}

/// What ranks spend besides moving bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// Of one message at the rank that sends it, and at the one that receives it where it must take part.
    pub message_s: f64,
    /// What each rank adds to a collective exchange of counts among all.
    pub sync_s: f64,
    /// What each rank adds to the making of a plan.
    pub plan_s: f64,
    /// The rate at which a rank copies what a program hands over; `None`: that of the node's memory.
    pub capture_bytes_per_s: Option<f64>,
}

/// The lines that a scenario may have.
pub(crate) const KEYS: &[&str] = &[
    "about",
    "machine",
    "storage",
    "pattern",
    "options",
    "two-phase",
    "files",
    "costs",
    "strategies",
    "direction",
    "fault",
    "seed",
];

impl Scenario {
    pub fn parse(text: &str) -> Result<Self, ScenarioError> {
        Self::from_lines(&Lines::parse(text)?)
    }

    pub fn from_lines(lines: &Lines) -> Result<Self, ScenarioError> {
        let machine: Machine = lines.required("machine", |text| text.parse::<Machine>())?;
        let storage: FileSystem = lines.required("storage", |text| text.parse::<FileSystem>())?;
        lines.check_servers(&machine, &storage)?;
        let pattern: AccessPattern = lines.required("pattern", |text| text.parse::<AccessPattern>())?;
        let config = lines.options("options")?;
        let two_phase = lines.line("two-phase", TwoPhaseOptions::parse)?.unwrap_or_default();
        let ranks = machine.ranks();
        let file_ranks = lines.value("files", |text| files(text, ranks))?.unwrap_or(0);
        let costs = lines.line("costs", Costs::parse)?.unwrap_or_default();
        let strategies = lines.value("strategies", strategies)?.unwrap_or_else(|| Strategy::ALL.to_vec());
        let direction = lines.value("direction", direction)?.unwrap_or(Direction::Write);
        let faults = lines.all("fault", |text| Fault::parse(text, &machine, storage.pool))?;
        let seed = lines.value("seed", seed)?.unwrap_or(1);
        let about = lines.text("about").unwrap_or_default().to_owned();
        let scenario = Self {
            about,
            machine,
            storage,
            pattern,
            direction,
            config,
            two_phase,
            file_ranks,
            costs,
            strategies,
            faults,
            seed,
        };
        lines.check_pattern(&scenario)?;
        Ok(scenario)
    }

    /// How many ranks share a file.
    pub fn ranks_per_file(&self) -> u32 {
        if self.file_ranks == 0 { self.machine.ranks() } else { self.file_ranks }
    }

    pub fn files(&self) -> u32 {
        self.machine.ranks() / self.ranks_per_file()
    }

    /// The scenario's numbers as the planner's cost formula wants them.
    pub fn calibration(&self) -> Calibration {
        Calibration {
            request_s: self.storage.request_s + self.storage.seek_s + self.storage.file_request_s,
            lock_s: self.storage.lock_s,
            target_bytes_per_s: self.storage.target_bytes_per_s,
            message_s: self.costs.message_s,
            sync_s: self.costs.sync_s,
            ..Calibration::default()
        }
    }
}

impl Default for Costs {
    /// A message and a rank's share of a collective as in the planner's own calibration; a plan costs 7 ms for 65,536
    /// ranks (`docs/PLANNER.md`).
    fn default() -> Self {
        let Calibration { message_s, sync_s, .. } = Calibration::default();
        Self { message_s, sync_s, plan_s: 0.11e-6, capture_bytes_per_s: None }
    }
}

impl Costs {
    fn parse(text: &str) -> Result<Self, TextError> {
        let fields = Fields::parse("line", "costs message=2us sync=1us", text)?;
        let time = |name, usual| {
            let read = |text: &str| if text == "0" { Some(0.0) } else { duration_s(text) };
            let expects = "a time with its unit, for example 1us";
            Ok::<f64, TextError>(fields.optional(name, expects, read)?.unwrap_or(usual))
        };
        let usual = Self::default();
        let costs = Self {
            message_s: time("message", usual.message_s)?,
            sync_s: time("sync", usual.sync_s)?,
            plan_s: time("plan", usual.plan_s)?,
            capture_bytes_per_s: fields.optional("capture", "a rate, for example 4GB/s", bytes_per_s)?,
        };
        fields.finish()?;
        Ok(costs)
    }
}

fn bad(word: &str, value: &str, expects: String) -> TextError {
    TextError::BadValue { word: word.to_owned(), value: value.to_owned(), expects, at: 0 }
}

fn files(text: &str, ranks: u32) -> Result<u32, TextError> {
    let expects = || format!("`shared`, or a number of ranks for each file that divides {ranks}");
    match text {
        "shared" => Ok(0),
        _ => {
            let fits = |n: &u32| *n > 0 && ranks.is_multiple_of(*n);
            text.parse().ok().filter(fits).ok_or_else(|| bad("files", text, expects()))
        }
    }
}

fn strategies(text: &str) -> Result<Vec<Strategy>, TextError> {
    let mut at = 0;
    let mut all = Vec::new();
    for word in text.split([' ', ',']) {
        if !word.is_empty() {
            let found = Strategy::parse(word).ok_or_else(|| TextError::BadValue {
                word: "strategies".into(),
                value: word.into(),
                expects: format!("some of {}", Strategy::ALL.map(|s| s.name()).join(", ")),
                at,
            })?;
            all.push(found);
        }
        at += word.len() + 1;
    }
    Ok(all)
}

fn direction(text: &str) -> Result<Direction, TextError> {
    match text {
        "write" => Ok(Direction::Write),
        "read" => Ok(Direction::Read),
        _ => Err(bad("direction", text, "`write` or `read`".into())),
    }
}

fn seed(text: &str) -> Result<u64, TextError> {
    text.parse().map_err(|_| bad("seed", text, "a whole number".into()))
}
