"""Let Python's own allocations fail, one after the other, while a run is written: ``python fuzz/allocations.py --every 1``.

A run of six cells, three of which were finished before. In each turn a child process starts from a copy of that folder, lets the
nth request for memory from now on fail (CPython's ``_testcapi``), and finishes the run. It may end, name a cell that failed, or
stop with a sentence or an exception (mostly ``MemoryError``; the interpreter takes some of its own for others). It may not crash,
say that it ended when it did not, or hang, except in ``threading.Thread.start``, which waits forever for a thread that dies
before its first line. Another child then looks: the folder is sound, the three tallies are there unless their cells failed by
name, and a second start gives the bytes of a run that nothing disturbed. Exit status 1 otherwise.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import os
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from hyperacuity.errors import HyperacuityError
from hyperacuity.run import Cell, check_run, open_run, open_store, run_grid
from hyperacuity.tally import BaseProtocol, Counts, Tally

try:
    import _testcapi
except ImportError:
    sys.exit("skipped: this Python comes without _testcapi, which lets allocations fail")

ENDED, SAID, MEMORY, OTHER, WRONG, UNSPENT, NAMED = 0, 10, 11, 12, 13, 14, 15
WORDS = {
    ENDED: "ended",
    SAID: "said a sentence",
    MEMORY: "MemoryError",
    OTHER: "another exception",
    NAMED: "a cell failed by name",
    WRONG: "said that it ended and did not",
}
SECONDS_A_TURN = 30
WHERE = Path(tempfile.gettempdir()) / f"hyperacuity-allocations-{os.getpid()}.txt"
"""Where a child says at which line it hangs."""


@dataclass(frozen=True)
class Sizes(BaseProtocol):
    """How many bytes a file has."""

    task: ClassVar[str] = "sizes"

    def parts(self) -> dict[str, object]:
        """Nothing to agree on."""
        return {}


@dataclass(frozen=True, eq=False)
class SizeTally(Tally):
    """The size of one file."""

    size: Counts


@dataclass(frozen=True)
class SizeJob:
    """Reads a file and counts."""

    protocol: BaseProtocol = Sizes()
    tally_type: type[Tally] = SizeTally

    def evaluate(self, cell: Cell) -> SizeTally:
        """The size of the prediction."""
        return SizeTally(np.array([len(cell.prediction.read_bytes())]), protocol=self.protocol)


def grid(place: Path) -> list[Cell]:
    """Two systems × three images."""
    for number, name in enumerate("abc"):
        (place / f"{name}.bin").write_bytes(bytes(10 + number))
    return [Cell(system, name, place / f"{name}.bin", ()) for system in ("one", "two") for name in "abc"]


def go(folder: Path, cells: list[Cell]) -> tuple[int, int]:
    """Finish the run; how many cells it evaluated or reused, and how many failed by name."""
    with open_store(folder) as store:
        found = run_grid(SizeJob(), cells, store=store, workers=1, progress=False)
    return sum(map(len, found.tallies.values())), len(found.failures)


def packed(folder: Path) -> dict[tuple[str, str], bytes]:
    """The tallies in a run folder as bytes."""
    with open_run(folder) as run:
        line = str(Sizes().signature)
        return {(s, image): data for s in run.systems(line) for image, data in run.packed(line, s).items()}


def in_a_child(work: Callable[[], int]) -> int:
    """The exit status of a child that does this; minus the signal where one ended it."""
    child = os.fork()
    if not child:
        signal.alarm(SECONDS_A_TURN)
        faulthandler.dump_traceback_later(SECONDS_A_TURN - 5, file=WHERE.open("w"))
        with contextlib.suppress(BaseException):
            os._exit(work())
        os._exit(WRONG)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def starved(folder: Path, cells: list[Cell], turn: int) -> int:
    """Finish the run while the ``turn``-th allocation fails. What came of it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the interpreter's own words about errors that it cannot raise
    status = ENDED
    _testcapi.set_nomemory(turn, turn + 1)
    try:
        done, failed = go(folder, cells)
        status = NAMED if failed else ENDED
    except HyperacuityError:
        status = SAID
    except MemoryError:
        status = MEMORY
    except BaseException as error:
        status = OTHER
        _testcapi.remove_mem_hooks()
        print(f"allocation {turn}: {error!r}", flush=True)
    _testcapi.remove_mem_hooks()
    return WRONG if status in (ENDED, NAMED) and done + failed != len(cells) else status


