//! What happened in commits, for reports: rounds with their times, who sent to whom, where aggregators were. Kept only
//! for those who ask ([`crate::Session::set_trace`]); costs a clock reading or two per round, and an addition per window.

use crate::prepare::Prepared;
use sago_core::declare::Direction;
use sago_core::ids::Rank;
use sago_core::plan::{PlaceCost, Settings};
use sago_core::schedule::WindowId;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Later rounds are only counted.
const ROUNDS_MAX: usize = 1024;

#[derive(Clone, Debug)]
pub struct Trace {
    origin: Instant,
    /// The commit under way, from 1.
    commit: u64,
    pub rounds: Vec<RoundTrace>,
    pub rounds_left_out: u64,
    /// Bytes that this rank gave to (or got from) each aggregator.
    pub sent: BTreeMap<Rank, u64>,
    /// Bytes that this rank stored without one.
    pub own_bytes: u64,
    /// Every rank's, as the last plan that had it there saw its place.
    pub aggregators: BTreeMap<Rank, PlaceCost>,
    /// Of the last plan.
    pub settings: Option<Settings>,
    /// Rounds, bytes and room of this rank as an aggregator, also of rounds that are left out.
    pub served: (u64, u64, u64),
    /// When the first bytes of a round came, and which round is being stored where in `rounds`.
    begun: BTreeMap<WindowId, Duration>,
    storing: BTreeMap<WindowId, usize>,
    /// Rounds, rounds left out and served before the commit under way.
    before: (usize, u64, (u64, u64, u64)),
}

/// One use of a buffer; times are since the trace's origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrace {
    pub commit: u64,
    pub round: u32,
    /// `None`: the rank's own bytes.
    pub direction: Option<Direction>,
    pub from: Duration,
    pub full: Duration,
    pub store: Duration,
    pub end: Duration,
    pub bytes: u64,
    pub room: u64,
}

impl Trace {
    pub(crate) fn new(origin: Instant) -> Self {
        Self {
            origin,
            commit: 1,
            rounds: Vec::new(),
            rounds_left_out: 0,
            sent: BTreeMap::new(),
            own_bytes: 0,
            aggregators: BTreeMap::new(),
            settings: None,
            served: (0, 0, 0),
            begun: BTreeMap::new(),
            storing: BTreeMap::new(),
            before: (0, 0, (0, 0, 0)),
        }
    }

    /// A commit, or another attempt of the same, begins.
    pub(crate) fn begin(&mut self) {
        self.begun.clear();
        self.storing.clear();
        let (rounds, left_out, served) = self.before;
        self.rounds.truncate(rounds);
        (self.rounds_left_out, self.served) = (left_out, served);
    }

    /// It was carried out by this plan.
    pub(crate) fn end(&mut self, prepared: &Prepared) {
        self.commit += 1;
        self.before = (self.rounds.len(), self.rounds_left_out, self.served);
        self.settings = Some(prepared.plan.frame.settings);
        for part in prepared.plan.aggregators() {
            self.aggregators.insert(part.rank, part.cost);
        }
        for (_, to, bytes) in prepared.schedule.sends.iter().flat_map(|sends| sends.windows()) {
            *self.sent.entry(to).or_default() += bytes;
        }
        self.own_bytes += prepared.schedule.own.iter().flat_map(|own| own.windows()).sum::<u64>();
    }

    pub(crate) fn arrived(&mut self, window: WindowId) {
        let origin = self.origin;
        self.begun.entry(window).or_insert_with(|| origin.elapsed());
    }

    /// A round goes to storage.
    pub(crate) fn full(&mut self, window: WindowId, direction: Direction, bytes: u64, room: u64) {
        let full = self.origin.elapsed();
        let from = self.begun.remove(&window).unwrap_or(full);
        let (rounds, all, of) = self.served;
        self.served = (rounds + 1, all + bytes, of + room);
        let (commit, round, direction) = (self.commit, window.round, Some(direction));
        let (store, end) = (full, full);
        if let Some(at) =
            self.push(RoundTrace { commit, round, direction, from, full, store, end, bytes, room })
        {
            self.storing.insert(window, at);
        }
    }

    pub(crate) fn stored(&mut self, window: WindowId, began: Instant, took: Duration) {
        let Some(at) = self.storing.remove(&window) else { return };
        let store = began.saturating_duration_since(self.origin);
        (self.rounds[at].store, self.rounds[at].end) = (store, store + took);
    }

    /// This rank has stored a window of its own.
    pub(crate) fn own(&mut self, round: u32, start: Instant, bytes: u64) {
        let from = start.saturating_duration_since(self.origin);
        let (commit, direction, end) = (self.commit, None, self.origin.elapsed());
        let (full, store) = (from, from);
        self.push(RoundTrace { commit, round, direction, from, full, store, end, bytes, room: bytes });
    }

    fn push(&mut self, round: RoundTrace) -> Option<usize> {
        if self.rounds.len() >= ROUNDS_MAX {
            self.rounds_left_out += 1;
            return None;
        }
        self.rounds.push(round);
        Some(self.rounds.len() - 1)
    }
}
