//! The planner and the engine on thousands of random jobs. Set SAGO_SEED to run one seed, SAGO_SEEDS for how many.
#![allow(clippy::unwrap_used)]

mod support;

use sago_core::declare::{Declared, Direction, Outline};
use sago_core::engine::Verdict;
use sago_core::ids::Rank;
use sago_core::plan::{area, frame};
use sago_core::random::Random;
use sago_core::schedule::Schedule;
use std::collections::{HashMap, HashSet};
use support::jobs::{TestJob, random_job};
use support::world::{World, tag, untouched};

fn seeds(of: u64) -> Box<dyn Iterator<Item = u64>> {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    match number("SAGO_SEED") {
        Some(seed) => Box::new([seed].into_iter()),
        None => {
            Box::new((0..number("SAGO_SEEDS").unwrap_or(of)).map(move |seed| seed.wrapping_mul(0x9E37_79B9)))
        }
    }
}

/// For each byte of the file, the tags that may be there: one for each rank that declared it, its last.
fn allowed(job: &TestJob) -> HashMap<u64, HashSet<u64>> {
    let mut allowed: HashMap<u64, HashSet<u64>> = HashMap::new();
    for (rank, runs) in job.as_declared.iter().enumerate() {
        let mut last: HashMap<u64, u64> = HashMap::new();
        let mut source = 0;
        for run in runs {
            for block in run.blocks() {
                last.extend((0..block.len).map(|i| (block.file + i, tag(rank, source + block.before + i))));
            }
            source += run.bytes();
        }
        for (offset, tag) in last {
            allowed.entry(offset).or_default().insert(tag);
        }
    }
    allowed
}

fn schedule(job: &TestJob, seed: u64) -> (sago_core::plan::Plan, Schedule) {
    let plan = job.plan().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    let schedule = Schedule::new(&plan, &job.declared);
    schedule.validate(&plan, &job.declared).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    (plan, schedule)
}

#[test]
fn every_declared_byte_is_put_once_and_written_once() {
    for seed in seeds(400) {
        let mut random = Random::new(seed);
        let job = random_job(&mut random, Direction::Write);
        let (plan, schedule) = schedule(&job, seed);
        let mut seen: HashSet<u64> = HashSet::new();
        for (rank, of) in schedule.ranks.iter().enumerate() {
            let declared = &job.declared[rank];
            let sent = of.sends.iter().flat_map(|sends| {
                let layout = &plan.areas[sends.area() as usize].layout;
                sends.windows().flat_map(move |(id, _, _)| sends.pieces(layout, declared, id))
            });
            let own = of.own.iter().flat_map(|own| {
                (0..own.windows().len() as u32).flat_map(move |window| own.pieces(declared, window))
            });
            for piece in sent.chain(own) {
                for i in 0..piece.len {
                    assert!(
                        seen.insert(tag(rank, piece.source + i)),
                        "seed {seed}: a byte of {rank} is put twice"
                    );
                }
            }
        }
        let declared: u64 = job.declared.iter().map(Declared::bytes).sum();
        assert_eq!(seen.len() as u64, declared, "seed {seed}");
        let mut flushed: HashSet<(u32, u64)> = HashSet::new();
        for duty in schedule.ranks.iter().flat_map(|of| &of.duties) {
            let layout = &plan.areas[duty.area() as usize].layout;
            for extent in (0..duty.expected().len() as u32).flat_map(|round| duty.extents(layout, round)) {
                for i in 0..extent.len {
                    assert!(
                        flushed.insert((duty.area(), extent.file + i)),
                        "seed {seed}: a byte is written twice"
                    );
                }
            }
        }
    }
}

#[test]
fn ranks_that_plan_by_themselves_make_the_same_plan() {
    for seed in seeds(200) {
        let mut random = Random::new(seed);
        let job = random_job(&mut random, Direction::Write);
        let whole = job.plan().unwrap();
        assert_eq!(job.plan().unwrap(), whole, "seed {seed}");
        let framed = frame(&job.job(), &job.summaries()).unwrap();
        assert_eq!(framed, whole.frame, "seed {seed}");
        for (number, of) in framed.areas.iter().enumerate() {
            let outline = |rank: &Rank| (*rank, Outline::of(&job.declared[rank.index()]));
            let outlines: Vec<_> = of.area.members.iter().map(outline).collect();
            assert_eq!(area(&job.job(), &framed.settings, of, &outlines), whole.areas[number], "seed {seed}");
        }
    }
}

