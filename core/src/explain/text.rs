//! The explanation as text.

use super::{AggregatorText, AreaText, Explanation};
use crate::declare::Direction;
use crate::ids::Rank;
use crate::plan::PlaceCost;
use crate::text::{duration_s_text, size_bytes_text};
use std::fmt;

/// How many lines of one kind are shown; the rest is counted.
const LINES_MAX: usize = 16;
const ROUNDS_MAX: usize = 4;

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = about;
        writeln!(f, "machine     {}", self.machine)?;
        let verb = if self.direction == Direction::Write { "write" } else { "read" };
        writeln!(
            f,
            "data        {} on {} {verb} {} in {} runs; {}; file {}",
            many(self.ranks, "rank"),
            many(self.nodes, "node"),
            size(self.bytes),
            self.pieces,
            self.pattern,
            self.file_pattern
        )?;
        let (buffer, stripe) = (size(self.buffer_bytes), size(self.stripe_bytes));
        writeln!(
            f,
            "storage     stripe {stripe}, targets {}, buffers 2 x {buffer} per aggregator",
            self.targets
        )?;
        if self.direct_ranks > 0 {
            writeln!(f, "direct      {} ranks {verb} their own bytes", self.direct_ranks)?;
        }
        list(f, "areas", &self.areas, |f, number, area| self.area(f, number, area))?;
        list(f, "aggregators", &self.aggregators, |f, _, aggregator| self.aggregator(f, aggregator))?;
        self.totals(f)?;
        for why in &self.why {
            writeln!(f, "why         {why}")?;
        }
        Ok(())
    }
}

fn list<T>(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    items: &[T],
    line: impl Fn(&mut fmt::Formatter<'_>, usize, &T) -> fmt::Result,
) -> fmt::Result {
    if items.is_empty() {
        return Ok(());
    }
    writeln!(f, "{name:<11} {}", items.len())?;
    let shown = if items.len() > LINES_MAX { LINES_MAX - 1 } else { items.len() };
    items[..shown].iter().enumerate().try_for_each(|(number, item)| line(f, number, item))?;
    if shown < items.len() {
        writeln!(f, "  and {} more", items.len() - shown)?;
    }
    Ok(())
}

impl Explanation {
    fn area(&self, f: &mut fmt::Formatter<'_>, number: usize, area: &AreaText) -> fmt::Result {
        let AreaText { lo, hi, bytes, windows, .. } = area;
        write!(f, "  area {number}: {} of ", about(*bytes))?;
        ranks(f, &area.members)?;
        if area.too_sparse {
            return writeln!(f, ", too thin for buffers: each writes its own");
        }
        let (aggregators, rounds) = (many(area.aggregators, "aggregator"), many(*windows, "round"));
        writeln!(f, ", file {lo}..{hi}, {aggregators}, {rounds} in all")
    }

    fn aggregator(&self, f: &mut fmt::Formatter<'_>, a: &AggregatorText) -> fmt::Result {
        let fill = 100.0 * a.fill(self.buffer_bytes);
        write!(f, "  area {} part {}: {} on {}", a.area, a.part, a.rank, a.node)?;
        let rounds = many(a.rounds.len() as u32, "round");
        write!(f, ", file {}..{}, {} in {rounds}, {fill:.0}% full", a.lo, a.hi, about(a.bytes))?;
        write!(f, "; {}", cost(&a.cost))?;
        if let Some((node, second)) = &a.runner_up {
            write!(f, "; next best {node} with {}", seconds(second.total_s()))?;
        }
        writeln!(f)?;
        for (number, round) in a.rounds.iter().enumerate().take(ROUNDS_MAX) {
            let fill = 100.0 * round.bytes as f64 / self.buffer_bytes as f64;
            let requests = many(round.requests, "request");
            writeln!(
                f,
                "    round {number}: {}..{}, {} ({fill:.0}% full) in {requests}",
                round.lo,
                round.hi,
                about(round.bytes)
            )?;
        }
        if a.rounds.len() > ROUNDS_MAX {
            writeln!(f, "    and {} more rounds", a.rounds.len() - ROUNDS_MAX)?;
        }
        Ok(())
    }

    fn totals(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mean = self.bytes.checked_div(self.requests).unwrap_or(0);
        writeln!(f, "requests    {}, {} on average", self.requests, about(mean))?;
        let c: f64 = self.aggregators.iter().map(|a| a.cost.total_s()).sum();
        if !self.aggregators.is_empty() {
            writeln!(f, "cost        C1 + C2 of all aggregators {}", seconds(c))?;
        }
        for class in self.classes.iter().filter(|class| class.bytes > 0) {
            let (all, busiest) = (about(class.bytes), about(class.busiest_bytes));
            writeln!(f, "links       {}: {all}, the busiest {busiest}", class.name)?;
        }
        if let Some(b) = &self.bridges {
            writeln!(
                f,
                "bridges     {}, {} nodes moved; messages through a bridge {:.1} instead of {:.1} on average, \
                 deviation {:.3} instead of {:.3}",
                b.bridges, b.moved_nodes, b.mean, b.default_mean, b.deviation, b.default_deviation
            )?;
        }
        Ok(())
    }
}

fn ranks(f: &mut fmt::Formatter<'_>, members: &[Rank]) -> fmt::Result {
    match members {
        [only] => write!(f, "{only}"),
        [first, .., last] if (last.0 - first.0) as usize + 1 == members.len() => {
            write!(f, "{} ranks {first}-{last}", members.len())
        }
        [first, .., last] => write!(f, "{} ranks from {first} to {last}", members.len()),
        [] => Ok(()),
    }
}

fn many(count: u32, of: &str) -> String {
    format!("{count} {of}{}", if count == 1 { "" } else { "s" })
}

fn cost(cost: &PlaceCost) -> String {
    format!("C1 {} + C2 {}", seconds(cost.gather_s), seconds(cost.drain_s))
}

/// Three digits are enough to compare.
fn seconds(time_s: f64) -> String {
    if time_s <= 0.0 {
        return "0".into();
    }
    let digits = 2 - time_s.log10().floor() as i32;
    let scale = 10_f64.powi(digits);
    duration_s_text((time_s * scale).round() / scale)
}

/// A size for reading: exact where it has a short form, else with one decimal.
fn about(bytes: u64) -> String {
    let exact = size_bytes_text(bytes);
    if bytes < 10_000 || !exact.ends_with(|c: char| c.is_ascii_alphabetic()) {
        return exact;
    }
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let power = (63 - bytes.leading_zeros() as usize) / 10;
    let value = bytes as f64 / (1_u64 << (10 * power)) as f64;
    let number = if value.fract() == 0.0 { format!("{value}") } else { format!("{value:.1}") };
    format!("{number}{}", units[power])
}
