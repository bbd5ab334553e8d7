"""Files, groups, links, attributes and virtual datasets on all ranks."""

import ctypes

import h5py
import numpy
import pytest
from mpi4py import MPI
from numpy.testing import assert_array_equal

from harness import active


def create_virtual(f, name, layout, fill):
    """`create_virtual_dataset` without a time stamp, which would differ from run to run."""
    properties = layout._get_dcpl(f.filename)
    properties.set_obj_track_times(False)
    properties.set_fill_value(numpy.array([fill], layout.dtype))
    space = h5py.h5s.create_simple(layout.shape)
    h5py.h5d.create(f.id, name.encode(), h5py.h5t.py_create(numpy.dtype(layout.dtype)), space, properties)


def test_groups_and_links(create, comm, serial, kept):
    other = str(kept / "linked.h5")
    with h5py.File(other, "w", driver="mpio", comm=comm) as f:
        f.create_dataset("far", (comm.size,), "i4")[comm.rank] = comm.rank
    comm.Barrier()
    with create() as f:
        deep = f.create_group("a/b/c", track_order=True)
        for index in reversed(range(12)):
            deep.create_group(f"g{index}")
        f["a/d"] = numpy.arange(4)
        f["hard"], f["soft"] = f["a/d"], h5py.SoftLink("/a/d")
        f["external"] = h5py.ExternalLink("linked.h5", "/far")
        f["dangling"] = h5py.SoftLink("/nowhere")
        f.move("a/b/c/g3", "moved")
        f.copy("a", "copied")
        del f["a/b/c/g5"]
        f["type"] = numpy.dtype([("x", "i4"), ("y", "f8")])
        comm.Barrier()
        assert_array_equal(f["external"][...], numpy.arange(comm.size))
        f["external"][comm.rank] = comm.rank + 10
        assert f["hard"] == f["soft"] == f["a/d"] and f.get("dangling") is None
        assert list(f["copied/b/c"]) == [f"g{i}" for i in reversed(range(12)) if i != 3]
        visited = []
        f.visititems(lambda name, node: visited.append((name, type(node).__name__)))
        assert len(visited) == 31
        assert len(set(comm.allgather(tuple(visited)))) == 1

    def look(f):
        assert_array_equal(f["external"][...], numpy.arange(comm.size) + 10)
        assert isinstance(f["moved"], h5py.Group) and f.get("dangling", getlink=True).path == "/nowhere"
        assert f["type"].dtype == [("x", "i4"), ("y", "f8")]

    serial(look)


def test_attributes(create, comm, serial, random):
    values = {
        "int": numpy.int64(-5),
        "floats": random.random(300),
        "text": "zeichenkette, längere " * 20,
        "words": numpy.array(["a", "bb", "ccc"], h5py.string_dtype()),
        "fixed": numpy.bytes_(b"fixed"),
        "pairs": numpy.array([(1, 2.5), (3, 4.5)], [("i", "i4"), ("f", "f8")]),
        "complex": numpy.complex128(1 + 2j),
        "empty": h5py.Empty("f8"),
    }
    with create() as f:
        holders = [f, f.create_group("g"), f.create_dataset("d", (4,), "i4"), f.create_group("many")]
        for holder in holders[:3]:
            for name, value in values.items():
                holder.attrs[name] = value
        for index in range(60):
            holders[3].attrs[f"a{index:02}"] = index
        f.attrs.modify("int", numpy.int64(6))
        f.attrs.create("int", 7, dtype="u2")
        f["d"].attrs["reference"] = f["g"].ref
        f["d"].attrs["ragged"] = numpy.array([numpy.arange(3), numpy.arange(5)], h5py.vlen_dtype("i4"))
        del holders[3].attrs["a07"]
        assert f.attrs["int"] == 7 and len(holders[3].attrs) == 59

    def look(f):
        for holder in (f["g"], f["d"]):
            for name in ("int", "floats", "text", "words", "fixed", "pairs", "complex"):
                assert_array_equal(holder.attrs[name], values[name])
        assert f[f["d"].attrs["reference"]].name == "/g"
        assert [len(row) for row in f["d"].attrs["ragged"]] == [3, 5]
        assert list(f["many"].attrs) == [f"a{index:02}" for index in range(60) if index != 7]

    serial(look)


