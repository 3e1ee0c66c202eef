"""What comes out: systems in groups by dominance, beside their average ranks, and what that means in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.compare import pareto
from hyperacuity.compare.rank_averages import Ties, average_rank, ranks
from hyperacuity.compare.table import Table
from hyperacuity.tally import Scores, Vector


@dataclass(frozen=True, eq=False)
class Ranking:
    """Systems judged by dominance and by average rank.

    ``values`` are the vectors that were compared, systems × components; ``group`` counts from 0 (the optimal set);
    ``dominance[i, j]``: i dominates j; ``average_rank`` is the mean place over components and ``place`` the place by that.
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
        As in :func:`hyperacuity.compare.pareto.optimal`.
    ties
        Of the ranks; as in :func:`hyperacuity.compare.rank_averages.ranks`.

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
