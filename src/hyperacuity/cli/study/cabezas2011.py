"""The experiments of Cabezas & Trujillo (2011): ``hyperacuity study cabezas2011``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from hyperacuity.cli import output
from hyperacuity.cli.options import Data, Json, Workers
from hyperacuity.cli.output import Figures, Out, finish, print_line, print_table

if TYPE_CHECKING:
    from hyperacuity.studies.cabezas2011 import Cabezas2011, Scenario


def cabezas2011(
    out: Out,
    data_set: Annotated[
        str, Option("--data-set", metavar="DATA", help="A stereo data set: its folder, or its name.")
    ] = "middlebury-v2",
    data: Data = None,
    delta: Annotated[float, Option(min=0.0, help="Error threshold in pixels.")] = 1.0,
    sgm: Annotated[
        bool | None, Option("--sgm/--no-sgm", help="With semi-global matching (default: if OpenCV is installed).")
    ] = None,
    figures: Figures = True,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Run the paper "A non-linear quantitative evaluation approach for disparity estimation" again.

    Baseline systems, each under a grid of parameters, are judged in the paper's three scenarios: dense, semi-dense, and
    local systems only. So is the server's table of ten, where the data set has one. Writes tables (CSV), maps, figures and
    a run that can be resumed and given to hyperacuity compare.

    Example: [bold]hyperacuity study cabezas2011 --data datasets --out cabezas2011[/bold]
    """
    folder = output.figure_folder(out, figures=figures)
    from hyperacuity.studies import cabezas2011 as paper

    study = paper.cabezas2011(data_set, folder, data=data, delta=delta, sgm=sgm, workers=workers)
    study.write_tables(folder)
    if figures:
        from hyperacuity.report.papers.cabezas2011 import draw_cabezas2011

        draw_cabezas2011(study, folder)
    found = {**study.as_dict(), "out": folder}
    finish(found, lambda: _print_cabezas2011(study, folder), json=json, failures=study.failures)


def _print_cabezas2011(study: Cabezas2011, folder: Path) -> None:
    from hyperacuity.studies.cabezas2011 import SIGMAS

    often = dict(zip(study.systems, study.stability, strict=True))
    for scenario in study.baselines:
        _print_scenario("baseline systems and their parameters", scenario, often if scenario.name == "dense" else {})
    for scenario in study.server:
        _print_scenario("the server's table of ten", scenario, {})
    print_line(f"\n{study.scene}: error rate against sparsity")
    for name, one in study.standing.items():
        gap = f"{one.gap:.4f} above the feasibility boundary"
        print_line(f"{name}: {gap}, reaches it at {100 * one.share:.0f} % of the sparsities")
    limits = ", ".join(f"{sigma:g}" for sigma in SIGMAS)
    print_line(f"\n{study.scene}: self-consistency, points within {limits} σ (a matching error of 1 px)")
    for name, shares in study.consistency.items():
        print_line(f"{name}: {', '.join(f'{100 * share:.1f} %' for share in shares)}")
    print_line(f"\n{study.signature}\n{folder}")


def _print_scenario(title: str, scenario: Scenario, often: dict[str, float]) -> None:
    from hyperacuity.studies.cabezas2011 import HEADINGS, PAPER

    ranking = scenario.concat
    size = f"{ranking.optimal.sum()} of {len(ranking.systems)} optimal"
    paper = f"in the paper {PAPER[scenario.name]} of the server's"
    print_line(f"\n{title}: {scenario.name} ({', '.join(scenario.regions)}), {size} ({paper})")
    rows = [[*row, f"{100 * often[row[0]]:.0f} %"] if often else row for row in scenario.rows()]
    print_table((*HEADINGS, "in A*, resampled") if often else HEADINGS, rows)
    print_line(ranking.interpretation)
