//! The driver of Sago's own engines: one engine per rank, exactly those that run on real ranks, with the schedule of the
//! planner. What a real driver does with MPI and files, this one does with virtual time: puts become messages, notices and
//! releases small delays, writes requests to storage, the agreement one reduction.

mod outcome;
mod parts;

use crate::files::{Collectives, File};
use crate::outcome::{Broken, Outcome, SimError};
use crate::scenario::{Fault, Scenario, Who};
use crate::time::Time;
use crate::world::{Request, Stretch, World};
use parts::Parts;
use sago_core::declare::{Declared, Direction, Outline, Summary};
use sago_core::engine::{Action, Engine, Misuse, Verdict};
use sago_core::ids::{NodeId, Rank};
use sago_core::plan::{Job, Plan, StorageFacts, plan};
use sago_core::schedule::{BufferExtent, Schedule, WindowId};
use sago_core::topology::Machine;

pub(crate) fn run(scenario: &Scenario) -> Result<Outcome, SimError> {
    let files: Vec<File> = File::all(scenario).collect();
    let mut world = World::new(scenario);
    let mut commits = Vec::with_capacity(files.len());
    for file in files {
        commits.push(Commit::new(scenario, file)?);
    }
    commits.iter_mut().for_each(|commit| commit.capture(&mut world));
    while let Some((token, result)) = world.next() {
        commits[token.file as usize].handle(&mut world, token.what, result).map_err(misuse)?;
    }
    outcome::outcome(scenario, &world, &commits)
}

fn misuse(misuse: Misuse) -> Broken {
    Broken::Misuse(misuse.to_string())
}

#[derive(Clone, Copy, Debug)]
struct Token {
    file: u32,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// A rank's data is in the pending set.
    Captured,
    /// Every rank has the plan.
    Planned,
    Moved {
        rank: Rank,
        window: WindowId,
    },
    Arrived {
        to: Rank,
        window: WindowId,
        bytes: u64,
        ok: bool,
    },
    Stored {
        rank: Rank,
        window: WindowId,
    },
    OwnStored {
        rank: Rank,
    },
    Released {
        area: u32,
        part: u32,
        rounds: u32,
        ok: bool,
    },
    Agreed,
}

/// One file's commit (or fetch): the plan, the engines, and what the driver has to remember.
struct Commit<'a> {
    scenario: &'a Scenario,
    file: File,
    collectives: Collectives,
    declared: Vec<Declared>,
    plan: Plan,
    schedule: Schedule,
    engines: Vec<Engine>,
    parts: Parts,
    /// Until when a rank is busy with sending.
    busy: Vec<Time>,
    /// How many requests each rank has made, as far as faults need it.
    requests: Vec<u32>,
    captured: u32,
    verdict: Verdict,
    asked: u32,
    asked_sum_ps: u128,
    planning: Time,
    agreed: Option<Time>,
    moved_bytes: u64,
}

impl<'a> Commit<'a> {
    fn new(scenario: &'a Scenario, file: File) -> Result<Self, SimError> {
        let machine: Machine = file.machine(&scenario.machine);
        let declare = |rank| {
            let declared = scenario.pattern.declare(Rank(rank), file.ranks, scenario.direction);
            declared.map_err(|error| Broken::Schedule(error.to_string()))
        };
        let declared: Vec<Declared> = (0..file.ranks).map(declare).collect::<Result<_, _>>()?;
        let storage = StorageFacts {
            stripe_bytes: Some(scenario.storage.stripe_bytes),
            targets: Some(scenario.storage.targets),
            medium: sago_core::plan::Medium::Elsewhere,
        };
        let calibration = scenario.calibration();
        let job = Job { machine: &machine, config: &scenario.config, storage, calibration };
        let summaries: Vec<Summary> = declared.iter().map(Declared::summary).collect();
        let plan =
            plan(&job, &summaries, |rank| Outline::of(&declared[rank.index()])).map_err(SimError::Plan)?;
        let schedule = Schedule::new(&plan, &declared);
        schedule.validate(&plan, &declared).map_err(|error| Broken::Schedule(error.to_string()))?;
        let engine = |rank: usize| Engine::new(Rank(rank as u32), scenario.direction, &schedule.ranks[rank]);
        let engines = (0..declared.len()).map(engine).collect();
        let parts = Parts::new(&plan, &schedule);
        Ok(Self {
            scenario,
            file,
            collectives: Collectives::of(scenario),
            busy: vec![Time::ZERO; declared.len()],
            requests: vec![0; declared.len()],
            declared,
            plan,
            schedule,
            engines,
            parts,
            captured: 0,
            verdict: Verdict::Good,
            asked: 0,
            asked_sum_ps: 0,
            planning: Time::ZERO,
            agreed: None,
            moved_bytes: 0,
        })
    }

