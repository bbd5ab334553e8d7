"""A 3-D field from parallel h5py: each rank one block of the grid, collectively or independently."""

import contextlib
import sys

import h5py
import numpy as np
from mpi4py import MPI

import kernel

NAMES = ("density", "pressure")


class Block:
    """This rank's block (or another's) of a grid that is cut in all three dimensions."""

    def __init__(self, opt, comm, rank):
        cut = MPI.Compute_dims(comm.size, 3)
        edge = max(round((opt.size / 8) ** (1 / 3)), 1)
        where = np.unravel_index(rank, cut)
        self.shape = tuple(edge * n for n in cut)
        self.slices = tuple(slice(edge * i, edge * (i + 1)) for i in where)
        axes = np.ix_(*(np.arange(s.start, s.stop) for s in self.slices))
        self.indices = np.ravel_multi_index(np.broadcast_arrays(*axes), self.shape)


def write(opt, comm, result):
    block = Block(opt, comm, comm.rank)
    with result.timed("total"):
        with h5py.File(opt.file, "w", driver="mpio", comm=comm) as file:
            for step in range(opt.steps):
                for name in NAMES:
                    data = kernel.values(name, step, block.indices, "f8")
                    with result.timed("create"):
                        dataset = file.create_dataset(f"{step}/{name}", block.shape, "f8", chunks=opt.chunks or None)
                    mode = contextlib.nullcontext() if opt.independent else dataset.collective
                    with mode, result.timed("write"):
                        dataset[block.slices] = data
                    result.bytes += data.nbytes


def verify(opt, comm, result):
    """Planes of the whole grid go round the ranks; nothing to do with the blocks that were written."""
    shape = Block(opt, comm, 0).shape
    plane = np.arange(shape[1] * shape[2]).reshape(shape[1:])
    with h5py.File(opt.file, "r", driver="mpio", comm=comm) as file:
        for step in range(opt.steps):
            for name in NAMES:
                for z in range(comm.rank, shape[0], comm.size):
                    wanted = kernel.values(name, step, plane + z * plane.size, "f8")
                    result.check(name, file[f"{step}/{name}"][z], wanted)


def main():
    opt, comm = kernel.options(__doc__), MPI.COMM_WORLD
    result = kernel.Result("py-field", comm.size, comm.allgather, comm.rank)
    if "write" in opt.phases:
        write(opt, comm, result)
    comm.Barrier()
    if "verify" in opt.phases:
        verify(opt, comm, result)
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
