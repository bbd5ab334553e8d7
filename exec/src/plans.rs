//! The plans of earlier commits, and which one comes next. Programs repeat themselves: the variables of a step, each with a
//! pattern of its own, come again with the next step, in the same order. So a plan is not forgotten when another one was
//! needed in between.
//!
//! Invariant: what is kept, how it is numbered, and what is expected next are the same on all ranks, since it follows only from
//! what all of them did together.

use crate::prepare::Prepared;
use sago_core::declare::{Declared, Shift};
use std::collections::VecDeque;

/// So many plans are kept.
pub const PLANS_MAX: usize = 16;
/// Larger ones are kept only until another one is needed. In runs of the rank that has most.
pub const RUNS_MAX: u64 = 1024;
/// So many commits are looked at to tell what comes next: at which one so many of those before were as they are now.
const HISTORY: usize = 64;
const CONTEXT: usize = 8;

/// How far what a rank declares is from what it declared for each plan, by its place among them.
pub type Shifts = [Shift; PLANS_MAX];

/// A plan, and what it was made for.
pub struct Known {
    number: u64,
    pub declared: Declared,
    pub prepared: Prepared,
    large: bool,
}

pub struct Plans {
    /// The one that was good last is the last one.
    known: Vec<Known>,
    made: u64,
    /// The one to go by now.
    current: u64,
    /// The numbers of the plans that were good, the newest last.
    history: VecDeque<u64>,
}

impl Plans {
    pub fn new() -> Self {
        Self { known: Vec::new(), made: 0, current: 0, history: VecDeque::with_capacity(HISTORY + 1) }
    }

    /// The plan to go by now, or the one that was gone by last.
    pub fn current(&self) -> Option<&Known> {
        self.position(self.current).map(|at| &self.known[at])
    }

    fn position(&self, number: u64) -> Option<usize> {
        self.known.iter().position(|known| known.number == number)
    }

    /// Keeps a new plan, and goes by it. `large`: only until the next one is needed.
    pub fn add(&mut self, declared: Declared, prepared: Prepared, large: bool) {
        self.known.retain(|known| !known.large);
        if self.known.len() == PLANS_MAX {
            self.known.remove(0);
        }
        self.made += 1;
        self.current = self.made;
        self.known.push(Known { number: self.made, declared, prepared, large });
    }

    pub fn clear(&mut self) {
        self.known.clear();
        self.history.clear();
    }

    /// Goes by the plan at this place.
    pub fn turn_to(&mut self, at: usize) {
        self.current = self.known[at].number;
    }

    /// The plan that is gone by was good for all ranks. Only this changes what is expected, and the order in which plans are forgotten:
    /// a rank that has failed knows what the others know.
    pub fn note(&mut self) {
        let Some(at) = self.position(self.current) else { return };
        self.known[at..].rotate_left(1);
        if self.history.len() == HISTORY {
            self.history.pop_front();
        }
        self.history.push_back(self.current);
    }

    /// The place of the plan that will be used next, going by what followed when the commits before were these.
    pub fn expected(&self) -> Option<usize> {
        let next = follower(&self.history).and_then(|number| self.position(number));
        next.or_else(|| self.history.back().and_then(|number| self.position(*number)))
    }

    pub fn expected_plan(&self) -> Option<&Known> {
        self.expected().map(|at| &self.known[at])
    }

    /// Whether a plan is the one that was good last.
    pub fn is_last(&self, plan: &Known) -> bool {
        self.history.back() == Some(&plan.number)
    }

    /// Of the plans that are good for all ranks the one that is expected, or else the one that was good last.
    pub fn choose(&self, good: impl Fn(usize) -> bool) -> Option<usize> {
        let places = self.expected().into_iter().chain((0..self.known.len()).rev());
        places.into_iter().find(|at| good(*at))
    }

    /// How far what a rank declares is from what it declared for each plan.
    pub fn shifts(&self, by: impl Fn(&Declared) -> Shift) -> Shifts {
        let mut shifts = [Shift::None; PLANS_MAX];
        shifts.iter_mut().zip(&self.known).for_each(|(shift, known)| *shift = by(&known.declared));
        shifts
    }

    /// How far it is from what it declared for the plan that is expected.
    pub fn compare(&self, by: impl Fn(&Declared) -> Shift) -> Shift {
        self.expected().map_or(Shift::None, |at| by(&self.known[at].declared))
    }
}

/// What followed the last time that so many of the newest entries, as many as possible, were as they are now.
fn follower(history: &VecDeque<u64>) -> Option<u64> {
    let newest = history.len().checked_sub(1)?;
    let alike = |at: usize| {
        let before =
            (0..=at.min(CONTEXT - 1)).take_while(|back| history[at - back] == history[newest - back]);
        before.count()
    };
    // Of those that are equally long, the last one.
    let best = (0..newest).map(|at| (alike(at), at)).filter(|(length, _)| *length > 0).max();
    best.map(|(_, at)| history[at + 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of these are not foreseen, after so many.
    fn surprises(sequence: &[u64], after: usize) -> usize {
        let mut history = VecDeque::new();
        let mut wrong = 0;
        for (at, number) in sequence.iter().enumerate() {
            let expected = follower(&history).or(history.back().copied());
            wrong += usize::from(at >= after && expected != Some(*number));
            history.push_back(*number);
        }
        wrong
    }

    #[test]
    fn what_repeats_itself_is_foreseen() {
        assert_eq!(surprises(&[1; 20], 1), 0);
        let flash = [1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8].repeat(9);
        assert_eq!(surprises(&flash, 12), 0, "from the second step on");
        let long: Vec<u64> = (0..16).collect::<Vec<_>>().repeat(5);
        assert_eq!(surprises(&long, 17), 0);
    }

    #[test]
    fn after_a_change_the_new_order_is_foreseen() {
        let before = [1, 2, 3].repeat(5);
        let after = [1, 3].repeat(5);
        assert!(surprises(&[before, after].concat(), 4) <= 3);
    }
}
