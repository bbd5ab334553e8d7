//! How long planning takes, and how much memory it needs, for many ranks with nine variables each: the plan of the whole
//! job and the exact schedule of every rank, and what one rank alone has to do. Times are CPU times of this thread, so
//! that they mean something on a busy machine; `growth` is that of plan and schedule since half as many ranks.
//!
//! cargo run --release -p sago-core --example plan_at_scale [ranks per node [nodes ...]]

use sago_core::config::Config;
use sago_core::cost::Calibration;
use sago_core::declare::{Declared, Direction, Outline, Summary};
use sago_core::ids::Rank;
use sago_core::pattern::AccessPattern;
use sago_core::plan::{Job, StorageFacts, area, frame, plan};
use sago_core::schedule::{RankSchedule, Schedule};
use sago_core::topology::Machine;

fn main() {
    let arguments: Vec<u32> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let per_node = arguments.first().copied().unwrap_or(16);
    let nodes: Vec<u32> =
        if arguments.len() > 1 { arguments[1..].to_vec() } else { vec![1024, 2048, 4096, 8192] };
    println!(
        "{:>8} {:<20} {:>8} {:>9} {:>9} {:>7} {:>7} {:>9}",
        "ranks", "pattern", "plan", "schedule", "one rank", "growth", "groups", "peak"
    );
    for (name, pattern) in [
        ("structure of arrays", "hacc particles=25000 layout=soa"),
        ("array of structures", "hacc particles=25000 layout=aos"),
        ("columns of records", "columns vars=9 records=25000 size=4"),
    ] {
        let mut before = None;
        for nodes in &nodes {
            before = Some(measure(*nodes, per_node, name, pattern, before));
        }
    }
}

fn measure(nodes: u32, per_node: u32, name: &str, text: &str, before: Option<f64>) -> f64 {
    let last = nodes / 256;
    let machine: Machine = format!(
        "torus dims=4x4x8x{last}x2 link=1.8GB/s latency=600ns pset=128 bridges=10,11/10,12 ranks_per_node={per_node}"
    )
    .parse()
    .expect("a machine");
    let config =
        Config::parse("exchange=aggregate stripe=8MiB targets=48 writers_per_target=8").expect("options");
    let pattern: AccessPattern = text.parse().expect("a pattern");
    let ranks = machine.ranks();
    let declare = |rank| pattern.declare(Rank(rank), ranks, Direction::Write).expect("a pattern that fits");
    let declared: Vec<Declared> = (0..ranks).map(declare).collect();
    let job = Job {
        machine: &machine,
        config: &config,
        storage: StorageFacts::default(),
        calibration: Calibration::default(),
    };

    let summaries: Vec<Summary> = declared.iter().map(Declared::summary).collect();
    let plan_all = || plan(&job, &summaries, |rank| Outline::of(&declared[rank.index()])).expect("a plan");
    let (planned, whole) = least_of_five(plan_all);
    let (scheduled, schedule) = least_of_five(|| Schedule::new(&whole, &declared));
    schedule.validate(&whole, &declared).expect("a valid schedule");

    // What a rank of a real job does: the frame, its own areas, its own sends.
    let rank = Rank(ranks / 2);
    let member: Vec<u32> = whole.memberships(ranks)[rank.index()].clone();
    let start = cpu_s();
    let framed = frame(&job, &summaries).expect("a frame");
    let areas: Vec<_> = member
        .iter()
        .map(|number| {
            let of = &framed.areas[*number as usize];
            let outline = |rank: &Rank| (*rank, Outline::of(&declared[rank.index()]));
            let outlines: Vec<_> = of.area.members.iter().map(outline).collect();
            (*number, area(&job, &framed.settings, of, &outlines))
        })
        .collect();
    let mine = areas.iter().map(|(number, area)| (*number, area));
    let own = RankSchedule::new(&framed, mine, rank, &declared[rank.index()]);
    let alone = cpu_s() - start;
    assert_eq!(own.sends, schedule.ranks[rank.index()].sends);

    let both = planned + scheduled;
    println!(
        "{ranks:>8} {name:<20} {:>6.0}ms {:>7.0}ms {:>7.0}ms {:>7} {:>7} {:>6}MiB",
        planned * 1e3,
        scheduled * 1e3,
        alone * 1e3,
        before.map_or_else(String::new, |before| format!("{:.2}", both / before)),
        whole.areas.len(),
        peak_mib(),
    );
    both
}

/// The least CPU time that `work` takes, and its result.
fn least_of_five<T>(work: impl Fn() -> T) -> (f64, T) {
    let run = || {
        let start = cpu_s();
        let result = work();
        (cpu_s() - start, result)
    };
    let first = run();
    (0..4).map(|_| run()).fold(first, |best, next| if next.0 < best.0 { next } else { best })
}

/// CPU time of this thread so far.
fn cpu_s() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

/// The process's largest resident size so far.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) / 1024
}
