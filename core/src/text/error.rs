//! What is wrong with a text, and where.

use std::fmt;

/// A mistake in a machine, pattern or other text. `at` is a byte position in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextError {
    Empty {
        what: &'static str,
        expects: String,
    },
    UnknownKind {
        what: &'static str,
        kind: String,
        nearest: &'static str,
        known: Vec<&'static str>,
        at: usize,
    },
    UnknownWord {
        of: String,
        word: String,
        known: Vec<&'static str>,
        at: usize,
    },
    Missing {
        of: String,
        word: &'static str,
        expects: &'static str,
        at: usize,
    },
    NoValue {
        word: String,
        at: usize,
    },
    Twice {
        word: String,
        at: usize,
    },
    BadValue {
        word: String,
        value: String,
        expects: String,
        at: usize,
    },
    Unclosed {
        opening: char,
        at: usize,
    },
}

impl TextError {
    /// The byte of the text that the sentence is about.
    pub fn at(&self) -> usize {
        match self {
            Self::Empty { .. } => 0,
            Self::UnknownKind { at, .. }
            | Self::UnknownWord { at, .. }
            | Self::Missing { at, .. }
            | Self::NoValue { at, .. }
            | Self::Twice { at, .. }
            | Self::BadValue { at, .. }
            | Self::Unclosed { at, .. } => *at,
        }
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty { what, expects } => write!(f, "the {what} is empty; write {expects}"),
            Self::UnknownKind { what, kind, nearest, known, .. } => {
                write!(f, "unknown {what} `{kind}`; did you mean `{nearest}`? known: {}", known.join(", "))
            }
            Self::UnknownWord { of, word, known, .. } => write!(
                f,
                "a {of} has no `{word}`; did you mean `{}`? it takes: {}",
                nearest(word, known.iter().copied()),
                known.join(", ")
            ),
            Self::Missing { of, word, expects, .. } => {
                write!(f, "a {of} needs `{word}=...`: {expects}")
            }
            Self::NoValue { word, .. } => write!(f, "`{word}` has no value; write `{word}=...`"),
            Self::Twice { word, .. } => write!(f, "`{word}` is given twice; write it once"),
            Self::BadValue { word, value, expects, .. } => {
                write!(f, "`{word}` cannot be `{value}`: it takes {expects}")
            }
            Self::Unclosed { opening, at } => {
                write!(f, "the `{opening}` at character {} is never closed", at + 1)
            }
        }
    }
}

impl std::error::Error for TextError {}

/// The known word with the fewest edits to `name`.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> &'a str {
    known.min_by_key(|word| edits(name, word)).unwrap_or_default()
}

/// Levenshtein distance, for short words.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
