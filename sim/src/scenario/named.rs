//! Scenarios that come with the program.

use super::{Lines, Scenario, ScenarioError};

#[derive(Clone, Copy, Debug)]
pub struct Named {
    pub name: &'static str,
    pub text: &'static str,
}

macro_rules! scenarios {
    ($($name:literal),+ $(,)?) => {
        /// All of them; `sim/scenarios` holds their texts.
        pub const NAMED: &[Named] = &[$(Named {
            name: $name,
            text: include_str!(concat!("../../scenarios/", $name, ".txt")),
        }),+];
    };
}

scenarios!["laptop", "racks"];

pub fn named(name: &str) -> Option<&'static Named> {
    NAMED.iter().find(|scenario| scenario.name == name)
}

impl Named {
    pub fn lines(&self) -> Result<Lines, ScenarioError> {
        Lines::parse(self.text)
    }

    pub fn scenario(&self) -> Result<Scenario, ScenarioError> {
        Scenario::parse(self.text)
    }
}
