//! The invariants of a schedule, checked.

use super::{Schedule, WindowId};
use crate::declare::Declared;
use crate::ids::Rank;
use crate::plan::Plan;
use std::collections::BTreeMap;
use std::fmt;

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScheduleError {
    /// A rank declared bytes that are neither sent nor written by itself, or more than it declared are.
    Bytes { rank: Rank, declared: u64, scheduled: u64 },
    /// A round expects other bytes than its members send.
    Expected { window: WindowId, expected: u64, sent: u64 },
    /// A window needs more room than a buffer has.
    Room { window: WindowId, room: u64, buffer: u64 },
    /// Two windows of an area overlap in the file, or are out of order.
    Order { area: u32, window: u32 },
    /// Something is sent to a rank that has no such duty.
    NoDuty { window: WindowId, to: Rank },
    /// A round writes bytes outside its window, or that nobody sent.
    Writes { window: WindowId },
}

impl Schedule {
    pub fn validate(&self, plan: &Plan, declared: &[Declared]) -> Result<(), ScheduleError> {
        let sent = self.check_sends(declared)?;
        self.check_layouts(plan)?;
        self.check_duties(plan, &sent)
    }

    fn check_sends(&self, declared: &[Declared]) -> Result<BTreeMap<WindowId, u64>, ScheduleError> {
        let mut sent: BTreeMap<WindowId, u64> = BTreeMap::new();
        for (number, (schedule, declared)) in self.ranks.iter().zip(declared).enumerate() {
            let mut scheduled: u64 = schedule.own.iter().flat_map(|own| own.windows()).sum();
            for (window, to, bytes) in schedule.sends.iter().flat_map(|sends| sends.windows()) {
                scheduled += bytes;
                *sent.entry(window).or_default() += bytes;
                if self.ranks[to.index()].duty_of(window.area, window.part).is_none() {
                    return Err(ScheduleError::NoDuty { window, to });
                }
            }
            let rank = Rank(number as u32);
            if scheduled != declared.bytes() {
                return Err(ScheduleError::Bytes { rank, declared: declared.bytes(), scheduled });
            }
        }
        Ok(sent)
    }

    fn check_layouts(&self, plan: &Plan) -> Result<(), ScheduleError> {
        let buffer = plan.frame.settings.buffer_bytes;
        for (number, area) in plan.areas.iter().enumerate() {
            let area_number = number as u32;
            let windows = area.layout.windows();
            if let Some(at) = windows.windows(2).position(|pair| pair[0].hi > pair[1].lo) {
                return Err(ScheduleError::Order { area: area_number, window: at as u32 });
            }
            for window in 0..windows.len() as u32 {
                let room = area.layout.room(window);
                if room > buffer {
                    let (part, round) = area.layout.place(window);
                    let window = WindowId { area: area_number, part, round };
                    return Err(ScheduleError::Room { window, room, buffer });
                }
            }
        }
        Ok(())
    }

    fn check_duties(&self, plan: &Plan, sent: &BTreeMap<WindowId, u64>) -> Result<(), ScheduleError> {
        for duty in self.ranks.iter().flat_map(|schedule| &schedule.duties) {
            let layout = &plan.areas[duty.area() as usize].layout;
            for (round, expected) in duty.expected().iter().enumerate() {
                let window = WindowId { area: duty.area(), part: duty.part(), round: round as u32 };
                let sent = sent.get(&window).copied().unwrap_or(0);
                if sent != *expected {
                    return Err(ScheduleError::Expected { window, expected: *expected, sent });
                }
                let at =
                    &layout.windows()[(layout.parts()[duty.part() as usize].start + window.round) as usize];
                let extents = duty.extents(layout, window.round);
                let inside = extents.iter().all(|e| e.file >= at.lo && e.file + e.len <= at.hi);
                let written: u64 = extents.iter().map(|e| e.len).sum();
                if !inside || written > *expected || (written == 0) != (*expected == 0) {
                    return Err(ScheduleError::Writes { window });
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the schedule breaks an invariant: {self:?}")
    }
}

impl std::error::Error for ScheduleError {}
