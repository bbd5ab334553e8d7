//! Several reports side by side: the numbers that are worth comparing.

use sago_report::{Direction, Report, duration_text, share_text, size_text};

/// A heading and how to read it off a report.
type Row = (&'static str, fn(&Report) -> String);

pub const ROWS: &[Row] = &[
    ("mode", |r| r.mode.clone()),
    ("ranks", |r| r.ranks.to_string()),
    ("nodes", |r| r.machine.nodes.to_string()),
    ("open", |r| duration_text(r.open_us)),
    ("written by Sago", |r| size_text(r.captured(Direction::Write).bytes)),
    ("read by Sago", |r| size_text(r.captured(Direction::Read).bytes)),
    ("writes left to HDF5", |r| size_text(r.passed(Direction::Write).bytes)),
    ("reads left to HDF5", |r| size_text(r.passed(Direction::Read).bytes)),
    ("calls captured", |r| {
        let calls = [Direction::Write, Direction::Read].map(|direction| r.captured(direction).count());
        calls.iter().sum::<u64>().to_string()
    }),
    ("commits", |r| (r.commits.together + r.commits.alone).to_string()),
    ("aggregators", |r| r.aggregators.len().to_string()),
    ("rounds", |r| r.rounds.count.to_string()),
    ("fill of rounds", |r| if r.rounds.count == 0 { "-".to_owned() } else { share_text(r.rounds.fill()) }),
    ("storage calls", |r| (r.storage.write_calls + r.storage.read_calls).to_string()),
    ("capturing, at most", |r| longest(r, &["capturing"])),
    ("planning, at most", |r| longest(r, &["planning"])),
    ("copying, exchanging, at most", |r| longest(r, &["copying", "exchanging"])),
    ("storing, at most", |r| longest(r, &["storing", "background"])),
];

/// The longest time of a rank in one of these phases.
fn longest(report: &Report, names: &[&str]) -> String {
    let times = names.iter().filter_map(|name| report.phase(name)).map(|phase| phase.max_us);
    duration_text(times.max().unwrap_or(0))
}
