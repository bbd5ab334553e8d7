//! What can go wrong, as data.

use std::fmt;

/// A call on a group of ranks failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// MPI said no.
    Mpi { call: &'static str, code: i32, text: String },
    /// What [`crate::Transport::agree`] returns on every rank: the lowest rank that failed, and its reason.
    Refused { rank: usize, message: String },
    /// The group spans several nodes, so it has no memory in common.
    NotOneNode,
    /// Memory of other nodes cannot be reached from afar.
    NoWindows,
    /// An offset or length outside of a window or a shared segment.
    OutOfBounds { rank: usize, offset: usize, len: usize, size: usize },
    /// A rank that is not in the group.
    NoSuchRank { rank: usize, size: usize },
    /// Ranks called the same collective with sizes that must be equal and are not.
    Mismatch { rank: usize, len: usize, expected: usize },
    /// Another rank of this process ended without reaching the point where we wait for it.
    PeerGone { rank: usize },
    /// A rank has said that it takes no part any more.
    Abandoned { rank: usize },
    /// Every rank of this process waits for another one.
    Deadlock,
    /// No memory for a shared segment.
    NoMemory { bytes: usize },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mpi { call, code, text } => write!(f, "{call} failed with code {code}: {text}"),
            Self::Refused { rank, message } => write!(f, "rank {rank}: {message}"),
            Self::NotOneNode => write!(f, "ranks on different nodes have no memory in common"),
            Self::NoWindows => write!(f, "there are no windows between nodes here"),
            Self::OutOfBounds { rank, offset, len, size } => {
                write!(f, "bytes {offset}..{offset}+{len} are outside of the {size} bytes of rank {rank}")
            }
            Self::NoSuchRank { rank, size } => write!(f, "no rank {rank} in a group of {size}"),
            Self::Mismatch { rank, len, expected } => {
                write!(f, "rank {rank} takes part with {len} bytes where others have {expected}")
            }
            Self::PeerGone { rank } => write!(f, "rank {rank} has ended"),
            Self::Abandoned { rank } => write!(f, "rank {rank} has failed, and cannot go on with the others"),
            Self::Deadlock => write!(f, "every rank waits for another one"),
            Self::NoMemory { bytes } => write!(f, "no memory for {bytes} bytes"),
        }
    }
}

impl std::error::Error for Error {}

/// Why the MPI in the process cannot be used; Sago then works without it, and says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindError {
    NoMpi,
    /// Several, and it cannot be told which one the program uses.
    Several {
        paths: Vec<String>,
    },
    Unknown {
        path: String,
        version: String,
    },
    NoSymbol {
        path: String,
        name: &'static str,
    },
    NotInitialised,
    Finalised,
    SelfTest {
        path: String,
        what: &'static str,
        expected: String,
        found: String,
    },
    /// The communicator joins two groups.
    InterCommunicator,
    Failed(Error),
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMpi => write!(f, "there is no MPI in this process"),
            Self::Several { paths } => {
                write!(f, "there are several MPI libraries in this process: {}", paths.join(", "))
            }
            Self::Unknown { path, version } => write!(
                f,
                "{path} calls itself \"{version}\": it is none of MPICH and its relatives, Open MPI, and the MPI-5 standard ABI"
            ),
            Self::NoSymbol { path, name } => write!(f, "{path} does not export {name}; Sago needs MPI 3.0"),
            Self::NotInitialised => write!(f, "MPI has not been initialised"),
            Self::Finalised => write!(f, "MPI has been finalised"),
            Self::SelfTest { path, what, expected, found } => {
                write!(f, "{path} is not what it looked like: {what} is {found}, not {expected}")
            }
            Self::InterCommunicator => write!(f, "an inter-communicator cannot write one file together"),
            Self::Failed(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for BindError {}

impl From<Error> for BindError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}
