//! Whole simulated runs: what is promised of every run, and effects that must show.
#![allow(clippy::unwrap_used)]

use sago_core::engine::{FaultKind, Verdict};
use sago_core::ids::Rank;
use sago_core::random::Random;
use sago_sim::scenario::NAMED;
use sago_sim::{Lines, Outcome, Scenario, Strategy, run};

const SMALL: &str = "
machine   torus dims=4x4 link=1GB/s latency=1us memory=8GB/s ranks_per_node=2
storage   lustre targets=4 stripe=64KiB target=200MB/s request=50us seek=1ms lock=200us jitter=0.3
pattern   soa vars=3 bytes=40KiB
options   exchange=aggregate aggregators=4
two-phase buffer=64KiB
";

fn scenario(text: &str, changes: &[(&str, &str)]) -> Scenario {
    let lines = Lines::parse(text).unwrap();
    let lines = changes.iter().fold(lines, |lines, (place, value)| lines.with(place, value).unwrap());
    Scenario::from_lines(&lines).unwrap()
}

fn outcome(text: &str, changes: &[(&str, &str)], strategy: Strategy) -> Outcome {
    run(&scenario(text, changes), strategy).unwrap()
}

#[test]
fn a_seed_gives_the_same_run_and_another_seed_another() {
    for strategy in Strategy::ALL {
        let once = format!("{:?}", outcome(SMALL, &[("seed", "7")], strategy));
        assert_eq!(once, format!("{:?}", outcome(SMALL, &[("seed", "7")], strategy)));
        assert_ne!(once, format!("{:?}", outcome(SMALL, &[("seed", "8")], strategy)));
    }
}

/// `run` itself refuses a run whose bytes are not conserved; here many different ones must pass it.
#[test]
fn bytes_are_conserved_on_any_machine_with_any_pattern() {
    let machines = [
        "flat nodes=1 link=1GB/s ranks_per_node=8",
        "torus dims=2x2x2 link=1GB/s pset=4 bridges=1,2",
        "dragonfly groups=2 routers=1x2 nodes=2 local=2GB/s global=1GB/s gateways=0,5",
        "fattree leaves=4 nodes=2 spines=2 oversubscription=2 link=1GB/s map=cyclic",
        "tree shape=((4)(4)) link=1GB/s,100MB/s",
    ];
    let patterns = [
        "soa vars=3 bytes=10000",
        "aos vars=4 bytes=7777",
        "columns vars=3 records=500 size=8",
        "interleaved block=3000 count=9",
        "tiles grid=2x4 tile=16x32 element=8 vars=2",
        "random seed=5 extents=7 len_max=3000 file=200000",
        "list extents={0+100,200+50|300+10||7+1|400+5000|9000+1|10000+3|20000+4}",
    ];
    let options = ["", "exchange=direct", "exchange=aggregate groups=2 group_ranks_min=2"];
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let mut any = |list: &[&'static str]| list[random.below(list.len() as u64) as usize];
        let text = format!(
            "machine {}\nstorage {} stripe={} target=100MB/s lock=1ms jitter=0.5\npattern {}\noptions {}\n\
             two-phase buffer={} domains={} holes={}\ndirection {}\nseed {seed}",
            any(&machines),
            any(&["lustre targets=3", "gpfs targets=2 pool=5", "lustre targets=4 fragments=2+1"]),
            any(&["4KiB", "10000", "1MiB"]),
            any(&patterns),
            any(&options),
            any(&["4KiB", "5000", "1MiB"]),
            any(&["even", "aligned", "striped"]),
            any(&["sieve", "pieces"]),
            any(&["write", "read"]),
        );
        for strategy in Strategy::ALL {
            let outcome = run(&scenario(&text, &[]), strategy)
                .unwrap_or_else(|error| panic!("seed {seed}, {}: {error}\n{text}", strategy.name()));
            assert_eq!(outcome.verdict, Verdict::Good, "seed {seed}");
            assert!(outcome.time_s > 0.0, "seed {seed}");
            assert_eq!(outcome.counts.message_bytes, outcome.counts.arrived_bytes, "seed {seed}");
        }
    }
}

#[test]
fn a_failed_write_ends_with_one_verdict_for_all() {
    let faults = [("fault", "write aggregator=1 from=0 code=28")];
    let sago = outcome(SMALL, &faults, Strategy::Sago);
    let Verdict::Failed(fault) = sago.verdict else { panic!("{:?}", sago.verdict) };
    assert_eq!((fault.kind, fault.code), (FaultKind::Write, 28));
    assert!(sago.counts.written_bytes < sago.bytes);
    let rank = [("fault", "write rank=5 code=5")];
    let alone = outcome(SMALL, &rank, Strategy::Independent);
    let Verdict::Failed(fault) = alone.verdict else { panic!("{:?}", alone.verdict) };
    assert_eq!((fault.rank, fault.code), (Rank(5), 5));
    let two_phase = outcome(SMALL, &faults, Strategy::TwoPhase);
    assert!(matches!(two_phase.verdict, Verdict::Failed(fault) if fault.code == 28));
}

