"""A small world for the grid: predictions and truths are text files of numbers, a tally is their count and sum."""

from __future__ import annotations

import logging
import os
import random
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from hyperacuity.errors import InputError
from hyperacuity.run import Cell
from hyperacuity.tally import BaseProtocol, Counts, Sums, Tally


@dataclass(frozen=True)
class NumberProtocol(BaseProtocol):
    task: ClassVar[str] = "numbers"
    base: int = 10

    def parts(self) -> dict[str, object]:
        return {} if self.base == 10 else {"base": self.base}


@dataclass(frozen=True, eq=False)
class NumberTally(Tally):
    count: Counts
    sums: Sums


@dataclass
class NumberJob:
    """Sums the numbers of a cell's files; ``special`` gives cells that do something else first."""

    protocol: NumberProtocol = NumberProtocol()
    special: dict[tuple[str, str], Callable[[], object]] = field(default_factory=dict)
    dawdle: float = 0.0
    tally_type: type[NumberTally] = NumberTally
    evaluated: list[tuple[str, str]] = field(default_factory=list)
    guard: threading.Lock = field(default_factory=threading.Lock)

    @property
    def signature(self) -> str:
        return str(self.protocol.signature)

    def evaluate(self, cell: Cell) -> NumberTally:
        if self.dawdle:
            time.sleep(self.dawdle * random.random())  # noqa: S311
        with self.guard:
            self.evaluated.append((cell.system, cell.image))
        if (cell.system, cell.image) in self.special:
            self.special[cell.system, cell.image]()
        numbers = []
        for path in cell.files:
            try:
                numbers.append([float(word) for word in path.read_text().split()])
            except (OSError, ValueError) as error:
                raise InputError(f"{path.name}: expected numbers") from error
        counts, sums = [len(each) for each in numbers], [sum(each) for each in numbers]
        return NumberTally(np.array(counts), np.array(sums), protocol=self.protocol)


@pytest.fixture
def make_job() -> type[NumberJob]:
    return NumberJob


@pytest.fixture
def tally_type() -> type[NumberTally]:
    return NumberTally


@pytest.fixture
def protocol() -> NumberProtocol:
    return NumberProtocol()


@pytest.fixture
def cells(tmp_path: Path) -> list[Cell]:
    """Three systems × eight images; each image has two truths that all systems share. The files look an hour old."""
    folder = tmp_path / "files"
    folder.mkdir()

    def write(name: str, *numbers: float) -> Path:
        path = folder / name
        path.write_text(" ".join(map(repr, numbers)))
        os.utime(path, (time.time() - 3600,) * 2)
        return path

    truths = {image: tuple(write(f"{image}-truth{k}.txt", image * 0.1, k) for k in (1, 2)) for image in range(8)}
    return [
        Cell(system, f"image {image}", write(f"{system}-{image}.txt", image, 0.3 * number), truths[image])
        for number, system in enumerate(["canny", "sobel", "größer"])
        for image in range(8)
    ]


@pytest.fixture
def read_only_folder() -> Iterator[Callable[[Path], None]]:
    """Make a folder read-only for this process, also where the tests run as root, whom permissions do not stop."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    locked: list[Path] = []

    def lock(folder: Path) -> None:
        folder.chmod(0o555)
        locked.append(folder)
        if root:
            os.seteuid(65534)

    yield lock
    if root:
        os.seteuid(0)
    for folder in locked:
        folder.chmod(0o755)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A temporary folder that every user may enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        yield folder


JOB = textwrap.dedent(
    """
    import os, time
    from dataclasses import dataclass
    import numpy as np
    from hyperacuity.data.files import read_bytes, warn
    from hyperacuity.tally import BaseProtocol, Counts, Tally

    @dataclass(frozen=True)
    class LettersProtocol(BaseProtocol):
        task = "letters"

        def parts(self):
            return {}

    @dataclass(frozen=True, eq=False)
    class Letters(Tally):
        count: Counts

    @dataclass(frozen=True)
    class LettersJob:
        protocol: LettersProtocol = LettersProtocol()
        tally_type: type = Letters
        seconds: float = 0.0

        def evaluate(self, cell):
            time.sleep(self.seconds)
            data = read_bytes(cell.prediction)
            if data.startswith(b"greedy"):
                hoard = [np.ones(1 << 20) for _ in range(40) if not time.sleep(0.02)]
            if data.startswith(b"kill"):
                os.kill(os.getpid(), 9)
            if data.startswith(b"odd"):
                warn(f"{cell.prediction}: looks odd")
            return Letters(np.bincount(np.frombuffer(data, np.uint8), minlength=256), protocol=self.protocol)
    """
)


@pytest.fixture(scope="session")
def letters(tmp_path_factory):
    """A job in a module of its own, which workers can import."""
    folder = tmp_path_factory.mktemp("module")
    (folder / "letters_of_a_cell.py").write_text(JOB)
    before, paths = os.environ.get("PYTHONPATH"), str(folder)
    sys.path.insert(0, paths)
    os.environ["PYTHONPATH"] = paths if before is None else f"{paths}{os.pathsep}{before}"
    import letters_of_a_cell

    yield letters_of_a_cell.LettersJob
    sys.path.remove(paths)
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


@pytest.fixture
def no_traceback():
    """A test during which Dask would show a traceback to users fails."""
    shown = []

    class Handler(logging.Handler):
        def emit(self, record):
            # The scheduler is in the same process here, and has a terminal of its own elsewhere.
            ours = record.name != "distributed.scheduler"
            if ours and (record.exc_info or "Traceback" in record.getMessage()):
                shown.append(record.getMessage())

    loggers, handler = [logging.getLogger(name) for name in ("distributed", "asyncio")], Handler()
    for logger in loggers:
        logger.addHandler(handler)
    yield
    for logger in loggers:
        logger.removeHandler(handler)
    assert shown == []


@pytest.fixture(scope="session")
def scheduler(letters):
    """The address of a scheduler with two workers, processes of their own that come back when they die."""
    dask = pytest.importorskip("dask", reason="needs the extra cluster")
    distributed = pytest.importorskip("distributed", reason="needs the extra cluster")
    # However busy the machine, a worker is waited for until it has started: a keeper that gives up makes no other.
    settings = {"distributed.scheduler.allowed-failures": 1, "distributed.comm.timeouts.connect": "300s"}
    size = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(**size) as cluster,
        pytest.MonkeyPatch.context() as patient,
    ):
        patient.setattr("hyperacuity.run.cluster.NO_WORKER_SECONDS", 600)
        yield cluster.scheduler_address
