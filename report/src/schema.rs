//! The JSON of a report, field by field. A field is added without a new number; one that changes its meaning, or goes, makes
//! [`SCHEMA`] larger.

use serde::{Deserialize, Serialize};

pub const SCHEMA: u32 = 1;

/// What `kind` says in the line of a file; the line that each process adds at its end has none.
pub const KIND: &str = "file";

/// One file, from its opening to its closing, over all ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub schema: u32,
    pub kind: String,
    /// Versions of Sago and of the HDF5 in the process.
    pub sago: String,
    pub hdf5: String,
    pub file: String,
    /// `window` or `immediate`.
    pub mode: String,
    pub writable: bool,
    /// The ranks of the node may not read each other's memory: what they wrote together was exchanged in commits.
    #[serde(default)]
    pub memory_closed: bool,
    pub ranks: u32,
    /// From opening to closing, on rank 0.
    pub open_us: u64,
    /// What collecting this report took of that.
    pub collecting_us: u64,
    pub machine: Machine,
    pub datasets: Vec<Dataset>,
    /// How many datasets the last entry, `other datasets`, stands for.
    pub datasets_together: u64,
    pub commits: Commits,
    pub rounds: Rounds,
    pub storage: Storage,
    pub phases: Vec<Phase>,
    pub aggregators: Vec<Aggregator>,
    pub traffic: Traffic,
    pub links: Vec<Link>,
    pub memory: Memory,
    pub file_system: Option<FileSystem>,
    /// The sizes that the last plan went by; none if nothing was planned.
    pub plan: Option<Sizes>,
    pub options: Vec<OptionValue>,
    pub timeline: Vec<Round>,
    /// Rounds that are not in it.
    pub timeline_left_out: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Its network, as the option `machine` writes it.
    pub network: String,
    pub nodes: u32,
    /// How many ranks are on each node; of the first 4096 nodes.
    pub node_ranks: Vec<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dataset {
    pub name: String,
    /// What Sago carried out.
    #[serde(default, skip_serializing_if = "Calls::is_none")]
    pub written: Calls,
    #[serde(default, skip_serializing_if = "Calls::is_none")]
    pub read: Calls,
    /// What was left to HDF5, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed: Vec<Passed>,
}

/// Calls of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    /// Of all ranks together; each counts once.
    pub collective: u64,
    /// Of single ranks.
    pub independent: u64,
    /// Over all ranks, as they lie in the file; of calls left to HDF5 as they lie in memory.
    pub bytes: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passed {
    pub direction: Direction,
    pub reason: String,
    pub calls: Calls,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    #[default]
    Write,
    Read,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commits {
    /// Of all ranks together, reads included.
    pub together: u64,
    /// Of those, how many used a plan that had been made before.
    pub reused: u64,
    /// Of single ranks, for what did not fit into their windows.
    pub alone: u64,
}

/// What went through the buffers of aggregators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rounds {
    pub count: u64,
    pub bytes: u64,
    /// What would have fitted.
    pub room_bytes: u64,
}

/// System calls by which Sago wrote to the file and read from it. HDF5's own, for metadata and what was left to it, are
/// not among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Storage {
    pub write_calls: u64,
    pub write_bytes: u64,
    pub read_calls: u64,
    pub read_bytes: u64,
    /// Of the bytes written, those that were while the program went on, before the commit.
    #[serde(default)]
    pub ahead_bytes: u64,
}

/// Where time went, over ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    pub name: String,
    pub min_us: u64,
    pub median_us: u64,
    pub max_us: u64,
    /// Rank by rank; empty where there are more than 64.
    pub ranks_us: Vec<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Aggregator {
    pub rank: u32,
    pub node: u32,
    pub rounds: u64,
    pub bytes: u64,
    pub room_bytes: u64,
    /// What the planner expected of its place, for the last plan that chose it: gathering there, and on to storage.
    pub gather_us: f64,
    pub drain_us: f64,
}

/// Who sent how many bytes to whom.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// What the numbers of `cells` are: ranks, nodes, or blocks of nodes.
    pub by: By,
    /// How many ranks or nodes each number stands for.
    pub each: u32,
    /// From, to, bytes; a rank that stores its own bytes sends nothing.
    pub cells: Vec<(u32, u32, u64)>,
    /// Bytes that ranks stored by themselves.
    pub own_bytes: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    #[default]
    Rank,
    Node,
}

