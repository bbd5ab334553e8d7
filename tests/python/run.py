#!/usr/bin/env python3
"""Runs Python test suites natively and through the connector, and compares them test by test.

    cargo xtask paths --json | tests/python/run.py h5py --scratch /tmp/h5py

Standard output is one JSON object per line, for `cargo xtask test`: a case that passed (`failure` is null) or
failed, with the number of tests it stands for, or a note. `--builtin` takes HDF5's own pass-through connector
instead of ours: a difference that it shows too is HDF5's, not ours. `--again` runs natively twice: a difference that
it shows is the test's own unsteadiness.
"""

import argparse
import json
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness import compare, suites
from harness.unit import HERE, Environment, Mode, run

NATIVE = Mode("native", "native")
AGAIN = Mode("again", "native")
BUILTIN = Mode("pass_through", "pass_through", "pass_through under_vol=0;under_info={{}}")


def main():
    options = arguments()
    world = json.load(sys.stdin if options.world == "-" else open(options.world))
    plugins = options.plugins or world["plugins"]["dir"]
    suite = suites.SUITES[options.suite]
    modes = {
        "connector": Mode("sago", "sago", "sago report={report}", plugins, reports=True),
        "unused": Mode("unused", "native", None, plugins),
    }
    connector = options.instead or modes[suite.mode]
    expected = compare.Expected(HERE / "expected.toml")
    chosen = options.only or suite.environments[: 1 if options.extent == "brief" else None]
    units = [
        unit
        for environment in environments(world)
        if environment.name in chosen
        for unit in suite.units(environment, options.extent)
    ]
    shutil.rmtree(options.scratch, ignore_errors=True)
    started = time.monotonic()
    # Ranks of MPI jobs are enough to fill two cores.
    with ThreadPoolExecutor(1 if any(unit.ranks for unit in units) else options.jobs) as pool:
        pairs = [[pool.submit(run, unit, mode, options.scratch) for mode in (NATIVE, connector)] for unit in units]
        for unit, pair in zip(units, pairs, strict=True):
            report(suite, unit, expected, options.contents, *(job.result() for job in pair))
    say(note=f"{options.suite}: {len(units)} units took {time.monotonic() - started:.0f} s")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=suites.SUITES)
    parser.add_argument("--world", default="-", help="what `cargo xtask paths --json` prints; `-` reads it here")
    parser.add_argument("--plugins", help="folder of the plugin under test; the staged one unless given")
    parser.add_argument("--scratch", type=Path, required=True, help="folder for all that is written; emptied first")
    parser.add_argument("--only", action="append", help="name of a Python environment; all of the suite unless given")
    parser.add_argument("--contents", help="program that compares two HDF5 files; without it, bytes are compared")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time; MPI jobs take turns")
    instead = parser.add_mutually_exclusive_group()
    for flag, mode in (("--builtin", BUILTIN), ("--again", AGAIN)):
        instead.add_argument(flag, dest="instead", action="store_const", const=mode, help="see above")
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--brief", dest="extent", action="store_const", const="brief", help="one small unit")
    extent.add_argument("--full", dest="extent", action="store_const", const="full", help="all, however long")
    parser.set_defaults(extent="usual")
    return parser.parse_args()


def environments(world):
    launchers = {hdf5["mpi"]: (hdf5["mpiexec"], *hdf5["mpiexec_args"]) for hdf5 in world["hdf5"]}
    for python in world["python"]:
        yield Environment(python["name"], python["python"], python["env"], launchers.get(python["mpi"], ()))


def report(suite, unit, expected, contents, native, connector):
    result = compare.compare(native, connector, *expected.select(suite.name, unit.environment.name, unit.name))
    if suite.ours:
        result.failures += compare.all_passed(native) + compare.same_files(native, connector, contents)
    for failure in result.failures:
        say(environment=unit.environment.name, case=f"{suite.name} {unit.name}", tests=1, failure=failure)
    if result.equal:
        say(environment=unit.environment.name, case=f"{suite.name} {unit.name}", tests=result.equal, failure=None)
    say(
        note=f"{unit.environment.name} {unit.name}: {result.equal} equal, {result.known} known to differ, "
        f"{result.unsteady} unsteady, {len(result.failures)} failures; {sum(connector.calls.values())} calls; "
        f"CPU {native.cpu:.0f} s natively, {connector.cpu:.0f} s otherwise"
    )


def say(**line):
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
