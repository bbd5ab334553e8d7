//! The state machine of one rank that executes a schedule. It names buffers and lengths, never bytes; it is told what
//! happened (`handle_*`) and asked what to do next ([`Engine::poll`]). Drivers on MPI ranks, on threads and in the
//! simulator do what it says: one engine, three worlds.
//!
//! Writing: a member puts its bytes into its aggregator's buffer and notifies it; when a round's bytes have all arrived,
//! the aggregator writes them and releases the buffer, which lets members put the bytes of the round after the next.
//! Reading is the same backwards: the aggregator reads a round and releases it; members get their bytes and notify; when
//! all have, the buffer is read into again. Nobody waits for a rank outside the parts that it has bytes in, until the
//! one agreement at the end.
//!
//! A failure is an event. Whoever sees one keeps the protocol going, without moving or writing more bytes, so that nobody
//! waits for ever; the agreement then gives every rank the same [`Verdict`]. Invariant: given that every action's event
//! arrives, in whatever order, every engine ends.

mod aggregator;
mod member;
mod own;
mod verdict;

pub use verdict::{Fault, FaultKind, Verdict};

use crate::declare::Direction;
use crate::ids::Rank;
use crate::schedule::{RankSchedule, WindowId};
use aggregator::Aggregator;
use member::Member;
use own::OwnWork;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;

/// What the driver is to do. Actions may be carried out one by one or many at a time, in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Put this rank's pieces for the window into the aggregator's buffer; then [`Engine::handle_moved`].
    Put { window: WindowId, to: Rank, bytes: u64 },
    /// Get this rank's pieces of the window from the aggregator's buffer; then [`Engine::handle_moved`].
    Get { window: WindowId, from: Rank, bytes: u64 },
    /// Tell the aggregator ([`Engine::handle_arrived`] there) that these bytes are in its buffer, or out of it.
    Notify { window: WindowId, to: Rank, bytes: u64, ok: bool },
    /// Write the window's extents from the buffer; then [`Engine::handle_stored`].
    Write { window: WindowId },
    /// Read the window's extents into the buffer; then [`Engine::handle_stored`].
    Read { window: WindowId },
    /// Tell the part's members ([`Engine::handle_released`] there) that this many of its rounds are released.
    Release { area: u32, part: u32, rounds: u32, ok: bool },
    /// Write a window of this rank's own extents; then [`Engine::handle_own_stored`].
    WriteOwn { own: u32, window: u32, bytes: u64 },
    /// Read a window of this rank's own extents; then [`Engine::handle_own_stored`].
    ReadOwn { own: u32, window: u32, bytes: u64 },
    /// Join all ranks' verdicts; then [`Engine::handle_agreed`].
    Agree { verdict: Verdict },
    /// Nothing, until something happens.
    Wait,
    /// It is over, on every rank with this verdict.
    Done { verdict: Verdict },
}

/// Something that a correct driver does not report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misuse {
    UnknownWindow(WindowId),
    /// More bytes than the members have for a round.
    TooManyBytes(WindowId),
    /// An end of something that was not begun.
    NotBegun,
}

/// One rank's part in a commit or fetch.
#[derive(Debug)]
pub struct Engine {
    rank: Rank,
    direction: Direction,
    members: BTreeMap<(u32, u32), Member>,
    aggregators: BTreeMap<(u32, u32), Aggregator>,
    own: OwnWork,
    /// What others wait for comes first.
    urgent: VecDeque<Action>,
    moves: VecDeque<Action>,
    verdict: Verdict,
    /// Windows to move, rounds to serve and own windows that are not finished.
    open: u64,
    agreement: Agreement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Agreement {
    NotYet,
    Asked,
    Reached(Verdict),
}

impl Engine {
    pub fn new(rank: Rank, direction: Direction, schedule: &RankSchedule) -> Self {
        let mut members: BTreeMap<(u32, u32), Member> = BTreeMap::new();
        for (window, to, bytes) in schedule.sends.iter().flat_map(|sends| sends.windows()) {
            let member =
                members.entry((window.area, window.part)).or_insert_with(|| Member::new(direction, to));
            member.add(window.round, bytes);
        }
        let duty = |duty: &crate::schedule::Duty| {
            ((duty.area(), duty.part()), Aggregator::new(direction, duty.expected().to_vec()))
        };
        let aggregators: BTreeMap<_, _> = schedule.duties.iter().map(duty).collect();
        let own = OwnWork::new(direction, schedule);
        let windows: u64 = members.values().map(Member::windows).sum();
        let rounds: u64 = aggregators.values().map(Aggregator::rounds).sum();
        let open = windows + rounds + own.windows();
        let mut engine = Self {
            rank,
            direction,
            members,
            aggregators,
            own,
            urgent: VecDeque::new(),
            moves: VecDeque::new(),
            verdict: Verdict::Good,
            open,
            agreement: Agreement::NotYet,
        };
        engine.begin();
        engine
    }

    /// The next thing to do.
    pub fn poll(&mut self) -> Action {
        if let Some(action) = self.urgent.pop_front() {
            return action;
        }
        if let Some(action) = self.moves.pop_front() {
            return if self.verdict == Verdict::Good { action } else { self.skip(action) };
        }
        if let Some(action) = self.own.next(self.verdict == Verdict::Good, &mut self.open) {
            return action;
        }
        match self.agreement {
            Agreement::NotYet if self.open == 0 => {
                self.agreement = Agreement::Asked;
                Action::Agree { verdict: self.verdict }
            }
            Agreement::Reached(verdict) => Action::Done { verdict },
            _ => Action::Wait,
        }
    }