def look(
    folder: Path, cells: list[Cell], before: dict[tuple[str, str], bytes], whole: dict[tuple[str, str], bytes]
) -> int:
    """Whether the folder is sound, has what it had, and gives what it should when the run is started again."""
    try:
        sound = check_run(folder).problems == () and before.items() <= packed(folder).items()
        again = go(folder, cells) == (len(cells), 0) and packed(folder) == whole and check_run(folder).problems == ()
    except BaseException:
        traceback.print_exc()
        return 1
    return 0 if sound and again else 1


def main(every: int, start: int, most: int) -> int:
    """Turn after turn, until the run ends before the allocation that should have failed. The exit status."""
    found, lost, turns = Counter[str](), [], 0
    memory = Path("/dev/shm")  # noqa: S108
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        place = Path(name)
        cells = grid(place)
        for folder, part in (("half", cells[:3]), ("whole", cells)):
            go(place / folder, part)  # in this process, so that imports and digests of code are not part of the turns
        before, whole = packed(place / "half"), packed(place / "whole")
        if (len(before), len(whole)) != (3, 6):
            raise RuntimeError("the run without faults does not work")
        last = allocations(place, cells)
        print(f"{last:,} allocations in a run; every {every} of them from {start}", flush=True)
        for turn in range(start, min(last, most) + 1, every):
            shutil.copytree(place / "half", place / "turn")
            status = in_a_child(lambda turn=turn: starved(place / "turn", cells, turn))  # type: ignore[misc]
            waits = status == -signal.SIGALRM and " in start\n" in WHERE.read_text()
            word = "Python waits for a thread" if waits else WORDS.get(status, f"status {status}")
            found[word] += 1
            kept = {} if status == NAMED else before  # a cell that failed has its tally again at the next start
            sound = in_a_child(lambda kept=kept: look(place / "turn", cells, kept, whole)) == 0  # type: ignore[misc]
            if not sound or not (waits or status in (ENDED, NAMED, SAID, MEMORY, OTHER)):
                lost.append(turn)
                print(f"allocation {turn}: {word}, the folder is {'sound' if sound else 'NOT sound'}", flush=True)
            shutil.rmtree(place / "turn")
            turns += 1
    WHERE.unlink(missing_ok=True)
    told = ", ".join(f"{word} {count:,}" for word, count in found.most_common())
    print(f"{turns:,} allocations failed ({told}), {len(lost)} found")
    return 1 if lost else 0


def allocations(place: Path, cells: list[Cell]) -> int:
    """After how many allocations the run is over, to within a hundred, by halving."""

    def reached(turn: int) -> bool:
        shutil.copytree(place / "half", place / "probe")
        status = in_a_child(lambda: unspent(place / "probe", cells, turn))
        shutil.rmtree(place / "probe")
        return status != UNSPENT

    high = 1024
    while reached(high):
        high *= 2
    low = high // 2
    while high - low > 100:
        middle = (low + high) // 2
        low, high = (middle, high) if reached(middle) else (low, middle)
    return high


def unspent(folder: Path, cells: list[Cell], turn: int) -> int:
    """``UNSPENT`` if the run ends before the allocation that should fail, so that one after it fails instead."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    kept: list[object] = [None] * (turn + 1)
    _testcapi.set_nomemory(turn, turn + 1)
    try:
        go(folder, cells)
    except BaseException:
        _testcapi.remove_mem_hooks()
        return ENDED
    try:
        for place in range(turn + 1):
            kept[place] = object()
    except MemoryError:
        _testcapi.remove_mem_hooks()
        return UNSPENT
    _testcapi.remove_mem_hooks()
    return ENDED


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=50, help="how many allocations from one that fails to the next")
    parser.add_argument("--start", type=int, default=1, help="the first that fails")
    parser.add_argument("--most", type=int, default=10**9, help="the last that may fail")
    given = parser.parse_args()
    sys.exit(main(given.every, given.start, given.most))
