//! What a report needs to know of an open file. It is there only if a report is asked for: all ranks have the same
//! options, so on all of them or on none.
//!
//! Invariants: without it nothing is collected, looked up or sent; with it, ranks meet once more, when the file is closed,
//! and whatever goes wrong is at most a complaint on standard error.

use super::crew::Crew;
use super::gather::gather;
use super::reason::Reason;
use crate::report;
use crate::state::State;
use sago_core::config::{Config, Layers, ReportOf, ReportTo};
use sago_core::explain::crossed;
use sago_core::ids::Rank;
use sago_exec::{Session, Stats, Trace};
use sago_hdf5::Library;
use sago_mpi::Transport;
use sago_report::{
    Aggregator, Calls, Commits, Contribution, Dataset, Direction, Facts, FileSystem, OptionValue, Passed,
    Report, Round, RoundKind, Rounds, Sizes, Storage as StorageCalls,
};
use sago_storage::{Counted, Storage};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// In the order of [`times`].
const PHASES: &[&str] =
    &["capturing", "planning", "copying", "exchanging", "waiting", "storing", "background", "agreeing"];

pub struct Record {
    /// When the ranks were last seen together: times of different ranks are compared by it.
    pub origin: Instant,
    place: ReportTo,
    options: Layers,
    path: PathBuf,
    storage: Arc<Counted<Arc<dyn Storage>>>,
    datasets: RefCell<BTreeMap<[u8; 16], Entry>>,
    /// Copying, and converting, into the window.
    capturing: Cell<Duration>,
    collected_bytes_max: Cell<u64>,
    /// What the sessions had done for files before.
    before: [Stats; 2],
}

/// A dataset on this rank.
#[derive(Default)]
struct Entry {
    name: String,
    captured: BTreeMap<Direction, Calls>,
    passed: BTreeMap<(Direction, &'static str), Calls>,
}

impl Entry {
    fn was_used(&self) -> bool {
        !self.captured.is_empty() || !self.passed.is_empty()
    }
}

/// What became of a call.
#[derive(Clone, Copy)]
pub enum Fate {
    Captured,
    Passed(Reason),
}

/// A file as its report names it.
pub struct About<'f> {
    pub library: &'static Library,
    pub name: &'f str,
    pub mode: String,
    pub writable: bool,
    /// What this rank wrote ahead of commits.
    pub ahead_bytes: u64,
    /// The time in which this rank read by itself.
    pub reading: Duration,
    /// The time in which commits waited for what went ahead of them.
    pub finishing: Duration,
}

impl Record {
    /// Begins to record if the options ask for it, and returns the storage to go on with.
    pub fn begin(
        options: &Layers,
        path: &Path,
        storage: Arc<dyn Storage>,
        crew: &mut Crew,
    ) -> (Option<Self>, Arc<dyn Storage>) {
        let Config { report, report_of, .. } = options.config();
        let Some(place) = report.clone().filter(|_| *report_of == ReportOf::All) else {
            return (None, storage);
        };
        let (origin, storage) = (Instant::now(), Arc::new(Counted::new(storage)));
        let begin = |session: &mut Session| {
            session.set_trace(Some(origin));
            session.stats()
        };
        let before = [&mut crew.together, &mut crew.alone]
            .map(|session| session.as_mut().map(begin).unwrap_or_default());
        let record = Self {
            origin,
            place,
            options: options.clone(),
            path: path.to_owned(),
            storage: Arc::clone(&storage),
            datasets: RefCell::default(),
            capturing: Cell::default(),
            collected_bytes_max: Cell::default(),
            before,
        };
        (Some(record), storage)
    }

    pub fn name_dataset(&self, token: [u8; 16], name: Option<String>) {
        let mut datasets = self.datasets.borrow_mut();
        let entry = datasets.entry(token).or_default();
        if let Some(name) = name {
            entry.name = name;
        }
    }

    pub fn call(&self, token: [u8; 16], direction: Direction, collective: bool, bytes: u64, fate: Fate) {
        let mut datasets = self.datasets.borrow_mut();
        let entry = datasets.entry(token).or_default();
        let calls = match fate {
            Fate::Captured => entry.captured.entry(direction).or_default(),
            Fate::Passed(reason) => entry.passed.entry((direction, reason.text())).or_default(),
        };
        let (collective, independent) = (u64::from(collective), u64::from(!collective));
        *calls = calls.and(Calls { collective, independent, bytes });
    }

