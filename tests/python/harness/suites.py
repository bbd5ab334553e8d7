"""Which tests there are, cut into units that two cores share well."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.unit import HERE, Unit

PYTEST = ("-m", "pytest", "-q", "-p", "harness.pytest_record", "-p", "no:cacheprovider", "-c", "/dev/null")

BRIEF = ["test_attrs.py", "test_dataset_getitem.py", "test_slicing.py"]

# Modules of PyTables by weight, so that units are even; test_garbage looks at what the others left and comes last.
TABLES = [
    ["test_tables", "test_links", "test_types", "test_lists", "test_garbage"],
    ["test_indexes", "test_indexvalues", "test_index_backcompat"],
    [
        "test_attributes", "test_basics", "test_create", "test_backcompat", "test_tablesMD", "test_array",
        "test_earray", "test_carray", "test_vlarray", "test_tree", "test_timetype", "test_do_undo", "test_enum",
        "test_nestedtypes", "test_hdf5compat", "test_numpy", "test_expression", "test_aux", "test_utils",
        "test_direct_chunk",
    ],
]  # fmt: skip
# Minutes of queries on in-memory indices with few calls of HDF5, and tables of more than 2**31 rows.
TABLES_LONG = [["test_queries"], ["test_large_tables"]]
# Appends row by row to fill a buffer that is as large as the processor's cache: half a minute for one call each.
TABLES_LONG_TESTS = ("tables.tests.test_timetype.CompareTestCase.test03b_Compare64EArray",)


@dataclass(frozen=True)
class Suite:
    name: str
    environments: tuple
    units: Callable
    # Through which connector: ours, or none although the plugin is there to be found.
    mode: str = "connector"
    # Our own programs: all pass, and the files that they leave in HARNESS_KEPT are equal to the byte.
    ours: bool = False


def h5py(environment, extent):
    """The tests that h5py ships in its wheels, in two halves of about equal size."""
    tests = environment.packages / "h5py" / "tests"
    if extent == "brief":
        yield _pytest(environment, "brief", tests.parent, [tests / name for name in BRIEF])
        return
    halves = [[], []]
    for path in sorted(tests.rglob("test_*.py"), key=lambda path: (-path.stat().st_size, path.name)):
        min(halves, key=_bytes).append(path)
    for number, half in enumerate(halves, 1):
        yield _pytest(environment, f"half-{number}", tests.parent, sorted(half))


def _pytest(environment, name, root, paths, *options, **more):
    command = (*PYTEST, "--rootdir", str(root), *options, *map(str, paths))
    return Unit(environment, name, command, **more)


def _bytes(paths):
    return sum(Path(path).stat().st_size for path in paths)


def unused(environment, extent):
    """The plugin is in HDF5_PLUGIN_PATH and not chosen. HDF5 asks it whenever a file cannot be opened."""
    tests = environment.packages / "h5py" / "tests"
    names = ["test_errors.py", "test_file.py", "test_file2.py", "test_h5f.py", "test_h5pl.py"]
    paths = [tests / name for name in names if (tests / name).exists()]
    yield _pytest(environment, "files", tests.parent, paths)


def tables(environment, extent):
    """PyTables' own tests in its light mode: three quarters of them, or all."""
    full = extent == "full"
    for number, modules in enumerate(TABLES + TABLES_LONG if full else TABLES, 1):
        names = [f"tables.tests.{module}" for module in modules]
        command = ("-m", "harness.unittest_record", *names)
        yield Unit(environment, f"part-{number}", command, skipped=() if full else TABLES_LONG_TESTS)


def mixed(environment, extent):
    """Our own programs with the h5py and netCDF4 wheels, two libhdf5, in one process."""
    programs = HERE / "programs"
    yield _pytest(environment, "programs", programs, [programs / "mixed"])


def parallel(environment, extent):
    """Our own programs with mpi4py and a parallel h5py, on one to four ranks."""
    programs = HERE / "programs"
    for ranks in (1, 2, 3, 4):
        yield _pytest(environment, f"ranks-{ranks}", programs, [programs / "parallel"], ranks=ranks)


def h5py_mpi(environment, extent):
    """h5py's own tests as they are meant to be run under MPI: all of them, or only those that are about MPI."""
    tests = environment.packages / "h5py" / "tests"
    for ranks in (1, 2, 3, 4):
        everything = extent == "full" or ranks == 2
        which = ("--with-mpi",) if everything else ("--with-mpi", "-m", "mpi")
        yield _pytest(environment, f"ranks-{ranks}", tests.parent, [tests], *which, ranks=ranks)


SUITES = {
    suite.name: suite
    for suite in [
        Suite("h5py", ("h5py-3.16", "h5py-3.14", "h5py-3.11"), h5py),
        Suite("unused", ("h5py-3.16", "h5py-3.14", "h5py-3.11"), unused, mode="unused"),
        Suite("tables", ("tables",), tables),
        Suite("parallel", ("parallel",), parallel, ours=True),
        Suite("h5py-mpi", ("parallel",), h5py_mpi),
        Suite("mixed", ("netcdf4",), mixed, ours=True),
    ]
}
