"""The harness must record what happened, lose nothing in a crash, and notice every difference."""

import sys
from pathlib import Path

from harness import compare
from harness.suites import PYTEST
from harness.unit import Environment, Mode, Outcome, Run, Unit, run

SAMPLE = Path(__file__).parent / "sample"
HERE = Environment("here", sys.executable, {})
NATIVE = Mode("native", "native")
ABSENT = Mode("absent", "sago")


def sample(mode, folder):
    command = (*PYTEST, "--rootdir", str(SAMPLE), str(SAMPLE / "test_sample.py"))
    return run(Unit(HERE, "sample", command), mode, folder)


def outcomes(result):
    return {name.rpartition("::")[2]: found.outcome for name, found in result.outcomes.items()}


def test_every_outcome_is_recorded_and_a_crash_loses_nothing(tmp_path):
    result = sample(NATIVE, tmp_path)
    assert outcomes(result) == {
        "test_passes": "passed",
        "test_fails": "failed KeyError",
        "test_skips": "skipped",
        "test_fails_as_expected": "xfailed",
        "test_teardown_fails": "teardown failed OSError",
        "test_crashes": "died of SIGSEGV",
        "test_after_the_crash": "passed",
        "test_leaves": "process ended with 3",
        "test_last": "passed",
        "the process": "ended, 0 messages of HDF5",
    }
    assert result.problems == []


def test_a_connector_that_is_not_active_is_a_problem(tmp_path):
    (problem,) = sample(ABSENT, tmp_path).problems
    assert "did not use the connector sago" in problem


def test_a_report_that_is_missing_is_a_problem(tmp_path):
    (problem,) = sample(Mode("mute", "native", reports=True), tmp_path).problems
    assert "shows files of 0" in problem


def test_tests_that_cannot_start_are_a_problem(tmp_path):
    nothing = run(Unit(HERE, "nothing", ("-c", "")), NATIVE, tmp_path)
    assert len(nothing.problems) == 2
    assert compare.compare(nothing, nothing, {}, set()).failures


def test_unittest_outcomes_are_recorded_and_repeated_tests_get_numbers(tmp_path):
    code = (
        f"import sys; sys.path.insert(0, {str(SAMPLE)!r}); from harness import unittest_record as u; u.main(['cases'])"
    )
    result = run(Unit(HERE, "cases", ("-c", code)), NATIVE, tmp_path)
    assert result.problems == []
    assert {name.removeprefix("cases.Case."): found.outcome for name, found in result.outcomes.items()} == {
        "test_passes": "passed",
        "test_fails": "failed KeyError",
        "test_skips": "skipped",
        "test_passes #2": "passed",
        "test_fails #2": "failed KeyError",
        "test_skips #2": "skipped",
        "the process": "ended, 0 messages of HDF5",
    }


def runs(native, connector):
    return [Run({name: Outcome(outcome) for name, outcome in found.items()}) for found in (native, connector)]


def failures(native, connector, differences=None, unsteady=()):
    return compare.compare(*runs(native, connector), differences or {}, set(unsteady)).failures


def test_equal_outcomes_pass():
    assert failures({"a": "passed", "b": "failed OSError"}, {"a": "passed", "b": "failed OSError"}) == []


def test_every_kind_of_difference_fails():
    assert failures({"a": "passed"}, {"a": "failed OSError"})
    assert failures({"a": "failed OSError"}, {"a": "passed"})
    assert failures({"a": "failed OSError"}, {"a": "failed KeyError"})
    assert failures({"a": "passed"}, {})
    assert failures({}, {"a": "passed"})


def test_a_crash_is_never_equal():
    crash = Run({"a": Outcome("died of SIGSEGV", cut_short=True)})
    assert compare.compare(crash, crash, {}, set()).failures


def test_a_known_difference_passes_as_long_as_it_is_there():
    known = {"a": {"native": "passed", "connector": "failed OSError", "reason": "known"}}
    assert failures({"a": "passed"}, {"a": "failed OSError"}, known) == []
    assert failures({"a": "passed"}, {"a": "passed"}, known)
    assert failures({"a": "passed"}, {"a": "failed KeyError"}, known)
    assert failures({}, {}, known)


def test_an_unsteady_test_may_differ_but_must_exist():
    assert failures({"a": "passed"}, {"a": "failed OSError"}, unsteady=["a"]) == []
    assert failures({}, {}, unsteady=["a"])


def test_kept_files_are_compared(tmp_path):
    folders = [tmp_path / "native", tmp_path / "connector"]
    for folder in folders:
        folder.mkdir()
        (folder / "x.nc").write_bytes(b"same")
    pair = [Run(kept=folder) for folder in folders]
    assert compare.same_files(*pair, None) == []
    (folders[1] / "x.nc").write_bytes(b"other")
    assert compare.same_files(*pair, None)
    (folders[1] / "x.nc").unlink()
    assert compare.same_files(*pair, None)
    (folders[0] / "x.nc").unlink()
    assert compare.same_files(*pair, None) == ["no file was kept to compare"]
