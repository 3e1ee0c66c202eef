"""A comparison of systems with all that is said about it: ranking, stability, paired tests, critical difference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.markup import escape

from hyperacuity.cards.against import CardLike, card_entries
from hyperacuity.compare import (
    CriticalDifference,
    Pairwise,
    Ranking,
    Table,
    average_rank,
    clusters,
    compare,
    critical_difference,
    pairwise,
    ranks,
    stability,
)
from hyperacuity.compare.significance import Test, pairwise_of_samples
from hyperacuity.compare.verdict import Verdict, table_verdicts
from hyperacuity.data.files import warn
from hyperacuity.errors import UsageError, option
from hyperacuity.evaluation.compare_inputs import read_scores, tolerances
from hyperacuity.evaluation.export import new_table
from hyperacuity.evaluation.score_tables import leader_note
from hyperacuity.resampling import Bootstrap
from hyperacuity.tasks import Vector

MOST_COLUMNS = 6


@dataclass(frozen=True, eq=False)
class PairTests:
    """All pairs of systems by one criterion, and the clusters that follow."""

    pairs: Pairwise
    clusters: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SystemComparison:
    """The results of :func:`compare_runs`.

    ``stable`` is how often each system is optimal when images are resampled, ``verdicts`` whether the best by the first criterion
    is better than the others or that may be chance, ``tests`` the paired tests by criterion, and
    ``difference`` the critical difference of ranks over images × criteria; None or empty where there are too few images.
    """

    table: Table
    ranking: Ranking
    vector: Vector
    epsilon: list[float]
    stable: NDArray[np.float64] | None
    verdicts: tuple[Verdict, ...]
    test: Test | None
    alpha: float
    tests: dict[str, PairTests]
    difference: CriticalDifference | None


def compare_runs(
    sources: Sequence[Path],
    *,
    criteria: str | None = None,
    systems: str | None = None,
    vector: Vector | None = None,
    epsilon: str = "0",
    strict: bool = False,
    decimals: int | None = None,
    test: Test | None = None,
    alpha: float = 0.05,
    resamples: int = 1000,
    against: CardLike | Iterable[CardLike] | None = None,
) -> SystemComparison:
    """Compare the systems of run folders, or of one CSV table; the options are those of ``hyperacuity compare``."""
    table, usual = read_scores(sources, criteria, card_entries(against))
    if systems is not None:
        table = table.select(systems=[name.strip() for name in systems.split(",") if name.strip()])
    if decimals is not None:
        table = table.rounded(decimals)
    if vector not in (None, "concat", "mean"):
        raise UsageError(f"{option('vector', vector)}: expected concat or mean")
    if test not in (None, "wilcoxon", "t", "bootstrap"):
        raise UsageError(f"{option('test', test)}: expected wilcoxon, t or bootstrap")
    several = len(table.images) > 1
    if test and not several:
        warn("there are no images to test over: the scores are of whole data sets")
    options: Any = {"vector": vector or usual, "epsilon": tolerances(epsilon, table), "strict": strict}
    return SystemComparison(
        table,
        compare(table, **options),
        options["vector"],
        options["epsilon"],
        stability(table, **options, resamples=resamples) if several and resamples else None,
        table_verdicts(table, table.criteria[0]) if several and resamples else (),
        test,
        alpha,
        _tests(table, test, alpha, resamples) if test and several else {},
        _difference(table, alpha),
    )


def _tests(table: Table, test: Test, alpha: float, resamples: int) -> dict[str, PairTests]:
    """Every pair by each criterion. The bootstrap is of the score on the whole data set, the others of the images' scores."""
    found: dict[str, PairTests] = {}
    samples = None
    if test == "bootstrap":
        samples, whole = table.resampled(Bootstrap(len(table.images), max(resamples, 1000))), table.overall()
    for c, (name, sense) in enumerate(zip(table.criteria, table.senses, strict=True)):
        scores = table.values[:, :, c]
        if samples is None:
            pairs = pairwise(scores, sense=sense, test=test)
        else:
            up = 1 if sense == "max" else -1
            pairs = pairwise_of_samples(up * samples[:, :, c], up * (whole[:, None, c] - whole[None, :, c]))
        mean_rank = average_rank(scores, senses=(sense,) * len(table.images), ties="average")
        found[name] = PairTests(pairs, clusters(mean_rank, pairs.better(alpha)))
    return found


