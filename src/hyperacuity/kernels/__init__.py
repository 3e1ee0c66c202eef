"""Compiled loops over plain arrays. Nothing here knows of files, protocols or scores.

Kernels are compiled by numba on first use and kept on disk, release the GIL, and are exact and deterministic: no fast maths,
no parallel loops. Decorate with :func:`kernel` what only reads and writes arrays it is given, and with
:func:`allocating_kernel` what makes arrays of its own. The difference is speed: a plain kernel does without the reference
counts that are otherwise kept, atomically, each time an array is handed from one small function to the next.

numba's own cache notices a change of the file that a function is in, but not of the files of the functions it calls, which are
compiled into it. So the kept kernels of a module live in a folder whose name is a digest of its source and of those of the
kernel modules it imports: a change of one is a new folder, and stale machine code can never answer for new source.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
import platformdirs
from numba.core import event
from numpy.typing import NDArray

_log = logging.getLogger(__name__)

Scalar = Any
"""A machine number inside a kernel: numba decides which."""

Flags = NDArray[np.bool_]
Int8s = NDArray[np.int8]
Int16s = NDArray[np.int16]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Uint8s = NDArray[np.uint8]
Uint16s = NDArray[np.uint16]
Uint32s = NDArray[np.uint32]
Uint64s = NDArray[np.uint64]
Float32s = NDArray[np.float32]
Float64s = NDArray[np.float64]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_IMPORTED = re.compile(rf"^from {re.escape(__name__)}(?:\.(\w+) import| import (.+))", re.MULTILINE)


def _sources(module: str, seen: dict[str, bytes]) -> dict[str, bytes]:
    """The sources of a kernel module and, in ``seen``, of all kernel modules that it imports, directly or not."""
    path = Path(__file__).with_name(f"{module}.py")
    if module not in seen and path.exists():
        text = path.read_text(encoding="utf-8")
        seen[module] = text.encode()
        for one, several in _IMPORTED.findall(text):
            for name in [one] if one else re.findall(r"\w+", several):
                _sources(name, seen)
    return seen


def cache_base() -> Path:
    """Where all compiled kernels are kept: under ``NUMBA_CACHE_DIR`` if that is set, else in the user's cache folder."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    base = Path(chosen) if chosen else Path(platformdirs.user_cache_dir("hyperacuity", appauthor=False))
    return base / "kernels"


def cache_folder(module: str) -> Path:
    """Where a module's compiled kernels are kept."""
    name = module.rpartition(".")[2]
    digest = hashlib.blake2b(numba.__version__.encode(), digest_size=8)
    for other, source in sorted((_sources(name, {}) | _sources("__init__", {})).items()):
        digest.update(other.encode() + source)
    return cache_base() / f"{name}-{digest.hexdigest()}"


class _Announcement(event.Listener):
    """Logs one line when the first kernel of this process has to be compiled, because none was kept."""

    def __init__(self) -> None:
        self.made = False

    def on_start(self, event: Any) -> None:
        if not self.made and event.data["dispatcher"].py_func.__module__.startswith(__name__):
            self.made = True
            _log.info("compiling kernels for this machine; this is done once and takes some seconds")

    def on_end(self, event: Any) -> None:
        """Nothing to say."""


_events: Any = event
_events.register("numba:compile", _Announcement())


def _compile(function: _Function, **options: Any) -> _Function:
    settings: Any = numba.config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = str(cache_folder(function.__module__))  # looked at when the function is decorated
    try:
        compiled: _Function = numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function)
        return compiled
    finally:
        settings.CACHE_DIR = before


def kernel(function: _Function) -> _Function:
    """Compile a function that makes no arrays (slices of given ones are fine)."""
    return _compile(function, _nrt=False)


def inlined_kernel(function: _Function) -> _Function:
    """A kernel that becomes part of its callers, for the innermost loops: a call would copy every array's header to the stack."""
    return _compile(function, _nrt=False, forceinline=True)


def allocating_kernel(function: _Function) -> _Function:
    """Compile a function that makes arrays."""
    return _compile(function)
