//! The parts of the ranks become one report. Parts are merged pairwise, in any order, so that ranks can do it in a tree; a
//! merged part is not much larger than the parts that it is made of.

use crate::schema::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of the entry for datasets beyond [`DATASETS_MAX`].
pub const OTHERS: &str = "other datasets";

const DATASETS_MAX: usize = 1000;
const RANKS_LISTED_MAX: usize = 64;
const BLOCKS_MAX: u32 = 256;
const NODES_LISTED_MAX: usize = 4096;
/// Rounds of one rank, and of all.
const RANK_ROUNDS_MAX: usize = 1024;
const ROUNDS_MAX: usize = 8192;

/// What some of the ranks know.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Contribution {
    /// By what tells datasets of a file apart.
    pub datasets: BTreeMap<String, Dataset>,
    pub datasets_together: u64,
    /// For each rank its times, in the order of [`Facts::phases`].
    pub times_us: Vec<(u32, Vec<u64>)>,
    pub commits: Commits,
    pub rounds: Rounds,
    pub storage: Storage,
    pub aggregators: BTreeMap<u32, Aggregator>,
    pub own_bytes: u64,
    /// From, to, bytes; numbers as [`Contribution::place`] makes them.
    pub sent: Vec<(u32, u32, u64)>,
    pub links: BTreeMap<String, u64>,
    pub collected_bytes_max: u64,
    pub buffers_bytes_max: u64,
    pub buffers_bytes: u64,
    pub timeline: Vec<Round>,
    pub timeline_left_out: u64,
}

/// What one rank knows of the whole.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub sago: &'static str,
    pub hdf5: String,
    pub file: String,
    pub mode: String,
    pub writable: bool,
    pub memory_closed: bool,
    pub open_us: u64,
    pub network: String,
    /// The node of each rank.
    pub nodes: Vec<u32>,
    pub window_bytes: u64,
    pub phases: &'static [&'static str],
    pub file_system: Option<FileSystem>,
    pub plan: Option<Sizes>,
    pub options: Vec<OptionValue>,
}

/// What a rank and a node are called in [`Traffic`], and how many share a name.
fn place_of(rank: u32, node: u32, ranks: u32, nodes: u32) -> u32 {
    if ranks as usize <= RANKS_LISTED_MAX { rank } else { node / nodes.div_ceil(BLOCKS_MAX).max(1) }
}

impl Contribution {
    /// By what a rank is called in [`Contribution::sent`]. `nodes` has the node of each rank.
    pub fn place(rank: u32, nodes: &[u32]) -> u32 {
        let node = nodes.get(rank as usize).copied().unwrap_or(0);
        place_of(rank, node, nodes.len() as u32, count(nodes))
    }

    /// Cuts what one rank brings to what a report can hold.
    pub fn bound(&mut self) {
        if self.timeline.len() > RANK_ROUNDS_MAX {
            self.timeline_left_out += (self.timeline.len() - RANK_ROUNDS_MAX) as u64;
            self.timeline.truncate(RANK_ROUNDS_MAX);
        }
        self.bound_datasets();
    }

    pub fn merge(&mut self, other: Self) {
        for (key, dataset) in other.datasets {
            match self.datasets.get_mut(&key) {
                Some(known) => known.merge(dataset),
                None => _ = self.datasets.insert(key, dataset),
            }
        }
        self.datasets_together = self.datasets_together.max(other.datasets_together);
        self.bound_datasets();
        self.times_us.extend(other.times_us);
        // The same commits, seen by other ranks; but each rank's own are its own.
        self.commits.together = self.commits.together.max(other.commits.together);
        self.commits.reused = self.commits.reused.max(other.commits.reused);
        self.commits.alone += other.commits.alone;
        self.rounds.count += other.rounds.count;
        self.rounds.bytes += other.rounds.bytes;
        self.rounds.room_bytes += other.rounds.room_bytes;
        self.storage.write_calls += other.storage.write_calls;
        self.storage.write_bytes += other.storage.write_bytes;
        self.storage.read_calls += other.storage.read_calls;
        self.storage.read_bytes += other.storage.read_bytes;
        self.storage.ahead_bytes += other.storage.ahead_bytes;
        self.aggregators.extend(other.aggregators);
        self.own_bytes += other.own_bytes;
        self.sent.extend(other.sent);
        self.sent = summed(std::mem::take(&mut self.sent));
        for (class, bytes) in other.links {
            *self.links.entry(class).or_default() += bytes;
        }
        self.collected_bytes_max = self.collected_bytes_max.max(other.collected_bytes_max);
        self.buffers_bytes_max = self.buffers_bytes_max.max(other.buffers_bytes_max);
        self.buffers_bytes += other.buffers_bytes;
        self.timeline_left_out += other.timeline_left_out;
        let room = ROUNDS_MAX.saturating_sub(self.timeline.len());
        self.timeline_left_out += other.timeline.len().saturating_sub(room) as u64;
        self.timeline.extend(other.timeline.into_iter().take(room));
    }

