//! A plan made exact: who sends which bytes to whom in which round, and who writes them. Each rank holds its own
//! [`RankSchedule`]: what it sends (found by arithmetic in its own runs, never listed piece by piece) and, if it is an
//! aggregator, what arrives in each round and which extents it writes. [`Schedule`] is that of all ranks, for tests, the
//! simulator and `explain`.
//!
//! Invariants ([`Schedule::validate`]): every declared byte is sent once, to one window, or written by its own rank;
//! every round expects exactly what its members send; windows fit their buffers; an aggregator writes only bytes that
//! somebody declared. Where ranks declare the same byte, each byte of the file comes from one of them, in no promised
//! order.

mod blocks;
mod duty;
mod index;
mod sends;
mod validate;

pub use blocks::Blocks;
pub use duty::{BufferExtent, Duty};
pub use sends::{Own, Piece, STRAIGHT_BYTES_MIN, Sends};
pub use validate::ScheduleError;

use crate::declare::{Declared, Direction};
use crate::extent::Run;
use crate::ids::Rank;
use crate::plan::{AreaPlan, Frame, Plan};

/// One use of a buffer: the `round`-th window of an aggregator's part of an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WindowId {
    pub area: u32,
    pub part: u32,
    pub round: u32,
}

impl WindowId {
    /// Which of the aggregator's two buffers.
    pub const fn buffer(self) -> u32 {
        self.round % 2
    }
}

/// What one rank does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankSchedule {
    /// One for each area that the rank has bytes in.
    pub sends: Vec<Sends>,
    /// What it writes or reads by itself, range by range of the file.
    pub own: Vec<Own>,
    /// One for each part that it is the aggregator of.
    pub duties: Vec<Duty>,
}

/// The schedule of all ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    pub direction: Direction,
    pub ranks: Vec<RankSchedule>,
}

impl RankSchedule {
    /// What `rank` sends and writes by itself. `areas` are those that it is a member of, with their numbers; its duties,
    /// if it has any, are added when its members have told what they send.
    pub fn new<'a>(
        frame: &Frame,
        areas: impl IntoIterator<Item = (u32, &'a AreaPlan)>,
        rank: Rank,
        declared: &Declared,
    ) -> Self {
        let mut sends = Vec::new();
        let mut own_ranges = Vec::new();
        if frame.is_direct(rank) {
            own_ranges.push((0, u64::MAX));
        }
        for (number, area) in areas {
            let crate::plan::Area { lo, hi, .. } = frame.areas[number as usize].area;
            if area.too_sparse {
                own_ranges.push((lo, hi));
            } else {
                sends.push(Sends::new(number, area, (lo, hi), declared));
            }
        }
        sends.retain(|sends| !sends.is_empty());
        let own = own_ranges.into_iter().map(|range| Own::new(&frame.settings, range, declared)).collect();
        Self { sends, own, duties: Vec::new() }
    }

    /// The sends to the windows of an area.
    pub fn sends_of(&self, area: u32) -> Option<&Sends> {
        self.sends.iter().find(|sends| sends.area() == area)
    }

    pub fn duty_of(&self, area: u32, part: u32) -> Option<&Duty> {
        self.duties.iter().find(|duty| duty.area() == area && duty.part() == part)
    }
}

impl Schedule {
    /// `declared` has one entry for each rank, all of one direction.
    pub fn new(plan: &Plan, declared: &[Declared]) -> Self {
        let direction = declared.first().map_or(Direction::Write, Declared::direction);
        let memberships = plan.memberships(declared.len() as u32);
        let mut ranks: Vec<RankSchedule> = declared
            .iter()
            .enumerate()
            .map(|(rank, declared)| {
                let areas = memberships[rank].iter().map(|area| (*area, &plan.areas[*area as usize]));
                RankSchedule::new(&plan.frame, areas, Rank(rank as u32), declared)
            })
            .collect();
        for (number, area) in plan.areas.iter().enumerate() {
            let framed = &plan.frame.areas[number].area;
            let members = framed.members.iter().map(|rank| &declared[rank.index()]);
            for (part, runs) in contributions(area, members, framed.lo, framed.hi).into_iter().enumerate() {
                let aggregator = area.parts[part].rank;
                let duty = Duty::new(number as u32, part as u32, &area.layout, runs);
                ranks[aggregator.index()].duties.push(duty);
            }
        }
        Self { direction, ranks }
    }
}

/// For each part of the area, the runs that the members send to it. Each run is compared with the parts that it touches only.
pub fn contributions<'a>(
    area: &AreaPlan,
    members: impl Iterator<Item = &'a Declared>,
    lo: u64,
    hi: u64,
) -> Vec<Vec<Run>> {
    let parts = area.layout.parts().len() as u32;
    let ranges: Vec<(u64, u64)> = (0..parts).map(|part| area.layout.part_range(part)).collect();
    let mut runs: Vec<Vec<Run>> = vec![Vec::new(); ranges.len()];
    for run in members.flat_map(Declared::contribution) {
        let first = ranges.partition_point(|(_, end)| *end <= run.offset().max(lo));
        let touched = ranges.iter().enumerate().skip(first);
        for (part, (start, end)) in touched.take_while(|(_, (start, _))| *start < run.end().min(hi)) {
            runs[part].extend(run.clip((*start).max(lo), (*end).min(hi)));
        }
    }
    runs
}

impl Declared {
    /// What an aggregator must know of a rank: its bytes, in few runs. For reads each place in memory counts, so runs
    /// that overlap stay apart.
    pub fn contribution(&self) -> impl Iterator<Item = Run> {
        let (merged, single) = match self.direction() {
            Direction::Write => (self.coverage(), &[][..]),
            Direction::Read => (&[][..], self.runs()),
        };
        merged.iter().copied().chain(single.iter().map(|sourced| sourced.run))
    }
}
