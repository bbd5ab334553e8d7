//! Why there is no plan.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// The machine and the declarations are not of the same job.
    Ranks { machine: u32, declared: usize },
    /// `aggregator_nodes` names a node that the machine does not have.
    NoSuchNode { node: u32, nodes: u32 },
    /// `exchange=bridge` on a machine without bridge nodes.
    NoBridges,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ranks { machine, declared } => {
                write!(f, "the machine has {machine} ranks, but {declared} have declared their data")
            }
            Self::NoSuchNode { node, nodes } => write!(
                f,
                "option `aggregator_nodes` names node {node}, but the machine's nodes are 0 to {}",
                nodes.saturating_sub(1)
            ),
            Self::NoBridges => f.write_str(
                "option `exchange=bridge` needs a machine with bridge nodes (`pset=... bridges=...`); this one has none",
            ),
        }
    }
}

impl std::error::Error for PlanError {}
