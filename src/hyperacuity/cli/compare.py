"""``hyperacuity compare``: which systems are really better, under several criteria at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from hyperacuity.cli import common
from hyperacuity.cli.options import Against, Exports, Folder, Json, grouped
from hyperacuity.cli.output import figure_folder


@grouped
def compare(
    sources: Annotated[list[Path], Argument(metavar="RUN…|TABLE.csv", help="Run folders of one task, or a CSV table.")],
    criteria: Annotated[
        str | None, Option(metavar="LIST", help="Such as 'ods,ap' or 'bad,psnr:max' (default: the task's).")
    ] = None,
    systems: Annotated[str | None, Option(metavar="LIST", help="Only these systems, with commas.")] = None,
    vector: Annotated[
        str | None, Option(help="concat: each image is a component; mean: the data set (default: the task's).")
    ] = None,
    epsilon: Annotated[str, Option(metavar="E", help="Tolerance of dominance, for all criteria or one each.")] = "0",
    strict: Annotated[bool, Option("--strict", help="To dominate, be better in every criterion.")] = False,
    decimals: Annotated[int | None, Option("--round", min=0, max=12, help="Round first, as printed tables do.")] = None,
    groups: Annotated[
        bool, Option("--groups", help="Print the groups: optimal, optimal without those, and so on.")
    ] = False,
    test: Annotated[
        str | None, Option(help="Also test pairs: wilcoxon, t or bootstrap, with Holm's correction.")
    ] = None,
    alpha: Annotated[float, Option(min=0.0, max=1.0, help="Level of the tests.")] = 0.05,
    resamples: Annotated[int, Option(min=0, help="Resampled data sets for the stability of the optimal set.")] = 1000,
    against: Against = None,
    charts: Annotated[Path | None, Folder(help="Write charts here (needs the extra report).")] = None,
    json: Json = False,
    *,
    exports: Exports,
) -> None:
    """Compare systems by Pareto dominance, average rank and paired tests.

    A system dominates another when it is nowhere worse and somewhere better. Systems that nothing dominates are optimal; remove
    them and repeat to get the groups. Scores of different protocols are never compared.

    Example: [bold]hyperacuity compare runs/stereo --groups --test wilcoxon[/bold]

    Example: [bold]hyperacuity compare runs/boundary --against gpb-ucm.card[/bold]

    Example: [bold]hyperacuity compare table.csv --criteria bad,psnr:max --epsilon 0.1[/bold]
    """
    from hyperacuity.evaluation.comparison import compare_runs, show, summary
    from hyperacuity.evaluation.score_tables import of_comparison

    prints = exports.prints(json)
    how: Any = {"vector": vector, "test": test, "alpha": alpha, "resamples": resamples, "against": against}
    comparison = compare_runs(
        sources, criteria=criteria, systems=systems, epsilon=epsilon, strict=strict, decimals=decimals, **how
    )
    if charts is not None:
        folder = figure_folder(charts)
        from hyperacuity.report.figures import write_comparison_charts

        write_comparison_charts(folder, comparison)
    common.export([of_comparison(comparison)], exports)
    if json:
        common.print_json(summary(comparison))
    elif not prints:
        show(comparison, common.results, groups=groups)
