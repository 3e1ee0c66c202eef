"""Compile the kernels of a sweep (:mod:`hyperacuity.kernels.sweep`) in two halves, which two processes can take side by side.

``python -m hyperacuity.kernels.ahead`` takes one half, :func:`compile_matching`; whoever started it takes the other one,
:func:`compile_preparing`, and finds both on disk in the end. Each half is a first use, on a picture of one pixel.
"""

from __future__ import annotations

import gc

import numpy as np

from hyperacuity.kernels import cache_folder
from hyperacuity.kernels.assignment import new_matching
from hyperacuity.kernels.bits import empty
from hyperacuity.kernels.pairs import find_pairs, reach
from hyperacuity.kernels.sweep import CandidatePairs, Start, find_candidates, follow_steps, trace


def is_compiled() -> bool:
    """Whether what matters most, the matching, is on disk."""
    return any(cache_folder(follow_steps.__module__).glob(f"*.{follow_steps.__name__}-*.nbi"))


def compile_preparing() -> None:
    """Compile what finds the changes from threshold to threshold, and those that matter to a truth.

    The kernels that list its pairs are needed too; they are the first that the other half compiles, and are there by then.
    """
    history = trace(np.ones((1, 1), np.float32), np.array([0.5]), thin=True)
    find_candidates(history, np.zeros(1, np.int64), (1, 1), reach(1.0))


def compile_matching() -> None:
    """Compile what lists pairs, and what keeps a matching optimal through the changes: of one pixel, through no step."""
    truth, image = np.zeros(1, np.int64), empty(1, 1)
    pairs, to, _ = find_pairs(truth, image, np.zeros(image.size, np.uint32), 0, (1, 1), reach(1.0))
    none, counts, marks = np.zeros(0, np.int32), np.zeros(2, np.int64), np.zeros((1, 1), np.uint64)
    candidates = CandidatePairs(pairs, to, none, none, counts)
    start = Start(new_matching(pairs, 1), candidates, 1, np.zeros(1, np.uint32), marks[0])
    follow_steps(start, counts, marks, 1, 0, 0)


if __name__ == "__main__":
    gc.disable()  # to look for garbage takes a tenth of the time, and it all goes with this process
    compile_matching()
