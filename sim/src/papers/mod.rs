//! What the papers measured, beside what the simulator says: the paper's number, ours, and why they differ. The machines
//! are those of `sim/scenarios`, with parameters from the papers and public data sheets (`docs/SIMULATION.md` lists them);
//! nothing was fitted to the numbers that are compared here. Where a paper shows a curve without numbers, ours stands alone.

mod independent;
mod parcoll;
mod tapioca;

use crate::scenario::named;
use crate::{Outcome, Scenario, SimError, Strategy};
use std::collections::BTreeMap;
use std::fmt;

/// One number of a paper, and ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The paper and the place in it.
    pub source: &'static str,
    pub what: String,
    pub unit: Unit,
    /// `None` where the paper gives no number.
    pub paper: Option<f64>,
    pub ours: f64,
    pub why: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    BytesPerS,
    Seconds,
    Times,
    Share,
    Count,
}

/// A group of comparisons, by the name that `--only` takes.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    pub name: &'static str,
    run: fn(&mut Runs) -> Result<Vec<Comparison>, PaperError>,
}

pub const EXPERIMENTS: &[Experiment] = &[
    Experiment { name: "tapioca-micro", run: tapioca::micro },
    Experiment { name: "tapioca-stripes", run: tapioca::stripes },
    Experiment { name: "tapioca-mira", run: tapioca::mira },
    Experiment { name: "tapioca-theta", run: tapioca::theta },
    Experiment { name: "parcoll-tiles", run: parcoll::tiles },
    Experiment { name: "parcoll-ior", run: parcoll::ior },
    Experiment { name: "parcoll-flash", run: parcoll::flash },
    Experiment { name: "independent-scaling", run: independent::scaling },
    Experiment { name: "independent-bridges", run: independent::bridges },
];

impl Experiment {
    pub fn run(&self, runs: &mut Runs) -> Result<Vec<Comparison>, PaperError> {
        (self.run)(runs)
    }
}

impl Comparison {
    /// How far we are off, as a share of the paper's number.
    pub fn difference(&self) -> Option<f64> {
        self.paper.map(|paper| self.ours / paper - 1.0)
    }
}

/// Why a comparison could not be made; a mistake of ours.
#[derive(Debug)]
pub struct PaperError(String);

impl fmt::Display for PaperError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PaperError {}

/// Simulated runs, each done once.
#[derive(Debug, Default)]
pub struct Runs {
    done: BTreeMap<String, Outcome>,
}

impl Runs {
    /// A named scenario with some words changed, by one strategy.
    fn get(
        &mut self,
        name: &str,
        changes: &[(&str, &str)],
        strategy: Strategy,
    ) -> Result<Outcome, PaperError> {
        let key = format!("{name} {changes:?} {}", strategy.name());
        if let Some(outcome) = self.done.get(&key) {
            return Ok(outcome.clone());
        }
        let outcome =
            Self::simulate(name, changes, strategy).map_err(|text| PaperError(format!("{key}: {text}")))?;
        self.done.insert(key, outcome.clone());
        Ok(outcome)
    }

    fn simulate(name: &str, changes: &[(&str, &str)], strategy: Strategy) -> Result<Outcome, String> {
        let scenario = named(name).ok_or("there is no such scenario")?;
        let mut lines = scenario.lines().map_err(|error| error.to_string())?;
        for (place, value) in changes {
            lines = lines.with(place, value).map_err(|error| error.to_string())?;
        }
        let scenario = Scenario::from_lines(&lines).map_err(|error| error.to_string())?;
        let mut outcome = crate::run(&scenario, strategy).map_err(|error: SimError| error.to_string())?;
        outcome.rounds = Vec::new();
        Ok(outcome)
    }
}
