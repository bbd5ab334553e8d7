//! The small language that options, machines, file systems and patterns are written in: `name=value` words, separated
//! by blanks or `;`. A value with blanks is written in quotes; a value in braces may hold anything with balanced
//! braces, and is passed on without them. Invariant: whatever is refused, is refused with its place in the text.

mod error;
mod fields;
mod units;
mod words;

pub use error::{TextError, nearest};
pub use fields::Fields;
pub use units::{
    bytes_per_s, bytes_per_s_text, count_list, duration_s, duration_s_text, size_bytes, size_bytes_text,
};
pub(crate) use words::{Unclosed, Words};
