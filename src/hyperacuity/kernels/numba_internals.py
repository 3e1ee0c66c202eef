"""Names of numba's that are not part of its public interface, all in this file.

numba's public cache (``cache=True``) loads files without checking them, and does not see changes in other modules whose
functions are called; :mod:`hyperacuity.kernels.caching` does both. Where a version of numba lacks a name that is used here,
kernels are compiled in memory.
"""

from __future__ import annotations

import pickle
import sys
from typing import Any

import numba

NO_REFERENCE_COUNTS = {"_nrt": False}
"""Options of ``njit`` for functions that make no arrays: without reference counts, a sweep takes 40 % of the time."""


def attach_cache(dispatcher: Any, cache: Any) -> None:
    """Use ``cache`` where ``cache=True`` would put numba's: its methods are those of ``numba.core.caching.NullCache``."""
    if hasattr(dispatcher, "_cache"):  # not under NUMBA_DISABLE_JIT, which leaves functions as they are
        dispatcher._cache = cache


def to_bytes(compiled: Any) -> bytes:
    """Serialize a compiled variant of a function. ``ValueError`` if it depends on addresses in this process."""
    from numba.core.serialize import dumps

    if compiled.lifted or compiled.library.has_dynamic_globals:
        raise ValueError("the machine code depends on this process")
    data: bytes = dumps(compiled._reduce())  # type: ignore[no-untyped-call]
    return data


def from_bytes(data: bytes, target_context: Any, *, counts_references: bool) -> Any:
    """Deserialize a compiled variant, without importing the modules that only compiling takes: half a second.

    Only for data that can be trusted: pickles run code.
    """
    from numba.core.compiler import CompileResult
    from numba.core.runtime.nrt import rtsys

    if counts_references:  # by numba's runtime, which is compiled in every process
        rtsys.initialize(target_context)
    return CompileResult._rebuild(target_context, *pickle.loads(data))  # type: ignore[no-untyped-call]  # noqa: S301


def compiler_settings() -> str:
    """Describe everything but the source that machine code depends on: versions, processor, settings of numba's."""
    import llvmlite
    import numpy
    from numba.core.registry import cpu_target

    versions = (sys.implementation.cache_tag, numba.__version__, llvmlite.__version__, numpy.__version__)
    processor = cpu_target.target_context.codegen().magic_tuple()
    settings = [str(getattr(numba.config, name, None)) for name in ("OPT", "BOUNDSCHECK", "DEBUGINFO_DEFAULT")]
    return repr((versions, processor, settings))
