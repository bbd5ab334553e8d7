"""What netCDF4 programs do, each written by netCDF4, read by it again, and looked at through h5py."""

import h5py
import netCDF4
import numpy
import pytest


@pytest.fixture
def name(kept, request):
    return str(kept / f"{request.node.name}.nc")


def test_groups_attributes_and_dimensions(name):
    with netCDF4.Dataset(name, "w") as d:
        d.title, d.numbers, d.single = "a title", numpy.arange(7, dtype="i2"), numpy.float64(1.25)
        d.setncattr_string("strings", ["one", "two", "drei ß"])
        for path in ("forecast/model1", "forecast/model2", "analysis"):
            group = d.createGroup(path)
            group.createDimension("lat", 73)
            group.createDimension("level", None)
            variable = group.createVariable("lat", "f4", ("lat",))
            variable.units = "degrees_north"
            variable[:] = numpy.linspace(-90, 90, 73)
            group.createVariable("t", "f4", ("level", "lat"))[4, :] = 280
        d["forecast"].renameGroup("model2", "second")
        d["analysis"].renameVariable("t", "temperature")
        d["analysis"].renameDimension("level", "z")
        d["analysis"]["lat"].renameAttribute("units", "einheit")
        d["forecast/second"]["lat"].delncattr("units")
    with netCDF4.Dataset(name) as d:
        assert d.strings == ["one", "two", "drei ß"] and d.single == 1.25
        assert list(d["forecast"].groups) == ["model1", "second"]
        assert d["analysis/temperature"].shape == (5, 73)
        assert d["analysis/temperature"][:4].mask.all() and (d["analysis/temperature"][4] == 280).all()
        assert d["analysis/lat"].einheit == "degrees_north" and d["forecast/second/lat"].ncattrs() == []
    with h5py.File(name, "r") as f:
        assert f["analysis/temperature"].dims[1][0].name == "/analysis/lat"


def test_compound_vlen_enum_and_strings(name, random):
    pair = numpy.dtype([("real", "f8"), ("imag", "f8")])
    station = numpy.dtype([("id", "i4"), ("name", "S1", 8), ("z", "f4", (3,))])
    with netCDF4.Dataset(name, "w") as d:
        d.createDimension("n", None)
        d.createVariable("c", d.createCompoundType(pair, "pair"), ("n",))[:5] = numpy.ones(5, pair)
        compound = d.createVariable("s", d.createCompoundType(station, "station"), ("n",))
        records = numpy.zeros(3, station)
        records["id"], records["z"] = [1, 2, 3], random.random((3, 3))
        compound[:] = records
        ragged = d.createVariable("v", d.createVLType("i8", "list"), ("n",))
        for index in range(4):
            ragged[index] = numpy.arange(index + 1) ** 3
        sky = d.createEnumType("u1", "sky", {"clear": 0, "cloudy": 1, "missing": 255})
        d.createVariable("e", sky, ("n",), fill_value=255)[:3] = [0, 1, 1]
        text = d.createVariable("t", str, ("n",))
        text[0], text[2] = "first", "third, longer: äöü"
    with netCDF4.Dataset(name) as d:
        assert (d["c"][:5]["real"] == 1).all()
        numpy.testing.assert_array_equal(d["s"][:3]["z"], records["z"])
        assert [list(row) for row in d["v"][:4]] == [[i**3 for i in range(n + 1)] for n in range(4)]
        assert d["e"][:3].tolist() == [0, 1, 1]
        assert d["t"][:3].tolist() == ["first", "", "third, longer: äöü"]
    with h5py.File(name, "r") as f:
        assert f["t"][2].decode() == "third, longer: äöü" and len(f["v"][3]) == 4
        assert h5py.check_enum_dtype(f["e"].dtype) == {"clear": 0, "cloudy": 1, "missing": 255}


