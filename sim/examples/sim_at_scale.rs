//! How long a simulation takes, and how much memory it needs, for more and more ranks with nine variables each. Times are
//! CPU times of this thread, so that they mean something on a busy machine; `growth` is that of CPU time and of events
//! since half as many ranks.
//!
//! cargo run --release -p sago-sim --example sim_at_scale [nodes ...]

use sago_sim::{Scenario, Strategy, run};

fn main() {
    let given: Vec<u32> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let nodes = if given.is_empty() { vec![512, 1024, 2048, 4096] } else { given };
    println!(
        "{:>8} {:<7} {:<12} {:>8} {:>7} {:>10} {:>7} {:>9}",
        "ranks", "layout", "strategy", "cpu", "growth", "events", "growth", "peak"
    );
    for layout in ["soa", "aos"] {
        for strategy in Strategy::ALL {
            let mut before: Option<(f64, u64)> = None;
            for nodes in &nodes {
                let now = measure(*nodes, layout, strategy);
                let growth = |now: f64, of: fn((f64, u64)) -> f64| {
                    before.map_or_else(String::new, |before| format!("{:.2}", now / of(before)))
                };
                println!(
                    "{:>8} {layout:<7} {:<12} {:>6.0}ms {:>7} {:>10} {:>7} {:>6}MiB",
                    nodes * 16,
                    strategy.name(),
                    now.0 * 1e3,
                    growth(now.0, |before| before.0),
                    now.1,
                    growth(now.1 as f64, |before| before.1 as f64),
                    peak_mib()
                );
                before = Some(now);
            }
        }
    }
}

/// CPU time and events of one run, all ranks in one file.
fn measure(nodes: u32, layout: &str, strategy: Strategy) -> (f64, u64) {
    let last = nodes / 256;
    let text = format!(
        "machine   torus dims=4x4x8x{last}x2 link=1.8GB/s latency=80ns memory=21GB/s pset=128 bridges=10,11/10,12 \
         ranks_per_node=16\n\
         storage   gpfs targets=896 stripe=8MiB target=268MB/s seek=4.17ms io_node=2.8GB/s\n\
         pattern   hacc particles=25000 layout={layout}\n\
         options   exchange=aggregate writers_per_target=1\n\
         two-phase aggregators={} domains=aligned order=bridge-first",
        nodes / 8
    );
    let scenario = Scenario::parse(&text).expect("a scenario");
    let start = cpu_s();
    let outcome = run(&scenario, strategy).expect("a run");
    (cpu_s() - start, outcome.events)
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
