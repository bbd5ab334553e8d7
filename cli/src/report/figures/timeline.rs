//! Rounds in time: a row for each aggregator, with a lane for each of its two buffers. Times in which nothing happened
//! anywhere, while the program computed, are cut short.

use super::{Canvas, LEFT, WIDTH};
use sago_report::{Report, Round, RoundKind, duration_text, share_text, size_text};
use std::collections::BTreeMap;

const ROWS_MAX: usize = 32;
const ROUNDS_MAX: usize = 4000;
const LANE: f64 = 13.0;
/// A pause is drawn no longer than this share of the picture.
const PAUSE_SHARE: f64 = 0.03;
/// Between the times under the picture.
const MARK_ROOM: f64 = 56.0;

pub fn timeline(report: &Report) -> Option<String> {
    let mut rows: BTreeMap<u32, Vec<&Round>> = BTreeMap::new();
    for round in report.timeline.iter().take(ROUNDS_MAX) {
        rows.entry(round.rank).or_default().push(round);
    }
    if rows.is_empty() {
        return None;
    }
    let all = rows.len();
    while rows.len() > ROWS_MAX {
        let bytes = |rounds: &Vec<&Round>| rounds.iter().map(|round| round.bytes).sum::<u64>();
        let least = rows.iter().min_by_key(|(_, rounds)| bytes(rounds)).map(|(rank, _)| *rank);
        least.and_then(|rank| rows.remove(&rank));
    }
    let scale = Scale::new(rows.values().flatten().copied());
    let mut canvas = Canvas::default();
    let shown = |own: bool| rows.values().flatten().any(|round| (round.kind == RoundKind::Own) == own);
    let rounds = [
        ("c-fill", "filling: bytes arrive"),
        ("c-idle", "full, storage busy"),
        ("c-store", "storing, as high as the buffer is full"),
    ];
    let own = [("c-own", "a rank's own bytes")];
    let legend = [(shown(false), &rounds[..]), (shown(true), &own[..])];
    let legend: Vec<_> =
        legend.iter().filter(|(shown, _)| *shown).flat_map(|(_, entries)| *entries).copied().collect();
    canvas.legend(LEFT, 12.0, &legend);
    let top = 26.0;
    let mut y = top;
    for (rank, rounds) in &rows {
        let lanes = if rounds.iter().any(|round| round.kind != RoundKind::Own) { 2.0 } else { 1.0 };
        let height = lanes * LANE + 8.0;
        canvas.rect("c-row", [LEFT, y, WIDTH - LEFT, height - 2.0], "");
        canvas.text(LEFT - 10.0, y + height / 2.0 + 3.0, "end", &format!("rank {rank}"));
        rounds.iter().for_each(|round| draw(&mut canvas, &scale, round, y + 3.0));
        y += height;
    }
    for (at, x) in &scale.marks {
        canvas.line("c-mark", [*x, top - 4.0, *x, y + 4.0]);
        canvas.text(*x + 3.0, y + 14.0, "start", &duration_text(*at));
    }
    if rows.len() < all {
        let text = format!("the {} ranks with the most bytes of {all} that stored", rows.len());
        canvas.text(WIDTH, y + 30.0, "end", &text);
        y += 16.0;
    }
    Some(canvas.finish(WIDTH, y + 20.0, "rounds in time"))
}

fn draw(canvas: &mut Canvas, scale: &Scale, round: &Round, y: f64) {
    let fill = round.bytes as f64 / round.room_bytes.max(1) as f64;
    let [from, full, store, end] =
        [round.from_us, round.full_us, round.store_us, round.end_us].map(|at| scale.x(at));
    let what = match round.kind {
        RoundKind::Write => "stored",
        RoundKind::Read => "read",
        RoundKind::Own => "own bytes, stored",
    };
    let took = duration_text(round.end_us.saturating_sub(round.store_us));
    let title = format!(
        "rank {}, commit {}, round {}: {} ({} of the buffer), {what} in {took}",
        round.rank,
        round.commit,
        round.round + 1,
        size_text(round.bytes),
        share_text(fill)
    );
    if round.kind == RoundKind::Own {
        canvas.rect("c-own", [store, y, end - store, LANE - 2.0], &title);
        return;
    }
    let y = y + LANE * f64::from(round.round % 2);
    let height = (LANE - 2.0) * fill.clamp(0.15, 1.0);
    if full > from {
        canvas.rect("c-fill", [from, y, full - from, LANE - 2.0], &title);
    }
    if store > full + 0.3 {
        canvas.rect("c-idle", [full, y + LANE - 5.0, store - full, 3.0], &title);
    }
    canvas.rect("c-store", [store, y + LANE - 2.0 - height, end - store, height], &title);
}

