//! Independent I/O, as programs do it without collective calls: every rank writes its own pieces, variable by variable,
//! one request after the other, through the bridge node (or router) that the machine gave its node at boot time.

use crate::files::File;
use crate::outcome::{Broken, Outcome, SimError};
use crate::scenario::{Fault, Scenario, Who};
use crate::strategy::Strategy;
use crate::time::Time;
use crate::world::{Request, Stretch, World};
use sago_core::declare::Direction;
use sago_core::engine::{Fault as Failure, FaultKind, Verdict};
use sago_core::extent::Run;
use sago_core::ids::Rank;
use std::collections::VecDeque;

pub(crate) fn run(scenario: &Scenario) -> Result<Outcome, SimError> {
    let mut world: World<'_, u32> = World::new(scenario);
    let mut writers = Vec::with_capacity(scenario.machine.ranks() as usize);
    let (mut bytes, mut calls) = (0, 0);
    for file in File::all(scenario) {
        for rank in (0..file.ranks).map(Rank) {
            let declared = scenario
                .pattern
                .declare_each(rank, file.ranks, scenario.direction)
                .map_err(|error| Broken::Schedule(error.to_string()))?;
            bytes += declared.iter().map(|variable| variable.bytes()).sum::<u64>();
            calls = calls.max(declared.len() as u32);
            let runs =
                declared.iter().flat_map(|variable| variable.runs()).map(|sourced| sourced.run).collect();
            writers.push(Writer { file: file.number, runs, at: 0, requests: 0, done: Time::ZERO });
        }
    }
    let mut verdict = Verdict::Good;
    for rank in 0..writers.len() {
        step(scenario, &mut world, &mut writers, rank as u32);
    }
    while let Some((rank, result)) = world.next() {
        if let Err(code) = result {
            let kind =
                if scenario.direction == Direction::Write { FaultKind::Write } else { FaultKind::Read };
            verdict = verdict.join(Verdict::Failed(Failure { rank: Rank(rank), kind, code }));
        }
        writers[rank as usize].done = world.now();
        step(scenario, &mut world, &mut writers, rank);
    }
    let end = world.now();
    let mut outcome = Outcome::new(scenario, Strategy::Independent, &world, end)?;
    if verdict == Verdict::Good {
        let stored = world.counts.written_bytes + world.counts.read_bytes;
        Broken::unless_equal("declared and stored", bytes, stored)?;
    }
    (outcome.bytes, outcome.verdict, outcome.calls) = (bytes, verdict, calls);
    let waited: f64 = writers.iter().map(|writer| (end - writer.done).as_s()).sum();
    outcome.waiting_s = waited / writers.len() as f64;
    Ok(outcome)
}

/// A rank, and where it is in its list.
struct Writer {
    file: u32,
    runs: VecDeque<Run>,
    /// The offset from which on the first run is still to be written.
    at: u64,
    requests: u32,
    done: Time,
}

/// The rank's next request; several pieces of one run inside a stripe are one batch of requests.
fn step(scenario: &Scenario, world: &mut World<'_, u32>, writers: &mut [Writer], rank: u32) {
    let writer = &mut writers[rank as usize];
    let Some(stretch) = writer.next(scenario.storage.stripe_bytes) else { return };
    let number = writer.requests;
    writer.requests += 1;
    let fails = scenario.faults.iter().find_map(|fault| match fault {
        Fault::Write { who: Who::Rank(meant), from, code } => {
            (*meant == rank && number >= *from).then_some(*code)
        }
        _ => None,
    });
    let node = scenario.machine.node(Rank(rank));
    let request = Request {
        file: writer.file,
        rank,
        node,
        write: scenario.direction == Direction::Write,
        stretches: &[stretch],
        fails,
    };
    // Between the requests of a batch, each waits for the answer to the one before.
    let answer = Time::from_s(scenario.costs.message_s) * stretch.requests;
    world.request(world.now() + answer, &request, rank);
}

impl Writer {
    fn next(&mut self, stripe: u64) -> Option<Stretch> {
        let run = *self.runs.front()?;
        let from = run.offset().max(self.at);
        if run.is_contiguous() || run.len() >= stripe {
            let block = run.blocks_in(from, run.end()).next()?;
            self.go_to(run, block.file + block.len);
            return Some(Stretch { offset: block.file, span: block.len, bytes: block.len, requests: 1 });
        }
        // Blocks that end in this stripe or begin in it; one that crosses its end is a request of its own.
        let first = run.blocks_in(from, run.end()).next()?;
        let end = (first.file / stripe + 1) * stripe;
        let blocks = run.blocks_in(first.file, end.min(run.end()));
        let (mut requests, mut bytes, mut last) = (0, 0, first.file);
        for block in blocks {
            (requests, bytes, last) = (requests + 1, bytes + block.len, block.file + block.len);
        }
        self.go_to(run, last);
        let span = if requests == 1 { bytes } else { last - first.file };
        Some(Stretch { offset: first.file, span, bytes, requests })
    }

    fn go_to(&mut self, run: Run, offset: u64) {
        self.at = offset;
        if offset >= run.end() {
            self.runs.pop_front();
            self.at = 0;
        }
    }
}
