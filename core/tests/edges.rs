//! The corners of the planner, each by name, planned, validated and executed.
#![allow(clippy::unwrap_used)]

mod support;

use sago_core::declare::Direction;
use sago_core::engine::Verdict;
use sago_core::plan::Plan;
use sago_core::random::Random;
use sago_core::schedule::Schedule;
use support::jobs::TestJob;
use support::world::World;

/// Plans and executes, and says how many bytes of the file were written.
fn commit(machine: &str, pattern: &str, options: &str) -> (Plan, usize) {
    let job = TestJob::new(machine, pattern, options);
    let plan = job.plan().unwrap();
    let schedule = Schedule::new(&plan, &job.declared);
    schedule.validate(&plan, &job.declared).unwrap();
    let mut world = World::new(&plan, &schedule, &job.declared, Random::new(1), 0);
    assert!(world.run(), "nobody can go on");
    assert!(world.verdicts.iter().all(|verdict| *verdict == Some(Verdict::Good)));
    let written = world.file.len();
    (plan, written)
}

const FOUR: &str = "flat nodes=2 link=1GB/s ranks_per_node=2";
const ONE: &str = "flat nodes=1 link=1GB/s";

#[test]
fn nobody_has_anything() {
    let (plan, written) = commit(FOUR, "list extents={|||}", "exchange=aggregate");
    assert_eq!((plan.areas.len(), written), (0, 0));
}

#[test]
fn some_ranks_have_nothing() {
    assert_eq!(
        commit(FOUR, "list extents={|0+10||5+10}", "exchange=aggregate groups=2 group_ranks_min=1").1,
        15
    );
}

#[test]
fn one_rank_and_one_byte() {
    for exchange in ["aggregate", "direct", "auto"] {
        assert_eq!(
            commit(ONE, "list extents={7+1}", &format!("exchange={exchange} buffer=1B stripe=1B")).1,
            1
        );
    }
}

#[test]
fn the_first_and_the_last_byte_of_a_file_of_2_to_the_63() {
    let pattern = "list extents={0+1,9223372036854775807+1|1+1|9223372036854775806+1|}";
    for options in ["exchange=aggregate", "exchange=direct", "exchange=aggregate groups=2 group_ranks_min=1"]
    {
        assert_eq!(commit(FOUR, pattern, options).1, 4, "{options}");
    }
}

#[test]
fn bytes_so_far_apart_that_buffers_would_be_empty_are_written_directly() {
    let (plan, written) =
        commit(FOUR, "random seed=3 extents=3000 len_max=2 file=4611686018427387904", "exchange=aggregate");
    assert!(plan.areas[0].too_sparse);
    assert!(written > 10_000);
}

#[test]
fn more_aggregators_than_ranks() {
    let (plan, written) =
        commit(FOUR, "aos bytes=100", "exchange=aggregate aggregators=64 buffer=10B stripe=10B");
    assert_eq!(plan.areas[0].parts.len(), 4);
    assert_eq!(written, 400);
}

#[test]
fn extents_straddle_stripes_and_areas() {
    let (plan, written) =
        commit(FOUR, "aos bytes=70", "exchange=aggregate groups=2 group_ranks_min=2 buffer=50B stripe=50B");
    assert_eq!(plan.areas.len(), 2);
    assert_eq!(plan.frame.areas[0].area.hi % 50, 0);
    assert!(plan.memberships(4).iter().any(|areas| areas.len() == 2), "a rank straddles the areas");
    assert_eq!(written, 280);
}

#[test]
fn a_rank_that_writes_twice_keeps_the_later_bytes() {
    let (_, written) = commit(ONE, "list extents={0+10,5+10,0+3}", "exchange=aggregate buffer=4B stripe=4B");
    assert_eq!(written, 15);
}

#[test]
fn no_subgroup_is_smaller_than_the_least_size() {
    let machine = "flat nodes=8 link=1GB/s ranks_per_node=4";
    let (plan, _) = commit(machine, "aos bytes=100", "exchange=aggregate groups=32 buffer=64B stripe=64B");
    assert_eq!(plan.areas.len(), 4);
    assert!(plan.frame.areas.iter().all(|framed| framed.area.members.len() >= 8));
}

#[test]
fn reads_are_the_same_plan_backwards() {
    let job = |direction| {
        TestJob::in_direction(
            FOUR,
            "interleaved block=100 count=9",
            "exchange=aggregate buffer=256B stripe=256B",
            direction,
        )
    };
    let (write, read) = (job(Direction::Write), job(Direction::Read));
    assert_eq!(write.plan().unwrap(), read.plan().unwrap());
}