    /// Bytes have been taken into the window, which now has so many.
    pub fn captured(&self, since: Instant, window_bytes: u64) {
        self.capturing.set(self.capturing.get() + since.elapsed());
        self.collected_bytes_max.set(self.collected_bytes_max.get().max(window_bytes));
    }

    /// Makes the report of all ranks and puts it where it was asked for. Collective.
    pub fn deliver(self, about: &About<'_>, crew: &mut Crew) -> Result<(), sago_mpi::Error> {
        let (start, open) = (Instant::now(), self.origin.elapsed());
        let traces = [&mut crew.together, &mut crew.alone]
            .map(|session| session.as_mut().and_then(Session::take_trace));
        let nodes: Vec<u32> = match &crew.together {
            Some(session) => {
                let machine = session.machine();
                (0..machine.ranks()).map(|rank| machine.node(Rank(rank)).0).collect()
            }
            None => crew.ranks.nodes()?.into_iter().map(|node| node as u32).collect(),
        };
        // A rank that fails here still has to meet the others.
        let mine = catch_unwind(AssertUnwindSafe(|| self.contribution(about, crew, &nodes, &traces)));
        let mine = mine.unwrap_or_default();
        let Some(all) = gather(&crew.ranks, mine)? else { return Ok(()) };
        let settings = traces.iter().flatten().find_map(|trace| trace.settings);
        let network = crew.together.as_ref().map(|session| {
            let text = session.machine().to_string();
            text.split(" map=").next().unwrap_or_default().to_owned()
        });
        let (major, minor, patch) = about.library.version();
        let mut report = all.finish(Facts {
            sago: env!("CARGO_PKG_VERSION"),
            hdf5: format!("{major}.{minor}.{patch}"),
            file: about.name.to_owned(),
            mode: about.mode.clone(),
            writable: about.writable,
            memory_closed: crew.memory_closed,
            open_us: us(open),
            network: network.unwrap_or_default(),
            nodes,
            window_bytes: crew.window.capacity(),
            phases: PHASES,
            file_system: file_system(&self.path),
            plan: settings.map(|s| Sizes {
                buffer_bytes: s.buffer_bytes,
                stripe_bytes: s.stripe_bytes,
                targets: s.targets,
            }),
            options: options(&self.options),
        });
        report.collecting_us = us(start.elapsed());
        write(State::of(about.library), &self.place, &report);
        Ok(())
    }

    /// What this rank knows.
    fn contribution(
        &self,
        about: &About<'_>,
        crew: &Crew,
        nodes: &[u32],
        traces: &[Option<Box<Trace>>; 2],
    ) -> Contribution {
        let me = crew.ranks.rank() as u32;
        let [together, alone] = [(&crew.together, &self.before[0]), (&crew.alone, &self.before[1])]
            .map(|(session, before)| session.as_ref().map(|s| s.stats().since(before)).unwrap_or_default());
        let counts = self.storage.counts();
        let place = |rank: u32| Contribution::place(rank, nodes);
        let mut mine = Contribution {
            datasets: self
                .datasets
                .take()
                .into_iter()
                .filter(|(_, entry)| entry.was_used())
                .map(dataset)
                .collect(),
            times_us: vec![(me, times(self.capturing.get(), about, [&together, &alone]))],
            commits: Commits { together: together.commits, reused: together.reused, alone: alone.commits },
            rounds: Rounds {
                count: together.rounds + alone.rounds,
                bytes: together.round_bytes + alone.round_bytes,
                room_bytes: together.round_room + alone.round_room,
            },
            storage: StorageCalls {
                write_calls: counts.write_calls,
                write_bytes: counts.write_bytes,
                read_calls: counts.read_calls,
                read_bytes: counts.read_bytes,
                ahead_bytes: about.ahead_bytes,
            },
            collected_bytes_max: self.collected_bytes_max.get(),
            ..Contribution::default()
        };
        for session in [&crew.together, &crew.alone].into_iter().flatten() {
            mine.buffers_bytes += session.memory_bytes() as u64;
        }
        mine.buffers_bytes_max = mine.buffers_bytes;
        for trace in traces.iter().flatten() {
            mine.own_bytes += trace.own_bytes;
            mine.timeline.extend(trace.rounds.iter().map(|round| timeline(me, round)));
            mine.timeline_left_out += trace.rounds_left_out;
        }
        if let ([Some(trace), _], Some(session)) = (traces, &crew.together) {
            mine.sent = trace.sent.iter().map(|(to, bytes)| (place(me), place(to.0), *bytes)).collect();
            mine.links = links(session, me, trace);
            if let Some(cost) = trace.aggregators.get(&Rank(me)) {
                let (rounds, bytes, room_bytes) = trace.served;
                let node = nodes.get(me as usize).copied().unwrap_or(0);
                let (gather_us, drain_us) = (cost.gather_s * 1e6, cost.drain_s * 1e6);
                let one = Aggregator { rank: me, node, rounds, bytes, room_bytes, gather_us, drain_us };
                mine.aggregators.insert(me, one);
            }
        }
        mine.bound();
        mine
    }
}