def test_virtual_dataset(path, comm, kept, random):
    """Each rank writes a source of its own, without MPI; one file maps them all; all ranks read through it."""
    data = random.random((comm.size, 50))
    with h5py.File(kept / f"source{comm.rank}.h5", "w") as f:
        f.create_dataset("x", data=data[comm.rank], chunks=(16,), compression="gzip")
    comm.Barrier()
    if comm.rank == 0:
        layout = h5py.VirtualLayout((comm.size + 1, 50), "f8")
        for rank in range(comm.size):
            layout[rank] = h5py.VirtualSource(f"source{rank}.h5", "x", (50,))
        with h5py.File(path, "w", libver="latest") as f:
            create_virtual(f, "all", layout, -1)
    comm.Barrier()
    with h5py.File(path, "r") as f:
        assert_array_equal(f["all"][: comm.size], data)
        assert (f["all"][comm.size] == -1).all() and len(f["all"].virtual_sources()) == comm.size


def test_virtual_dataset_within_a_parallel_file(create, comm, serial, random):
    data = random.integers(0, 99, (comm.size, 16))
    with create(libver="latest") as f:
        for rank in range(comm.size):
            f.create_dataset(f"part{rank}", (16,), "i8")
        layout = h5py.VirtualLayout((comm.size, 16), "i8")
        for rank in range(comm.size):
            layout[rank] = h5py.VirtualSource(".", f"part{rank}", (16,))
        create_virtual(f, "all", layout, 0)
        f[f"part{comm.rank}"][:] = data[comm.rank]
    serial(lambda f: assert_array_equal(f["all"][...], data))


def test_dimension_scales_and_references(create, comm, serial):
    with create() as f:
        f.create_dataset("t", (6,), "f4").make_scale("time")
        f.create_dataset("v", (6, 3), "f4")
        f["v"].dims[0].attach_scale(f["t"])
        f["v"].dims[1].label = "column"
        f.attrs["region"] = f["v"].regionref[1:3, :2]
        assert f["v"].dims[0]["time"] == f["t"]

    def look(f):
        assert f["v"].dims[0][0].name == "/t" and f["v"].dims[1].label == "column"
        assert f["v"].regionref.selection(f.attrs["region"]) == (2, 2)

    serial(look)


def test_atomic_mode(create, comm, serial):
    with create() as f:
        assert f.atomic is False
        f.atomic = True
        dataset = f.create_dataset("d", (comm.size, 100), "i4")
        for turn in range(3):
            dataset[comm.rank] = comm.rank + turn
            comm.Barrier()
            assert_array_equal(dataset[:, turn], numpy.arange(comm.size) + turn)
            comm.Barrier()
        f.atomic = False
        assert f.atomic is False


@pytest.mark.parametrize(
    "options",
    [
        {"libver": "latest"},
        {"libver": ("v110", "v114"), "track_order": True},
        {"userblock_size": 1024},
        {"alignment_threshold": 64, "alignment_interval": 4096},
        {"meta_block_size": 65536},
        {"fs_strategy": "none"},
    ],
    ids=lambda options: "-".join(options),
)
def test_kinds_of_files(create, path, comm, serial, options):
    with create(**options) as f:
        f.create_dataset("d", (comm.size, 8), "f4", chunks=(1, 8))[comm.rank] = comm.rank
        f.create_group("g").attrs["a"] = 1
    with create("r+") as f:
        assert f.driver == "mpio" and f.userblock_size == options.get("userblock_size", 0)
        f["d"][comm.rank] += 1
        f["g/more"] = numpy.arange(3)
    serial(lambda f: assert_array_equal(f["d"][:, 3], numpy.arange(comm.size) + 1))


