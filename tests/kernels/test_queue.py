"""The queue of a search gives nodes in the order of their keys."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hyperacuity.kernels import kernel
from hyperacuity.kernels.queue import LAST, empty, new_queue, put, take

NODES = 40
TAKE = -1


@kernel
def _put(q, node, key, place):
    put(q, np.uint32(node), np.int64(key), np.uint64(place))


@kernel
def _take(q, size):
    return take(q, np.uint64(size))


ORDERS = st.lists(st.one_of(st.just((TAKE, 0)), st.tuples(st.integers(0, NODES - 1), st.integers(0, 30))), max_size=200)


@settings(deadline=None)  # the first example compiles
@given(ORDERS)
@example([(n, NODES - n) for n in range(NODES)] + [(TAKE, 0)] * NODES)
@example([(n, n) for n in range(NODES)] + [(n, 0) for n in range(NODES)] + [(TAKE, 0)] * NODES)
def test_nodes_come_out_by_their_keys_whatever_is_put_in_lowered_and_taken_out(orders):
    q = new_queue(NODES)
    waiting: dict[int, int] = {}
    for node, key in orders:
        if node != TAKE:
            if key < waiting.get(node, LAST):
                _put(q, node, key, q.place[node] if node in waiting else len(waiting))
                waiting[node] = key
        elif waiting:
            assert min(waiting.values()) == waiting.pop(_take(q, len(waiting)))
        assert sorted(q.key[: len(waiting)]) == sorted(waiting.values())
        assert (q.key[len(waiting) :] == LAST).all()
        assert (q.least == q.key.reshape(-1, 8).min(axis=1)).all()
    empty(q, len(waiting))
    assert (q.key == LAST).all()
    assert (q.least == LAST).all()
