"""What our own programs share: a folder whose files must come out equal natively and through the connector."""

import os
from pathlib import Path

import numpy
import pytest


@pytest.fixture(scope="session")
def kept():
    return Path(os.environ["HARNESS_KEPT"])


@pytest.fixture
def path(kept, request):
    """A file of the test's own, kept."""
    return str(kept / f"{request.node.name}.h5")


@pytest.fixture
def random(request):
    """Numbers that look random and are the same in every run, and on every rank."""
    return numpy.random.default_rng(list(request.node.name.encode()))


@pytest.fixture
def refused(kept, request):
    """Asserts that an operation fails, and keeps what it said, so that messages must be equal too."""
    said = []

    def check(operation):
        with pytest.raises(Exception) as caught:
            operation()
        said.append(f"{caught.typename}: {str(caught.value).replace(str(kept), 'KEPT')}")

    yield check
    rank = os.environ.get("PMI_RANK", "0")
    (kept / f"{request.node.name}.{rank}.refused").write_text("\n".join(said) + "\n")
