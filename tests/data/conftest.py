"""What the tests of the data package share: a scratch folder that hypothesis may reuse, and a file without a suffix."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "fuzz"))  # tests share the files that fuzzing starts from


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for files that live as long as one example."""
    return tmp_path_factory.mktemp("scratch")


@pytest.fixture(scope="session")
def put(scratch: Path) -> Callable[[bytes], Path]:
    """Write bytes to a file without suffix, so that only the content can tell what it is."""

    def write(data: bytes) -> Path:
        path = scratch / "file"
        path.write_bytes(data)
        return path

    return write
