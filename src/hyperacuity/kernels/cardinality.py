"""How many pixels of two maps can be paired, at all thresholds of a soft map: the number of pairs and nothing else.

The exact matching of :mod:`hyperacuity.kernels.sweep` has as many pairs as possible and, among those, the least distance. Which
pairs they are matters where several annotators share a detected pixel, and to those who look at them; where one truth is counted,
the number is all. It takes no prices: a matching is largest when no augmenting path is left (Berge 1957), and each is found by a
breadth-first search. At every threshold,

1. detected pixels appear, one by one, while those that will disappear are still there: an augmenting path, if there is one now,
   starts at the new pixel;
2. the others disappear, all at once; then an augmenting path, if there is one, starts at a truth pixel that lost its partner.

(The other way round, a new pixel might take a truth pixel that just became free from one that waited for it, and the path from
that to a third would be missed.)

A search from a detected pixel that fails has reached a set of truth pixels that are all taken, by detected pixels that have no
other partners (a Hall set). No search that enters it can succeed, so it is closed to later ones, until a pixel that has a
partner disappears. In the same way, what a search from a truth pixel has reached in vain is closed until pixels appear.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hyperacuity.kernels import Flags, Float32s, Float64s, Int32s, Int64s, Scalar, Uint32s, kernel
from hyperacuity.kernels.pairs import Reach
from hyperacuity.kernels.sweep import find_candidates, trace

FREE = np.int32(-1)


class _Search(NamedTuple):
    """The matching (``mate``, by node: truth pixels first), who is there, and the scratch of a search.

    ``seen`` has the number of the search that last reached a node, ``closed`` the period in which a node was found to lead
    nowhere; ``came_from`` is the node before it on the path.
    """

    start: Int64s
    partner: Uint32s
    mate: Int32s
    there: Flags
    seen: Int32s
    closed: Int32s
    came_from: Int32s
    queue: Int32s


@kernel
def _flip(s: _Search, end: Scalar) -> None:
    """Exchange the pairs along the path that ends at a free node."""
    x = end
    while x != FREE:
        before = s.came_from[x]
        after = s.mate[before]
        s.mate[before] = x
        s.mate[x] = before
        x = after


@kernel
def _augment(s: _Search, root: Scalar, search: Scalar, period: Scalar, n_truth: Scalar) -> bool:
    """Look for an augmenting path from a free node, and flip it; whether there was one."""
    from_detected = root >= n_truth
    s.queue[0] = root
    first, last = 0, 1
    while first < last:
        x = s.queue[first]
        first += 1
        for e in range(s.start[x], s.start[x + 1]):
            y = np.int64(s.partner[e])
            if s.seen[y] == search or s.closed[y] == period or not (from_detected or s.there[y]):
                continue
            s.seen[y] = search
            s.came_from[y] = x
            if s.mate[y] == FREE:
                _flip(s, y)
                return True
            s.queue[last] = s.mate[y]
            last += 1
    for i in range(1, last):
        s.closed[s.mate[s.queue[i]]] = period
    return False


@kernel
def _count(s: _Search, change: Int32s, first: Int64s, n_truth: Scalar, waiting: Int32s, matched: Int64s) -> None:
    """The number of pairs at each step."""
    size = 0
    search = np.int32(0)
    period = np.int32(1)
    for step in range(1, first.size - 1):
        for i in range(first[step], first[step + 1]):
            if change[i] > 0:
                d = n_truth + change[i] - 1
                s.there[d] = True
                search += 1
                if _augment(s, d, search, period, n_truth):
                    size += 1
        n_waiting = 0
        for i in range(first[step], first[step + 1]):
            if change[i] < 0:
                d = n_truth - change[i] - 1
                s.there[d] = False
                g = s.mate[d]
                if g != FREE:
                    s.mate[d] = FREE
                    s.mate[g] = FREE
                    waiting[n_waiting] = g
                    n_waiting += 1
                    size -= 1
        if n_waiting > 0:
            period += 1
        for i in range(n_waiting):
            search += 1
            if _augment(s, waiting[i], search, step, n_truth):
                size += 1
        matched[step] = size


def sweep_counts(
    soft: Float32s, truth: Flags, thresholds: Float64s, within: Reach, *, thin: bool, without: Flags | None = None
) -> tuple[Int64s, Int64s]:
    """At every threshold (rising): how many detected pixels have a partner in one truth map, and how many there are.

    The same numbers as those of :func:`hyperacuity.kernels.sweep.sweep`. An empty truth gives no pairs.
    """
    history = trace(soft, thresholds, thin=thin, without=without)
    at = history.step_of_threshold
    matched = np.zeros(history.first.size - 1, np.int64)
    indices = np.flatnonzero(truth)
    if indices.size:
        candidates = find_candidates(history, indices, soft.shape, within)
        nodes = indices.size + candidates.number.size
        search = _Search(
            start=candidates.pairs.start,
            partner=candidates.pairs.partner,
            mate=np.full(nodes, FREE, np.int32),
            there=np.zeros(nodes, np.bool_),
            seen=np.zeros(nodes, np.int32),
            closed=np.zeros(nodes, np.int32),
            came_from=np.empty(nodes, np.int32),
            queue=np.empty(nodes + 1, np.int32),
        )
        waiting = np.empty(indices.size, np.int32)
        _count(search, candidates.change, candidates.first, indices.size, waiting, matched)
    return matched[at], history.detected[at]
