"""Every test runs on all ranks of one MPI job; what one rank checks, all check."""

import h5py
import pytest
from mpi4py import MPI


@pytest.fixture
def comm():
    """A communicator of the test's own. All ranks leave the test together."""
    comm = MPI.COMM_WORLD.Dup()
    yield comm
    comm.Barrier()
    comm.Free()


@pytest.fixture
def create(path, comm):
    """Opens the test's file on all ranks; the mode is "w" unless given."""

    def open_file(mode="w", **options):
        return h5py.File(path, mode, driver="mpio", comm=comm, **options)

    return open_file


@pytest.fixture
def serial(path, comm):
    """Runs a check of the closed file on one rank, without MPI."""

    def check(look):
        comm.Barrier()
        if comm.rank == 0:
            with h5py.File(path, "r") as f:
                look(f)
        comm.Barrier()

    return check
