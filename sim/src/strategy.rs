//! The ways to write that are compared.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strategy {
    /// Sago's planner and engine: all variables as one set.
    Sago,
    /// Two-phase collective I/O as MPI libraries do it: one call per variable, all ranks in step.
    TwoPhase,
    /// Every rank writes its own pieces, variable by variable.
    Independent,
}

impl Strategy {
    pub const ALL: [Self; 3] = [Self::Sago, Self::TwoPhase, Self::Independent];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Sago => "sago",
            Self::TwoPhase => "two-phase",
            Self::Independent => "independent",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|strategy| strategy.name() == text)
    }
}
