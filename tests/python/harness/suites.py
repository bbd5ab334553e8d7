"""Which tests there are, cut into units that two cores share well."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.unit import HERE, Unit

PYTEST = ("-m", "pytest", "-q", "-p", "harness.pytest_record", "-p", "no:cacheprovider", "-c", "/dev/null")

# Modules of PyTables by weight, so that units are even; test_garbage looks at what the others left and comes last.
TABLES = [
    ["test_tables", "test_links", "test_types", "test_lists", "test_garbage"],
    ["test_queries", "test_expression"],
    ["test_indexes", "test_indexvalues", "test_index_backcompat", "test_large_tables"],
    [
        "test_attributes", "test_basics", "test_create", "test_backcompat", "test_tablesMD", "test_array",
        "test_earray", "test_carray", "test_vlarray", "test_tree", "test_timetype", "test_do_undo", "test_enum",
        "test_nestedtypes", "test_hdf5compat", "test_numpy", "test_aux", "test_utils", "test_direct_chunk",
    ],
]  # fmt: skip


@dataclass(frozen=True)
class Suite:
    name: str
    environments: tuple
    units: Callable
    # Files that the tests leave in HARNESS_KEPT must be equal.
    keeps_files: bool = False


def h5py(environment, extent):
    """The tests that h5py ships in its wheels, in two halves of about equal size."""
    tests = environment.packages / "h5py" / "tests"
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


def tables(environment, extent):
    for number, modules in enumerate(TABLES, 1):
        names = [f"tables.tests.{module}" for module in modules]
        yield Unit(environment, f"part-{number}", ("-m", "harness.unittest_record", *names))


SUITES = {
    suite.name: suite
    for suite in [
        Suite("h5py", ("h5py-3.16", "h5py-3.14", "h5py-3.11"), h5py),
        Suite("tables", ("tables",), tables),
    ]
}
