"""Compiled loops over plain arrays. Nothing here knows of files, protocols or scores.

Kernels are compiled by numba on first use and cached on disk (:mod:`hyperacuity.kernels.caching`), release the GIL, and are
exact and deterministic: no fast maths, no parallel loops. Decorate with :func:`kernel` functions that only read and write arrays
they are given, and with :func:`allocating_kernel` those that make arrays. The difference is speed: a plain kernel does without
the reference counts that are otherwise kept, atomically, each time an array is handed from one small function to the next.
Functions of other packages can be kernels, too, but are compiled anew in each process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from hyperacuity.kernels.caching import DiskCache, cache_folder
from hyperacuity.kernels.numba_internals import NO_REFERENCE_COUNTS, attach_cache

__all__ = ["allocating_kernel", "cache_folder", "inlined_kernel", "kernel"]

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


def _compile(function: _Function, **options: Any) -> _Function:
    compiled: Any = numba.njit(nogil=True, error_model="numpy", **options)(function)
    if (
        function.__module__.startswith(f"{__name__}.") and function.__closure__ is None
    ):  # otherwise the key would not be all
        attach_cache(compiled, DiskCache(function, counts_references=not options.keys() & NO_REFERENCE_COUNTS.keys()))
    return cast("_Function", compiled)


def kernel(function: _Function) -> _Function:
    """Compile a function that makes no arrays (slices of given ones are fine)."""
    return _compile(function, **NO_REFERENCE_COUNTS)


def inlined_kernel(function: _Function) -> _Function:
    """Compile a function into its callers, for the innermost loops: a call would copy every array's header to the stack."""
    return _compile(function, **NO_REFERENCE_COUNTS, forceinline=True)


def allocating_kernel(function: _Function) -> _Function:
    """Compile a function that makes arrays."""
    return _compile(function)