    /// A put or get has ended.
    pub fn handle_moved(&mut self, window: WindowId, result: Result<(), i32>) -> Result<(), Misuse> {
        let member =
            self.members.get_mut(&(window.area, window.part)).ok_or(Misuse::UnknownWindow(window))?;
        let (to, bytes) = member.moved(window)?;
        let kind = if self.direction == Direction::Write { FaultKind::Put } else { FaultKind::Get };
        self.note(kind, result);
        self.notify(window, to, bytes, result.is_ok());
        Ok(())
    }

    /// At an aggregator: a member has put its bytes for a window, or has taken them.
    pub fn handle_arrived(&mut self, window: WindowId, bytes: u64, ok: bool) -> Result<(), Misuse> {
        let key = (window.area, window.part);
        let aggregator = self.aggregators.get_mut(&key).ok_or(Misuse::UnknownWindow(window))?;
        aggregator.arrived(window, bytes, ok)?;
        self.serve(key);
        Ok(())
    }

    /// At a member: the aggregator of a part has released this many of its rounds in all.
    pub fn handle_released(&mut self, area: u32, part: u32, rounds: u32, ok: bool) -> Result<(), Misuse> {
        let unknown = Misuse::UnknownWindow(WindowId { area, part, round: rounds });
        let member = self.members.get_mut(&(area, part)).ok_or(unknown)?;
        member.released(rounds, ok);
        self.pump((area, part));
        Ok(())
    }

    /// At an aggregator: a write or read of a window has ended.
    pub fn handle_stored(&mut self, window: WindowId, result: Result<(), i32>) -> Result<(), Misuse> {
        let key = (window.area, window.part);
        let aggregator = self.aggregators.get_mut(&key).ok_or(Misuse::UnknownWindow(window))?;
        aggregator.stored(window, result.is_ok())?;
        let kind = if self.direction == Direction::Write { FaultKind::Write } else { FaultKind::Read };
        self.note(kind, result);
        self.serve(key);
        Ok(())
    }

    /// A write or read of a window of own extents has ended.
    pub fn handle_own_stored(&mut self, result: Result<(), i32>) -> Result<(), Misuse> {
        self.own.stored(&mut self.open)?;
        let kind = if self.direction == Direction::Write { FaultKind::Write } else { FaultKind::Read };
        self.note(kind, result);
        Ok(())
    }

    /// All ranks' verdicts, joined.
    pub fn handle_agreed(&mut self, verdict: Verdict) -> Result<(), Misuse> {
        if self.agreement != Agreement::Asked {
            return Err(Misuse::NotBegun);
        }
        self.agreement = Agreement::Reached(verdict);
        Ok(())
    }

    fn begin(&mut self) {
        let aggregators: Vec<_> = self.aggregators.keys().copied().collect();
        aggregators.into_iter().for_each(|key| self.serve(key));
        // Ranks begin at different aggregators, so that not all put to the first one first.
        let mut parts: Vec<_> = self.members.keys().copied().collect();
        if !parts.is_empty() {
            let first = self.rank.index() % parts.len();
            parts.rotate_left(first);
        }
        for _ in 0..2 {
            parts.iter().for_each(|key| self.pump_one(*key));
        }
    }

    fn pump(&mut self, key: (u32, u32)) {
        self.pump_one(key);
        self.pump_one(key);
    }

    /// The next window of a part, if its turn has come.
    fn pump_one(&mut self, key: (u32, u32)) {
        let Some(member) = self.members.get_mut(&key) else { return };
        if let Some(action) = member.next(key) {
            let poisoned = member.poisoned();
            let action = if poisoned { self.skip(action) } else { action };
            self.moves.push_back(action);
        }
    }

    /// Instead of moving bytes after a failure: tell the aggregator not to wait for them.
    fn skip(&mut self, action: Action) -> Action {
        let (Action::Put { window, to, bytes } | Action::Get { window, from: to, bytes }) = action else {
            return action;
        };
        if let Some(member) = self.members.get_mut(&(window.area, window.part)) {
            member.skipped(window.round);
        }
        self.open -= 1;
        Action::Notify { window, to, bytes, ok: false }
    }

    fn notify(&mut self, window: WindowId, to: Rank, bytes: u64, ok: bool) {
        self.open -= 1;
        self.urgent.push_back(Action::Notify { window, to, bytes, ok });
    }

    /// What an aggregator has to do after something happened to it.
    fn serve(&mut self, key: (u32, u32)) {
        if let Some(aggregator) = self.aggregators.get_mut(&key) {
            aggregator.serve(key, &mut self.urgent, &mut self.open);
        }
    }

    fn note(&mut self, kind: FaultKind, result: Result<(), i32>) {
        if let Err(code) = result {
            self.verdict = self.verdict.join(Verdict::Failed(Fault { rank: self.rank, kind, code }));
        }
    }
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the driver reported what cannot have happened: {self:?}")
    }
}

impl std::error::Error for Misuse {}