    /// Those beyond the limit become one entry.
    fn bound_datasets(&mut self) {
        while self.datasets.len() > DATASETS_MAX + 1 {
            let last = self.datasets.iter().rev().map(|(key, _)| key).find(|key| *key != OTHERS).cloned();
            let Some(dataset) = last.and_then(|key| self.datasets.remove(&key)) else { return };
            self.datasets_together += 1;
            let others = self.datasets.entry(OTHERS.to_owned()).or_default();
            others.name = OTHERS.to_owned();
            others.add(dataset);
        }
    }

    /// The report, once the parts of all ranks are in.
    pub fn finish(mut self, facts: Facts) -> Report {
        let ranks = facts.nodes.len() as u32;
        let nodes = count(&facts.nodes);
        let listed = ranks as usize <= RANKS_LISTED_MAX;
        self.times_us.sort();
        self.timeline.sort_by_key(|round| (round.rank, round.from_us, round.end_us));
        let others = self.datasets.remove(OTHERS);
        let mut datasets: Vec<Dataset> = self.datasets.into_values().collect();
        datasets.sort_by(|a, b| a.name.cmp(&b.name));
        datasets.extend(others);
        let mut node_ranks = vec![0; (nodes as usize).min(NODES_LISTED_MAX)];
        for node in &facts.nodes {
            if let Some(count) = node_ranks.get_mut(*node as usize) {
                *count += 1;
            }
        }
        let phase = |(at, name): (usize, &&str)| {
            let times = self.times_us.iter().map(|(_, times)| times.get(at).copied().unwrap_or(0));
            phase(name, times.collect(), listed)
        };
        Report {
            schema: SCHEMA,
            kind: KIND.to_owned(),
            sago: facts.sago.to_owned(),
            hdf5: facts.hdf5,
            file: facts.file,
            mode: facts.mode,
            writable: facts.writable,
            ranks,
            open_us: facts.open_us,
            collecting_us: 0,
            machine: Machine { network: facts.network, nodes, node_ranks },
            datasets,
            datasets_together: self.datasets_together,
            commits: self.commits,
            rounds: self.rounds,
            storage: self.storage,
            phases: facts.phases.iter().enumerate().map(phase).collect(),
            aggregators: self.aggregators.into_values().collect(),
            traffic: Traffic {
                by: if listed { By::Rank } else { By::Node },
                each: if listed { 1 } else { nodes.div_ceil(BLOCKS_MAX).max(1) },
                cells: summed(self.sent),
                own_bytes: self.own_bytes,
            },
            links: self.links.into_iter().map(|(class, bytes)| Link { class, bytes }).collect(),
            memory: Memory {
                window_bytes: facts.window_bytes,
                collected_bytes_max: self.collected_bytes_max,
                buffers_bytes_max: self.buffers_bytes_max,
                buffers_bytes: self.buffers_bytes,
            },
            memory_closed: facts.memory_closed,
            file_system: facts.file_system,
            plan: facts.plan,
            options: facts.options,
            timeline: self.timeline,
            timeline_left_out: self.timeline_left_out,
        }
    }
}

fn count(nodes: &[u32]) -> u32 {
    nodes.iter().max().map_or(1, |last| last + 1)
}

fn summed(cells: Vec<(u32, u32, u64)>) -> Vec<(u32, u32, u64)> {
    let mut sums: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    cells.into_iter().for_each(|(from, to, bytes)| *sums.entry((from, to)).or_default() += bytes);
    sums.into_iter().map(|((from, to), bytes)| (from, to, bytes)).collect()
}

fn phase(name: &str, ranks_us: Vec<u64>, listed: bool) -> Phase {
    let mut sorted = ranks_us.clone();
    sorted.sort_unstable();
    let at = |place: usize| sorted.get(place).copied().unwrap_or(0);
    Phase {
        name: name.to_owned(),
        min_us: at(0),
        median_us: at(sorted.len() / 2),
        max_us: at(sorted.len().saturating_sub(1)),
        ranks_us: if listed { ranks_us } else { Vec::new() },
    }
}

impl Dataset {
    /// The same dataset on other ranks.
    fn merge(&mut self, other: Self) {
        if self.name.is_empty() {
            self.name = other.name;
        }
        self.written = self.written.beside(other.written);
        self.read = self.read.beside(other.read);
        self.take_passed(other.passed, Calls::beside);
    }

