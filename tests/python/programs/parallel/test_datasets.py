"""Raw data on all ranks: layouts, transfer modes, selections, filters, types."""

import h5py
import numpy
import pytest
from numpy.testing import assert_array_equal

MODES = ["collective", "independent"]
LAYOUTS = {"contiguous": {}, "chunked": {"chunks": (3, 5)}, "extendible": {"chunks": (4, 4), "maxshape": (None, None)}}


def put(dataset, where, values, mode):
    if mode == "collective":
        with dataset.collective:
            dataset[where] = values
    else:
        dataset[where] = values


def get(dataset, where, mode):
    if mode == "collective":
        with dataset.collective:
            return dataset[where]
    return dataset[where]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_blocks_of_rows(create, comm, serial, random, layout, mode):
    data = random.random((comm.size * 6, 11))
    mine = slice(comm.rank * 6, comm.rank * 6 + 6)
    with create() as f:
        dataset = f.create_dataset("d", data.shape, "f8", **LAYOUTS[layout])
        put(dataset, mine, data[mine], mode)
        assert_array_equal(get(dataset, mine, mode), data[mine])
    with create("r") as f:
        assert_array_equal(get(f["d"], (), mode), data)
    serial(lambda f: assert_array_equal(f["d"][...], data))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_interleaved_columns(create, comm, serial, random, layout, mode):
    data = random.integers(0, 1 << 40, (9, comm.size * 7))
    mine = numpy.s_[:, comm.rank :: comm.size]
    with create() as f:
        dataset = f.create_dataset("d", data.shape, "i8", **LAYOUTS[layout])
        put(dataset, mine, data[mine], mode)
        comm.Barrier()
        assert_array_equal(get(dataset, mine, mode), data[mine])
    serial(lambda f: assert_array_equal(f["d"][...], data))


@pytest.mark.parametrize("mode", MODES)
def test_points_lists_and_blocks(create, comm, serial, random, mode):
    data = random.random((comm.size, 40))
    points = numpy.sort(random.permutation(40)[:11])
    blocks = h5py.MultiBlockSlice(start=2, count=4, stride=9, block=3)
    with create() as f:
        for name in ("points", "mask", "blocks"):
            f.create_dataset(name, data.shape, "f8", chunks=(1, 16))
        row, mask = data[comm.rank], numpy.zeros(data.shape, bool)
        mask[comm.rank, points] = True
        put(f["points"], (comm.rank, points), row[points], mode)
        put(f["mask"], mask, row[points], mode)
        put(f["blocks"], (comm.rank, blocks), row[[*range(2, 5), *range(11, 14), *range(20, 23), *range(29, 32)]], mode)
    model = numpy.zeros_like(data)
    model[:, points] = data[:, points]

    def look(f):
        assert_array_equal(f["points"][...], model)
        assert_array_equal(f["mask"][...], model)
        assert_array_equal(f["blocks"][:, 11:14], data[:, 11:14])
        assert not f["blocks"][:, 5:11].any()

    serial(look)


@pytest.mark.parametrize("mode", MODES)
def test_random_hyperslabs(create, comm, serial, random, mode):
    """Each rank owns the rows that a shuffled deck gives it, and writes boxes of any shape and stride into them."""
    rows = random.permutation(comm.size * 8).reshape(comm.size, 8)
    model = numpy.zeros((comm.size * 8, 30), "i4")
    with create() as f:
        dataset = f.create_dataset("d", model.shape, "i4", chunks=(5, 7))
        for turn in range(25):
            first, step = int(random.integers(0, 20)), int(random.integers(1, 5))
            values = random.integers(1, 1 << 30, (comm.size, len(range(first, 30, step))))
            choice = int(random.integers(0, 8))
            for rank in range(comm.size):
                model[rows[rank, choice], first::step] = values[rank]
            put(dataset, numpy.s_[int(rows[comm.rank, choice]), first::step], values[comm.rank], mode)
            if turn % 5 == 4:
                comm.Barrier()
                f.flush()
                comm.Barrier()
                assert_array_equal(get(dataset, (), mode), model)
                comm.Barrier()
    serial(lambda f: assert_array_equal(f["d"][...], model))


