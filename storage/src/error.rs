//! What went wrong with which bytes.

use std::{fmt, io};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Write,
    Read,
}

/// A read or write that did not finish. Bytes before `offset` are done; of those after it nothing is known to be.
#[derive(Debug)]
pub enum Error {
    /// The device, or the user's share of it, is full.
    NoSpace {
        offset: u64,
    },
    /// The file system has no such offset, or the program's limit is lower.
    TooLarge {
        offset: u64,
        len: u64,
    },
    Failed {
        op: Op,
        offset: u64,
        cause: io::Error,
    },
}

impl Error {
    pub fn new(op: Op, offset: u64, len: u64, cause: io::Error) -> Self {
        match cause.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoSpace { offset },
            io::ErrorKind::FileTooLarge => Self::TooLarge { offset, len },
            _ => Self::Failed { op, offset, cause },
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSpace { offset } => write!(f, "no space left for the bytes at offset {offset}"),
            Self::TooLarge { offset, len } => {
                write!(f, "{len} bytes at offset {offset} are beyond what the file can hold")
            }
            Self::Failed { op: Op::Write, offset, cause } => write!(f, "writing at offset {offset}: {cause}"),
            Self::Failed { op: Op::Read, offset, cause } => write!(f, "reading at offset {offset}: {cause}"),
        }
    }
}

impl std::error::Error for Error {}