    /// Another dataset, to be told of together.
    fn add(&mut self, other: Self) {
        self.written = self.written.and(other.written);
        self.read = self.read.and(other.read);
        self.take_passed(other.passed, Calls::and);
    }

    fn take_passed(&mut self, others: Vec<Passed>, join: fn(Calls, Calls) -> Calls) {
        for other in others {
            let same =
                |known: &&mut Passed| known.direction == other.direction && known.reason == other.reason;
            match self.passed.iter_mut().find(same) {
                Some(known) => known.calls = join(known.calls, other.calls),
                None => self.passed.push(other),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(rank: u32, datasets: usize, rounds: usize) -> Contribution {
        let calls = |bytes| Calls { collective: 2, independent: 1, bytes };
        let passed = Passed { direction: Direction::Write, reason: "a filter".into(), calls: calls(5) };
        let dataset = |i: usize| {
            let name = format!("/d{i:05}");
            let written = calls(u64::from(rank));
            (name.clone(), Dataset { name, written, passed: vec![passed.clone()], ..Dataset::default() })
        };
        let mut one = Contribution {
            datasets: (0..datasets).map(dataset).collect(),
            times_us: vec![(rank, vec![u64::from(rank), 7])],
            commits: Commits { together: 3, reused: 1, alone: 1 },
            sent: vec![(rank, 0, 10)],
            timeline: vec![Round { rank, ..Round::default() }; rounds],
            ..Contribution::default()
        };
        one.bound();
        one
    }

    fn merged(ranks: u32, datasets: usize, rounds: usize) -> Report {
        let mut parts: Vec<Contribution> = (0..ranks).map(|rank| part(rank, datasets, rounds)).collect();
        while parts.len() > 1 {
            let second = parts.split_off(parts.len().div_ceil(2));
            parts.iter_mut().zip(second).for_each(|(one, other)| one.merge(other));
        }
        let nodes = (0..ranks).map(|rank| rank / 16).collect();
        let facts = Facts { nodes, phases: &["planning", "copying"], ..Facts::default() };
        parts.remove(0).finish(facts)
    }

    #[test]
    fn collective_calls_count_once_and_bytes_on_every_rank() {
        let report = merged(5, 2, 1);
        assert_eq!(report.datasets[0].written, Calls { collective: 2, independent: 5, bytes: 10 });
        assert_eq!(report.datasets[1].passed[0].calls, Calls { collective: 2, independent: 5, bytes: 25 });
        assert_eq!(report.captured(Direction::Write), Calls { collective: 4, independent: 10, bytes: 20 });
        assert_eq!(report.commits, Commits { together: 3, reused: 1, alone: 5 });
        assert_eq!(report.phases[0].ranks_us, [0, 1, 2, 3, 4]);
        assert_eq!(report.traffic.cells, [0, 1, 2, 3, 4].map(|rank| (rank, 0, 10)));
        assert_eq!(Report::parse(&report.line()), Ok(Some(report)));
    }

    #[test]
    fn what_does_not_fit_is_told_of_together() {
        let report = merged(3, 2500, 5000);
        assert_eq!(report.datasets.len(), 1001);
        let others = report.datasets.last().unwrap();
        assert_eq!((others.name.as_str(), report.datasets_together), (OTHERS, 1500));
        assert_eq!(others.written, Calls { collective: 2 * 1500, independent: 3 * 1500, bytes: 3 * 1500 });
        let kept = report.timeline.len() as u64;
        assert_eq!((kept, kept + report.timeline_left_out), (3 * 1024, 3 * 5000));
    }

    #[test]
    fn thousands_of_ranks_are_nodes() {
        let report = merged(8192, 1, 3);
        assert_eq!((report.ranks, report.machine.nodes), (8192, 512));
        assert!(report.phases[0].ranks_us.is_empty());
        assert_eq!((report.phases[0].min_us, report.phases[0].max_us), (0, 8191));
        assert_eq!((report.traffic.by, report.traffic.each), (By::Node, 2));
        assert!(report.timeline.len() <= 8192 && report.line().len() < 3 << 20);
        assert_eq!(report.timeline.len() as u64 + report.timeline_left_out, 3 * 8192);
    }

    #[test]
    fn other_lines_and_other_schemas_are_told_apart() {
        assert_eq!(Report::parse(r#"{"sago":"0.1.0","calls":{}}"#), Ok(None));
        let later = Report::parse(r#"{"schema":99,"kind":"file"}"#).unwrap_err();
        assert_eq!(later, "the report has schema 99, and this sago knows 1");
        assert!(Report::parse("nonsense").is_err());
    }
}
