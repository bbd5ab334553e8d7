//! What Sago did for a file: the data of a report, its JSON (docs/REPORT.md), how the parts of many ranks become one, and
//! what can be said of it in words. Pure: the connector collects, the command line draws.
//!
//! Invariant: a report has a bounded size, however many ranks, datasets and rounds there were, and says what it left out.

mod advice;
mod merge;
mod schema;
mod text;

pub use advice::{Advice, advice};
pub use merge::{Contribution, Facts, OTHERS};
pub use schema::*;
pub use text::{duration_text, share_text, size_text, summary};
