"""The queue of a search has room for a limited number of entries, and is tidied when it is full."""

from __future__ import annotations

import numpy as np
import pytest

from hyperacuity.kernels.pairs import reach
from hyperacuity.kernels.sweep import follow, start_matching, trace

UNUSED = np.uint64(0xFFFFFFFFFFFFFFFF)


def followed(tolerance, density, *, plenty):
    """Pairs at each step and their detected pixels, how many entries were used, how many beyond the room, and the least room."""
    rng = np.random.default_rng(4)
    soft, truth = rng.random((40, 60)).astype(np.float32), rng.random((40, 60)) < density
    history = trace(soft, np.linspace(0.05, 0.95, 19), thin=False)
    start = start_matching(history, np.flatnonzero(truth), soft.shape, reach(tolerance))
    pairs = start.candidates.pairs
    least = pairs.start.size - 1 + int(np.diff(pairs.start).max())
    memory = np.full(200 * least, UNUSED)
    room = memory.size if plenty else least
    start = start._replace(matching=start.matching._replace(entry=memory[:room]))
    matched = np.zeros(history.first.size - 1, np.int64)
    marks = np.zeros((matched.size, start.now.size), np.uint64)
    assert follow(start, matched, marks, True) == 0, "a line of the certificate is broken"
    return matched, marks, np.count_nonzero(memory != UNUSED), np.count_nonzero(memory[room:] != UNUSED), least


@pytest.mark.parametrize(("tolerance", "density"), [(9.0, 0.4), (40.0, 0.06)])
def test_with_the_least_room_the_matching_is_the_same_and_nothing_is_written_beyond_it(tolerance, density):
    matched, marks, used, _, least = followed(tolerance, density, plenty=True)
    tight = followed(tolerance, density, plenty=False)
    assert tight[3] == 0
    assert np.array_equal(tight[0], matched)
    assert np.array_equal(tight[1], marks)
    assert used > least or tolerance > 9, "or else nothing is tidied here"
