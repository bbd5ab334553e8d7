"""Particles from parallel h5py: eight variables, a group for each step, each rank one run of each variable."""

import contextlib
import sys

import h5py
import numpy as np
from mpi4py import MPI

import kernel

VARIABLES = {"x": "f4", "y": "f4", "z": "f4", "px": "f4", "py": "f4", "pz": "f4", "id1": "i4", "id2": "i4"}


def write(opt, comm, result):
    mine = max(opt.size // 4, 1)
    first = mine * comm.rank
    indices = np.arange(first, first + mine)
    with result.timed("total"):
        with h5py.File(opt.file, "w", driver="mpio", comm=comm) as file:
            for step in range(opt.steps):
                group = file.create_group(f"Step#{step}")
                group.attrs["TimeValue"] = 0.25 * step
                for name, dtype in VARIABLES.items():
                    data = kernel.values(name, step, indices, dtype)
                    with result.timed("create"):
                        dataset = group.create_dataset(name, (mine * comm.size,), dtype, chunks=opt.chunks or None)
                    mode = contextlib.nullcontext() if opt.independent else dataset.collective
                    with mode, result.timed("write"):
                        dataset[first:first + mine] = data
                    result.bytes += data.nbytes


def verify(opt, comm, result):
    """Each rank reads what the next one wrote."""
    mine = max(opt.size // 4, 1)
    first = mine * ((comm.rank + 1) % comm.size)
    indices = np.arange(first, first + mine)
    with h5py.File(opt.file, "r", driver="mpio", comm=comm) as file:
        for step in range(opt.steps):
            result.check("TimeValue", file[f"Step#{step}"].attrs["TimeValue"], 0.25 * step)
            for name, dtype in VARIABLES.items():
                found = file[f"Step#{step}/{name}"][first:first + mine]
                result.check(name, found, kernel.values(name, step, indices, dtype))


def main():
    opt, comm = kernel.options(__doc__), MPI.COMM_WORLD
    result = kernel.Result("py-particles", comm.size, comm.allgather, comm.rank)
    if "write" in opt.phases:
        write(opt, comm, result)
    comm.Barrier()
    if "verify" in opt.phases:
        verify(opt, comm, result)
    return result.finish()


if __name__ == "__main__":
    sys.exit(main())
