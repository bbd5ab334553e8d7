"""Natively against through the connector, test by test, and against what is known to differ.

`expected.toml` names every difference that is not the connector's doing, with the reason. An unknown difference
fails; so does a known one that did not show, since the list must stay true.
"""

import os
import subprocess
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from harness.unit import Outcome

MISSING = Outcome("not run")
NATIVE = {key: value for key, value in os.environ.items() if not key.startswith("HDF5_")}


@dataclass
class Comparison:
    equal: int = 0
    known: int = 0
    unsteady: int = 0
    # Sentences, one per failure, with all that is needed to understand it.
    failures: list = field(default_factory=list)


class Expected:
    def __init__(self, path):
        with open(path, "rb") as file:
            lists = tomllib.load(file)
        self.differences = lists.get("difference", [])
        self.unsteady = lists.get("unsteady", [])

    def select(self, suite, environment, unit):
        """The entries that speak of a unit of tests."""

        def concerns(entry):
            return (
                entry["suite"] == suite
                and environment in entry.get("environments", [environment])
                and unit in entry.get("units", [unit])
            )

        differences = {test: entry for entry in self.differences if concerns(entry) for test in entry["tests"]}
        unsteady = {test for entry in self.unsteady if concerns(entry) for test in entry["tests"]}
        return differences, unsteady


def compare(native, connector, differences, unsteady):
    result = Comparison()
    result.failures += [f"native run: {problem}" for problem in native.problems]
    result.failures += [f"connector run: {problem}" for problem in connector.problems]
    for test in sorted(native.outcomes.keys() | connector.outcomes.keys()):
        before = native.outcomes.get(test, MISSING)
        after = connector.outcomes.get(test, MISSING)
        entry = differences.get(test)
        if test in unsteady:
            result.unsteady += 1
        elif entry:
            _known(result, test, entry, before, after)
        elif before.outcome == after.outcome and not before.cut_short:
            result.equal += 1
        else:
            result.failures.append(
                f"{test}\n  natively: {before.outcome}\n  through the connector: {after.outcome}\n"
                f"{_indent(before.text)}{_indent(after.text)}"
            )
    for test in sorted((differences.keys() | unsteady) - (native.outcomes.keys() | connector.outcomes.keys())):
        result.failures.append(f"{test}\n  is named in expected.toml, and did not run")
    return result


def _known(result, test, entry, before, after):
    if (before.outcome, after.outcome) == (entry["native"], entry["connector"]):
        result.known += 1
        return
    result.failures.append(
        f"{test}\n  natively: {before.outcome}\n  through the connector: {after.outcome}\n"
        f"  expected.toml says: {entry['native']}, and {entry['connector']} ({entry['reason']})\n"
        f"{_indent(after.text)}"
    )


def all_passed(native):
    """Failures for tests of our own that do not pass even natively."""
    fine = ("passed", "skipped", "ended, 0 messages of HDF5")
    return [
        f"{test}\n  natively: {found.outcome}\n{_indent(found.text)}"
        for test, found in native.outcomes.items()
        if found.outcome not in fine
    ]


def same_files(native, connector, contents):
    """Failures for what the two runs kept: equal to the byte or, if a program `contents` compares, in content."""
    failures = []
    before, after = _kept(native), _kept(connector)
    for name in sorted(before.keys() | after.keys()):
        if name not in after:
            failures.append(f"{name} was written only natively")
        elif name not in before:
            failures.append(f"{name} was written only through the connector")
        elif before[name].read_bytes() != after[name].read_bytes():
            failures += _different(before[name], after[name], contents)
    return failures if before else ["no file was kept to compare"]


def _kept(run):
    return {path.relative_to(run.kept): path for path in Path(run.kept).rglob("*") if path.is_file()}


def _different(one, other, contents):
    if not contents or one.suffix != ".h5":
        return [f"files differ: {one} and {other}"]
    look = subprocess.run([contents, one, other], env=NATIVE, capture_output=True, text=True)
    return [] if look.returncode == 0 else [f"files differ: {one} and {other}\n{_indent(look.stdout + look.stderr)}"]


def _indent(text):
    return "".join(f"    {line}\n" for line in text.splitlines()[-40:])
