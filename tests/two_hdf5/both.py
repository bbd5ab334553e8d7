"""Two libhdf5 in one process, those of the h5py and the netCDF4 wheels, each writing and reading its own files and the
other's, in turns. Prints the two versions; an assertion fails if any value is wrong."""

import sys
from pathlib import Path

import h5py
import netCDF4
import numpy as np

folder = Path(sys.argv[1])
rng = np.random.default_rng(7)


def by_h5py(path, values):
    with h5py.File(path, "w") as f:
        f.create_dataset("plain", data=values)
        f.create_dataset("packed", data=values, chunks=(16, 16), compression="gzip", shuffle=True)
        f["plain"].attrs["unit"] = "km"


def by_netcdf(path, values):
    with netCDF4.Dataset(path, "w") as d:
        d.createDimension("y", values.shape[0])
        d.createDimension("x", values.shape[1])
        d.createVariable("plain", "f8", ("y", "x"))[:] = values
        d.createVariable("packed", "f8", ("y", "x"), zlib=True, chunksizes=(16, 16))[:] = values
        d["plain"].unit = "km"


def check_h5py(path, values):
    with h5py.File(path, "r") as f:
        assert np.array_equal(f["plain"][:], values) and np.array_equal(f["packed"][:], values)
        unit = f["plain"].attrs["unit"]
        assert unit in ("km", b"km"), unit


def check_netcdf(path, values):
    with netCDF4.Dataset(path) as d:
        assert np.array_equal(d["plain"][:], values) and np.array_equal(d["packed"][:], values)
        assert d["plain"].unit == "km"


for turn in range(5):
    values = rng.random((64, 48))
    ours, theirs = folder / f"h5py-{turn}.h5", folder / f"netcdf-{turn}.nc"
    by_h5py(ours, values)
    by_netcdf(theirs, values)
    for path in ours, theirs:
        check_h5py(path, values)
        check_netcdf(path, values)

# Both libraries at once, each with a file open while the other works.
with h5py.File(folder / "open.h5", "w") as f, netCDF4.Dataset(folder / "open.nc", "w") as d:
    d.createDimension("x", None)
    grown = f.create_dataset("v", shape=(0,), maxshape=(None,), dtype="i8")
    other = d.createVariable("v", "i8", ("x",))
    for n in range(1, 200):
        grown.resize((n,))
        grown[n - 1] = n
        other[n - 1] = n
    assert np.array_equal(grown[:], np.arange(1, 200)) and np.array_equal(other[:], np.arange(1, 200))

print(h5py.version.hdf5_version, netCDF4.__hdf5libversion__)
