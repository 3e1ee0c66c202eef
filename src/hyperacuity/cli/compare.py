"""``hyperacuity compare``: which systems are really better, under several criteria at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperacuity.cli import common
from hyperacuity.cli.options import Json
from hyperacuity.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hyperacuity.compare import CriticalDifference, Ranking, Table

MOST_COLUMNS = 6


def compare(
    sources: Annotated[
        list[Path],
        typer.Argument(metavar="RUN…|TABLE.csv", help="Run folders of one task, or one CSV table.", show_default=False),
    ],
    criteria: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Criteria to compare by, such as 'ods,ap' or 'bad,psnr:max' (default: the task's).",
            show_default=False,
        ),
    ] = None,
    systems: Annotated[
        str | None, typer.Option(metavar="LIST", help="Only these systems, with commas.", show_default=False)
    ] = None,
    vector: Annotated[
        str | None,
        typer.Option(
            help="concat: each image is a component of its own; mean: the data set (default: the task's).",
            show_default=False,
        ),
    ] = None,
    epsilon: Annotated[
        str, typer.Option(metavar="E", help="Tolerance of dominance, for all criteria or one each.")
    ] = "0",
    strict: Annotated[bool, typer.Option("--strict", help="To dominate, be better in every criterion.")] = False,
    decimals: Annotated[
        int | None,
        typer.Option("--round", min=0, max=12, help="Round scores first, as a printed table does.", show_default=False),
    ] = None,
    groups: Annotated[bool, typer.Option("--groups", help="Print the groups that repeated peeling gives.")] = False,
    test: Annotated[
        str | None,
        typer.Option(
            help="Also test each pair over images: wilcoxon, t or bootstrap, with Holm's correction.",
            show_default=False,
        ),
    ] = None,
    alpha: Annotated[float, typer.Option(min=0.0, max=1.0, help="Level of the tests.")] = 0.05,
    resamples: Annotated[
        int, typer.Option(min=0, help="Resampled data sets for the stability of the optimal set.")
    ] = 1000,
    charts: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write charts here (needs the extra report).", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Compare systems by Pareto dominance, average rank and paired tests.

    A system dominates another when it is nowhere worse and somewhere better. What nothing dominates is optimal; take that
    away and look again, and you have the groups. Scores of different protocols are never compared.

    Example: [bold]hyperacuity compare runs/stereo --groups --test wilcoxon[/bold]

    Example: [bold]hyperacuity compare table.csv --criteria bad,psnr:max --epsilon 0.1[/bold]
    """
    from hyperacuity.compare import compare as rank
    from hyperacuity.compare import stability
    from hyperacuity.evaluation.compare_inputs import read_scores, tolerances

    table, usual = read_scores(sources, criteria)
    if systems is not None:
        table = table.select(systems=[name.strip() for name in systems.split(",") if name.strip()])
    if decimals is not None:
        table = table.rounded(decimals)
    if vector not in (None, "concat", "mean"):
        raise UsageError(f"--vector {vector}: expected concat or mean")
    if test not in (None, "wilcoxon", "t", "bootstrap"):
        raise UsageError(f"--test {test}: expected wilcoxon, t or bootstrap")
    mode: Any = vector or usual
    options: dict[str, Any] = {"vector": mode, "epsilon": tolerances(epsilon, table), "strict": strict}
    ranking = rank(table, **options)
    several = len(table.images) > 1
    often = stability(table, **options, resamples=resamples) if several and resamples else None
    tests = _tests(table, test, alpha, resamples) if test and several else {}
    difference = _difference(ranking, table, alpha)
    if test and not several:
        common.warn("there are no images to test over: the scores are of whole data sets")
    if charts is not None:
        _draw(charts, ranking, often, difference)
    if json:
        common.print_json(_summary(ranking, table, mode, options["epsilon"], often, tests, difference))
    else:
        _print(ranking, often, groups=groups)
        _print_tests(table, tests, alpha)


def _tests(table: Table, test: str, alpha: float, resamples: int) -> dict[str, dict[str, Any]]:
    """For each criterion: p-values of all pairs after correction, and the clusters that follow.

    The bootstrap is of the score on the whole data set, the other tests are of the images' scores.
    """
    from hyperacuity.compare import average_rank, clusters, pairwise
    from hyperacuity.compare.significance import pairwise_of_samples
    from hyperacuity.resampling import bootstrap_weights

    kind: Any = test
    found: dict[str, dict[str, Any]] = {}
    weights = bootstrap_weights(len(table.images), max(resamples, 1000)) if test == "bootstrap" else None
    samples = None if weights is None else table.resampled(weights)
    whole = table.overall()
    for place, (name, sense) in enumerate(zip(table.criteria, table.senses, strict=True)):
        scores = table.values[:, :, place]
        if samples is None:
            result = pairwise(scores, sense=sense, test=kind)
        else:
            up = 1 if sense == "max" else -1
            result = pairwise_of_samples(
                up * samples[:, :, place], up * (whole[:, None, place] - whole[None, :, place])
            )
        mean_rank = average_rank(scores, senses=(sense,) * len(table.images), ties="average")
        found[name] = {
            "test": test,
            "corrected": result.corrected,
            "better": result.better(alpha),
            "clusters": clusters(mean_rank, result.better(alpha)),
        }
    return found


