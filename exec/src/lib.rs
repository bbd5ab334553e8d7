//! Schedules on real ranks and real files. A [`Session`] belongs to a group of ranks and a file; `commit` writes what the
//! ranks declare, `fetch` reads it. The core decides who sends what to whom and when; this crate moves the bytes.
//!
//! Invariant: all ranks return from a commit with the same verdict.

mod arena;
mod calibrate;
mod contain;
mod drive;
mod error;
mod far;
mod memory;
mod own;
mod pack;
mod plans;
mod prepare;
#[cfg(feature = "provoke")]
pub mod provoke;
mod session;
mod shelf;
mod stats;
mod store;
mod thread;
mod tiles;
mod trace;
mod wire;
mod writer;

pub use calibrate::{Measured, cache_folder};
pub use contain::contain;
pub use error::Error;
pub use memory::{Lent, Taken};
pub use pack::Packing;
pub use session::{Session, Setting, has_room};
pub use shelf::{Shelf, Way};
pub use stats::Stats;
pub use thread::spawn;
pub use trace::{RoundTrace, Trace};

#[cfg(not(feature = "provoke"))]
mod provoke {
    pub const fn point(_place: &'static str) {}
}