#[test]
fn distribution_rules_hold() {
    // The generator must reach all that the other tests are to see.
    let (mut several_areas, mut straddling, mut too_sparse, mut direct, mut many_rounds) = (0, 0, 0, 0, 0);
    for seed in seeds(1000) {
        let mut random = Random::new(seed);
        let job = random_job(&mut random, Direction::Write);
        let plan = job.plan().unwrap();
        let least = job.config.group_ranks_min() as usize;
        several_areas += u32::from(plan.areas.len() > 1);
        straddling += u32::from(plan.memberships(job.machine.ranks()).iter().any(|areas| areas.len() > 1));
        too_sparse += u32::from(plan.areas.iter().any(|area| area.too_sparse));
        direct += u32::from(!plan.frame.direct.is_empty());
        many_rounds += u32::from(plan.areas.iter().any(|a| a.layout.windows().len() > 3 * a.parts.len()));
        for (framed, area) in plan.frame.areas.iter().zip(&plan.areas) {
            assert!(!framed.candidates.is_empty(), "seed {seed}: an area without an aggregator");
            assert!(area.parts.len() <= framed.parts_max as usize, "seed {seed}");
            let grouped =
                plan.frame.areas.len() > 1 && job.config.exchange != sago_core::config::Exchange::Bridge;
            assert!(!grouped || framed.area.members.len() >= least, "seed {seed}: a group is too small");
        }
    }
    if std::env::var("SAGO_SEED").or(std::env::var("SAGO_SEEDS")).is_err() {
        for (what, jobs) in [
            ("several areas", several_areas),
            ("ranks in two areas", straddling),
            ("areas too sparse for buffers", too_sparse),
            ("direct writers", direct),
            ("many rounds", many_rounds),
        ] {
            assert!(jobs >= 5, "only {jobs} random jobs have {what}");
        }
    }
}

#[test]
fn commits_are_exact_in_any_order_of_events() {
    for seed in seeds(400) {
        let mut random = Random::new(seed);
        let job = random_job(&mut random, Direction::Write);
        let (plan, schedule) = schedule(&job, seed);
        let mut world = World::new(&plan, &schedule, &job.declared, random, 0);
        assert!(world.run(), "seed {seed}: nobody can go on");
        assert!(world.verdicts.iter().all(|v| *v == Some(Verdict::Good)), "seed {seed}");
        let allowed = allowed(&job);
        for (offset, tags) in &allowed {
            let found = world.file.get(offset);
            assert!(found.is_some_and(|tag| tags.contains(tag)), "seed {seed}: byte {offset} is {found:?}");
        }
        assert_eq!(world.file.len(), allowed.len(), "seed {seed}: bytes that nobody declared were written");
    }
}

#[test]
fn fetches_are_exact_in_any_order_of_events() {
    for seed in seeds(400) {
        let mut random = Random::new(seed);
        let job = random_job(&mut random, Direction::Read);
        let (plan, schedule) = schedule(&job, seed);
        let mut world = World::new(&plan, &schedule, &job.declared, random, 0);
        assert!(world.run(), "seed {seed}: nobody can go on");
        for (rank, declared) in job.declared.iter().enumerate() {
            for sourced in declared.runs() {
                for block in sourced.run.blocks() {
                    for i in 0..block.len {
                        let found = world.memory.get(&(rank, sourced.source + block.before + i));
                        assert_eq!(found, Some(&untouched(block.file + i)), "seed {seed}");
                    }
                }
            }
        }
    }
}

#[test]
fn failures_end_with_one_verdict_on_every_rank() {
    let mut failures = 0;
    for seed in seeds(600) {
        let mut random = Random::new(seed);
        let direction = if random.one_in(3) { Direction::Read } else { Direction::Write };
        let job = random_job(&mut random, direction);
        let (plan, schedule) = schedule(&job, seed);
        let fail_one_in = 1 + random.below(40);
        let mut world = World::new(&plan, &schedule, &job.declared, random, fail_one_in);
        assert!(world.run(), "seed {seed}: nobody can go on");
        let first = world.verdicts[0];
        assert!(world.verdicts.iter().all(|verdict| *verdict == first), "seed {seed}: {:?}", world.verdicts);
        assert_eq!(first != Some(Verdict::Good), world.failed, "seed {seed}");
        failures += u32::from(world.failed);
        let allowed = allowed(&job);
        for (offset, found) in &world.file {
            assert!(allowed[offset].contains(found), "seed {seed}: byte {offset} was written by nobody");
        }
    }
    assert!(failures > 0, "no failure was injected");
}

#[test]
fn a_driver_that_reports_nonsense_is_told() {
    use sago_core::engine::{Engine, Misuse};
    use sago_core::schedule::{RankSchedule, WindowId};
    let mut engine = Engine::new(Rank(0), Direction::Write, &RankSchedule::default());
    let window = WindowId { area: 0, part: 0, round: 0 };
    assert_eq!(engine.handle_moved(window, Ok(())), Err(Misuse::UnknownWindow(window)));
    assert_eq!(engine.handle_arrived(window, 1, true), Err(Misuse::UnknownWindow(window)));
    assert_eq!(engine.handle_own_stored(Ok(())), Err(Misuse::NotBegun));
    assert_eq!(engine.handle_agreed(Verdict::Good), Err(Misuse::NotBegun));
}
