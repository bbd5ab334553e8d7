//! Where the time of ranks went: a bar for each rank, or, where there are many, how the ranks spread.

use super::{Canvas, LEFT, WIDTH};
use sago_report::{Phase, Report, duration_text};

/// The phases of the ranks' own threads, in the order of a commit, with what they are.
pub const PHASES: &[(&str, &str)] = &[
    ("capturing", "copying and converting into the window"),
    ("planning", "agreeing on a plan, waiting for others included"),
    ("copying", "between the ranks of a node"),
    ("exchanging", "with other nodes"),
    ("waiting", "for other ranks and for storage"),
    ("storing", "a rank's own bytes"),
    ("agreeing", "that all went well, waiting for the last rank included"),
    ("background", "storage calls of an aggregator's I/O thread, beside the rest"),
];

const BESIDE: &str = "background";
const ROWS_TALL: usize = 24;

pub fn phases(report: &Report) -> Option<String> {
    let found: Vec<(usize, &Phase)> = PHASES
        .iter()
        .enumerate()
        .filter_map(|(number, (name, _))| Some((number, report.phase(name)?)))
        .filter(|(_, phase)| phase.max_us > 0)
        .collect();
    if found.is_empty() {
        return None;
    }
    let listed = found.iter().any(|(_, phase)| !phase.ranks_us.is_empty());
    Some(if listed { bars(&found, report.ranks as usize) } else { spread(&found) })
}

fn class(number: usize) -> String {
    format!("c-phase{number}")
}

fn bars(found: &[(usize, &Phase)], ranks: usize) -> String {
    let of = |phase: &Phase, rank: usize| phase.ranks_us.get(rank).copied().unwrap_or(0);
    let total = |rank: usize, beside: bool| {
        let phases = found.iter().filter(|(_, phase)| (phase.name == BESIDE) == beside);
        phases.map(|(_, phase)| of(phase, rank)).sum::<u64>()
    };
    let most = (0..ranks).map(|rank| total(rank, false).max(total(rank, true))).max().unwrap_or(1).max(1);
    let tall = ranks <= ROWS_TALL;
    let (height, beside_height) = if tall { (14.0, 5.0) } else { (8.0, 2.0) };
    let mut canvas = Canvas::default();
    let legend: Vec<(String, &str)> =
        found.iter().map(|(number, phase)| (class(*number), phase.name.as_str())).collect();
    let legend: Vec<(&str, &str)> = legend.iter().map(|(class, name)| (class.as_str(), *name)).collect();
    canvas.legend(LEFT, 12.0, &legend);
    let (mut y, inner) = (26.0, WIDTH - LEFT - 70.0);
    for rank in 0..ranks {
        let (mut x, mut beside_x) = (LEFT, LEFT);
        if tall || rank % 8 == 0 {
            canvas.text(LEFT - 10.0, y + height - 3.0, "end", &format!("rank {rank}"));
        }
        for (number, phase) in found {
            let width = inner * of(phase, rank) as f64 / most as f64;
            let title = format!("rank {rank}: {} {}", phase.name, duration_text(of(phase, rank)));
            if width < 0.05 {
                continue;
            }
            if phase.name == BESIDE {
                canvas.rect(&class(*number), [beside_x, y + height + 1.0, width, beside_height], &title);
                beside_x += width;
            } else {
                canvas.rect(&class(*number), [x, y, width, height], &title);
                x += width;
            }
        }
        if tall {
            canvas.text(x + 6.0, y + height - 3.0, "start", &duration_text(total(rank, false)));
        }
        y += height + beside_height + if tall { 5.0 } else { 2.0 };
    }
    canvas.finish(WIDTH, y + 4.0, "time of each rank")
}

fn spread(found: &[(usize, &Phase)]) -> String {
    let most = found.iter().map(|(_, phase)| phase.max_us).max().unwrap_or(1).max(1);
    let x = |us: u64| LEFT + (WIDTH - LEFT - 230.0) * us as f64 / most as f64;
    let mut canvas = Canvas::default();
    let mut y = 8.0;
    for (number, phase) in found {
        let [min, median, max] = [phase.min_us, phase.median_us, phase.max_us];
        let [min_text, median_text, max_text] = [min, median, max].map(duration_text);
        let title = format!("{}: {min_text} to {max_text}, median {median_text}", phase.name);
        canvas.text(LEFT - 10.0, y + 12.0, "end", &phase.name);
        canvas.rect(&class(*number), [x(min), y + 4.0, x(max) - x(min), 8.0], &title);
        canvas.line("c-median", [x(median), y, x(median), y + 16.0]);
        canvas.text(
            x(max) + 8.0,
            y + 12.0,
            "start",
            &format!("{min_text} to {max_text}, median {median_text}"),
        );
        y += 24.0;
    }
    canvas.finish(WIDTH, y, "how the times of ranks spread")
}
