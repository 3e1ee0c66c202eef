"""Compile the kernels of a sweep (:mod:`hyperacuity.kernels.sweep`) in two halves, which two processes can take side by side.

``python -m hyperacuity.kernels.ahead`` takes the first half; whoever started it takes the other one, :func:`compile_matching`,
and finds both on disk in the end. Each half is a first use, on a picture of one pixel.
"""

from __future__ import annotations

import numpy as np

from hyperacuity.kernels import cache_folder
from hyperacuity.kernels.bits import empty
from hyperacuity.kernels.pairs import reach
from hyperacuity.kernels.sweep import History, follow, start_matching, trace


def is_compiled() -> bool:
    """Whether what matters most, the matching, is on disk."""
    return any(cache_folder(follow.__module__).glob(f"*.{follow.__name__}-*.nbi"))


def compile_tracing() -> None:
    """Compile what finds the changes from threshold to threshold."""
    trace(np.ones((1, 1), np.float32), np.array([0.5]), thin=True)


def compile_matching() -> None:
    """Compile what keeps a matching optimal through them."""
    ever, one = empty(1, 1), np.ones(1, np.int64)
    ever[3] = 1
    history = History(
        step_of_threshold=one,
        change=one.astype(np.int32),
        first=np.array([0, 0, 1]),
        detected=np.array([0, 1]),
        ever=ever,
        before=np.zeros(ever.size, np.uint32),
        size=1,
        marked=one,
    )
    start = start_matching(history, np.zeros(1, np.int64), (1, 1), reach(1.0))
    follow(start, np.zeros(2, np.int64), np.zeros((2, 1), np.uint64), False)


if __name__ == "__main__":
    compile_tracing()