fn dataset((token, entry): ([u8; 16], Entry)) -> (String, Dataset) {
    let Entry { name, captured, passed } = entry;
    let calls = |direction| captured.get(&direction).copied().unwrap_or_default();
    let passed = passed.into_iter().map(|((direction, reason), calls)| {
        let reason = reason.to_owned();
        Passed { direction, reason, calls }
    });
    let (written, read) = (calls(Direction::Write), calls(Direction::Read));
    let key: String = token.iter().map(|byte| format!("{byte:02x}")).collect();
    (key, Dataset { name, written, read, passed: passed.collect() })
}

fn times(capturing: Duration, about: &About<'_>, sessions: [&Stats; 2]) -> Vec<u64> {
    let sum = |of: fn(&Stats) -> Duration| us(sessions.into_iter().map(of).sum());
    vec![
        us(capturing),
        sum(|s| s.planning),
        sum(|s| s.copying),
        sum(|s| s.exchanging),
        us(about.finishing) + sum(|s| s.waiting),
        us(about.reading) + sum(|s| s.storing),
        sum(|s| s.background),
        sum(|s| s.agreeing),
    ]
}

fn timeline(rank: u32, round: &sago_exec::RoundTrace) -> Round {
    let kind = match round.direction {
        Some(sago_core::declare::Direction::Write) => RoundKind::Write,
        Some(sago_core::declare::Direction::Read) => RoundKind::Read,
        None => RoundKind::Own,
    };
    Round {
        rank,
        commit: round.commit,
        round: round.round,
        kind,
        from_us: us(round.from),
        full_us: us(round.full),
        store_us: us(round.store),
        end_us: us(round.end),
        bytes: round.bytes,
        room_bytes: round.room,
    }
}

/// The bytes of this rank's messages, and of what it stores, on each class of links.
fn links(session: &Session, me: u32, trace: &Trace) -> BTreeMap<String, u64> {
    let (machine, mut pairs) = (session.machine(), BTreeMap::new());
    let here = machine.node(Rank(me));
    for (to, bytes) in &trace.sent {
        *pairs.entry((here, machine.node(*to))).or_default() += bytes;
    }
    let stored = BTreeMap::from([(here, trace.served.1 + trace.own_bytes)]);
    let classes = crossed(machine, &pairs, &stored).into_iter();
    classes.filter(|class| class.bytes > 0).map(|class| (class.name.to_owned(), class.bytes)).collect()
}

fn file_system(path: &Path) -> Option<FileSystem> {
    let found = sago_storage::FileSystem::of(path).ok()?;
    Some(FileSystem {
        kind: found.kind,
        block_bytes: found.block_bytes,
        stripe_bytes: found.stripes.map(|stripes| stripes.size_bytes),
        targets: found.stripes.and_then(|stripes| stripes.count),
        shared: found.shared,
    })
}

fn options(layers: &Layers) -> Vec<OptionValue> {
    let option = |(spec, value, origin): (&sago_core::config::OptionSpec, String, &_)| OptionValue {
        name: spec.name.to_owned(),
        value,
        source: format!("{origin}"),
    };
    layers.in_force().map(option).collect()
}

fn us(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn write(state: &State, place: &ReportTo, report: &Report) {
    let text = match place {
        ReportTo::Stderr => format!("sago: {}", sago_report::summary(report)),
        ReportTo::File(_) => report.line(),
    };
    report::deliver(state, place, &text);
}
