"""Change valid files at random and count: ``python fuzz/many.py --seconds 60 [FORMAT …]``.

Needs nothing but the package. Formats take turns of a second each in one process, so that those that are quick to read get more
inputs; an input may take 20 s and 2 GiB. One that makes a reader do anything but read it or refuse it in one line is saved in the
folder ``--out``. The same seed gives the same inputs, in the same order, for every format. Exit status 1 if one was found.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import fuzz_targets
import numpy as np
from fuzz_changes import some_file

from hyperacuity.kernels.thinning import thin

MEMORY, SECONDS_AN_INPUT, A_TURN = 2 << 30, 20, 1.0
SAFE = [name for name in fuzz_targets.READERS if name != "mat73-here"]  # HDF5 alone is known to crash


def main() -> int:
    """Fuzz until enough time has passed or enough inputs were tried, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("formats", nargs="*", metavar="FORMAT", help=f"of {', '.join(SAFE)}; default: all")
    parser.add_argument("--seconds", type=float, default=60, help="how long in all (default 60)")
    parser.add_argument("--inputs", type=int, help="how many inputs at most, in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "hyperacuity-fuzz")
    parser.add_argument(
        "--json", action="store_true", help="one object: how many inputs of each format, and what failed"
    )
    options = parser.parse_args()
    unknown = set(options.formats) - set(SAFE)
    if unknown:
        parser.error(f"no such format: {', '.join(sorted(unknown))}")
    _limit_memory()
    with _quiet():
        counts, found = fuzz(options.formats or SAFE, options.seconds, options.inputs, options.seed)
    for name, data, reason in found:
        options.out.mkdir(parents=True, exist_ok=True)
        place = options.out / f"{name}-{hashlib.sha256(data).hexdigest()[:12]}"
        place.write_bytes(data)
        print(f"{name}: {reason} ({place})", file=sys.stderr)
    if options.json:
        print(json.dumps({"inputs": counts, "found": [(name, reason) for name, _, reason in found]}))
    else:
        for name, count in counts.items():
            print(f"{name:12} {count:>11,} inputs")
        print(f"{'all':12} {sum(counts.values()):>11,} inputs, {len(found)} found")
    return int(bool(found))


def fuzz(
    names: list[str], seconds: float, most: int | None, seed: int
) -> tuple[Counter[str], list[tuple[str, bytes, str]]]:
    """How many inputs each format had, and those that broke a promise, with the reason."""
    thin(np.eye(3, dtype=bool))  # kernels are loaded before a clock runs
    chances = {name: random.Random(f"{seed} {name}") for name in names}  # noqa: S311
    targets = {name: fuzz_targets.target(name) for name in names}
    counts: Counter[str] = Counter(dict.fromkeys(names, 0))
    found: list[tuple[str, bytes, str]] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end and (most is None or counts.total() < most):
        for name in names:
            turn = min(end, time.monotonic() + min(A_TURN, seconds / len(names)))
            while time.monotonic() < turn and (most is None or counts.total() < most):
                data = some_file(fuzz_targets.SEEDS[name], chances[name])
                reason = _broken(targets[name], data)
                counts[name] += 1
                if reason:
                    found.append((name, data, reason))
    return counts, found


def _broken(run: Callable[[bytes], None], data: bytes) -> str:
    """Why an input breaks a promise; nothing if it does not."""
    try:
        with _time_limit():
            run(data)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:300]
    return ""


@contextmanager
def _time_limit() -> Iterator[None]:
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def late(number: int, frame: object) -> None:
        raise TimeoutError(f"more than {SECONDS_AN_INPUT} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS_AN_INPUT)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _limit_memory() -> None:
    with suppress(ImportError, OSError, ValueError):  # Windows, macOS
        import resource

        mine = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        # The soft limit only: the process that reads HDF5 sets one of its own.
        resource.setrlimit(resource.RLIMIT_AS, (mine + MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what libtiff writes to the terminal by itself."""
    kept = os.dup(2)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


if __name__ == "__main__":
    sys.exit(main())