def _difference(ranking: Ranking, table: Table, alpha: float) -> CriticalDifference | None:
    """Critical difference over images × criteria, or over criteria alone when there are no images."""
    from hyperacuity.compare import critical_difference, ranks

    if len(table.systems) < 2:
        return None
    values, _, senses = table.vectors("concat")
    try:
        return critical_difference(ranks(values, senses=senses, ties="average"), alpha=alpha)
    except UsageError:
        return None


def _summary(
    ranking: Ranking,
    table: Table,
    mode: str,
    epsilon: list[float],
    often: NDArray[np.float64] | None,
    tests: dict[str, dict[str, Any]],
    difference: CriticalDifference | None,
) -> dict[str, Any]:
    summary = ranking.as_json() | {
        "vector": mode,
        "epsilon": epsilon,
        "images": [image for image in table.images if image],
        "values": dict(zip(ranking.systems, ranking.values, strict=True)),
        "places": dict(zip(ranking.systems, ranking.place, strict=True)),
    }
    if often is not None:
        summary["stability"] = dict(zip(ranking.systems, often, strict=True))
    if difference is not None:
        summary["critical_difference"] = {
            "difference": difference.difference,
            "p": difference.p,
            "ranks": dict(zip(ranking.systems, difference.average_rank, strict=True)),
            "bars": [[ranking.systems[i] for i in bar] for bar in difference.bars],
        }
    if tests:
        summary["tests"] = {
            name: {
                "test": found["test"],
                "clusters": dict(zip(ranking.systems, found["clusters"], strict=True)),
                "p": {
                    system: dict(zip(ranking.systems, row, strict=True))
                    for system, row in zip(ranking.systems, found["corrected"], strict=True)
                },
            }
            for name, found in tests.items()
        }
    return summary


def _print(ranking: Ranking, often: NDArray[np.float64] | None, *, groups: bool) -> None:
    import numpy as np
    from rich.markup import escape
    from rich.table import Table as Sheet

    sheet = Sheet(box=None, pad_edge=False)
    sheet.add_column("system")
    shown = ranking.components if len(ranking.components) <= MOST_COLUMNS else ()
    for heading in ("group", "average rank", "place", *(("in A*, resampled",) if often is not None else ()), *shown):
        sheet.add_column(escape(heading), justify="right")
    order = np.lexsort((ranking.average_rank, ranking.group))
    for i in order:
        sheet.add_row(
            escape(ranking.systems[i]),
            f"{ranking.group[i] + 1}{'*' if ranking.optimal[i] else ' '}",
            f"{ranking.average_rank[i]:.2f}",
            str(ranking.place[i]),
            *((f"{100 * often[i]:.0f} %",) if often is not None else ()),
            *(("–" if np.isnan(v) else f"{v:.4g}") for v in ranking.values[i][: len(shown)]),
        )
    common.results.print(sheet)
    common.results.print(f"\n* in the optimal set, of {len(ranking.components)} components", markup=False)
    if groups:
        for number, members in enumerate(ranking.groups(), start=1):
            common.results.print(f"group {number}: {', '.join(members)}", markup=False)
    common.results.print(f"\n{ranking.interpretation}", markup=False)
    if ranking.signature:
        common.results.print(f"\n{ranking.signature}", markup=False)


def _print_tests(table: Table, tests: dict[str, dict[str, Any]], alpha: float) -> None:
    if not tests:
        return
    common.results.print(f"\nclusters: systems of one cluster do not differ significantly at {alpha:g}", markup=False)
    least = 2.0 ** (1 - len(table.images))
    if least >= alpha and any(found["test"] == "wilcoxon" for found in tests.values()):
        note = f"on {len(table.images)} images Wilcoxon's p is never below {least:g}: too few to tell any two systems apart"
        common.results.print(note, markup=False)
    for name, found in tests.items():
        parts = [
            ", ".join(system for system, own in zip(table.systems, found["clusters"], strict=True) if own == number)
            for number in range(1, int(found["clusters"].max()) + 1)
        ]
        common.results.print(f"{name} ({found['test']}): {' | '.join(parts)}", markup=False)


def _draw(
    folder: Path, ranking: Ranking, often: NDArray[np.float64] | None, difference: CriticalDifference | None
) -> None:
    from hyperacuity.report import theme

    theme.require()
    from hyperacuity.report.charts import compare as draw

    place = common.output_folder(folder)
    if len(ranking.components) == 2:
        theme.save(draw.front_chart(ranking), place / "front.svg", signature=ranking.signature)
    elif len(ranking.components) > 2:
        theme.save(draw.parallel_chart(ranking), place / "parallel.svg", signature=ranking.signature)
    theme.save(draw.rank_group_chart(ranking, stability=often), place / "ranks.svg", signature=ranking.signature)
    theme.save(draw.dominance_chart(ranking), place / "dominance.svg", signature=ranking.signature)
    if difference is not None:
        chart = draw.critical_difference_chart(ranking.systems, difference)
        theme.save(chart, place / "critical-difference.svg", signature=ranking.signature)
