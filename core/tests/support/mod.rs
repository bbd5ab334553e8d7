//! A world in which engines run: random jobs, a driver with random order of events and injected failures, and bytes that
//! remember where they came from.
#![allow(dead_code)]

pub mod jobs;
pub mod world;
