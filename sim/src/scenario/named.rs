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

scenarios![
    "laptop",
    "racks",
    "racks-placed",
    "fattree",
    "mira-micro-1024",
    "mira-hacc-1024",
    "mira-hacc-4096",
    "mira-independent",
    "theta-micro-512",
    "theta-hacc-1024",
    "theta-hacc-2048",
    "jaguar-tiles-512",
    "jaguar-tiles-1024",
    "jaguar-ior-512",
    "jaguar-flash-1024",
];

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
