//! Sago's planner and engine, the ones that real ranks run, on modelled machines: a virtual clock, links with contention
//! along routes, memory copies, storage targets with stripes and locks. Beside them, in the same model, what MPI
//! libraries do today: two-phase collective I/O and independent I/O. No MPI, files, threads or real clock; the same
//! scenario and seed give the same numbers everywhere.
#![forbid(unsafe_code)]

mod files;
mod independent;
mod outcome;
pub mod papers;
mod sago;
pub mod scenario;
mod strategy;
pub mod svg;
pub mod sweep;
pub mod time;
mod two_phase;
mod world;

pub use outcome::{Broken, ClassLoad, GateLoad, Outcome, RoundTime, SimError, TargetLoad};
pub use scenario::{Lines, Scenario, ScenarioError};
pub use strategy::Strategy;
pub use world::Counts;

/// Runs a scenario with one strategy, from the first call to the moment when every rank knows that it is over.
pub fn run(scenario: &Scenario, strategy: Strategy) -> Result<Outcome, SimError> {
    match strategy {
        Strategy::Sago => sago::run(scenario),
        Strategy::TwoPhase => two_phase::run(scenario),
        Strategy::Independent => independent::run(scenario),
    }
}
