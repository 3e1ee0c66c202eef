"""The experiments of Cabezas & Trujillo (2011): ``hyperacuity study cabezas2011``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from hyperacuity.cli import output
from hyperacuity.cli.options import Data, Json, Workers
from hyperacuity.cli.output import Figures, Out, finish, print_line, print_table
from hyperacuity_papers.common.ledger import print_ledger, write_ledger

if TYPE_CHECKING:
    from hyperacuity_papers.cabezas2011.server_table import ServerTable
    from hyperacuity_papers.cabezas2011.stereo_scenarios import Scenario
    from hyperacuity_papers.cabezas2011.study import Cabezas2011
    from hyperacuity_papers.common.claims import LedgerRow


def cabezas2011(
    out: Out,
    data_set: Annotated[
        str | None,
        Option("--data-set", metavar="DATA", help="A stereo data set (default: middlebury-v2, else made scenes)."),
    ] = None,
    data: Data = None,
    table: Annotated[
        Path | None, Option(metavar="FILE", help="The Middlebury server's table, to check the paper's tables 1 to 4.")
    ] = None,
    names: Annotated[
        str | None, Option("--with", metavar="NAMES", help="Further systems, as in hyperacuity stereo.")
    ] = None,
    delta: Annotated[float, Option(min=0.0, help="Error threshold in pixels.")] = 1.0,
    figures: Figures = True,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Run the paper "A non-linear quantitative evaluation approach for disparity estimation" again.

    Eight techniques, each under several parameters, are judged in the paper's three scenarios: dense, semi-dense, and local
    systems only; all together, technique against technique, and the settings of each technique. A table of the server
    (a row per system, columns such as tsukuba_nonocc, tsukuba_all, tsukuba_disc, and local) shows the paper's optimal sets,
    expected and actual. Writes tables (CSV), maps, figures and runs that can be resumed and given to hyperacuity compare.

    Example: [bold]hyperacuity study cabezas2011 --data datasets --out cabezas2011[/bold]

    Example: [bold]hyperacuity study cabezas2011 --table server.csv --out cabezas2011[/bold]
    """
    folder = output.figure_folder(out, figures=figures)
    from hyperacuity_papers.common.claims import read_claims

    how: Any = {"data_set": data_set, "data": data, "table": table, "delta": delta}
    study = conduct(folder, names=names, figures=figures, workers=workers, **how)
    rows = write_ledger(folder, read_claims("cabezas2011").claims, study)
    results = {**study.as_dict(), "ledger": [vars(row) for row in rows], "out": folder}
    finish(results, lambda: _print_cabezas2011(study, folder, rows), json=json, failures=study.failures)


def conduct(
    folder: Path,
    *,
    data: Path | None = None,
    figures: bool = True,
    workers: int | None = None,
    data_set: str | None = None,
    table: Path | None = None,
    names: str | None = None,
    delta: float = 1.0,
) -> Cabezas2011:
    """Run the study into a folder, where what lies there is reused, and write its tables and figures."""
    from hyperacuity.detect.registry import split_names
    from hyperacuity.detect.stereo import matcher_named
    from hyperacuity_papers.cabezas2011 import study as paper

    systems = [matcher_named(name) for name in split_names(names or "")]
    study = paper.cabezas2011(
        folder, data_set=data_set, data=data, delta=delta, table=table, systems=systems, workers=workers
    )
    study.write_tables(folder)
    if figures:
        from hyperacuity_papers.cabezas2011.figures import draw_cabezas2011

        draw_cabezas2011(study, folder)
    return study


def _print_cabezas2011(study: Cabezas2011, folder: Path, rows: Sequence[LedgerRow]) -> None:
    from hyperacuity_papers.cabezas2011.study import FIELD_HEADINGS

    for note in study.notes:
        print_line(f"{note}.")
    print_line(f"\nThe field on {study.data_set}, δ = {study.delta:g}: means over {len(study.table.images)} pairs")
    print_table(FIELD_HEADINGS, study.field_rows())
    for scenario in study.field:
        _print_scenario("all systems", scenario, study.stability if scenario.name == "dense" else {})
    for title, results in (("technique against technique", study.inter), ("the same, filled", study.filled)):
        for scenario in results:
            _print_scenario(title, scenario, {})
    print_line("\nthe settings of each technique, dense: in A*")
    for technique, scenario in study.intra.items():
        print_line(f"{technique}: {', '.join(scenario.optimal())} ({len(scenario.concat.systems)} settings)")
    if study.server is not None:
        _print_server(study.server)
    _print_pair(study)
    print_line(f"\n{study.signature}\n")
    print_ledger(rows)
    print_line(f"\n{folder}")


def _print_scenario(title: str, scenario: Scenario, often: dict[str, float]) -> None:
    from hyperacuity_papers.cabezas2011.stereo_scenarios import HEADINGS

    ranking = scenario.concat
    size = f"{ranking.optimal.sum()} of {len(ranking.systems)} optimal"
    print_line(f"\n{title}: {scenario.name} ({', '.join(scenario.regions)}), {size}")
    rows = [[*row, f"{100 * often[row[0]]:.0f} %"] if often else row for row in scenario.rows()]
    print_table((*HEADINGS, "in A*, resampled") if often else HEADINGS, rows)
    print_line(ranking.interpretation)
    for name, share in scenario.left_out:
        print_line(f"{name} is left out: its maps have holes, on one pair {100 * (1 - share):.1f} % of the pixels.")


def _print_server(server: ServerTable) -> None:
    from hyperacuity_papers.cabezas2011.server_table import NAMES

    for scenario in server.scenarios:
        _print_scenario(f"the server's table, {server.path.name}", scenario, {})
    print_line("\nthe paper's tables: of its systems that the server's table has, which are optimal there")
    headings = ("", "vectors", "in the paper", "of them here", "optimal here", "lost", "extra", "")
    print_table(
        headings,
        [
            (
                one.table,
                NAMES[one.reading],
                str(len(one.expected) + len(one.absent)),
                str(len(one.expected)),
                str(len(one.found)),
                ", ".join(one.lost) or "–",
                ", ".join(one.extra) or "–",
                one.status,
            )
            for one in server.memberships
        ],
        left=(0, 1, 5, 6, 7),
    )
    print_line(server.verdict())
    print_line(
        "What is optimal among all systems is optimal among some of them, so a lost system contradicts the paper; an extra one "
        "does only if no system is missing."
    )


def _print_pair(study: Cabezas2011) -> None:
    from hyperacuity_papers.cabezas2011.one_pair import SIGMAS

    print_line(f"\n{study.pair.scene}: error rate against sparsity")
    for name, one in study.pair.standing.items():
        gap = f"{one.gap:.4f} above the feasibility boundary"
        print_line(f"{name}: {gap}, reaches it at {100 * one.share:.0f} % of the sparsities")
    limits = ", ".join(f"{sigma:g}" for sigma in SIGMAS)
    print_line(f"\n{study.pair.scene}: self-consistency, points within {limits} σ (a matching error of 1 px)")
    for name, shares in study.pair.consistency.items():
        print_line(f"{name}: {', '.join(f'{100 * share:.1f} %' for share in shares)}")
