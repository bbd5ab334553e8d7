//! What every [`Transport`] must do: one list of cases, each run by all ranks together.
//!
//! A case never panics: it returns its complaint, and the ranks agree on it, so that a failure on one rank does not
//! leave the others waiting.

mod collectives;
mod groups;
mod mail;
mod memory;
mod messages;
mod random;
mod windows;

use sago_mpi::{Error, Transport};

pub type Check = Result<(), String>;
pub type Case = (&'static str, fn(&dyn Transport) -> Check);

/// Complains unless the condition holds.
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $($message:tt)*) => {
        if !$condition {
            return Err(format!($($message)*));
        }
    };
}

pub const CASES: &[Case] = &[
    ("collectives: a rank in a group", collectives::identity),
    ("collectives: a barrier holds everybody back", collectives::barrier),
    ("collectives: broadcast", collectives::broadcast),
    ("collectives: reductions", collectives::allreduce),
    ("collectives: gather of different lengths", collectives::allgather),
    ("collectives: everybody to everybody", collectives::alltoall),
    ("collectives: the lowest value and its rank", collectives::lowest),
    ("collectives: agreement", collectives::agree),
    ("collectives: a long reason is cut", collectives::agree_long),
    ("messages: a ring", messages::ring),
    ("messages: all pairs at once", messages::all_pairs),
    ("messages: order is kept", messages::order),
    ("messages: no such rank", messages::no_such_rank),
    ("groups: by colour and key", groups::by_colour),
    ("groups: some stay out", groups::some_stay_out),
    ("groups: of groups", groups::nested),
    ("groups: by node", groups::by_node),
    ("groups: many at once", groups::many),
    ("memory: segments of different sizes", memory::segments),
    ("memory: bounds", memory::bounds),
    ("memory: signals carry data", memory::signals),
    ("memory: two buffers between many writers and one reader", memory::double_buffer),
    ("windows: puts arrive", windows::puts),
    ("windows: gets", windows::gets),
    ("windows: tickets are unique", windows::tickets),
    ("windows: rounds", windows::rounds),
    ("windows: bounds", windows::bounds),
    ("mail: one-sided", mail::one_sided),
    ("mail: by messages", mail::messages),
    ("mail: alarms", mail::alarms),
    ("random: a long mixture", random::mixture),
];

/// Runs a case on all ranks; every rank gets the same answer.
pub fn run(transport: &dyn Transport, case: &Case) -> Check {
    let verdict = case.1(transport).map_err(|text| format!("{}: {text}", case.0));
    transport.agree(verdict).map_err(|e| e.to_string())
}

/// Bytes that tell where they come from.
pub fn pattern(from: usize, to: usize, len: usize) -> Vec<u8> {
    (0..len).map(|i| (from * 31 + to * 17 + i * 7 + i / 251) as u8).collect()
}

pub fn text(error: Error) -> String {
    error.to_string()
}

/// A number from its eight bytes.
pub fn number(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(u64::MAX, u64::from_le_bytes)
}
