//! Collective I/O as MPI libraries do it today (ROMIO's extended two-phase protocol): each call of the program, for one
//! variable, gathers everybody's range, divides it among the aggregators, and goes through rounds. A round begins with an
//! exchange of counts among all ranks, so that all wait for the slowest of the round before; then ranks send to
//! aggregators, which take part in every message; then the aggregators write, from one buffer, while the others wait.
//! A window with holes is read first and written back whole.

mod domains;
mod group;

use crate::files::Collectives;
use crate::outcome::{Broken, Outcome, RoundTime, SimError};
use crate::scenario::{Fault, Scenario, Who};
use crate::strategy::Strategy;
use crate::time::Time;
use crate::world::{Request, World};
use domains::{Call, Exchange, Stored};
use group::{Group, aggregators};
use sago_core::declare::{Declared, Direction};
use sago_core::engine::{Fault as Failure, FaultKind, Verdict};
use sago_core::ids::{NodeId, Rank};

pub(crate) fn run(scenario: &Scenario) -> Result<Outcome, SimError> {
    let mut world = World::new(scenario);
    let mut groups = Vec::new();
    for group in Group::all(scenario) {
        groups.push(Collective::new(scenario, group)?);
    }
    groups.iter_mut().for_each(|group| group.begin_call(&mut world));
    while let Some((token, result)) = world.next() {
        groups[token.group as usize].handle(&mut world, token.what, result);
    }
    outcome(scenario, &world, groups)
}

#[derive(Clone, Copy, Debug)]
struct Token {
    group: u32,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// All ranks have passed the collective exchange at the begin of a round.
    Begin,
    /// A message between a rank and an aggregator has arrived.
    Arrived {
        rank: Rank,
        aggregator: u32,
    },
    /// A window with holes has been read.
    ReadBack {
        aggregator: u32,
    },
    Stored {
        aggregator: u32,
    },
}

/// The calls of a group.
struct Collective<'a> {
    scenario: &'a Scenario,
    group: Group,
    collectives: Collectives,
    aggregators: Vec<Rank>,
    /// What each rank has in each call; taken out call by call.
    calls: Vec<Vec<Declared>>,
    call: usize,
    round: u64,
    current: Call,
    /// Where the exchanges and windows of this round begin.
    next_exchange: usize,
    next_stored: usize,
    /// For each aggregator, messages that are missing, its window of this round, and until when it is busy.
    missing: Vec<u32>,
    windows: Vec<Option<Stored>>,
    busy: Vec<Time>,
    /// For each rank, what it still has to do in this round.
    left: Vec<u32>,
    arrived: u32,
    arrived_sum_ps: u128,
    waited_ps: u128,
    bytes: u64,
    moved: u64,
    useful: u64,
    requests: Vec<u32>,
    verdict: Verdict,
    ended: Option<Time>,
    rounds: Vec<RoundTime>,
    /// Which of `rounds` an aggregator is at.
    open: Vec<usize>,
    filling: Time,
}

impl<'a> Collective<'a> {
    fn new(scenario: &'a Scenario, group: Group) -> Result<Self, SimError> {
        let declare = |rank| {
            let rank = group.in_file(Rank(rank));
            scenario.pattern.declare_each(rank, group.file.ranks, scenario.direction)
        };
        let each: Vec<Vec<Declared>> = (0..group.ranks)
            .map(declare)
            .collect::<Result<_, _>>()
            .map_err(|error| Broken::Schedule(error.to_string()))?;
        let count = each.iter().map(Vec::len).max().unwrap_or(0);
        let bytes = each.iter().flatten().map(Declared::bytes).sum();
        let mut calls: Vec<Vec<Declared>> = (0..count).map(|_| Vec::with_capacity(each.len())).collect();
        for list in each {
            let nothing = (list.len()..count).map(|_| Declared::nothing(scenario.direction));
            let rest: Vec<Declared> = nothing.collect();
            list.into_iter().chain(rest).zip(&mut calls).for_each(|(declared, call)| call.push(declared));
        }
        let aggregators = aggregators(scenario, &group);
        let count = aggregators.len();
        Ok(Self {
            scenario,
            collectives: Collectives::of(scenario),
            calls,
            call: 0,
            round: 0,
            current: Call::default(),
            next_exchange: 0,
            next_stored: 0,
            missing: vec![0; count],
            windows: vec![None; count],
            busy: vec![Time::ZERO; count],
            left: vec![0; group.ranks as usize],
            arrived: 0,
            arrived_sum_ps: 0,
            waited_ps: 0,
            bytes,
            moved: 0,
            useful: 0,
            requests: vec![0; count],
            verdict: Verdict::Good,
            ended: None,
            rounds: Vec::new(),
            open: vec![0; count],
            filling: Time::ZERO,
            aggregators,
            group,
        })
    }

    fn token(&self, what: What) -> Token {
        Token { group: self.group.number, what }
    }

