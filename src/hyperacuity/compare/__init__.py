"""Comparison of systems under several criteria at once: one table type in, one ranking type out.

=============================  ===========================================================================
:mod:`~.compare.table`         scores of systems × images × criteria, from any task or a CSV file
:mod:`~.compare.criteria`      what each task is judged by: its tallies as a table
:mod:`~.compare.pareto`        dominance, the optimal set A*, groups by peeling, the graph, words
:mod:`~.compare.ranking`       all of that for one table, with average ranks and how often a resample agrees
:mod:`~.compare.verdict`       whether one system is better than another, or it may be chance: what every table quotes
:mod:`~.compare.significance`  further paired tests, clusters, critical difference
=============================  ===========================================================================

>>> from hyperacuity.compare import Table, compare
>>> table = Table.flat(["GC", "DP", "SAD"], ["nonocc", "disc"], [[1.94, 9.39], [4.12, 12.0], [8.31, 26.4]])
>>> compare(table).groups()
[['GC'], ['DP'], ['SAD']]
"""

from typing import TYPE_CHECKING

from hyperacuity.syntax import on_demand

if TYPE_CHECKING:
    from hyperacuity.compare.pareto import costs, direct, dominance, groups, interpretation, optimal
    from hyperacuity.compare.ranking import Ranking, average_rank, compare, ranks, stability
    from hyperacuity.compare.significance import (
        CriticalDifference,
        Pairwise,
        clusters,
        critical_difference,
        paired_t,
        pairwise,
        signed_rank,
    )
    from hyperacuity.compare.table import Table, usual_sense
    from hyperacuity.compare.verdict import Verdict, verdicts
    from hyperacuity.resampling import holm
else:
    __getattr__ = on_demand(__name__, __file__)

__all__ = [
    "CriticalDifference",
    "Pairwise",
    "Ranking",
    "Table",
    "Verdict",
    "average_rank",
    "clusters",
    "compare",
    "costs",
    "critical_difference",
    "direct",
    "dominance",
    "groups",
    "holm",
    "interpretation",
    "optimal",
    "paired_t",
    "pairwise",
    "ranks",
    "signed_rank",
    "stability",
    "usual_sense",
    "verdicts",
]
