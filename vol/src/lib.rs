//! The Sago VOL connector: HDF5 hands it every operation on a file, and it hands them on to the connector below,
//! which is HDF5's native one unless told otherwise.
//!
//! Invariants: each C callback is one guarded call; an operation reaches the connector below exactly once, with the
//! same arguments but for our wrappers around objects; what the connector below returns, and what it has put on
//! the error stack, reaches the program unchanged.

mod attr;
mod below;
mod blob;
mod capture;
mod class;
mod dataset;
mod datatype;
mod file;
mod forward;
mod group;
mod info;
mod introspect;
mod link;
mod object;
mod op;
mod report;
mod request;
mod state;
mod token;
mod wrap;

pub use class::{NAME, VALUE, class_for};