@pytest.mark.parametrize(
    "filters",
    [
        {"compression": "gzip"},
        {"compression": "gzip", "shuffle": True, "fletcher32": True},
        {"compression": "lzf"},
        {"scaleoffset": 0},
    ],
    ids=lambda filters: "-".join(filters),
)
def test_filters(create, comm, serial, random, filters):
    data = random.integers(0, 500, (comm.size * 4, 32), "i4")
    with create() as f:
        dataset = f.create_dataset("d", data.shape, "i4", chunks=(3, 8), **filters)
        put(dataset, numpy.s_[comm.rank * 4 : comm.rank * 4 + 4], data[comm.rank * 4 : comm.rank * 4 + 4], "collective")
        put(dataset, numpy.s_[comm.rank * 4, :8], data[comm.rank * 4, 8:16], "collective")
    data[::4, :8] = data[::4, 8:16]
    with create("r") as f:
        assert_array_equal(get(f["d"], (), "collective"), data)
        assert_array_equal(get(f["d"], comm.rank, "independent"), data[comm.rank])
    serial(lambda f: assert_array_equal(f["d"][...], data))


def test_some_ranks_have_nothing(create, comm, serial):
    """A collective call in which only the last rank has data."""
    with create() as f:
        dataset = f.create_dataset("d", (10,), "i4", fillvalue=-3)
        memory, space = h5py.h5s.create_simple((3,)), dataset.id.get_space()
        if comm.rank == comm.size - 1:
            space.select_hyperslab((2,), (3,))
        else:
            memory.select_none()
            space.select_none()
        transfer = h5py.h5p.create(h5py.h5p.DATASET_XFER)
        transfer.set_dxpl_mpio(h5py.h5fd.MPIO_COLLECTIVE)
        # Not through h5py's slices: they make no call at all where there is nothing to write.
        dataset.id.write(memory, space, numpy.array([1, 2, 3], "i4"), dxpl=transfer)
    serial(lambda f: assert_array_equal(f["d"][...], [-3, -3, 1, 2, 3, -3, -3, -3, -3, -3]))


@pytest.mark.parametrize("mode", MODES)
def test_types_are_converted(create, comm, serial, mode):
    kinds = {"f4": "f8", ">i2": "i8", "u1": "f4", "f8": ">f4", "c8": "c16"}
    with create() as f:
        for file_type, memory_type in kinds.items():
            dataset = f.create_dataset(file_type, (comm.size, 6), file_type)
            put(dataset, comm.rank, numpy.arange(6).astype(memory_type) + comm.rank, mode)
            assert get(dataset, comm.rank, mode).tolist() == (numpy.arange(6).astype(file_type) + comm.rank).tolist()
    serial(lambda f: [assert_array_equal(f[kind][:, 1], numpy.arange(comm.size) + 1) for kind in kinds])


@pytest.mark.parametrize("mode", MODES)
def test_compounds_whole_and_by_member(create, comm, serial, random, mode):
    kind = numpy.dtype([("id", "i4"), ("x", "f8", (3,)), ("tag", "S4"), ("inner", [("a", "u1"), ("b", ">f4")])])
    records = numpy.zeros((comm.size, 5), kind)
    records["id"] = numpy.arange(comm.size * 5).reshape(-1, 5)
    records["x"], records["tag"] = random.random((comm.size, 5, 3)), b"abcd"
    records["inner"]["b"] = 1.5
    with create() as f:
        whole = f.create_dataset("whole", records.shape, kind)
        put(whole, comm.rank, records[comm.rank], mode)
        parts = f.create_dataset("parts", records.shape, kind, chunks=(1, 2))
        for member in ("x", "id", "tag"):
            put(parts, (comm.rank, slice(None), member), records[member][comm.rank], mode)
        # h5py cannot write a member that is itself a compound: its bytes must stay zero.
    blank = records.copy()
    blank["inner"]["b"] = 0

    def look(f):
        assert_array_equal(f["whole"][...], records)
        assert_array_equal(f["parts"][...], blank)

    serial(look)