    /// Ranges are gathered, offsets sent to the aggregators; all ranks wait for each other.
    fn begin_call(&mut self, world: &mut World<'_, Token>) {
        if self.call == self.calls.len() {
            self.ended = Some(world.now());
            return;
        }
        let declared = std::mem::take(&mut self.calls[self.call]);
        let stripe = self.scenario.storage.stripe_bytes;
        let options = &self.scenario.two_phase;
        self.current = Call::new(&declared, self.aggregators.len() as u32, stripe, options);
        (self.round, self.next_exchange, self.next_stored) = (0, 0, 0);
        const RANGE_BYTES: u64 = 16;
        let takes = self.collectives.gather(self.group.ranks, RANGE_BYTES)
            + self.collectives.counts(self.group.ranks)
            + self.collectives.counts(self.group.ranks);
        self.waited_ps += u128::from(takes.0) * u128::from(self.group.ranks);
        world.tell(world.now() + takes, self.token(What::Begin));
    }

    fn handle(&mut self, world: &mut World<'_, Token>, what: What, result: Result<(), i32>) {
        let writes = self.scenario.direction == Direction::Write;
        match what {
            What::Begin => self.begin_round(world),
            What::Arrived { rank, aggregator } => {
                self.finished(world, rank);
                if writes {
                    self.received(world, aggregator);
                }
            }
            What::ReadBack { aggregator } => self.store(world, aggregator, true),
            What::Stored { aggregator } => self.stored(world, aggregator, result),
        }
    }

    fn begin_round(&mut self, world: &mut World<'_, Token>) {
        let now = world.now();
        (self.arrived, self.arrived_sum_ps, self.filling) = (0, 0, now);
        if self.round >= self.current.rounds {
            self.call += 1;
            return self.begin_call(world);
        }
        self.left.fill(0);
        let exchanges = self.exchanges();
        while let Some(stored) =
            self.current.stored.get(self.next_stored).filter(|stored| stored.round == self.round)
        {
            let aggregator = stored.aggregator as usize;
            self.windows[aggregator] = Some(*stored);
            self.left[self.aggregators[aggregator].index()] += 1;
            self.next_stored += 1;
        }
        for exchange in &exchanges {
            self.left[exchange.rank.index()] += 1;
            self.missing[exchange.aggregator as usize] += 1;
        }
        if self.scenario.direction == Direction::Write {
            self.send(world, &exchanges);
        } else {
            let waiting: Vec<u32> = (0..self.windows.len() as u32).collect();
            let has = |a: &u32| self.windows[*a as usize].is_some();
            for aggregator in waiting.into_iter().filter(has).collect::<Vec<_>>() {
                self.store(world, aggregator, false);
            }
        }
        let idle = self.left.iter().filter(|left| **left == 0).count() as u32;
        self.arrived_sum_ps += u128::from(now.0) * u128::from(idle);
        self.arrived += idle;
        self.end_round_if_all(world);
    }

    /// The exchanges of this round.
    fn exchanges(&mut self) -> Vec<Exchange> {
        let rest = &self.current.exchanges[self.next_exchange..];
        let count = rest.iter().take_while(|exchange| exchange.round == self.round).count();
        self.next_exchange += count;
        rest[..count].to_vec()
    }

    /// Each rank sends its messages one after the other.
    fn send(&mut self, world: &mut World<'_, Token>, exchanges: &[Exchange]) {
        let now = world.now();
        let message = Time::from_s(self.scenario.costs.message_s);
        let mut sent: Vec<u32> = vec![0; self.group.ranks as usize];
        for exchange in exchanges {
            let Exchange { rank, aggregator, bytes, .. } = *exchange;
            sent[rank.index()] += 1;
            let at = now + message * u64::from(sent[rank.index()]);
            let (here, there) = (self.node(rank), self.node(self.aggregators[aggregator as usize]));
            let writes = self.scenario.direction == Direction::Write;
            let (from, to) = if writes { (here, there) } else { (there, here) };
            self.moved += bytes;
            world.send(at, from, to, bytes, self.token(What::Arrived { rank, aggregator }));
        }
    }

    fn node(&self, rank: Rank) -> NodeId {
        self.group.node(&self.scenario.machine, rank)
    }

    /// An aggregator takes a message out of the network; with the last one, it stores.
    fn received(&mut self, world: &mut World<'_, Token>, aggregator: u32) {
        let at = aggregator as usize;
        let message = Time::from_s(self.scenario.costs.message_s);
        self.busy[at] = world.now().max(self.busy[at]) + message;
        self.missing[at] -= 1;
        if self.missing[at] == 0 {
            let holes = self.windows[at].is_some_and(|stored| self.current.has_holes(&stored));
            self.store(world, aggregator, !holes);
        }
    }

