//! A program on the `mpi` crate hands its communicator to Sago, which binds the MPI that the program is linked with.

use mpi::traits::*;
use sago_mpi::{Mpi, MpiRanks, Options, RawComm, Reduce, Transport};

fn main() {
    let universe = mpi::initialize().expect("MPI can be initialised");
    let world = universe.world();
    let mpi = Mpi::in_process().expect("the MPI that the program is linked with");
    // Every second rank, so that the communicator is one of the program's own.
    let colour = mpi::topology::Color::with_value(world.rank() % 2);
    let half = world.split_by_color(colour).expect("every rank has a colour");
    // An int or a pointer, in a slot of eight bytes.
    let mut slot = [0; 8];
    let handle = half.as_raw();
    // SAFETY: a handle is plain data of four or eight bytes.
    let bytes = unsafe { std::slice::from_raw_parts((&raw const handle).cast::<u8>(), size_of_val(&handle)) };
    slot[..bytes.len()].copy_from_slice(bytes);
    let raw = RawComm(isize::from_ne_bytes(slot));
    // SAFETY: a live communicator of this MPI, on the thread that initialised it.
    let ranks = unsafe { MpiRanks::new(mpi, raw, Options::default()) }.expect("a group on the communicator");
    assert_eq!((ranks.rank(), ranks.size()), (half.rank() as usize, half.size() as usize));
    let mut sum = [world.rank() as u64];
    ranks.allreduce(Reduce::Sum, &mut sum).expect("a sum");
    let expected: i32 = (0..world.size()).filter(|r| r % 2 == world.rank() % 2).sum();
    assert_eq!(sum, [expected as u64]);
    Box::new(ranks).close().expect("a group that can be closed");
    // Theirs still works.
    half.barrier();
    if world.rank() == 0 {
        println!("{} of {} ranks: all right", half.size(), world.size());
    }
}