#[test]
fn slow_links_and_targets_delay_and_do_no_harm() {
    for strategy in Strategy::ALL {
        let steady = [("storage.jitter", "0")];
        let usual = outcome(SMALL, &steady, strategy);
        let slow = |fault: &'static str| {
            let delayed = outcome(SMALL, &[steady[0], ("fault", fault)], strategy);
            assert_eq!(delayed.verdict, Verdict::Good, "{fault}");
            assert_eq!(delayed.counts.written_bytes, usual.counts.written_bytes);
            delayed.time_s
        };
        assert!(slow("target number=2 slow=50") > 2.0 * usual.time_s);
        assert!(slow("link class=io slow=1000") > 1.5 * usual.time_s);
        assert!(slow("target number=2 slow=50 since=1000s") == usual.time_s);
        assert!(slow("target number=2 slow=50 until=1ns") == usual.time_s);
    }
}

#[test]
fn any_rank_may_fail_at_any_request() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let fault = format!("write rank={} from={} code=5", random.below(32), random.below(3));
        for strategy in Strategy::ALL {
            let outcome = outcome(SMALL, &[("fault", &fault), ("seed", &seed.to_string())], strategy);
            if let Verdict::Failed(fault) = outcome.verdict {
                assert_eq!(fault.code, 5, "seed {seed}");
            }
        }
    }
}

#[test]
fn a_file_with_huge_holes_ends() {
    let text = "
        machine   flat nodes=2 link=1GB/s
        storage   lustre targets=2 stripe=4KiB target=100MB/s
        pattern   list extents={0+10,4000000000000000000+7|5+2}
        two-phase buffer=4KiB";
    for strategy in Strategy::ALL {
        assert_eq!(outcome(text, &[], strategy).verdict, Verdict::Good);
    }
}

/// IOR on Jaguar: a process's block is a multiple of all targets' stripes, so calls in step use one target at a time.
#[test]
fn calls_in_step_meet_at_one_target_and_a_whole_set_does_not() {
    let text = "
        machine   torus dims=4x4 link=10GB/s latency=50ns ranks_per_node=2
        storage   lustre targets=8 stripe=1MiB target=100MB/s
        pattern   aos vars=16 bytes=1MiB
        options   exchange=aggregate aggregators=16
        two-phase buffer=1MiB";
    let two_phase = outcome(text, &[], Strategy::TwoPhase);
    let sago = outcome(text, &[], Strategy::Sago);
    assert!((90e6..105e6).contains(&two_phase.bytes_per_s()), "{}", two_phase.bytes_per_s());
    assert!(sago.bytes_per_s() > 6.0 * two_phase.bytes_per_s(), "{}", sago.bytes_per_s());
}

#[test]
fn subgroups_wait_less_until_they_cut_rows_of_tiles() {
    let text = "
        machine   torus dims=4x4x2 link=3.8GB/s latency=50ns ranks_per_node=2
        storage   lustre targets=16 stripe=256KiB target=400MB/s seek=4ms
        pattern   tiles grid=8x8 tile=64x256 element=64
        two-phase buffer=256KiB";
    let with = |groups| outcome(text, &[("two-phase.groups", groups)], Strategy::TwoPhase);
    let (alone, rows, cut) = (with("1"), with("8"), with("32"));
    assert!(rows.waiting_share() < alone.waiting_share());
    assert!(rows.bytes_per_s() > alone.bytes_per_s());
    assert!(cut.bytes_per_s() < rows.bytes_per_s());
}

#[test]
fn time_is_what_the_bottleneck_needs() {
    let text = "
        machine   flat nodes=2 link=1GB/s latency=1ns memory=100GB/s
        storage   lustre targets=1 stripe=1MiB target=100MB/s
        pattern   aos vars=1 bytes=50MB";
    for strategy in Strategy::ALL {
        let outcome = outcome(text, &[("options", "exchange=aggregate")], strategy);
        assert!((1.0..1.15).contains(&outcome.time_s), "{}: {}", strategy.name(), outcome.time_s);
    }
}

#[test]
fn scenarios_that_come_with_the_program_are_sound_and_the_small_ones_run() {
    for named in NAMED {
        let scenario = named.scenario().unwrap_or_else(|error| panic!("{}: {error}", named.name));
        assert!(!scenario.about.is_empty(), "{}", named.name);
        if scenario.machine.ranks() <= 64 {
            for strategy in &scenario.strategies {
                assert_eq!(run(&scenario, *strategy).unwrap().verdict, Verdict::Good, "{}", named.name);
            }
        }
    }
}
