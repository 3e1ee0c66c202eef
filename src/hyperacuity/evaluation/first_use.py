"""The first benchmark on a new machine: compile in two processes what one alone would take twice as long for."""

from __future__ import annotations

import subprocess
import sys
from contextlib import nullcontext
from typing import Any

from rich.console import Console

from hyperacuity.kernels import ahead, announce
from hyperacuity.run.executor import processors

SWEPT = ("boundary", "semantic", "occlusion", "audit")
"""The benchmarks whose time to compile is mostly that of a sweep over thresholds."""


def compile_before(task: str, *, shown: bool) -> None:
    """Compile the kernels of a benchmark in two processes, where there are two processors and nothing is compiled yet.

    With ``shown``, a spinner turns on a terminal. If the other process fails, its half is compiled on first use.
    """
    if task not in SWEPT or ahead.is_compiled() or processors() < 2:
        return
    announce()
    quiet: Any = subprocess.DEVNULL
    spinner = Console(stderr=True).status("compiling") if shown else nullcontext()
    call = [sys.executable, "-m", ahead.__name__]
    with spinner, subprocess.Popen(call, stdin=quiet, stdout=quiet, stderr=quiet) as other:  # noqa: S603
        try:
            ahead.compile_matching()
        except BaseException:
            other.terminate()
            raise
