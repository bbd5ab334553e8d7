//! Plans as text. Each fixture names a job and holds its explanation; SAGO_BLESS=1 writes them anew.
#![allow(clippy::unwrap_used)]

mod support;

use sago_core::explain::Explanation;
use sago_core::schedule::Schedule;
use std::path::{Path, PathBuf};
use support::jobs::TestJob;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/plans")
}

fn explain(job: &TestJob) -> Explanation {
    let plan = job.plan().unwrap();
    let schedule = Schedule::new(&plan, &job.declared);
    schedule.validate(&plan, &job.declared).unwrap();
    Explanation::new(&job.job(), &plan, &schedule, &job.declared)
}

fn head(text: &str) -> (TestJob, String) {
    let lines: Vec<&str> = text.lines().take(3).collect();
    let value = |at: usize, name: &str| lines[at].strip_prefix(name).unwrap().trim();
    let job = TestJob::new(value(0, "machine:"), value(1, "pattern:"), value(2, "options:"));
    (job, lines.join("\n"))
}

fn named(name: &str) -> Explanation {
    let text = std::fs::read_to_string(fixtures().join(format!("{name}.txt"))).unwrap();
    explain(&head(&text).0)
}

#[test]
fn plans_are_as_they_were() {
    let mut seen = 0;
    for entry in std::fs::read_dir(fixtures()).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let (job, head) = head(&text);
        let now = format!("{head}\n\n{}", explain(&job));
        if std::env::var("SAGO_BLESS").is_ok() {
            std::fs::write(&path, &now).unwrap();
        }
        assert_eq!(
            now,
            if std::env::var("SAGO_BLESS").is_ok() { now.clone() } else { text },
            "{}",
            path.display()
        );
        seen += 1;
    }
    assert!(seen >= 15, "only {seen} fixtures");
}

/// TAPIOCA's figure 2: three calls flush three nearly empty buffers; declared together, they fill one.
#[test]
fn three_nearly_empty_buffers_become_one_full_one() {
    for variable in ["x", "y", "z"] {
        let alone = named(&format!("tapioca-{variable}-alone"));
        assert_eq!(alone.aggregators.len(), 1);
        assert_eq!(alone.aggregators[0].rounds.len(), 1);
        assert_eq!(alone.aggregators[0].rounds[0].bytes, 80);
        assert_eq!(alone.aggregators[0].rounds[0].requests, 4);
    }
    let together = named("tapioca-together");
    assert_eq!(together.pattern, "array of structures");
    assert_eq!(together.aggregators[0].rounds.len(), 1);
    assert_eq!((together.aggregators[0].rounds[0].bytes, together.buffer_bytes), (240, 240));
    assert_eq!(together.requests, 1);
}

/// ParColl's figure 5, through the whole planner: processes of the subgroups, and their aggregators.
#[test]
fn figure_5_of_parcoll_exactly() {
    let table = |name: &str| {
        let plan = named(name);
        let group = |number: u32| {
            let of = plan.aggregators.iter().filter(|a| a.area == number);
            let mut aggregators: Vec<_> = of.map(|a| format!("{}({})", a.node, a.rank)).collect();
            aggregators.sort();
            let members: Vec<_> =
                plan.areas[number as usize].members.iter().map(ToString::to_string).collect();
            format!("{} / {}", members.join(", "), aggregators.join(", "))
        };
        assert_eq!(plan.areas.len(), 2);
        [group(0), group(1)]
    };
    assert_eq!(
        table("parcoll-figure5-block"),
        ["P0, P1, P2, P3 / N0(P0), N1(P2)", "P4, P5, P6, P7 / N2(P4), N3(P6)"]
    );
    assert_eq!(
        table("parcoll-figure5-cyclic"),
        ["P0, P1, P2, P3 / N0(P0), N3(P3)", "P4, P5, P6, P7 / N2(P6)"]
    );
}

/// ParColl's patterns (b) and (c).
#[test]
fn tiles_are_cut_into_areas_and_diagonals_get_a_view() {
    let tiles = named("parcoll-tiles");
    assert_eq!(tiles.areas.len(), 4);
    assert!(tiles.areas.windows(2).all(|pair| pair[0].hi <= pair[1].lo), "areas overlap");
    let diagonal = named("parcoll-diagonal");
    assert_eq!(diagonal.areas.len(), 2);
    assert!(diagonal.areas[0].hi > diagonal.areas[1].lo, "the areas of a view interleave");
    let full = |plan: &Explanation| {
        plan.aggregators.iter().map(|a| a.fill(plan.buffer_bytes)).sum::<f64>()
            / plan.aggregators.len() as f64
    };
    assert!(full(&tiles) > 0.95, "{}", full(&tiles));
}

/// The paper on independent I/O, tables 1 and 2, on 512 nodes with 8 bridge nodes.
#[test]
fn bridges_are_spared_and_evenly_loaded() {
    let plan = named("bgq-512-bridges");
    let bridges = plan.bridges.unwrap();
    assert_eq!(bridges.bridges, 8);
    assert!(bridges.default_mean >= 1.3 * bridges.mean, "{bridges:?}");
    assert!(bridges.default_deviation >= 10.0 * bridges.deviation, "{bridges:?}");
}

#[test]
fn long_runs_are_written_directly_and_short_ones_are_not() {
    assert_eq!(named("laptop-direct").direct_ranks, 4);
    assert_eq!(named("laptop-columns").direct_ranks, 4, "columns of one rank merge into long runs");
    assert_eq!(named("laptop-short-tiles").direct_ranks, 0);
}

#[test]
fn aggregators_placed_by_cost_move_fewer_bytes_between_racks() {
    let machine = "tree shape=((2)(2)) link=50MB/s,6.25MB/s ranks_per_node=2 map=block";
    let between = |placement: &str| {
        let options =
            format!("exchange=aggregate aggregators=2 buffer=64KiB stripe=64KiB placement={placement}");
        let plan = explain(&TestJob::new(machine, "aos vars=4 bytes=64KiB", &options));
        plan.classes.iter().find(|class| class.name == "rack").unwrap().bytes
    };
    assert!(between("cost") < between("rank-order"), "{} {}", between("cost"), between("rank-order"));
}
