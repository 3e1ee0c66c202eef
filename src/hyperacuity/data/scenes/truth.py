"""The truth of a scene, read off its samples: regions, owners, discontinuities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hyperacuity.kernels.disparity import grow, jumps
from hyperacuity.kernels.pieces import label_pieces
from hyperacuity.maps import DisparityMap, LabelMap, OrderMap


def regions(values: LabelMap) -> LabelMap:
    """The 4-connected pieces of equal value, numbered from 0 in reading order.

    >>> regions(np.array([[7, 7, 3], [3, 7, 3]], np.int32))
    array([[0, 0, 1],
           [2, 0, 1]], dtype=int32)
    """
    return label_pieces(np.ascontiguousarray(values, np.int32))


def ownership(order: OrderMap) -> NDArray[np.int8]:
    """+1 on the figure's side of a boundary, −1 on the ground's side, 0 elsewhere: ``sign Σ sign(o(p) − o(q))``.

    The sum runs over the four neighbours q of a pixel p. It is 0 away from boundaries, and where a pixel is as much in front
    of its neighbours as behind them.

    >>> ownership(np.array([[0, 0, 5, 5]], np.float32))
    array([[ 0, -1,  1,  0]], dtype=int8)
    """
    total = np.zeros(order.shape, np.int8)
    down = np.sign(order[:-1] - order[1:]).astype(np.int8)
    across = np.sign(order[:, :-1] - order[:, 1:]).astype(np.int8)
    total[:-1] += down
    total[1:] -= down
    total[:, :-1] += across
    total[:, 1:] -= across
    return np.sign(total)


def owners(labels: LabelMap, order: OrderMap) -> NDArray[np.int32]:
    """Neighbouring regions, one pair per line: the nearer region, the farther one, and the length of their boundary.

    Length counts 4-neighbour pixel pairs across the boundary. Pairs of equal order have no owner and are left out. Lines are
    sorted; without any pair the result has shape (0, 3).
    """
    count = int(labels.max()) + 1
    pairs = []
    for here, there in ((np.s_[:-1], np.s_[1:]), (np.s_[:, :-1], np.s_[:, 1:])):
        for near, far in ((here, there), (there, here)):
            owned = order[near] > order[far]
            pairs.append(labels[near][owned].astype(np.int64) * count + labels[far][owned])
    result, lengths = np.unique(np.concatenate(pairs), return_counts=True)
    return np.stack([result // count, result % count, lengths], axis=1).astype(np.int32)


def discontinuities(disparity: DisparityMap, visible: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Middlebury's *disc* region: visible pixels within 4 pixels (a 9×9 box) of a jump in disparity of 2 or more."""
    return grow(jumps(disparity, 2.0, False), 4) & visible