def _difference(table: Table, alpha: float) -> CriticalDifference | None:
    """Critical difference over images × criteria, or over criteria alone when there are no images."""
    if len(table.systems) < 2:
        return None
    values, _, senses = table.vectors("concat")
    try:
        return critical_difference(ranks(values, senses=senses, ties="average"), alpha=alpha)
    except UsageError:
        return None


def summary(found: SystemComparison) -> dict[str, Any]:
    """The comparison for JSON."""
    ranking, difference = found.ranking, found.difference

    def by_system(values: Any) -> dict[str, Any]:
        return dict(zip(ranking.systems, values, strict=True))

    said = ranking.as_json() | {
        "vector": found.vector,
        "epsilon": found.epsilon,
        "images": [image for image in found.table.images if image],
        "values": by_system(ranking.values),
        "places": by_system(ranking.place),
    }
    if found.stable is not None:
        said["stability"] = by_system(found.stable)
    if difference is not None:
        said["critical_difference"] = {
            "difference": difference.difference,
            "p": difference.p,
            "ranks": by_system(difference.average_rank),
            "bars": [[ranking.systems[i] for i in bar] for bar in difference.bars],
        }
    said["verdicts"] = [asdict(verdict) for verdict in found.verdicts]
    if found.tests:
        said["tests"] = {
            name: {
                "test": found.test,
                "clusters": by_system(tested.clusters),
                "p": by_system([by_system(row) for row in tested.pairs.corrected]),
            }
            for name, tested in found.tests.items()
        }
    return said


def show(found: SystemComparison, console: Console, *, groups: bool = False) -> None:
    """The comparison as a table, the best group first, and what it means in words."""
    ranking, stable = found.ranking, found.stable
    columns = ranking.components if len(ranking.components) <= MOST_COLUMNS else ()
    resampled = ["in A*, resampled"] if stable is not None else []
    headings = ("group", "average rank", "place", *resampled, *columns)
    lines = new_table("system", right=headings)
    for i in np.lexsort((ranking.average_rank, ranking.group)):
        lines.add_row(
            escape(ranking.systems[i]),
            f"{ranking.group[i] + 1}{'*' if ranking.optimal[i] else ' '}",
            f"{ranking.average_rank[i]:.2f}",
            str(ranking.place[i]),
            *((f"{100 * stable[i]:.0f} %",) if stable is not None else ()),
            *(("–" if np.isnan(v) else f"{v:.4g}") for v in ranking.values[i][: len(columns)]),
        )
    console.print(lines)
    said = [f"\n* in the optimal set, of {len(ranking.components)} components"]
    if groups:
        said += [f"group {number}: {', '.join(members)}" for number, members in enumerate(ranking.groups(), start=1)]
    said += [f"\n{ranking.interpretation}", f"\nBeyond chance: {_beyond_chance(found)}"]
    said += [f"\n{ranking.signature}"] if ranking.signature else []
    console.print("\n".join(said + _test_lines(found)), markup=False)


def _beyond_chance(found: SystemComparison) -> str:
    """The part that may be chance, which dominance does not ask."""
    if found.verdicts:
        return f"{leader_note(found.table.criteria[0], found.verdicts)}."
    return "not tested, since these are scores of whole data sets." if len(found.table.images) < 2 else "not tested."


def _test_lines(found: SystemComparison) -> list[str]:
    if not found.tests:
        return []
    said = [f"\nclusters: systems of one cluster do not differ significantly at {found.alpha:g}"]
    images = len(found.table.images)
    least = 2.0 ** (1 - images)
    if least >= found.alpha and found.test == "wilcoxon":
        said.append(f"on {images} images Wilcoxon's p is never below {least:g}: too few to tell any two systems apart")
    for name, tested in found.tests.items():
        parts = [
            ", ".join(system for system, own in zip(found.table.systems, tested.clusters, strict=True) if own == number)
            for number in range(1, int(tested.clusters.max()) + 1)
        ]
        said.append(f"{name} ({found.test}): {' | '.join(parts)}")
    return said
