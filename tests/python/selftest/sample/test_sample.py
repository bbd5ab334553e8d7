"""Tests with one of each outcome, for the harness to record. `h5py` is there so that a libhdf5 is loaded."""

import os
import signal

import h5py
import pytest


def test_passes(tmp_path):
    with h5py.File(tmp_path / "f.h5", "w") as f:
        f["x"] = 1


def test_fails():
    raise KeyError("as it should")


def test_skips():
    pytest.skip("as it should")


@pytest.mark.xfail
def test_fails_as_expected():
    raise AssertionError


@pytest.fixture
def broken():
    yield
    raise OSError("as it should")


def test_teardown_fails(broken):
    pass


def test_crashes():
    os.kill(os.getpid(), signal.SIGSEGV)


def test_after_the_crash():
    pass


def test_leaves():
    os._exit(3)


def test_last():
    pass