    fn node(&self, rank: Rank) -> NodeId {
        self.file.node(&self.scenario.machine, rank)
    }

    fn token(&self, what: What) -> Token {
        Token { file: self.file.number, what }
    }

    /// Written data is copied first; then the program's call returns, and the commit begins when all ranks have come.
    fn capture(&mut self, world: &mut World<'_, Token>) {
        let token = self.token(What::Captured);
        for rank in (0..self.file.ranks).map(Rank) {
            let bytes = self.declared[rank.index()].bytes();
            if self.scenario.direction == Direction::Read || bytes == 0 {
                world.tell(Time::ZERO, token);
                continue;
            }
            let alone = self.scenario.costs.capture_bytes_per_s;
            let at = alone.map_or(Time::ZERO, |rate| Time::of_bytes(bytes, rate));
            let node = self.node(rank);
            world.send(at, node, node, bytes, token);
        }
    }

    fn handle(
        &mut self,
        world: &mut World<'_, Token>,
        what: What,
        result: Result<(), i32>,
    ) -> Result<(), Misuse> {
        match what {
            What::Captured => {
                self.captured += 1;
                if self.captured == self.file.ranks {
                    let costs = &self.scenario.costs;
                    let plan = Time::from_s(f64::from(self.file.ranks) * costs.plan_s);
                    const SUMMARY_BYTES: u64 = 40;
                    self.planning = self.collectives.gather(self.file.ranks, SUMMARY_BYTES) + plan;
                    world.tell(world.now() + self.planning, self.token(What::Planned));
                }
                Ok(())
            }
            What::Planned => (0..self.file.ranks).try_for_each(|rank| self.drive(world, Rank(rank))),
            What::Moved { rank, window } => {
                self.engines[rank.index()].handle_moved(window, result)?;
                self.drive(world, rank)
            }
            What::Arrived { to, window, bytes, ok } => {
                self.engines[to.index()].handle_arrived(window, bytes, ok)?;
                self.drive(world, to)
            }
            What::Stored { rank, window } => {
                self.parts.stored(window, world.now());
                self.engines[rank.index()].handle_stored(window, result)?;
                self.drive(world, rank)
            }
            What::OwnStored { rank } => {
                self.engines[rank.index()].handle_own_stored(result)?;
                self.drive(world, rank)
            }
            What::Released { area, part, rounds, ok } => {
                for rank in self.parts.released(self.scenario.direction, area, part, rounds) {
                    self.engines[rank.index()].handle_released(area, part, rounds, ok)?;
                    self.drive(world, rank)?;
                }
                Ok(())
            }
            What::Agreed => {
                for rank in 0..self.file.ranks {
                    self.engines[rank as usize].handle_agreed(self.verdict)?;
                    self.drive(world, Rank(rank))?;
                }
                self.agreed = Some(world.now());
                Ok(())
            }
        }
    }

    /// Does what a rank's engine asks for, until it waits.
    fn drive(&mut self, world: &mut World<'_, Token>, rank: Rank) -> Result<(), Misuse> {
        loop {
            match self.engines[rank.index()].poll() {
                Action::Wait => return Ok(()),
                Action::Done { verdict } if verdict == self.verdict => return Ok(()),
                Action::Done { .. } => return Err(Misuse::NotBegun),
                action => self.act(world, rank, action),
            }
        }
    }

