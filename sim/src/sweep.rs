//! One scenario many times, with one or two of its words varied.

use crate::scenario::{Lines, Scenario, ScenarioError};
use crate::{Outcome, SimError};
use std::fmt;

/// A word of a scenario and the values that it takes: `pattern.particles` with 5000, 10000.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    pub place: String,
    pub values: Vec<String>,
}

/// The runs for one choice of values.
#[derive(Clone, Debug)]
pub struct Point {
    /// One for each axis.
    pub values: Vec<String>,
    pub outcomes: Vec<Outcome>,
}

#[derive(Debug)]
pub enum SweepError {
    /// A value that does not make a scenario.
    Scenario {
        values: Vec<String>,
        error: ScenarioError,
    },
    Simulation {
        values: Vec<String>,
        error: SimError,
    },
}

/// Runs the scenario with each combination of the axes' values, the last one varying fastest. `done` is told of each.
pub fn sweep(lines: &Lines, axes: &[Axis], mut done: impl FnMut(&Point)) -> Result<Vec<Point>, SweepError> {
    let mut points = Vec::new();
    for values in combinations(axes) {
        let point = point(lines, axes, values)?;
        done(&point);
        points.push(point);
    }
    Ok(points)
}

fn point(lines: &Lines, axes: &[Axis], values: Vec<String>) -> Result<Point, SweepError> {
    let wrong = |error| SweepError::Scenario { values: values.clone(), error };
    let changed = axes.iter().zip(&values).try_fold(lines.clone(), |l, (axis, v)| l.with(&axis.place, v));
    let scenario = changed.and_then(|lines| Scenario::from_lines(&lines)).map_err(wrong)?;
    let run = |strategy: &crate::Strategy| {
        let mut outcome = crate::run(&scenario, *strategy)?;
        outcome.rounds = Vec::new();
        Ok(outcome)
    };
    let outcomes = scenario.strategies.iter().map(run).collect::<Result<_, _>>();
    match outcomes {
        Ok(outcomes) => Ok(Point { values, outcomes }),
        Err(error) => Err(SweepError::Simulation { values, error }),
    }
}

fn combinations(axes: &[Axis]) -> Vec<Vec<String>> {
    axes.iter().fold(vec![Vec::new()], |before, axis| {
        let with = |list: &Vec<String>| {
            axis.values.iter().map(|value| [list.clone(), vec![value.clone()]].concat()).collect::<Vec<_>>()
        };
        before.iter().flat_map(with).collect()
    })
}

impl fmt::Display for SweepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario { values, error } => write!(f, "with {}: {error}", values.join(", ")),
            Self::Simulation { values, error } => write!(f, "with {}: {error}", values.join(", ")),
        }
    }
}

impl std::error::Error for SweepError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_axes_are_all_pairs() {
        let axis = |values: &[&str]| Axis {
            place: String::new(),
            values: values.iter().map(|v| (*v).to_owned()).collect(),
        };
        let all = combinations(&[axis(&["a", "b"]), axis(&["1", "2", "3"])]);
        assert_eq!(all.len(), 6);
        assert_eq!(all[1], ["a", "2"]);
        assert_eq!(combinations(&[]), [Vec::<String>::new()]);
    }
}
