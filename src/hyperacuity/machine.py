"""Resources of the machine that a process may use: processors, a folder for compiled kernels, memory. Imports nothing slow.

Memory is counted so that a few noisy maps cannot take the machine. What a large array will need is known before it is made, and
is asked for here: an array that alone is too large is refused with a sentence, and one that is too large next to those of other
threads waits until they are gone. An array gives back its memory when nobody holds it any more.
"""

from __future__ import annotations

import math
import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from hyperacuity.errors import InputError

MEMORY_VARIABLE = "HYPERACUITY_MEMORY"
"""Environment variable for the memory that arrays may take together, in GiB."""

MEMORY_SHARE = 0.5
"""The part of the machine's memory that may be used, where the environment does not say how much."""

UNKNOWN_MEMORY = 8 << 30
"""The limit where the size of the machine's memory cannot be read."""

SMALL = 1 << 24
"""Bytes up to which nobody has to ask."""

PATIENCE = 60.0
"""Seconds without any memory given back after which a thread no longer waits: a budget must never stop a run."""


def cache_base() -> Path:
    """Folder of all compiled kernels: under ``NUMBA_CACHE_DIR`` if that is set, else in the user's cache folder."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen) / "kernels"
    import platformdirs

    return Path(platformdirs.user_cache_dir("hyperacuity", appauthor=False)) / "kernels"


def processors() -> int:
    """Processors this process may use: fewer than the machine has, in a container or under ``taskset``."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class MemoryBudget:
    """Bytes that arrays may take together, by default the :func:`allowed_memory`; ``taken`` are those in use."""

    def __init__(self, limit: int | None = None) -> None:
        self.taken = 0
        self._limit = limit
        self._changed = threading.Condition()

    @cached_property
    def limit(self) -> int:
        """The most bytes that may be in use."""
        return allowed_memory() if self._limit is None else self._limit

    def lend(self, count: int, what: str) -> None:
        """Take memory, as soon as there is enough of it. ``InputError`` for more than there can ever be."""
        if count > self.limit:
            raise InputError(
                f"{what} takes {_size(count)}, more than the {_size(self.limit)} that this program may use "
                f"({MEMORY_VARIABLE}={math.ceil(count / 2**30)} in the environment allows that many GiB)"
            )
        with self._changed:
            while self.taken and self.taken + count > self.limit:
                if not self._changed.wait(PATIENCE):
                    break
            self.taken += count

    def give_back(self, count: int) -> None:
        """Make room for others."""
        with self._changed:
            self.taken -= count
            self._changed.notify_all()

    @contextmanager
    def lent(self, count: int, what: str) -> Iterator[None]:
        """Memory for the arrays of a block: as :meth:`lend`, and given back at its end. Little is not counted."""
        counted = count if count > SMALL else 0
        if counted:
            self.lend(counted, what)
        try:
            yield
        finally:
            if counted:
                self.give_back(counted)

    def hold(self, array: Any) -> None:
        """Count an array that outlives the block it was made in, until it is gone."""
        owner = array if array.base is None else array.base  # parts of the array keep this one alive
        if owner.nbytes > SMALL:
            with self._changed:
                self.taken += owner.nbytes
            self.bind(owner, owner.nbytes)

    def bind(self, array: Any, count: int) -> None:
        """Give memory back when the array is gone."""
        weakref.finalize(array, self.give_back, count)


def allowed_memory() -> int:
    """The bytes that this process may use: what the environment says in GiB, else half of the machine's or container's memory."""
    said = os.environ.get(MEMORY_VARIABLE, "")
    try:
        if said and (given := float(said)) > 0:
            return int(given * 2**30)
    except ValueError:
        raise InputError(f"{MEMORY_VARIABLE}={said}: expected a number of GiB, such as 16") from None
    return int(MEMORY_SHARE * _memory_of_machine())


def _memory_of_machine() -> int:
    limits = [UNKNOWN_MEMORY]
    if hasattr(os, "sysconf") and {"SC_PAGE_SIZE", "SC_PHYS_PAGES"} <= set(os.sysconf_names):
        limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            limits.append(int(Path(file).read_text(encoding="ascii")))
        except (OSError, ValueError):
            continue
    return min(limits)


def _size(count: int) -> str:
    return f"{count / 2**30:.1f} GiB"


budget = MemoryBudget()
"""The budget of this process."""