def test_compression(name, random):
    data = random.integers(0, 1000, (64, 48), "i4")
    kinds = {
        "plain": {"contiguous": True},
        "zlib": {"compression": "zlib", "complevel": 6, "shuffle": True},
        "check": {"fletcher32": True, "chunksizes": (16, 16)},
        "szip": {"compression": "szip", "szip_coding": "nn", "szip_pixels_per_block": 8},
    }
    with netCDF4.Dataset(name, "w") as d:
        d.createDimension("y", 64)
        d.createDimension("x", 48)
        for kind, options in kinds.items():
            d.createVariable(kind, "i4", ("y", "x"), **options)[:] = data
        rounded = d.createVariable(
            "rounded", "f4", ("y", "x"), zlib=True, least_significant_digit=None, significant_digits=3
        )
        rounded[:] = data / 7
    with netCDF4.Dataset(name) as d, h5py.File(name, "r") as f:
        for kind in kinds:
            numpy.testing.assert_array_equal(d[kind][:], data)
            numpy.testing.assert_array_equal(f[kind][...], data)
        numpy.testing.assert_array_equal(d["rounded"][:], f["rounded"][...])
        assert f["zlib"].compression_opts == 6 and f["check"].fletcher32 and f["plain"].chunks is None


def test_packing_masks_and_endianness(name):
    with netCDF4.Dataset(name, "w") as d:
        d.createDimension("n", 6)
        packed = d.createVariable("packed", "i2", ("n",), fill_value=-999)
        packed.scale_factor, packed.add_offset = 0.1, 10.0
        packed[:] = numpy.ma.array([10, 11, 12.5, 0, 9, 10], mask=[0, 0, 0, 1, 0, 0])
        d.createVariable("big", ">f8", ("n",), endian="big")[:] = numpy.arange(6)
        d.createVariable("empty", "f8", ("n",))
    with netCDF4.Dataset(name) as d:
        assert d["packed"][:].mask.tolist() == [False, False, False, True, False, False]
        numpy.testing.assert_allclose(d["packed"][:].compressed(), [10, 11, 12.5, 9, 10])
        assert d["empty"][:].mask.all()
    with h5py.File(name, "r") as f:
        assert f["packed"][3] == -999 and f["big"].dtype == ">f8"


def test_unlimited_dimensions_in_every_order(name, random):
    model = numpy.ma.masked_all((9, 7, 4))
    with netCDF4.Dataset(name, "w") as d:
        for dimension in ("t", "y"):
            d.createDimension(dimension, None)
        d.createDimension("x", 4)
        variable = d.createVariable("v", "f8", ("t", "y", "x"))
        for t, y in random.permutation([(t, y) for t in range(9) for y in range(7)]):
            variable[t, y] = model[t, y] = random.random(4)
        numpy.testing.assert_array_equal(variable[:], model)
        numpy.testing.assert_array_equal(variable[::3, [1, 5], ::-1], model[::3, [1, 5], ::-1])
    with netCDF4.Dataset(name) as d:
        numpy.testing.assert_array_equal(d["v"][:], model)


def test_many_files_as_one(kept):
    names = [str(kept / f"part{part}.nc") for part in range(3)]
    for part, name in enumerate(names):
        with netCDF4.Dataset(name, "w", format="NETCDF4_CLASSIC") as d:
            d.createDimension("t", None)
            d.createVariable("t", "i4", ("t",))[:] = numpy.arange(4) + 4 * part
    with netCDF4.MFDataset(names) as d:
        assert d["t"][:].tolist() == list(range(12))


def test_in_memory_files(kept):
    d = netCDF4.Dataset("memory.nc", "w", memory=4096)
    d.createDimension("n", 10)
    d.createVariable("v", "i4", ("n",))[:] = numpy.arange(10)
    image = bytes(d.close())
    (kept / "image.nc").write_bytes(image)
    with netCDF4.Dataset("again.nc", memory=image) as d:
        assert d["v"][:].sum() == 45
    with netCDF4.Dataset(kept / "diskless.nc", "w", diskless=True, persist=True) as d:
        d.createDimension("n", 3)
        d.createVariable("v", "i4", ("n",))[:] = 7
    with h5py.File(kept / "diskless.nc", "r") as f:
        assert f["v"][...].tolist() == [7, 7, 7]
    with h5py.File.in_memory(image) as f:
        assert f["v"][...].sum() == 45


def test_formats_beside_hdf5(kept):
    """Classic files do not pass HDF5; opening them must not either."""
    for form in ("NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA", "NETCDF4_CLASSIC"):
        with netCDF4.Dataset(kept / f"{form}.nc", "w", format=form) as d:
            d.createDimension("t", None)
            d.createVariable("v", "i4", ("t",))[:] = numpy.arange(5)
        with netCDF4.Dataset(kept / f"{form}.nc", "a") as d:
            assert d.data_model == form
            d["v"][5:8] = 1
            assert d["v"][:].sum() == 13
