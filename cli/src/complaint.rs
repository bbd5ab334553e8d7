//! What the user is told when something is wrong: a sentence, the text in question, and a mark under the place.

use std::fmt;
use std::io;

#[derive(Debug)]
pub struct Complaint {
    text: String,
}

impl Complaint {
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }

    /// `what` is wrong at byte `at` of `source`.
    pub fn at(what: &str, sentence: &dyn fmt::Display, source: &str, at: usize) -> Self {
        let line = source.replace(['\n', '\t'], " ");
        let column = source.get(..at).map_or(0, |before| before.chars().count());
        Self { text: format!("sago: in the {what}: {sentence}\n  {line}\n  {:column$}^\n", "") }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A closed pipe is not worth a complaint; other failures to print are.
pub fn printed(result: io::Result<()>) -> Result<(), Complaint> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Complaint::plain(format!("sago: cannot print: {error}\n")))
        }
        _ => Ok(()),
    }
}
