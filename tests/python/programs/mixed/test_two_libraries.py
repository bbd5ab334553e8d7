"""One process with two different libhdf5, those of the h5py and netCDF4 wheels, at work on each other's files."""

import threading

import h5py
import netCDF4
import numpy

from harness import active


def test_the_two_are_different():
    assert len(active.libraries()) == 2
    assert h5py.version.hdf5_version != netCDF4.__hdf5libversion__


def test_alternating_writes(kept, random):
    """Both files stay open, a step goes to one, then to the other; they are closed in the order of opening."""
    data = random.random((6, 4, 5))
    ours = h5py.File(kept / "alternating.h5", "w")
    theirs = netCDF4.Dataset(kept / "alternating.nc", "w")
    theirs.createDimension("time", None)
    theirs.createDimension("y", 4)
    theirs.createDimension("x", 5)
    variable = theirs.createVariable("v", "f8", ("time", "y", "x"), zlib=True, chunksizes=(1, 4, 5))
    dataset = ours.create_dataset("v", (0, 4, 5), "f8", maxshape=(None, 4, 5), chunks=(2, 4, 5), compression="gzip")
    for step, values in enumerate(data):
        variable[step] = values
        dataset.resize(step + 1, axis=0)
        dataset[step] = values
        variable.setncattr(f"step{step}", values[0])
        dataset.attrs[f"step{step}"] = values[0]
        if step % 2:
            theirs.sync()
            ours.flush()
        numpy.testing.assert_array_equal(variable[: step + 1], dataset[...])
    ours.close()
    theirs.close()
    with h5py.File(kept / "alternating.nc", "r") as f, netCDF4.Dataset(kept / "alternating.h5") as d:
        numpy.testing.assert_array_equal(f["v"][...], data)
        numpy.testing.assert_array_equal(d["v"][...], data)
        for step in range(6):
            numpy.testing.assert_array_equal(f["v"].attrs[f"step{step}"], data[step, 0])
            numpy.testing.assert_array_equal(d["v"].getncattr(f"step{step}"), data[step, 0])


def test_each_extends_what_the_other_wrote(kept, random):
    """A file goes back and forth: created by netCDF4, extended by h5py, by netCDF4, by h5py."""
    name = kept / "shared.nc"
    with netCDF4.Dataset(name, "w") as d:
        d.createDimension("t", None)
        d.createVariable("x", "i4", ("t",), chunksizes=(8,), shuffle=True, fletcher32=True)[:] = numpy.arange(5)
        d.createGroup("a/b").setncattr("unit", "m s-1")
    with h5py.File(name, "r+") as f:
        f["x"].resize((9,))
        f["x"][5:] = numpy.arange(5, 9)
        f["a/b"].attrs["by_h5py"] = numpy.float32(2.5)
        f.create_dataset("a/b/y", data=random.integers(0, 100, (3, 3)))
    with netCDF4.Dataset(name, "a") as d:
        numpy.testing.assert_array_equal(d["x"][:], numpy.arange(9))
        assert d["a/b"].by_h5py == 2.5 and d["a/b"].unit == "m s-1"
        d["x"][9:12] = [9, 10, 11]
        d["a/b"].createVariable("z", "f4", ("t",), fill_value=-1)[0] = 1
    with h5py.File(name, "r+") as f:
        numpy.testing.assert_array_equal(f["x"][...], numpy.arange(12))
        assert f["a/b/z"][...].tolist() == [1]
        assert f["x"].dims[0][0].name == "/t"
        del f["a/b/y"]
    with netCDF4.Dataset(name) as d:
        assert list(d["a/b"].variables) == ["z"]


def test_both_hold_one_file_for_reading(kept, random):
    name = kept / "readers.h5"
    data = random.random((50, 20))
    with h5py.File(name, "w") as f:
        f.create_dataset("v", data=data, chunks=(7, 7), shuffle=True, compression="gzip")
    with netCDF4.Dataset(name) as d, h5py.File(name, "r") as f:
        for row in range(0, 50, 3):
            numpy.testing.assert_array_equal(d["v"][row], f["v"][row])
            numpy.testing.assert_array_equal(d["v"][:, row % 20], f["v"][:, row % 20])


def test_many_opens_of_each(kept):
    for turn in range(40):
        with h5py.File(kept / "many.h5", "a") as f:
            f.create_dataset(f"d{turn}", data=numpy.arange(turn))
        with netCDF4.Dataset(kept / "many.nc", "a" if turn else "w") as d:
            d.createDimension(f"n{turn}", turn + 1)
            d.createVariable(f"v{turn}", "i8", (f"n{turn}",))[:] = turn
    with h5py.File(kept / "many.nc", "r") as f, netCDF4.Dataset(kept / "many.h5") as d:
        assert all((f[f"v{turn}"][...] == turn).all() for turn in range(40))
        assert all(len(d[f"d{turn}"][:]) == turn for turn in range(40))


def test_both_at_once_in_two_threads(kept, random):
    """netCDF4 lets other threads run while it writes, so both libraries are inside the connector at one time."""
    data = random.random((200, 64))
    failures = []

    def netcdf():
        with netCDF4.Dataset(kept / "thread.nc", "w") as d:
            d.createDimension("t", None)
            d.createDimension("x", 64)
            variable = d.createVariable("v", "f8", ("t", "x"), zlib=True, chunksizes=(10, 64))
            for step, row in enumerate(data):
                variable[step] = row
                variable.setncattr("last", step)
                if (variable[step] != row).any():
                    failures.append(f"netCDF4 read another row {step} than it wrote")

    def hdf5():
        with h5py.File(kept / "thread.h5", "w") as f:
            dataset = f.create_dataset("v", data.shape, "f8", chunks=(10, 64), compression="gzip")
            for step, row in enumerate(data):
                dataset[step] = row
                dataset.attrs["last"] = step
                if (dataset[step] != row).any():
                    failures.append(f"h5py read another row {step} than it wrote")

    threads = [threading.Thread(target=target) for target in (netcdf, hdf5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    with h5py.File(kept / "thread.nc", "r") as f, netCDF4.Dataset(kept / "thread.h5") as d:
        numpy.testing.assert_array_equal(f["v"][...], data)
        numpy.testing.assert_array_equal(d["v"][:], data)
        assert f["v"].attrs["last"] == d["v"].last == 199


def test_errors_of_each_stay_with_each(kept, refused):
    """A failure in one library leaves no trace in the other, and says what it says natively."""
    (kept / "not.h5").write_bytes(b"no HDF5 here" * 100)
    with h5py.File(kept / "fine.h5", "w") as f, netCDF4.Dataset(kept / "fine.nc", "w") as d:
        refused(lambda: netCDF4.Dataset(kept / "absent.nc"))
        f["x"] = 1
        refused(lambda: h5py.File(kept / "absent.h5", "r"))
        d.createDimension("n", 3)
        refused(lambda: h5py.File(kept / "not.h5", "r"))
        refused(lambda: netCDF4.Dataset(kept / "not.h5"))
        refused(lambda: f["absent"])
        refused(lambda: d["absent"])
        refused(lambda: f.create_dataset("x", data=2))
        refused(lambda: d.createDimension("n", 3))
        refused(lambda: f["x"].attrs["absent"])
        refused(lambda: d.getncattr("absent"))
        refused(lambda: f.create_dataset("filtered", (8,), "f8", chunks=(8,), compression=32100))
        refused(lambda: netCDF4.Dataset(kept / "fine.nc", "w", clobber=False))
        assert f["x"][()] == 1 and len(d.dimensions["n"]) == 3
