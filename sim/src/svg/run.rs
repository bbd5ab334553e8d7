//! The picture of one scenario with its strategies.

use super::canvas::{Canvas, FAINT, INNER, LEFT, SERIES, ticks};
use super::{bytes, rate, seconds};
use crate::{Outcome, RoundTime, Scenario};
use std::collections::BTreeMap;

const FILLING: &str = "#a6cee3";
const STORING: &str = "#1f5f8b";
/// Aggregators that get a lane of their own in the timeline.
const LANES_MAX: usize = 24;

/// `outcomes` of one scenario.
pub fn picture(scenario: &Scenario, outcomes: &[Outcome]) -> String {
    let mut canvas = Canvas::new();
    let title = if scenario.about.is_empty() { "a simulated run" } else { &scenario.about };
    canvas.heading(16, title);
    for outcome in outcomes {
        let speed = rate(outcome.bytes_per_s());
        let name = outcome.strategy.name();
        canvas.heading(
            13,
            &format!("{name}: {} in {}, {speed}", bytes(outcome.bytes as f64), seconds(outcome.time_s)),
        );
        timeline(&mut canvas, outcome);
    }
    let names: Vec<&str> = outcomes.iter().map(|outcome| outcome.strategy.name()).collect();
    let colours: Vec<(&str, &str)> = SERIES.into_iter().zip(names).collect();
    canvas.heading(13, "Load per class of links: bytes over all of its links (a byte counts on each), and how busy the busiest link was");
    canvas.legend(&colours);
    classes(&mut canvas, outcomes);
    if outcomes.iter().any(|outcome| !outcome.gates.is_empty()) {
        canvas.heading(13, "Bytes into each gate (bridge node), in the order of nodes");
        canvas.legend(&colours);
        bars(&mut canvas, outcomes, |o| o.gates.iter().map(|gate| gate.in_bytes as f64).collect());
    }
    canvas.heading(13, "Bytes at each storage target");
    canvas.legend(&colours);
    bars(&mut canvas, outcomes, |o| o.targets.iter().map(|target| target.bytes as f64).collect());
    canvas.finish()
}

/// One lane per aggregator, evenly chosen; light while bytes arrive, dark while they are stored.
fn timeline(canvas: &mut Canvas, outcome: &Outcome) {
    let mut lanes: BTreeMap<u32, Vec<&RoundTime>> = BTreeMap::new();
    outcome.rounds.iter().for_each(|round| lanes.entry(round.lane).or_default().push(round));
    if lanes.is_empty() {
        canvas.y += 14.0;
        canvas.text(LEFT, canvas.y, 11, "start", "every rank writes for itself: no rounds");
        return;
    }
    canvas.legend(&[(FILLING, "filling"), (STORING, "storing")]);
    let all: Vec<_> = lanes.into_iter().collect();
    let step = all.len().div_ceil(LANES_MAX);
    let (height, top) = (9.0, canvas.y);
    let x = |time_s: f64| LEFT + INNER * time_s / outcome.time_s;
    for (lane, rounds) in all.iter().step_by(step) {
        canvas.text(LEFT - 6.0, canvas.y + 8.0, 9, "end", &format!("aggregator {lane}"));
        for round in rounds {
            let (from, full, end) = (round.filling.as_s(), round.storing.as_s(), round.stored.as_s());
            let title = format!(
                "call {}, round {}: {}, filling from {}, storing {} to {}",
                round.call,
                round.round,
                bytes(round.bytes as f64),
                seconds(from),
                seconds(full),
                seconds(end)
            );
            canvas.rect([x(from), canvas.y + 1.0, x(full) - x(from), 3.0], FILLING, &title);
            canvas.rect([x(full), canvas.y + 4.0, x(end) - x(full), 4.0], STORING, &title);
        }
        canvas.y += height;
    }
    for tick in ticks(outcome.time_s).into_iter().filter(|tick| *tick <= outcome.time_s) {
        canvas.line([x(tick), top, x(tick), canvas.y], FAINT);
        canvas.text(x(tick), canvas.y + 12.0, 10, "middle", &seconds(tick));
    }
    canvas.y += 16.0;
}

fn classes(canvas: &mut Canvas, outcomes: &[Outcome]) {
    let most = outcomes.iter().flat_map(|o| &o.classes).map(|class| class.bytes as f64).fold(1.0, f64::max);
    let names: Vec<&str> =
        outcomes.first().map(|o| o.classes.iter().map(|class| class.name).collect()).unwrap_or_default();
    for (at, name) in names.iter().enumerate() {
        canvas.text(LEFT - 6.0, canvas.y + 10.0, 11, "end", name);
        for (outcome, colour) in outcomes.iter().zip(SERIES) {
            let class = &outcome.classes[at];
            let busy = 100.0 * class.busiest_busy_s / outcome.time_s;
            let label = format!("{}, busiest link {busy:.0} %", bytes(class.bytes as f64));
            let width = 0.7 * INNER * class.bytes as f64 / most;
            canvas.rect([LEFT, canvas.y, width, 11.0], colour, &label);
            canvas.text(LEFT + width + 6.0, canvas.y + 9.0, 10, "start", &label);
            canvas.y += 13.0;
        }
        canvas.y += 5.0;
    }
}

/// Side by side for each place; many places are joined so that a bar can be seen.
fn bars(canvas: &mut Canvas, outcomes: &[Outcome], of: impl Fn(&Outcome) -> Vec<f64>) {
    const BARS_MAX: usize = 128;
    let join = |values: Vec<f64>| {
        let size = values.len().div_ceil(BARS_MAX).max(1);
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        values.chunks(size).map(mean).collect::<Vec<f64>>()
    };
    let all: Vec<Vec<f64>> = outcomes.iter().map(|outcome| join(of(outcome))).collect();
    let most = all.iter().flatten().copied().fold(0.0, f64::max);
    let scale = ticks(most);
    let (top, height) = (canvas.y + 4.0, 120.0);
    let full = scale.last().copied().unwrap_or(1.0);
    for tick in &scale {
        let y = top + height * (1.0 - tick / full);
        canvas.line([LEFT, y, LEFT + INNER, y], FAINT);
        canvas.text(LEFT - 6.0, y + 4.0, 10, "end", &bytes(*tick));
    }
    let places = all.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let slot = INNER / places as f64;
    let width = (slot * 0.9 / all.len().max(1) as f64).max(0.3);
    for (number, (values, colour)) in all.iter().zip(SERIES).enumerate() {
        for (place, value) in values.iter().enumerate() {
            let tall = height * value / full;
            let x = LEFT + slot * place as f64 + width * number as f64;
            canvas.rect(
                [x, top + height - tall, width, tall],
                colour,
                &format!("{place}: {}", bytes(*value)),
            );
        }
    }
    canvas.y = top + height + 6.0;
}
