//! What is wrong with a text of options.

use super::OPTIONS;
use std::fmt;

/// What is wrong with a text of options, and where (a byte position in it).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OptionError {
    Unknown { name: String, nearest: &'static str, at: usize },
    NoValue { name: String, at: usize },
    BadValue { name: &'static str, value: String, expects: &'static str, example: &'static str, at: usize },
    Twice { name: &'static str, at: usize },
    Unclosed { opening: char, at: usize },
}

impl OptionError {
    /// The byte of the text that the sentence is about.
    pub fn at(&self) -> usize {
        match self {
            Self::Unknown { at, .. }
            | Self::NoValue { at, .. }
            | Self::BadValue { at, .. }
            | Self::Twice { at, .. }
            | Self::Unclosed { at, .. } => *at,
        }
    }

    /// The same about a word that stands at `byte`.
    pub(super) fn moved(mut self, byte: usize) -> Self {
        match &mut self {
            Self::Unknown { at, .. }
            | Self::NoValue { at, .. }
            | Self::BadValue { at, .. }
            | Self::Twice { at, .. }
            | Self::Unclosed { at, .. } => *at = byte,
        }
        self
    }
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, nearest, .. } => {
                write!(f, "unknown option `{name}`; did you mean `{nearest}`? known options:")?;
                for (i, spec) in OPTIONS.iter().enumerate() {
                    write!(f, "{} {}", if i == 0 { "" } else { "," }, spec.name)?;
                }
                Ok(())
            }
            Self::NoValue { name, .. } => write!(f, "option `{name}` has no value; write `{name}=...`"),
            Self::BadValue { name, value, expects, example, .. } => {
                write!(f, "option `{name}` cannot be `{value}`: it takes {expects}, for example `{example}`")
            }
            Self::Twice { name, .. } => write!(f, "option `{name}` is given twice; write it once"),
            Self::Unclosed { opening, at } => {
                write!(f, "the `{opening}` at character {} of the options is never closed", at + 1)
            }
        }
    }
}

impl std::error::Error for OptionError {}
