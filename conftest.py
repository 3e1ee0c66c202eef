"""What pytest reads, and how it reads it quickly: each process of a test run reads everything."""

import functools
import gc
import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import hypothesis
import pytest
import typer.main
import typer.testing

# As the command does: the processes of a test run share the processors, and waiting threads of a matrix library burn theirs.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The same examples in every run: a test that fails, fails for everybody. New ones are looked for on request.
hypothesis.settings.register_profile("same", derandomize=True, max_examples=50)
if not os.environ.get("HYPERACUITY_THOROUGH"):
    hypothesis.settings.load_profile("same")

os.environ.pop("COLUMNS", None)  # pytest-xdist sets it, and messages would be wrapped as in a terminal

# Each call of a verb would build all verbs with all their options again.
typer.main.get_command = typer.testing._get_command = functools.cache(typer.main.get_command)

NEEDED = {
    "evaluation/torch.py": "torchmetrics",
    "detect/net/architecture.py": "torch",
    "detect/net/crops.py": "torch",
    "detect/net/training.py": "torch",
    "detect/net/export.py": "onnx",
}
"""Modules that cannot be imported for their examples where a package is not installed."""

collect_ignore = [f"src/hyperacuity/{module}" for module, package in NEEDED.items() if not find_spec(package)]

SOURCES = {Path(__file__).parent / "src", Path(__file__).parent / "papers" / "hyperacuity_papers"}


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Modules of the package that have no examples are not looked through for them."""
    if not SOURCES.isdisjoint(collection_path.parents) and collection_path.suffix == ".py":
        return b">>>" not in collection_path.read_bytes() or None
    return None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Iterator[None]:
    """Files of tests have tests, and no examples."""
    found = yield
    return (
        found if not SOURCES.isdisjoint(file_path.parents) else [one for one in found if isinstance(one, pytest.Module)]
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is collected stays until the end, so nobody needs to look for rubbish in it, now or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of third-party data sets that ``HYPERACUITY_DATA`` names; without it the test is skipped."""
    named = os.environ.get("HYPERACUITY_DATA")
    if not named:
        pytest.skip("needs third-party data: set HYPERACUITY_DATA to the folder that holds bsds500, rug, kitti, …")
    folder = Path(named)
    if not folder.is_dir():
        pytest.skip(f"HYPERACUITY_DATA names {folder}, which is not a folder")
    return folder
