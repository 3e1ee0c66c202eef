"""How much of the optimal set is owed to these very images? Its members again on resampled data sets."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.compare.pareto import NanRule, optimal
from hyperacuity.compare.table import Table
from hyperacuity.resampling import bootstrap_weights
from hyperacuity.tally import Vector


def stability(
    table: Table,
    *,
    vector: Vector = "concat",
    epsilon: ArrayLike = 0.0,
    strict: bool = False,
    nan: NanRule = "worst",
    resamples: int = 1000,
    seed: int = 0,
) -> NDArray[np.float64]:
    """How often each system is in the optimal set when the images are drawn anew, with replacement: 1 = always.

    With ``vector="concat"`` an image drawn twice counts once, since saying a component twice changes no dominance. With one
    image the answer is the optimal set itself.

    >>> table = Table(("a", "b"), ("1", "2", "3"), ("bad",), ("min",), np.array([[[1.0], [1], [9]], [[2], [2], [2]]]))
    >>> stability(table, resamples=10_000).round(2)  # a is out when only the third image is drawn, b when it is not
    array([0.96, 0.71])
    """
    weights = bootstrap_weights(len(table.images), resamples, seed)
    tolerance = np.asarray(epsilon, dtype=np.float64)
    hits = np.zeros(len(table.systems))
    if vector == "mean":
        for vectors in table.resampled(weights):
            hits += optimal(vectors, senses=table.senses, epsilon=tolerance, strict=strict, nan=nan)
        return hits / resamples
    drawn_sets, times = np.unique(weights > 0, axis=0, return_counts=True)
    for drawn, count in zip(drawn_sets, times, strict=True):
        images = int(drawn.sum())
        hits += count * optimal(
            table.values[:, drawn].reshape(len(table.systems), -1),
            senses=table.senses * images,
            epsilon=np.tile(tolerance, images) if tolerance.ndim else tolerance,
            strict=strict,
            nan=nan,
        )
    return hits / resamples
