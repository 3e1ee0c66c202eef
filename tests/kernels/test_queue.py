"""The queue of a search has room for a limited number of entries, and is tidied when it is full."""

from __future__ import annotations

import numpy as np

from hyperacuity.kernels.pairs import reach
from hyperacuity.kernels.sweep import follow, start_matching, trace

UNUSED = np.uint64(0xFFFFFFFFFFFFFFFF)


def followed(room):
    """Pairs at each step and their detected pixels, how many entries were ever used, and the least room that must do."""
    rng = np.random.default_rng(4)
    soft, truth = rng.random((40, 60)).astype(np.float32), rng.random((40, 60)) < 0.4
    history = trace(soft, np.linspace(0.05, 0.95, 19), thin=False)
    start = start_matching(history, np.flatnonzero(truth), soft.shape, reach(9.0))
    pairs = start.candidates.pairs
    least = pairs.start.size - 1 + int(np.diff(pairs.start).max())
    entry = np.full(least if room == "least" else 100 * least, UNUSED)
    start = start._replace(matching=start.matching._replace(entry=entry))
    matched = np.zeros(history.first.size - 1, np.int64)
    marks = np.zeros((matched.size, start.now.size), np.uint64)
    assert follow(start, matched, marks, True) == 0, "a line of the certificate is broken"
    return matched, marks, np.count_nonzero(entry != UNUSED), least


def test_with_the_least_room_the_matching_is_the_same():
    matched, marks, used, least = followed("plenty")
    assert used > least, "or else this tests nothing"
    tight = followed("least")
    assert np.array_equal(tight[0], matched)
    assert np.array_equal(tight[1], marks)
