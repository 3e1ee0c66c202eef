"""The first benchmark on a new machine: compile in two processes what one alone would take twice as long for."""

from __future__ import annotations

import gc
from contextlib import nullcontext
from typing import Any

from rich.console import Console

from hyperacuity.compiled import processors, start_half
from hyperacuity.kernels import ahead, announce

SWEPT = ("boundary", "semantic", "occlusion", "audit")
"""The benchmarks whose time to compile is mostly that of a sweep over thresholds."""


def compile_before(task: str, *, shown: bool) -> None:
    """Compile the kernels of a benchmark in two processes, where there are two processors and nothing is compiled yet.

    With ``shown``, a spinner turns on a terminal. If the other process fails, its half is compiled on first use.
    """
    if task not in SWEPT or ahead.is_compiled() or processors() < 2:
        return
    announce()
    spinner: Any = Console(stderr=True).status("compiling") if shown else nullcontext()
    collecting = gc.isenabled()
    with spinner:
        other = start_half()
        gc.disable()  # the compiler makes many objects, and hardly any garbage worth looking for
        try:
            ahead.compile_preparing()
        except BaseException:
            other.terminate()
            raise
        finally:
            if collecting:
                gc.enable()
        other.wait()
