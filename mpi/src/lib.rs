//! Ranks that talk to each other.
//!
//! [`Transport`] is what the rest of Sago sees: a group of ranks with small collectives, memory shared inside a node,
//! one-sided windows between nodes, and waiting that leaves the core to those who work. [`MpiRanks`] provides it with
//! the MPI that is in the process already, [`threads`] with threads of one process, [`single`] with one rank.
//!
//! This crate is one of the two fences of unsafe code. It links no MPI: see [`Mpi`].

#[cfg(not(all(target_os = "linux", target_pointer_width = "64", target_endian = "little")))]
compile_error!("MPI handles are passed as 64-bit words, which is right on 64-bit little-endian Linux only");

mod abi;
mod board;
mod comm;
pub mod copy;
mod error;
mod info;
mod letters;
mod library;
mod loaded;
mod local_window;
mod mail;
mod memory;
mod peek;
mod ranks;
mod selftest;
mod shm;
mod signal;
pub mod threads;
mod transport;
mod wait;
mod window;

pub use abi::Abi;
pub use comm::RawComm;
pub use error::{BindError, Error};
pub use info::RawInfo;
pub use library::{Mpi, State};
pub use mail::{Lanes, Mail};
pub use memory::Shared;
pub use peek::{Gathering, peek};
pub use ranks::{MpiRanks, Newcomers, Options};
pub use signal::Signal;
pub use threads::single;
pub use transport::{Parts, Put, Receive, Reduce, Send, Transport, Window};