@pytest.mark.parametrize("mode", MODES)
def test_growth_step_by_step(create, comm, serial, random, mode):
    steps = random.random((5, comm.size, 8))
    with create() as f:
        dataset = f.create_dataset("d", (0, comm.size, 8), "f8", maxshape=(None, None, 8), chunks=(2, 1, 8))
        for number, step in enumerate(steps):
            dataset.resize(number + 1, axis=0)
            put(dataset, (number, comm.rank), step[comm.rank], mode)
        comm.Barrier()
        dataset.resize(3, axis=0)
        dataset.resize(4, axis=0)
    steps[3] = 0
    serial(lambda f: assert_array_equal(f["d"][...], steps[:4]))


def test_scalars_empty_and_compact(create, comm, serial):
    with create() as f:
        f["scalar"] = 4.5
        f["empty"] = h5py.Empty("f4")
        f["none"] = numpy.zeros((0, 3))
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_layout(h5py.h5d.COMPACT)
        properties.set_obj_track_times(False)
        space = h5py.h5s.create_simple((8,))
        compact = h5py.h5d.create(f.id, b"compact", h5py.h5t.NATIVE_INT32, space, properties)
        # Compact data is metadata: all ranks write the same, collectively.
        put(h5py.Dataset(compact), (), numpy.arange(8), "collective")
        assert f["scalar"][()] == 4.5 and f["empty"].shape is None
    serial(lambda f: assert_array_equal(f["compact"][...], numpy.arange(8)))


def test_chunks_written_directly(create, comm, serial):
    with create() as f:
        dataset = f.create_dataset("d", (comm.size * 4,), "i4", chunks=(4,))
        dataset.id.write_direct_chunk((comm.rank * 4,), numpy.full(4, comm.rank, "i4"))
        comm.Barrier()
        f.flush()
        mask, chunk = dataset.id.read_direct_chunk((comm.rank * 4,))
        assert mask == 0 and numpy.frombuffer(chunk, "i4").tolist() == [comm.rank] * 4
        assert dataset.id.get_num_chunks() == comm.size
    serial(lambda f: assert_array_equal(f["d"][...], numpy.repeat(numpy.arange(comm.size), 4)))


def test_strings(create, comm, serial):
    words = ["null", "eins", "zwei, länger", "d"]
    with create() as f:
        fixed = f.create_dataset("fixed", (comm.size,), "S16")
        utf8 = f.create_dataset("utf8", (comm.size,), h5py.string_dtype("utf-8", 20))
        for mode, dataset in (("independent", fixed), ("collective", utf8)):
            put(dataset, comm.rank, words[comm.rank].encode(), mode)
        f.attrs["long"] = words * 10
    serial(lambda f: assert_array_equal(f["utf8"].asstr()[...], words[: comm.size]))
    serial(lambda f: assert_array_equal(f["fixed"][...], [word.encode() for word in words[: comm.size]]))
    serial(lambda f: f.attrs["long"].tolist() == words * 10)


def test_what_cannot_be_done_in_parallel(create, comm, refused):
    """HDF5 refuses these on every rank, with the same words as without a connector."""
    with create() as f:
        ragged = f.create_dataset("ragged", (comm.size,), h5py.vlen_dtype("i4"))
        words = f.create_dataset("words", (comm.size,), h5py.string_dtype())
        packed = f.create_dataset("packed", (comm.size * 8,), "i4", chunks=(8,), compression="gzip")
        plain = f.create_dataset("plain", (comm.size,), "i4")

        def collectively(dataset, where, values):
            with dataset.collective:
                dataset[where] = values

        refused(lambda: collectively(ragged, comm.rank, [1, 2, 3]))
        refused(lambda: collectively(words, comm.rank, "text"))
        if comm.size > 1:
            refused(lambda: packed.__setitem__(slice(comm.rank * 8, comm.rank * 8 + 8), 1))
        refused(lambda: plain.__setitem__(comm.size + 4, 1))
        refused(lambda: plain.resize((100,)))
        refused(lambda: f.create_dataset("plain", (3,), "f4"))
        refused(lambda: f["absent"])
        plain[comm.rank] = comm.rank
