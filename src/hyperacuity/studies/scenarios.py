"""The three scenarios of Cabezas & Trujillo (2011): dense, semi-dense, and local systems only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hyperacuity.compare.ranking import Ranking, compare
from hyperacuity.compare.table import Table, VectorMode
from hyperacuity.errors import UsageError

DENSE = ("nonocc", "all", "disc")
SEMI_DENSE = ("nonocc", "disc")


@dataclass(frozen=True)
class Scenario:
    """Which systems are compared by which regions, and what came out with each way to make vectors."""

    name: str
    regions: tuple[str, ...]
    concat: Ranking
    mean: Ranking


def scenarios(table: Table, local: Sequence[str]) -> list[Scenario]:
    """Evaluate a table whose criteria are the regions nonocc, all and disc in each of the paper's scenarios.

    ``local`` names the systems that decide at each pixel by its surroundings alone; without any, the third scenario is left
    out. Average ranks are those within the scenario.

    >>> table = Table.flat(["A", "B", "C"], DENSE, [[1, 5, 3], [2, 4, 3], [3, 6, 4]])
    >>> [(s.name, s.mean.groups()[0]) for s in scenarios(table, ["B", "C"])]
    [('dense', ['A', 'B']), ('semi-dense', ['A']), ('local, semi-dense', ['B'])]
    """
    if missing := set(DENSE) - set(table.criteria):
        raise UsageError(
            f"the scenarios need the regions nonocc, all and disc, but there is no {', '.join(sorted(missing))}"
        )
    parts = [("dense", DENSE, table.systems), ("semi-dense", SEMI_DENSE, table.systems)]
    if local:
        parts.append(("local, semi-dense", SEMI_DENSE, tuple(local)))
    ways: tuple[VectorMode, VectorMode] = ("concat", "mean")
    found = []
    for name, regions, systems in parts:
        part = table.select(systems=systems, criteria=regions)
        found.append(Scenario(name, regions, *(compare(part, vector=way) for way in ways)))
    return found