/// Bytes over a class of links; a message that crosses two links of a class counts twice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    pub class: String,
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// What each rank may collect.
    pub window_bytes: u64,
    /// What a rank had collected at most.
    pub collected_bytes_max: u64,
    /// Buffers for the exchange, of the rank with most, and of all.
    pub buffers_bytes_max: u64,
    pub buffers_bytes: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSystem {
    pub kind: String,
    pub block_bytes: u64,
    pub stripe_bytes: Option<u64>,
    pub targets: Option<u32>,
    /// Whether other nodes see the same files.
    pub shared: Option<bool>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    pub buffer_bytes: u64,
    pub stripe_bytes: u64,
    pub targets: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionValue {
    pub name: String,
    pub value: String,
    /// Where it came from.
    pub source: String,
}

/// One use of an aggregator's buffer, or one piece that a rank stored by itself. Times are since the file was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    pub rank: u32,
    pub commit: u64,
    pub round: u32,
    pub kind: RoundKind,
    /// The first bytes arrived.
    pub from_us: u64,
    /// The last ones did.
    pub full_us: u64,
    /// The storage calls began, and ended.
    pub store_us: u64,
    pub end_us: u64,
    pub bytes: u64,
    pub room_bytes: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RoundKind {
    #[default]
    Write,
    Read,
    /// Written or read by a rank for itself.
    Own,
}

impl Report {
    /// The report in a line of a report file; `None` if it is not the line of a file.
    pub fn parse(line: &str) -> Result<Option<Self>, String> {
        #[derive(Deserialize)]
        struct Head {
            schema: Option<u32>,
            kind: Option<String>,
        }
        let head: Head = serde_json::from_str(line).map_err(|error| error.to_string())?;
        match (head.kind.as_deref(), head.schema) {
            (Some(KIND), Some(SCHEMA)) => {
                serde_json::from_str(line).map(Some).map_err(|error| error.to_string())
            }
            (Some(KIND), schema) => {
                let schema = schema.map_or_else(|| "none".to_owned(), |number| number.to_string());
                Err(format!("the report has schema {schema}, and this sago knows {SCHEMA}"))
            }
            _ => Ok(None),
        }
    }

    /// One line, with its end.
    pub fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    pub fn phase(&self, name: &str) -> Option<&Phase> {
        self.phases.iter().find(|phase| phase.name == name)
    }

    /// What Sago carried out, over all datasets.
    pub fn captured(&self, direction: Direction) -> Calls {
        let of = |dataset: &Dataset| match direction {
            Direction::Write => dataset.written,
            Direction::Read => dataset.read,
        };
        self.datasets.iter().map(of).fold(Calls::default(), Calls::and)
    }

    /// What was left to HDF5, over all datasets.
    pub fn passed(&self, direction: Direction) -> Calls {
        let passed = self.datasets.iter().flat_map(|dataset| &dataset.passed);
        let passed = passed.filter(|passed| passed.direction == direction);
        passed.map(|passed| passed.calls).fold(Calls::default(), Calls::and)
    }
}

impl Calls {
    /// One after the other.
    pub fn and(self, other: Self) -> Self {
        Self {
            collective: self.collective + other.collective,
            independent: self.independent + other.independent,
            bytes: self.bytes + other.bytes,
        }
    }

    /// Of some ranks and of others: collective calls are the same ones.
    pub fn beside(self, other: Self) -> Self {
        Self {
            collective: self.collective.max(other.collective),
            independent: self.independent + other.independent,
            bytes: self.bytes + other.bytes,
        }
    }

    fn is_none(&self) -> bool {
        *self == Self::default()
    }

    pub fn count(self) -> u64 {
        self.collective + self.independent
    }
}

impl Rounds {
    /// How full the buffers were, from 0 to 1.
    pub fn fill(self) -> f64 {
        if self.room_bytes == 0 { 0.0 } else { self.bytes as f64 / self.room_bytes as f64 }
    }
}
