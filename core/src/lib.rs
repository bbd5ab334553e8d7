//! The pure part of Sago: it decides, and never does. No MPI, HDF5, files, clock, environment or threads.
#![forbid(unsafe_code)]

pub mod config;
pub mod cost;
pub mod declare;
pub mod engine;
pub mod explain;
pub mod extent;
pub mod ids;
pub mod pattern;
pub mod plan;
pub mod random;
pub mod schedule;
pub mod text;
pub mod topology;
