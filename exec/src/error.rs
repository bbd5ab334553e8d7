//! What can go wrong, as data. Errors of a commit are the same on every rank, except [`Error::Ranks`], after which the
//! group is of no more use.

use crate::wire::Garbled;
use sago_core::engine::{Fault, FaultKind, Misuse};
use sago_core::ids::Rank;
use sago_core::plan::PlanError;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A rank could not move, write or read its bytes.
    Fault(Fault),
    /// There is no plan for these options.
    Plan(PlanError),
    /// A rank cannot take part.
    Refused { rank: usize, reason: String },
    /// The ranks can no longer talk to each other.
    Ranks(sago_mpi::Error),
    /// This rank cannot go on, but can say so: no memory, or a defect of Sago.
    Unable(sago_mpi::Error),
    /// A message that makes no sense.
    Garbled,
    /// The engine was told of something that it did not ask for: a defect of Sago.
    Misuse(Misuse),
    /// A rank is not on this node: a defect of Sago.
    Elsewhere { rank: Rank },
    /// The schedule names bytes that were not lent: a defect of Sago.
    NoSuchBytes,
    /// A panic: a defect of Sago.
    Panicked { text: String },
    /// Another rank has given up, and will say why.
    GivenUp,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fault(Fault { rank, kind, code }) => {
                let what = match kind {
                    FaultKind::Put => "sending to an aggregator",
                    FaultKind::Get => "receiving from an aggregator",
                    FaultKind::Write => "writing to the file",
                    FaultKind::Read => "reading from the file",
                };
                let reason = std::io::Error::from_raw_os_error(*code);
                write!(f, "rank {}: {what} failed: {reason}", rank.0)
            }
            Self::Plan(error) => error.fmt(f),
            Self::Refused { rank, reason } => write!(f, "rank {rank}: {reason}"),
            Self::Ranks(error) | Self::Unable(error) => error.fmt(f),
            Self::Garbled => write!(f, "a message between ranks makes no sense"),
            Self::Misuse(misuse) => misuse.fmt(f),
            Self::Elsewhere { rank } => write!(f, "rank {} is on another node", rank.0),
            Self::NoSuchBytes => write!(f, "the schedule names bytes that were not lent"),
            Self::Panicked { text } => write!(f, "internal error: {text}; please report this"),
            Self::GivenUp => write!(f, "another rank has given up"),
        }
    }
}

impl std::error::Error for Error {}

impl From<sago_mpi::Error> for Error {
    fn from(error: sago_mpi::Error) -> Self {
        match error {
            sago_mpi::Error::Refused { rank, message } => Self::Refused { rank, reason: message },
            // Found out before anything was said to the others, or by all ranks that share what is not there.
            error @ (sago_mpi::Error::NoMemory { .. }
            | sago_mpi::Error::NotOneNode
            | sago_mpi::Error::NoWindows
            | sago_mpi::Error::OutOfBounds { .. }
            | sago_mpi::Error::NoSuchRank { .. }
            | sago_mpi::Error::Mismatch { .. }) => Self::Unable(error),
            error => Self::Ranks(error),
        }
    }
}

impl From<PlanError> for Error {
    fn from(error: PlanError) -> Self {
        Self::Plan(error)
    }
}

impl From<Garbled> for Error {
    fn from(_: Garbled) -> Self {
        Self::Garbled
    }
}

impl From<Misuse> for Error {
    fn from(misuse: Misuse) -> Self {
        Self::Misuse(misuse)
    }
}
