//! HDF5 as it is found in the host process. Nothing here links against libhdf5: every function is looked up in the
//! library that called us, so one binary serves every HDF5 from 1.14 on, and two of them in one process.
//!
//! This crate is one of the two places with unsafe code for foreign interfaces; what it hands out is safe to use,
//! or is an `unsafe fn` that says what its caller must keep.

pub mod error;
pub mod guard;
pub mod handle;
pub mod kind;
pub mod library;
pub mod space;
pub mod sys;
pub mod trial;

pub use error::Error;
pub use guard::{Failure, guard};
pub use library::{BindError, Library, MAX_LIBRARIES};
