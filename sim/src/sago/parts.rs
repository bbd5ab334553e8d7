//! The windows of all parts: which ranks wait for which round of a part, and when each round was filled and stored.

use crate::outcome::RoundTime;
use crate::time::Time;
use sago_core::declare::Direction;
use sago_core::ids::Rank;
use sago_core::plan::Plan;
use sago_core::schedule::{Schedule, WindowId};

pub(super) struct Parts {
    /// Where the windows of each area's parts begin.
    first: Vec<Vec<u32>>,
    rounds: Vec<Vec<u32>>,
    /// How many rounds of a part have been released, as far as its members were told.
    released: Vec<Vec<u32>>,
    /// Members by window: `members[starts[w]..starts[w + 1]]`.
    starts: Vec<u32>,
    members: Vec<Rank>,
    times: Vec<[Time; 3]>,
}

const NEVER: Time = Time(u64::MAX);

impl Parts {
    pub fn new(plan: &Plan, schedule: &Schedule) -> Self {
        let mut windows = 0;
        let (mut first, mut rounds) = (Vec::new(), Vec::new());
        for area in &plan.areas {
            let lengths: Vec<u32> = area.layout.parts().iter().map(|part| part.end - part.start).collect();
            let begin = |length: &u32| {
                windows += length;
                windows - length
            };
            first.push(lengths.iter().map(begin).collect::<Vec<u32>>());
            rounds.push(lengths);
        }
        let released = rounds.iter().map(|list| vec![0; list.len()]).collect();
        let times = vec![[NEVER, NEVER, Time::ZERO]; windows as usize];
        let (starts, members) = (vec![0; windows as usize + 1], Vec::new());
        let mut parts = Self { first, rounds, released, starts, members, times };
        parts.list_members(schedule);
        parts
    }

    /// By counting, so that a million windows cost no sorting.
    fn list_members(&mut self, schedule: &Schedule) {
        let windows = |of: usize| schedule.ranks[of].sends.iter().flat_map(|sends| sends.windows());
        for rank in 0..schedule.ranks.len() {
            for (window, ..) in windows(rank) {
                let at = self.index(window);
                self.starts[at + 1] += 1;
            }
        }
        for at in 1..self.starts.len() {
            self.starts[at] += self.starts[at - 1];
        }
        let mut next = self.starts.clone();
        self.members = vec![Rank(0); self.starts.last().copied().unwrap_or(0) as usize];
        for rank in 0..schedule.ranks.len() {
            for (window, ..) in windows(rank) {
                let at = self.index(window);
                self.members[next[at] as usize] = Rank(rank as u32);
                next[at] += 1;
            }
        }
    }

    fn index(&self, window: WindowId) -> usize {
        (self.first[window.area as usize][window.part as usize] + window.round) as usize
    }

    /// The ranks that can go on now that `rounds` of a part are released: those with bytes in a round whose buffer that
    /// frees. The engine would ignore the others.
    pub fn released(&mut self, direction: Direction, area: u32, part: u32, rounds: u32) -> Vec<Rank> {
        let (a, p) = (area as usize, part as usize);
        let before = std::mem::replace(&mut self.released[a][p], rounds);
        // To write, two buffers are free from the start.
        let ahead = if direction == Direction::Write { 2 } else { 0 };
        let most = self.rounds[a][p];
        let (from, to) = ((before + ahead).min(most), (rounds + ahead).min(most));
        let first = self.first[a][p];
        let (from, to) = (self.starts[(first + from) as usize], self.starts[(first + to) as usize]);
        let mut ranks = self.members[from as usize..to as usize].to_vec();
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }

    pub fn filling(&mut self, window: WindowId, now: Time) {
        let at = self.index(window);
        self.times[at][0] = self.times[at][0].min(now);
    }

    pub fn storing(&mut self, window: WindowId, now: Time) {
        let at = self.index(window);
        self.times[at][1] = now;
    }

    pub fn stored(&mut self, window: WindowId, now: Time) {
        let at = self.index(window);
        self.times[at][2] = now;
    }

    /// The rounds that happened; aggregators get numbers from `lane` on.
    pub fn rounds(&self, schedule: &Schedule, lane: &mut u32) -> Vec<RoundTime> {
        let mut all = Vec::new();
        for duty in schedule.ranks.iter().flat_map(|rank| &rank.duties) {
            for (round, bytes) in duty.expected().iter().enumerate() {
                let window = WindowId { area: duty.area(), part: duty.part(), round: round as u32 };
                let [filling, storing, stored] = self.times[self.index(window)];
                if storing != NEVER {
                    let (call, filling) = (0, filling.min(storing));
                    let (lane, round) = (*lane, round as u32);
                    all.push(RoundTime { lane, call, round, bytes: *bytes, filling, storing, stored });
                }
            }
            *lane += 1;
        }
        all
    }
}
