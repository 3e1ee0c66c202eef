"""The three scenarios of Cabezas & Trujillo (2011): which stereo systems are compared, and by their errors in which regions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperacuity.compare import Table
from hyperacuity.compare.ranking import Ranking, compare
from hyperacuity.errors import UsageError

DENSE = ("nonocc", "all", "disc")
SEMI_DENSE = ("nonocc", "disc")

HEADINGS = ("system", "average rank", "rank", "in A*", "group", "in A* (mean)", "group (mean)")


@dataclass(frozen=True)
class Scenario:
    """Systems compared by their errors in some regions, and the outcome with each way to make vectors.

    ``left_out`` are the systems that do not belong here, as their maps have holes: what share of the pixels they cover.
    """

    name: str
    regions: tuple[str, ...]
    concat: Ranking
    mean: Ranking
    left_out: tuple[tuple[str, float], ...] = ()

    def rows(self) -> list[list[str]]:
        """The cells below :data:`HEADINGS`, by average rank, as in the paper's tables."""
        return [
            [
                self.concat.systems[i],
                f"{self.concat.average_rank[i]:.2f}",
                str(self.concat.place[i]),
                "yes" if self.concat.optimal[i] else "",
                str(self.concat.group[i] + 1),
                "yes" if self.mean.optimal[i] else "",
                str(self.mean.group[i] + 1),
            ]
            for i in np.argsort(self.concat.average_rank, kind="stable")
        ]

    def optimal(self, reading: str = "concat") -> list[str]:
        """The names in A*, by average rank; ``reading`` is how vectors are made, ``"concat"`` or ``"mean"``."""
        ranking = self.concat if reading == "concat" else self.mean
        return ranking.groups()[0]

    def as_dict(self) -> dict[str, Any]:
        """Return a dict for JSON."""
        rankings = {"concat": self.concat.as_json(), "mean": self.mean.as_json()}
        return {"scenario": self.name, "regions": self.regions, "left out": dict(self.left_out), **rankings}


def scenarios(table: Table, local: Sequence[str], *, cover: Mapping[str, float] | None = None) -> list[Scenario]:
    """Evaluate a table whose criteria are the regions nonocc, all and disc in each of the paper's scenarios.

    They are dense, semi-dense, and local systems only. ``local`` names the systems that decide at each pixel by its
    surroundings alone; without any, the third scenario is left out. Average ranks are those within the scenario. ``cover`` is
    the share of the pixels of known truth that each system gives an answer at, on the image where that is least: below 1
    its maps have holes, and it is left out of the dense scenario (which is left out without any dense system).

    >>> table = Table.flat(["A", "B", "C"], DENSE, [[1, 5, 3], [2, 4, 3], [3, 6, 4]])
    >>> [(s.name, s.optimal()) for s in scenarios(table, ["B", "C"])]
    [('dense', ['A', 'B']), ('semi-dense', ['A']), ('local, semi-dense', ['B'])]
    >>> scenarios(table, [], cover={"A": 0.9})[0].optimal()
    ['B']
    """
    if missing := set(DENSE) - set(table.criteria):
        raise UsageError(
            f"the scenarios need the regions nonocc, all and disc, but there is no {', '.join(sorted(missing))}"
        )
    holes = tuple((name, share) for name, share in (cover or {}).items() if share < 1 and name in table.systems)
    dense = tuple(name for name in table.systems if name not in dict(holes))
    parts = [("dense", DENSE, dense, holes), ("semi-dense", SEMI_DENSE, table.systems, ())]
    parts.append(("local, semi-dense", SEMI_DENSE, tuple(local), ()))
    found = []
    for name, regions, systems, left_out in parts:
        if systems:
            part = table.select(systems=systems, criteria=regions)
            rankings = compare(part, vector="concat"), compare(part, vector="mean")
            found.append(Scenario(name, regions, *rankings, left_out))
    return found
