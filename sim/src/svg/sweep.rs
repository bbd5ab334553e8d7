//! The plot of a sweep: bandwidth over the last axis, one curve for each strategy and value of the axis before it.

use super::canvas::{Canvas, FAINT, INK, INNER, LEFT, SERIES, ticks};
use super::rate;
use crate::sweep::{Axis, Point};
use std::collections::BTreeMap;

pub fn plot(title: &str, axes: &[Axis], points: &[Point]) -> String {
    let mut canvas = Canvas::new();
    canvas.heading(16, title);
    let Some(last) = axes.last() else { return canvas.finish() };
    canvas.heading(13, &format!("bandwidth over {}", last.place));
    let curves = curves(axes, points);
    let colours = || SERIES.into_iter().cycle();
    let names: Vec<(&str, &str)> = colours().zip(curves.keys().map(|(_, name)| name.as_str())).collect();
    names.chunks(5).for_each(|row| canvas.legend(row));
    let most = curves.values().flatten().map(|(_, value)| *value).fold(0.0, f64::max);
    let scale = ticks(most);
    let full = scale.last().copied().unwrap_or(1.0);
    let (top, height) = (canvas.y + 10.0, 340.0);
    for tick in &scale {
        let y = top + height * (1.0 - tick / full);
        canvas.line([LEFT, y, LEFT + INNER, y], FAINT);
        canvas.text(LEFT - 6.0, y + 4.0, 11, "end", &rate(*tick));
    }
    let slot = INNER / last.values.len() as f64;
    let x = |at: usize| LEFT + slot * (at as f64 + 0.5);
    for (at, value) in last.values.iter().enumerate() {
        canvas.text(x(at), top + height + 16.0, 11, "middle", value);
    }
    canvas.line([LEFT, top + height, LEFT + INNER, top + height], INK);
    for (curve, colour) in curves.values().zip(colours()) {
        let places: Vec<(f64, f64)> =
            curve.iter().map(|(at, value)| (x(*at), top + height * (1.0 - value / full))).collect();
        canvas.path(&places, colour);
        for ((at, value), (x, y)) in curve.iter().zip(&places) {
            let title = format!("{}: {}", last.values[*at], rate(*value));
            canvas.rect([x - 3.0, y - 3.0, 6.0, 6.0], colour, &title);
        }
    }
    canvas.y = top + height + 30.0;
    canvas.finish()
}

/// By name, in the order of strategies: for each value of the last axis, the bandwidth.
fn curves(axes: &[Axis], points: &[Point]) -> BTreeMap<(usize, String), Vec<(usize, f64)>> {
    let mut curves: BTreeMap<(usize, String), Vec<(usize, f64)>> = BTreeMap::new();
    let Some(last) = axes.last() else { return curves };
    for point in points {
        let Some((along, before)) = point.values.split_last() else { continue };
        let Some(at) = last.values.iter().position(|value| value == along) else { continue };
        for (number, outcome) in point.outcomes.iter().enumerate() {
            let mut name = outcome.strategy.name().to_owned();
            for (axis, value) in axes.iter().zip(before) {
                name = format!("{name}, {}={value}", axis.place);
            }
            curves.entry((number, name)).or_default().push((at, outcome.bytes_per_s()));
        }
    }
    curves
}
