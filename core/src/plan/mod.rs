//! The planner: from what the ranks declare, the machine and the file system to who sends what to whom, in which
//! round, and who writes it. Pure and deterministic: ranks that are given the same facts make the same plan.
//!
//! It works in two steps, so that no rank needs all ranks' extents. [`frame`] looks at the few words that everybody
//! knows of everybody ([`Summary`]) and divides ranks and file into areas. [`area`] looks at the outlines of one area's
//! members and cuts the area into rounds and places its aggregators. [`plan`] does both for all areas: that is what
//! `explain`, the simulator and the tests use.

mod area;
mod baseline;
pub mod bridge;
mod distribute;
mod elect;
mod error;
mod frame;
mod independent;
mod part;
mod rounds;
mod view;

pub use area::{Area, FilePattern};
pub use distribute::{Candidate, distribute};
pub use elect::PlaceCost;
pub use error::PlanError;
pub use frame::{AreaFrame, Frame, Settings, frame};
pub use part::{AreaPlan, PartPlan, area};
pub use rounds::{Layout, Segment, Window};

use crate::config::Config;
use crate::cost::Calibration;
use crate::declare::{Outline, Summary};
use crate::ids::Rank;
use crate::topology::Machine;

/// What a plan is made for, besides the data.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    pub machine: &'a Machine,
    pub config: &'a Config,
    pub storage: StorageFacts,
    pub calibration: Calibration,
}

/// What the file system says of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorageFacts {
    pub stripe_bytes: Option<u64>,
    pub targets: Option<u32>,
    pub medium: Medium,
}

/// Where a file system has its files, as far as its kind tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Medium {
    /// In the memory of the node.
    Memory,
    /// On servers to which the bytes go through the network that the ranks have, too.
    Network,
    #[default]
    Elsewhere,
}

impl StorageFacts {
    pub fn in_memory(&self) -> bool {
        self.medium == Medium::Memory
    }
}

/// The plan of all areas.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub frame: Frame,
    pub areas: Vec<AreaPlan>,
}

/// Plans the whole job. `outline` gives the outline of a rank that has data.
pub fn plan(
    job: &Job<'_>,
    summaries: &[Summary],
    outline: impl Fn(Rank) -> Outline,
) -> Result<Plan, PlanError> {
    let frame = frame(job, summaries)?;
    let plan_area = |framed: &AreaFrame| {
        let outlines: Vec<(Rank, Outline)> = framed.area.members.iter().map(|r| (*r, outline(*r))).collect();
        area(job, &frame.settings, framed, &outlines)
    };
    let areas = frame.areas.iter().map(plan_area).collect();
    Ok(Plan { frame, areas })
}

impl Plan {
    /// Which areas each rank is a member of, as one list per rank.
    pub fn memberships(&self, ranks: u32) -> Vec<Vec<u32>> {
        let mut lists = vec![Vec::new(); ranks as usize];
        for (index, framed) in self.frame.areas.iter().enumerate() {
            framed.area.members.iter().for_each(|rank| lists[rank.index()].push(index as u32));
        }
        lists
    }

    /// The aggregators, in the order of areas and parts.
    pub fn aggregators(&self) -> impl Iterator<Item = &PartPlan> {
        self.areas.iter().flat_map(|area| &area.parts)
    }
}

/// Cuts `items` into at most `wanted` runs of neighbours, even in bytes, each with at least `least` ranks.
fn even_shares<T>(
    items: &[T],
    wanted: u32,
    bytes: impl Fn(&T) -> u64,
    ranks: impl Fn(&T) -> usize,
    least: u32,
) -> Vec<&[T]> {
    let total: u128 = items.iter().map(|item| u128::from(bytes(item))).sum();
    let mut shares: Vec<&[T]> = Vec::new();
    let (mut from, mut sum, mut count) = (0, 0_u128, 0);
    for (at, item) in items.iter().enumerate() {
        sum += u128::from(bytes(item));
        count += ranks(item);
        let due = sum * u128::from(wanted) >= total * (shares.len() as u128 + 1);
        if due && count >= least as usize && shares.len() + 1 < wanted as usize {
            shares.push(&items[from..=at]);
            (from, count) = (at + 1, 0);
        }
    }
    if count < least as usize {
        // Too few are left over: they go with the last ones.
        from -= shares.pop().map_or(0, <[T]>::len);
    }
    if from < items.len() {
        shares.push(&items[from..]);
    }
    shares
}