/// From times to places, with pauses cut short.
struct Scale {
    /// Time, place, and places per time from there on.
    pieces: Vec<(u64, f64, f64)>,
    /// Round times, where there is room for them.
    marks: Vec<(u64, f64)>,
}

impl Scale {
    fn new<'r>(rounds: impl Iterator<Item = &'r Round>) -> Self {
        let mut busy: Vec<(u64, u64)> =
            rounds.map(|round| (round.from_us, round.end_us.max(round.from_us + 1))).collect();
        busy.sort_unstable();
        let mut stretches: Vec<(u64, u64)> = Vec::new();
        let total: u64 =
            busy.iter().map(|(_, end)| *end).max().unwrap_or(1) - busy.first().map_or(0, |b| b.0);
        // Pauses shorter than this are drawn as they are.
        let pause = (total as f64 * PAUSE_SHARE) as u64;
        for (from, end) in busy {
            match stretches.last_mut() {
                Some(last) if from <= last.1 + pause => last.1 = last.1.max(end),
                _ => stretches.push((from, end)),
            }
        }
        let inner = WIDTH - LEFT - 4.0;
        let gap = (inner * PAUSE_SHARE).min(inner * 0.3 / stretches.len() as f64);
        let length: u64 = stretches.iter().map(|(from, end)| end - from).sum();
        let drawn = inner - gap * (stretches.len() - 1) as f64;
        let per_us = drawn / length.max(1) as f64;
        let step = round_step(length as f64 / 8.0);
        let (mut pieces, mut marks, mut x) = (Vec::new(), Vec::new(), LEFT);
        for (number, (from, end)) in stretches.iter().enumerate() {
            pieces.push((*from, x, per_us));
            let first = from.next_multiple_of(step);
            for at in (first..*end).step_by(step as usize) {
                let x = x + (at - from) as f64 * per_us;
                if marks.last().is_none_or(|(_, last)| x - last > MARK_ROOM) && x < WIDTH - MARK_ROOM {
                    marks.push((at, x));
                }
            }
            x += (end - from) as f64 * per_us;
            if let Some((next, _)) = stretches.get(number + 1) {
                pieces.push((*end, x, gap / (next - end).max(1) as f64));
                x += gap;
            }
        }
        Self { pieces, marks }
    }

    fn x(&self, us: u64) -> f64 {
        let at = self.pieces.partition_point(|(from, ..)| *from <= us).saturating_sub(1);
        let Some((from, x, per_us)) = self.pieces.get(at) else { return LEFT };
        (x + us.saturating_sub(*from) as f64 * per_us).min(WIDTH)
    }
}

/// The next of 1, 2, 5, 10, 20, ...
fn round_step(least: f64) -> u64 {
    let power = 10_f64.powf(least.max(1.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|digit| digit * power).find(|step| *step >= least);
    step.unwrap_or(power) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(from_us: u64, end_us: u64) -> Round {
        Round { from_us, full_us: from_us, store_us: from_us, end_us, ..Round::default() }
    }

    #[test]
    fn pauses_are_cut_short_and_order_is_kept() {
        let rounds = [round(0, 1000), round(1_000_000, 1_002_000), round(9_000_000, 9_001_000)];
        let scale = Scale::new(rounds.iter());
        let places: Vec<f64> =
            [0, 1000, 1_000_000, 1_002_000, 9_000_000, 9_001_000].map(|at| scale.x(at)).into();
        assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{places:?}");
        assert!(places[5] <= WIDTH && places[0] >= LEFT);
        // The busy times have most of the picture, and are to scale.
        assert!(places[1] - places[0] > 150.0);
        assert!(((places[3] - places[2]) / (places[1] - places[0]) - 2.0).abs() < 0.01);
    }

    #[test]
    fn thousands_of_rounds_stay_a_picture() {
        let timeline = (0..8000_u64).map(|i| Round { rank: (i % 200) as u32, ..round(i, i + 5) }).collect();
        let report = Report { timeline, ..Report::default() };
        let svg = super::timeline(&report).unwrap();
        assert!(svg.len() < 1 << 20 && svg.contains("the 32 ranks with the most bytes of 200"));
    }
}