    /// Writes the aggregator's window, or reads it.
    fn store(&mut self, world: &mut World<'_, Token>, aggregator: u32, write: bool) {
        let at = aggregator as usize;
        let Some(window) = self.windows[at] else { return };
        let Stored { bytes, round, .. } = window;
        let writes = self.scenario.direction == Direction::Write;
        let what = if writes && !write { What::ReadBack { aggregator } } else { What::Stored { aggregator } };
        let start = world.now().max(self.busy[at]);
        let lane = self.first_lane() + aggregator;
        let (filling, call, round) = (self.filling, self.call as u32, round as u32);
        if write || !writes {
            let stored = Time::ZERO;
            self.open[at] = self.rounds.len();
            self.rounds.push(RoundTime { lane, call, round, bytes, filling, storing: start, stored });
        }
        let stretches = self.current.stretches(&window);
        let rank = self.aggregators[at];
        let fails = if write == writes { self.fails(aggregator) } else { None };
        let request = Request {
            file: self.group.file.number,
            rank: self.group.in_all(rank),
            node: self.node(rank),
            write: write && writes,
            stretches: &stretches,
            fails,
        };
        world.request(start, &request, self.token(what));
    }

    fn first_lane(&self) -> u32 {
        self.group.number * self.aggregators.len() as u32
    }

    fn stored(&mut self, world: &mut World<'_, Token>, aggregator: u32, result: Result<(), i32>) {
        let at = aggregator as usize;
        let Some(Stored { round, bytes, .. }) = self.windows[at].take() else { return };
        self.rounds[self.open[at]].stored = world.now();
        let writes = self.scenario.direction == Direction::Write;
        let rank = self.aggregators[at];
        match result {
            Ok(()) => self.useful += bytes,
            Err(code) => {
                let kind = if writes { FaultKind::Write } else { FaultKind::Read };
                let rank = Rank(self.group.in_all(rank));
                self.verdict = self.verdict.join(Verdict::Failed(Failure { rank, kind, code }));
            }
        }
        if !writes {
            let exchanges = self.current.exchanges_of(round, aggregator).to_vec();
            self.missing[at] = 0;
            self.send(world, &exchanges);
        }
        self.finished(world, rank);
    }

    /// A rank has one thing less to do in this round; with the last one it waits for the others.
    fn finished(&mut self, world: &mut World<'_, Token>, rank: Rank) {
        let left = &mut self.left[rank.index()];
        *left -= 1;
        if *left == 0 {
            self.arrived += 1;
            self.arrived_sum_ps += u128::from(world.now().0);
            self.end_round_if_all(world);
        }
    }

    fn end_round_if_all(&mut self, world: &mut World<'_, Token>) {
        if self.arrived < self.group.ranks {
            return;
        }
        // Rounds in which nobody has anything are in step all the same.
        let next = self.current.stored.get(self.next_stored).map(|stored| stored.round);
        let passed = next.map_or(0, |next| next - self.round);
        self.round = next.unwrap_or(self.current.rounds);
        let takes = self.collectives.counts(self.group.ranks) * passed;
        let end = world.now() + takes;
        self.waited_ps += u128::from(end.0) * u128::from(self.group.ranks) - self.arrived_sum_ps;
        world.tell(end, self.token(What::Begin));
    }

    fn fails(&mut self, aggregator: u32) -> Option<i32> {
        let number = self.requests[aggregator as usize];
        self.requests[aggregator as usize] += 1;
        let rank = self.group.in_all(self.aggregators[aggregator as usize]);
        self.scenario.faults.iter().find_map(|fault| match fault {
            Fault::Write { who, from, code } if number >= *from => {
                let meant = match who {
                    Who::Rank(meant) => *meant == rank,
                    Who::Aggregator(meant) => self.group.number == 0 && *meant == aggregator,
                };
                meant.then_some(*code)
            }
            _ => None,
        })
    }
}

fn outcome(
    scenario: &Scenario,
    world: &World<'_, Token>,
    groups: Vec<Collective<'_>>,
) -> Result<Outcome, SimError> {
    let ends: Option<Vec<Time>> = groups.iter().map(|group| group.ended).collect();
    let end = ends.and_then(|ends| ends.into_iter().max()).ok_or(Broken::Unfinished)?;
    let sum = |of: fn(&Collective<'_>) -> u64| groups.iter().map(of).sum::<u64>();
    let mut outcome = Outcome::new(scenario, Strategy::TwoPhase, world, end)?;
    outcome.bytes = sum(|group| group.bytes);
    outcome.verdict = groups.iter().fold(Verdict::Good, |verdict, group| verdict.join(group.verdict));
    if outcome.verdict == Verdict::Good {
        Broken::unless_equal("declared and moved", outcome.bytes, sum(|group| group.moved))?;
        Broken::unless_equal("declared and stored", outcome.bytes, sum(|group| group.useful))?;
    }
    outcome.calls = groups.iter().map(|group| group.calls.len() as u32).max().unwrap_or(0);
    outcome.aggregators = groups.iter().map(|group| group.aggregators.len() as u32).sum();
    outcome.groups = groups.len() as u32;
    let waited: u128 = groups.iter().map(|group| group.waited_ps).sum();
    outcome.waiting_s = waited as f64 * 1e-12 / f64::from(outcome.ranks);
    outcome.rounds = groups.into_iter().flat_map(|group| group.rounds).collect();
    Ok(outcome)
}
