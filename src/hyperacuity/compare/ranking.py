"""Rankings: systems in groups by dominance with their average ranks, the stability of both, and an interpretation in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.compare import pareto
from hyperacuity.compare.table import Table
from hyperacuity.errors import UsageError
from hyperacuity.resampling import Bootstrap
from hyperacuity.tally import Scores
from hyperacuity.tasks import Vector

Ties = Literal["competition", "average"]


@dataclass(frozen=True, eq=False)
class Ranking:
    """Systems judged by dominance and by average rank.

    ``values`` are the vectors that were compared, systems × components; ``group`` counts from 0 (the optimal set);
    ``dominance[i, j]``: i dominates j; ``average_rank`` is the mean rank over components and ``place`` the rank by that.
    """

    systems: tuple[str, ...]
    components: tuple[str, ...]
    senses: tuple[str, ...]
    values: Scores
    optimal: NDArray[np.bool_]
    group: NDArray[np.int32]
    dominance: NDArray[np.bool_]
    average_rank: NDArray[np.float64]
    place: NDArray[np.int64]
    interpretation: str
    signature: str = ""

    def groups(self) -> list[list[str]]:
        """The systems of each group, in the order of their average rank."""
        order = np.argsort(self.average_rank, kind="stable")
        return [[self.systems[i] for i in order if self.group[i] == g] for g in range(int(self.group.max()) + 1)]

    def as_json(self) -> dict[str, Any]:
        """Names and numbers as JSON says them."""
        return {
            "signature": self.signature,
            "criteria": list(self.components),
            "senses": list(self.senses),
            "optimal": [name for name, is_in in zip(self.systems, self.optimal, strict=True) if is_in],
            "groups": self.groups(),
            "ranks": dict(zip(self.systems, self.average_rank.tolist(), strict=True)),
            "dominates": {
                name: [other for other, below in zip(self.systems, row, strict=True) if below]
                for name, row in zip(self.systems, self.dominance, strict=True)
            },
            "interpretation": self.interpretation,
        }


def compare(
    table: Table,
    *,
    vector: Vector = "concat",
    epsilon: ArrayLike = 0.0,
    strict: bool = False,
    ties: Ties = "competition",
    nan: pareto.NanRule = "worst",
) -> Ranking:
    """Compare the systems of a table: optimal set, groups, dominance graph, average rank, and an interpretation.

    Parameters
    ----------
    vector
        Whether each criterion on each image is a component (``"concat"``) or each criterion on the whole data set.
    epsilon
        Tolerance of dominance, one for all criteria or one per criterion, the same on every image.
    strict, nan
        As in :func:`~hyperacuity.compare.optimal`.
    ties
        Of the ranks; as in :func:`ranks`.

    Examples
    --------
    >>> table = Table.flat(["a", "b", "c"], ["bad", "density"], [[5, 90], [9, 99], [7, 80]], senses=["min", "max"])
    >>> compare(table).groups()
    [['a', 'b'], ['c']]
    """
    values, components, senses = table.vectors(vector)
    tolerance = np.asarray(epsilon, dtype=np.float64)
    if tolerance.ndim == 1 and len(tolerance) == len(table.criteria):
        tolerance = np.tile(tolerance, len(components) // len(table.criteria))
    best = pareto.optimal(values, senses=senses, epsilon=tolerance, strict=strict, nan=nan)
    mean_rank = average_rank(values, senses=senses, ties=ties, nan=nan)
    return Ranking(
        table.systems,
        components,
        senses,
        values,
        best,
        pareto.groups(values, senses=senses, epsilon=tolerance, strict=strict, nan=nan),
        pareto.dominance(values, senses=senses, epsilon=tolerance, strict=strict, nan=nan),
        mean_rank,
        ranks(mean_rank[:, None])[:, 0].astype(np.int64),
        pareto.interpretation(table.systems, best, criteria=table.criteria, images=table.images),
        table.signature,
    )


def ranks(
    values: ArrayLike, *, senses: pareto.Senses = None, ties: Ties = "competition", nan: pareto.NanRule = "worst"
) -> NDArray[np.float64]:
    """Rank of each system in each column, counted from 1. Values, senses and NaN as in :mod:`hyperacuity.compare.pareto`.

    Equal systems share the better rank (``"competition"``: 1, 1, 3, as on the Middlebury server) or the mean of their
    ranks (``"average"``: 1.5, 1.5, 3, as rank statistics want it).

    >>> ranks([[5], [7], [5], [9]]).ravel()
    array([1., 3., 1., 4.])
    >>> ranks([[5], [7], [5], [9]], ties="average").ravel()
    array([1.5, 3. , 1.5, 4. ])
    """
    least = pareto.costs(values, senses=senses, nan=nan)
    ordered = np.sort(least, axis=0)
    better, upto = np.empty_like(least), np.empty_like(least)
    for k in range(least.shape[1]):
        better[:, k] = np.searchsorted(ordered[:, k], least[:, k], side="left")
        upto[:, k] = np.searchsorted(ordered[:, k], least[:, k], side="right")
    if ties == "competition":
        return better + 1
    if ties == "average":
        return (better + 1 + upto) / 2
    raise UsageError(f"ties={ties!r}: expected competition or average")


def average_rank(
    values: ArrayLike, *, senses: pareto.Senses = None, ties: Ties = "competition", nan: pareto.NanRule = "worst"
) -> NDArray[np.float64]:
    """Mean over the columns of each system's :func:`ranks`: the figure that orders the Middlebury server's table.

    >>> average_rank([[1, 5, 3], [2, 4, 3], [2, 5, 4], [1, 5, 3], [3, 3, 9], [9, 9, 9]]) * 3
    array([ 5.,  6., 10.,  5., 11., 17.])
    """
    mean: NDArray[np.float64] = ranks(values, senses=senses, ties=ties, nan=nan).mean(axis=1)
    return mean


def stability(
    table: Table,
    *,
    vector: Vector = "concat",
    epsilon: ArrayLike = 0.0,
    strict: bool = False,
    nan: pareto.NanRule = "worst",
    resamples: int = 1000,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Frequency of each system in the optimal set when the images are resampled with replacement: 1 = always.

    With ``vector="concat"`` an image drawn twice counts once, since saying a component twice changes no dominance. With one
    image the answer is the optimal set itself.

    >>> table = Table(("a", "b"), ("1", "2", "3"), ("bad",), ("min",), np.array([[[1.0], [1], [9]], [[2], [2], [2]]]))
    >>> stability(table, resamples=10_000).round(2)  # a is out when only the third image is drawn, b when it is not
    array([0.96, 0.71])
    """
    weights = Bootstrap(len(table.images), resamples, seed)
    tolerance = np.asarray(epsilon, dtype=np.float64)
    hits = np.zeros(len(table.systems))
    if vector == "mean":
        for vectors in table.resampled(weights):
            hits += pareto.optimal(vectors, senses=table.senses, epsilon=tolerance, strict=strict, nan=nan)
        return hits / resamples
    drawn_sets, times = np.unique(np.concatenate([block > 0 for block in weights.blocks()]), axis=0, return_counts=True)
    for drawn, count in zip(drawn_sets, times, strict=True):
        images = int(drawn.sum())
        hits += count * pareto.optimal(
            table.values[:, drawn].reshape(len(table.systems), -1),
            senses=table.senses * images,
            epsilon=np.tile(tolerance, images) if tolerance.ndim else tolerance,
            strict=strict,
            nan=nan,
        )
    return hits / resamples