def test_hints_and_what_the_file_tells(create, path, comm):
    info = MPI.Info.Create()
    info.Set("romio_cb_write", "enable")
    info.Set("cb_buffer_size", "65536")
    with create(info=info) as f:
        dataset = f.create_dataset("d", (comm.size, 1000), "f8")
        with dataset.collective:
            dataset[comm.rank] = comm.rank
        f.flush()
        assert f.filename == path and f.id.get_intent() == h5py.h5f.ACC_RDWR
        assert f.id.get_access_plist().get_driver() == h5py.h5fd.MPIO
        assert dataset.id.get_storage_size() == comm.size * 8000 and dataset.id.get_offset() > 0
    info.Free()


def test_collective_metadata(path, comm, serial):
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_fapl_mpio(comm, MPI.INFO_NULL)
    access.set_libver_bounds(h5py.h5f.LIBVER_EARLIEST, h5py.h5f.LIBVER_LATEST)
    # h5py has no name for these two.
    (library,) = active.libraries()
    for function in ("H5Pset_all_coll_metadata_ops", "H5Pset_coll_metadata_write"):
        assert ctypes.CDLL(library)[function](ctypes.c_int64(access.id), ctypes.c_bool(True)) == 0
    with h5py.File(h5py.h5f.create(path.encode(), h5py.h5f.ACC_TRUNC, fapl=access)) as f:
        for index in range(10):
            group = f.create_group(f"g{index}")
            group.attrs["index"] = index
            group.create_dataset("d", (comm.size, 4), "i4", chunks=(1, 2))
        for index in range(10):
            # Only some ranks write: nothing here may look metadata up collectively.
            dataset = f[f"g{index}/d"]
            if comm.rank == index % comm.size:
                dataset[comm.rank] = index
    serial(lambda f: [assert_array_equal(f[f"g{i}/d"][i % comm.size], [i] * 4) for i in range(10)])


def test_files_of_parts_of_the_ranks(comm, kept, random):
    """Two communicators with a file each, open at one time with a file of all ranks and one of each rank."""
    part = comm.Split(comm.rank % 2, comm.rank)
    whole = h5py.File(kept / "whole.h5", "w", driver="mpio", comm=comm)
    half = h5py.File(kept / f"half{comm.rank % 2}.h5", "w", driver="mpio", comm=part)
    own = h5py.File(kept / f"own{comm.rank}.h5", "w")
    for turn in range(4):
        for f, ranks in ((whole, comm), (half, part)):
            f.create_dataset(f"d{turn}", (ranks.size, 20), "f8")[ranks.rank] = turn
        own[f"d{turn}"] = numpy.full(20, turn)
    for f in (half, whole, own):
        f.close()
    comm.Barrier()
    for name in ("whole.h5", f"half{comm.rank % 2}.h5", f"own{comm.rank}.h5"):
        with h5py.File(kept / name, "r") as f:
            assert all((f[f"d{turn}"][...] == turn).all() for turn in range(4))
    part.Free()


def test_open_failures(create, comm, kept, refused):
    if comm.rank == 0:
        (kept / "not.h5").write_bytes(b"no HDF5 here" * 100)
    comm.Barrier()
    refused(lambda: h5py.File(kept / "absent.h5", "r", driver="mpio", comm=comm))
    refused(lambda: h5py.File(kept / "not.h5", "r", driver="mpio", comm=comm))
    refused(lambda: h5py.File(kept / "no" / "folder.h5", "w", driver="mpio", comm=comm))
    with create() as f:
        f["x"] = numpy.arange(3)
    refused(lambda: create("x"))
    with create("r") as f:
        refused(lambda: f.create_group("g"))
        refused(lambda: f["x"].attrs.create("a", 1))
        refused(lambda: f["x"].__setitem__(0, 1))
        assert_array_equal(f["x"][...], numpy.arange(3))


def test_many_files_in_turn(comm, kept):
    for turn in range(15):
        with h5py.File(kept / "turns.h5", "a", driver="mpio", comm=comm) as f:
            f.create_dataset(f"d{turn}", (comm.size,), "i4")[comm.rank] = turn
    with h5py.File(kept / "turns.h5", "r", driver="mpio", comm=comm) as f:
        assert all((f[f"d{turn}"][...] == turn).all() for turn in range(15))