    fn act(&mut self, world: &mut World<'_, Token>, rank: Rank, action: Action) {
        let now = world.now();
        match action {
            Action::Put { window, to, bytes } => {
                let token = self.token(What::Moved { rank, window });
                let at = self.sending(now, rank);
                self.parts.filling(window, now);
                self.moved_bytes += bytes;
                world.send(at, self.node(rank), self.node(to), bytes, token);
            }
            Action::Get { window, from, bytes } => {
                let token = self.token(What::Moved { rank, window });
                let at = self.sending(now, rank);
                self.moved_bytes += bytes;
                world.send(at, self.node(from), self.node(rank), bytes, token);
            }
            Action::Notify { window, to, bytes, ok } => {
                let at = now + self.notice(self.node(rank), self.node(to));
                world.tell(at, self.token(What::Arrived { to, window, bytes, ok }));
            }
            Action::Write { window } | Action::Read { window } => {
                let token = self.token(What::Stored { rank, window });
                self.parts.storing(window, now);
                let layout = &self.plan.areas[window.area as usize].layout;
                let duty = self.schedule.ranks[rank.index()].duty_of(window.area, window.part);
                let extents = duty.map_or_else(Vec::new, |duty| duty.extents(layout, window.round));
                self.store(world, rank, &extents, token);
            }
            Action::Release { area, part, rounds, ok } => {
                let at = now + Time::from_s(self.scenario.costs.message_s);
                world.tell(at, self.token(What::Released { area, part, rounds, ok }));
            }
            Action::WriteOwn { own, window, bytes } | Action::ReadOwn { own, window, bytes } => {
                let token = self.token(What::OwnStored { rank });
                self.moved_bytes += bytes;
                let own = &self.schedule.ranks[rank.index()].own[own as usize];
                let extents: Vec<BufferExtent> = own.extents(window).collect();
                self.store(world, rank, &extents, token);
            }
            Action::Agree { verdict } => self.agree(world, verdict),
            Action::Wait | Action::Done { .. } => {}
        }
    }

    /// When a rank's next message leaves it.
    fn sending(&mut self, now: Time, rank: Rank) -> Time {
        let busy = &mut self.busy[rank.index()];
        *busy = now.max(*busy) + Time::from_s(self.scenario.costs.message_s);
        *busy
    }

    /// A word to another rank: too small to wait for others.
    fn notice(&self, from: NodeId, to: NodeId) -> Time {
        let hops = f64::from(self.scenario.machine.distance(from, to));
        Time::from_s(hops * self.scenario.machine.latency_s() + self.scenario.costs.message_s)
    }

    fn store(&mut self, world: &mut World<'_, Token>, rank: Rank, extents: &[BufferExtent], token: Token) {
        let whole = |e: &BufferExtent| Stretch { offset: e.file, span: e.len, bytes: e.len, requests: 1 };
        let stretches: Vec<Stretch> = extents.iter().map(whole).collect();
        let fails = self.fails(rank);
        let request = Request {
            file: self.file.number,
            rank: self.file.first_rank + rank.0,
            node: self.node(rank),
            write: self.scenario.direction == Direction::Write,
            stretches: &stretches,
            fails,
        };
        world.request(world.now(), &request, token);
    }

    fn fails(&mut self, rank: Rank) -> Option<i32> {
        let number = self.requests[rank.index()];
        self.requests[rank.index()] += 1;
        self.scenario.faults.iter().find_map(|fault| match fault {
            Fault::Write { who, from, code } if number >= *from => {
                let meant = match who {
                    Who::Rank(all) => *all == self.file.first_rank + rank.0,
                    Who::Aggregator(at) => {
                        let aggregator = self.plan.aggregators().nth(*at as usize);
                        self.file.number == 0 && aggregator.is_some_and(|part| part.rank == rank)
                    }
                };
                meant.then_some(*code)
            }
            _ => None,
        })
    }

    fn agree(&mut self, world: &mut World<'_, Token>, verdict: Verdict) {
        self.verdict = self.verdict.join(verdict);
        self.asked += 1;
        self.asked_sum_ps += u128::from(world.now().0);
        if self.asked == self.file.ranks {
            let at = world.now() + self.collectives.reduce(self.file.ranks);
            world.tell(at, self.token(What::Agreed));
        }
    }
}
