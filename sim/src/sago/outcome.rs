//! What a run of Sago's engines says of itself, after its bytes were counted.

use super::{Commit, Token};
use crate::outcome::{Broken, Outcome, SimError};
use crate::scenario::Scenario;
use crate::strategy::Strategy;
use crate::time::Time;
use crate::world::World;
use sago_core::declare::Declared;
use sago_core::engine::{Fault, Verdict};
use sago_core::extent::{Run, fuse};
use sago_core::ids::Rank;

pub(super) fn outcome(
    scenario: &Scenario,
    world: &World<'_, Token>,
    commits: &[Commit<'_>],
) -> Result<Outcome, SimError> {
    let ends: Option<Vec<Time>> = commits.iter().map(|commit| commit.agreed).collect();
    let end = ends.and_then(|ends| ends.into_iter().max()).ok_or(Broken::Unfinished)?;
    let mut outcome = Outcome::new(scenario, Strategy::Sago, world, end)?;
    outcome.bytes = commits.iter().flat_map(|commit| &commit.declared).map(Declared::bytes).sum();
    outcome.verdict = commits.iter().map(Commit::verdict_of_all).fold(Verdict::Good, Verdict::join);
    if outcome.verdict == Verdict::Good {
        check_bytes(&outcome, commits)?;
    }
    outcome.aggregators = commits.iter().map(|commit| commit.plan.aggregators().count() as u32).sum();
    outcome.groups = commits.iter().map(|commit| commit.plan.areas.len() as u32).sum();
    outcome.waiting_s = commits.iter().map(Commit::waited_s).sum::<f64>() / f64::from(outcome.ranks);
    let mut lane = 0;
    outcome.rounds =
        commits.iter().flat_map(|commit| commit.parts.rounds(&commit.schedule, &mut lane)).collect();
    Ok(outcome)
}

fn check_bytes(outcome: &Outcome, commits: &[Commit<'_>]) -> Result<(), Broken> {
    let moved = commits.iter().map(|commit| commit.moved_bytes).sum();
    Broken::unless_equal("declared and moved", outcome.bytes, moved)?;
    let unique: Option<u64> = commits.iter().map(Commit::unique_bytes).sum();
    let stored = outcome.counts.written_bytes + outcome.counts.read_bytes;
    // Bytes that several ranks declare are stored once by an aggregator, or by each of them.
    if !(unique.unwrap_or(0)..=outcome.bytes).contains(&stored) {
        Broken::unless_equal("declared and stored", unique.unwrap_or(outcome.bytes), stored)?;
    }
    Ok(())
}

impl Commit<'_> {
    /// The verdict, with the failing rank's number among the ranks of all files.
    fn verdict_of_all(&self) -> Verdict {
        match self.verdict {
            Verdict::Good => Verdict::Good,
            Verdict::Failed(fault) => {
                Verdict::Failed(Fault { rank: Rank(self.file.first_rank + fault.rank.0), ..fault })
            }
        }
    }

    /// What all ranks together spent in planning, and in waiting for the others at the end.
    fn waited_s(&self) -> f64 {
        let ranks = self.file.ranks;
        let end = u128::from(self.agreed.unwrap_or_default().0) * u128::from(ranks);
        (end - self.asked_sum_ps) as f64 * 1e-12 + self.planning.as_s() * f64::from(ranks)
    }

    /// Bytes that were declared, once each; `None` if ranks declare the same bytes in ways that are hard to count.
    fn unique_bytes(&self) -> Option<u64> {
        let fused: Vec<Run> = fuse(self.declared.iter().flat_map(|d| d.coverage().iter().copied()));
        let apart = fused.windows(2).all(|pair| pair[0].end() <= pair[1].offset());
        apart.then(|| fused.iter().map(|run| run.bytes()).sum())
    }
}
