"""Compiled loops over plain arrays. Nothing here knows of files, protocols or scores.

Kernels are compiled by numba on first use and kept on disk, release the GIL, and are exact and deterministic: no fast maths,
no parallel loops. Decorate with :func:`kernel` what only reads and writes arrays it is given, and with
:func:`allocating_kernel` what makes arrays of its own. The difference is speed: a plain kernel does without the reference
counts that are otherwise kept, atomically, each time an array is handed from one small function to the next.

numba's own cache notices a change of the file that a function is in, but not of the files of the functions it calls, which are
compiled into it. So the kept kernels of a module live in a folder whose name is a digest of its source and of those of the
kernel modules it imports: a change of one is a new folder, and stale machine code can never answer for new source. Where the
sources lie and when they were written does not matter, so that another checkout or environment finds the same kernels. Functions
of other packages can be kernels, too, but are compiled anew in each process.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.runtime.nrt import rtsys
from numpy.typing import NDArray

from hyperacuity.compiled import cache_base
from hyperacuity.kernels.compiling import Kernel

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


@cache
def _digest(name: str) -> str:
    """Of all sources that a module's kernels are compiled from."""
    digest = hashlib.blake2b(numba.__version__.encode(), digest_size=8)
    for other, source in sorted((_sources(name, {}) | _sources("__init__", {})).items()):
        digest.update(other.encode() + source)
    return digest.hexdigest()


def cache_folder(module: str) -> Path:
    """Where a module's compiled kernels are kept."""
    name = module.rpartition(".")[2]
    return cache_base() / f"{name}-{_digest(name)}"


@cache
def announce() -> None:
    """Log, once in a process, that kernels have to be compiled because none were kept."""
    _log.info("compiling kernels for this machine; this is done once and takes some seconds")


class _Announcement(event.Listener):
    """Makes the announcement when the first kernel of this package is compiled."""

    def on_start(self, event: Any) -> None:
        if event.data["dispatcher"].py_func.__module__.startswith(__name__):
            announce()

    def on_end(self, event: Any) -> None:
        """Nothing to say."""


_events: Any = event
_events.register("numba:compile", _Announcement())


class _Folder:
    """Tells numba's cache where to keep a function (what numba calls a locator)."""

    def __init__(self, function: Any, file: str) -> None:
        self._py_file = file
        self._line = str(function.__code__.co_firstlineno)
        self._path = cache_folder(function.__module__)

    @classmethod
    def from_function(cls, function: Any, file: str) -> _Folder | None:
        """``None``, whereupon numba looks for another place, if nothing can be written there."""
        folder = cls(function, file)
        return folder if _writable(folder._path) else None

    def get_cache_path(self) -> str:
        return str(self._path)

    def ensure_cache_path(self) -> None:
        self._path.mkdir(parents=True, exist_ok=True)

    def get_source_stamp(self) -> str:
        """The folder's name says it."""
        return ""

    def get_disambiguator(self) -> str:
        return self._line


@cache
def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


class _ResultsInFolders(CompileResultCacheImpl):
    _locator_classes = [_Folder, *CompileResultCacheImpl._locator_classes]  # noqa: RUF012


class _Kept(FunctionCache):
    """numba's cache on disk, from which kernels are loaded without all the modules that only compiling needs: half a second.

    Its folder is looked for when a kernel is first called, since of those that are imported most are not.
    """

    _impl_class = _ResultsInFolders

    def __init__(self, function: Any, *, counts_references: bool) -> None:
        self._function, self._counts_references = function, counts_references

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        super().__init__(self._function)  # type: ignore[no-untyped-call]
        if (
            self._counts_references
        ):  # machine code without does not ask for numba's runtime, which is compiled in every process
            rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]


def _compile(function: _Function, **options: Any) -> _Function:
    compiled: Any = Kernel(
        function, {"nopython": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}
    )
    if function.__module__.startswith(f"{__name__}."):  # nobody would notice a change of what other functions call
        compiled._cache = _Kept(function, counts_references=options.get("_nrt", True))  # what ``cache=True`` does
    return cast("_Function", compiled)


def kernel(function: _Function) -> _Function:
    """Compile a function that makes no arrays (slices of given ones are fine)."""
    return _compile(function, _nrt=False)


def inlined_kernel(function: _Function) -> _Function:
    """A kernel that becomes part of its callers, for the innermost loops: a call would copy every array's header to the stack."""
    return _compile(function, _nrt=False, forceinline=True)


def allocating_kernel(function: _Function) -> _Function:
    """Compile a function that makes arrays."""
    return _compile(function)
