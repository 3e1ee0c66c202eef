"""``hyperacuity study cabezas2011``: Cabezas & Trujillo (2011), Pareto dominance applied in stereo vision, run again."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperacuity.cli import common
from hyperacuity.cli.options import Data, Workers
from hyperacuity.errors import InputError, UsageError

if TYPE_CHECKING:
    from hyperacuity.compare import Table
    from hyperacuity.detect.stereo import Matcher
    from hyperacuity.disparity import Protocol
    from hyperacuity.evaluation.disparity_inputs import Reader
    from hyperacuity.studies.roc import RocCurve, Standing
    from hyperacuity.studies.scenarios import Scenario

PAPER = {"dense": 16, "semi-dense": 13, "local, semi-dense": 7}
"""Sizes of the optimal sets in the paper's tables 2 to 4, of the server's systems of 2011."""

SIGMAS = (0.5, 1.0, 2.0)

SERVER_LOCAL = ("SAD", "SSD", "BMS")
"""The systems of the server's table of ten that match by a window alone."""


def cabezas2011(
    out: Annotated[Path, typer.Option("--out", help="Folder to write to; made if need be.", show_default=False)],
    data_set: Annotated[
        str, typer.Option("--data-set", metavar="DATA", help="A stereo data set: its folder, or its name.")
    ] = "middlebury-v2",
    data: Data = None,
    delta: Annotated[float, typer.Option(min=0.0, help="Error threshold in pixels.")] = 1.0,
    sgm: Annotated[
        bool | None,
        typer.Option(
            "--sgm/--no-sgm", help="With semi-global matching (default: if OpenCV is there).", show_default=False
        ),
    ] = None,
    figures: Annotated[bool, typer.Option("--figures/--no-figures", help="Draw the figures.")] = True,
    workers: Workers = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> None:
    """Run the paper "A non-linear quantitative evaluation approach for disparity estimation" again.

    Baseline systems, each under a grid of parameters, are judged in the paper's three scenarios: dense, semi-dense, and
    local systems only. So is the server's table of ten, where the data set has one. Writes tables (CSV), maps, figures and
    a run that can be taken up again and given to hyperacuity compare.

    Example: [bold]hyperacuity study cabezas2011 --data datasets --out cabezas2011[/bold]
    """
    from hyperacuity.compare import stability
    from hyperacuity.disparity import Protocol
    from hyperacuity.evaluation.disparity_inputs import Reader, stereo_samples
    from hyperacuity.studies.scenarios import scenarios

    if figures:
        from hyperacuity.report import theme

        theme.require()
    folder = common.output_folder(out)
    scenes = stereo_samples(data_set, data)
    reader = Reader(scenes, {})
    regions = ("nonocc", "all", "disc")
    origin: Any = reader.origin(regions)
    protocol = Protocol((delta,), regions, "bad", origin)
    systems = parameter_grid(_has_opencv() if sgm is None else sgm)
    failures = _match(systems, reader, folder / "maps", workers)
    table, failed = _score(folder, systems, reader, protocol, workers)
    failures += failed
    local = [str(system) for system in systems if system.base != "sgm"]
    ours = scenarios(table, [name for name in local if name in table.systems])
    often = stability(table)
    pair = _one_pair(reader)
    curves, boundary, standing = _roc(pair, protocol)
    agreeing = _consistency(pair, systems)
    server = _server_table(scenes)
    theirs = scenarios(server, SERVER_LOCAL) if server is not None else []
    _write(folder, "baselines", ours)
    if theirs:
        _write(folder, "server", theirs)
    if figures:
        _draw(folder, "baselines", ours, often)
        if theirs:
            _draw(folder, "server", theirs, None)
        _draw_roc(folder, curves, boundary, protocol.signature)
    status = common.tell_failures(failures)
    if json:
        common.print_json(
            {
                "signature": protocol.signature,
                "paper": PAPER,
                "baselines": [_told(one) for one in ours],
                "server": [_told(one) for one in theirs],
                "stability": dict(zip(table.systems, often, strict=True)),
                "roc": {name: vars(one) for name, one in standing.items()},
                "consistency": {"sigma": SIGMAS, **agreeing},
                "out": folder,
            }
        )
    else:
        _print("baseline systems and their parameters", ours, often)
        if theirs:
            _print("the server's table of ten", theirs, None)
        _print_pair(pair.scene, standing, agreeing)
        common.results.print(f"\n{protocol.signature}\n{folder}", markup=False)
    raise typer.Exit(status)


def parameter_grid(with_sgm: bool) -> list[Matcher]:
    """The systems of the study: one technique per line, under several parameters each."""
    from hyperacuity.detect.stereo import grid

    systems = [*grid("sad", window=(5, 9, 13, 21)), *grid("census", window=(3, 5, 9, 15))]
    return [*systems, *grid("sgm", window=(3, 7), smooth=(0.25, 1.0, 4.0))] if with_sgm else systems


def semi_dense_grid() -> dict[str, list[Matcher]]:
    """Settings that leave out more and more doubtful pixels, for error rate against sparsity."""
    from hyperacuity.detect.stereo import matcher

    margins = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)
    return {
        base: [matcher(base), *(matcher(base, check=1, margin=margin) for margin in margins)]
        for base in ("sad", "census")
    }


def _has_opencv() -> bool:
    from importlib.util import find_spec

    return find_spec("cv2") is not None


def _match(systems: Sequence[Matcher], reader: Reader, maps: Path, workers: int | None) -> list[tuple[str, str]]:
    """Write every system's map of every scene that is not there yet; what failed, by name."""
    from concurrent.futures import ThreadPoolExecutor

    from hyperacuity.cli.stereo import disparities_of
    from hyperacuity.data import read_image, write_disparity

    for system in systems:
        common.output_folder(maps / str(system))

    def work(scene: str) -> list[tuple[str, str]]:
        sample = reader.scenes[scene]
        missing = [system for system in systems if not (maps / str(system) / f"{scene}.pfm").exists()]
        try:
            if sample.image is None or "right" not in sample.extras:
                raise InputError("the pictures of the pair are not with the data")
            left, right = read_image(sample.image), read_image(sample.extras["right"])
            for system in missing:
                found = system(left, right, disparities_of(sample, left.shape[1]))
                write_disparity(maps / str(system) / f"{scene}.pfm", found)
        except InputError as error:
            return [(scene, str(error))]
        return []

    with ThreadPoolExecutor(workers) as pool:
        return [failure for found in pool.map(work, reader.scenes) for failure in found]


def _score(
    folder: Path, systems: Sequence[Matcher], reader: Reader, protocol: Protocol, workers: int | None
) -> tuple[Table, list[tuple[str, str]]]:
    """The table of bad pixels, criteria named after the regions, and what failed."""
    from hyperacuity.compare.criteria import table_of
    from hyperacuity.evaluation.disparity_inputs import DisparityJob, grid
    from hyperacuity.run import open_store, run_grid

    cells, _ = grid({str(system): folder / "maps" / str(system) for system in systems}, reader.scenes, {})
    job = DisparityJob(protocol, reader)
    with open_store(folder / "run") as store:
        outcome = run_grid(job, cells, store=store, workers=workers)
    options = {"protocol": vars(protocol)}
    table = table_of(job.signature, outcome.tallies, options)
    bad = protocol.measures[0]
    chosen = table.select(criteria=[f"{bad} {region}" for region in protocol.regions])
    failures = [(f"{failure.system}: {failure.image}", failure.reason) for failure in outcome.failures]
    return replace(chosen, criteria=protocol.regions), failures


@dataclass(frozen=True, eq=False)
class StereoPair:
    """One scene: its pictures, its truth, what both pictures show, and how many disparities to try."""

    scene: str
    left: Any
    right: Any
    truth: Any
    matchable: Any
    disparities: int


def _one_pair(reader: Reader) -> StereoPair:
    """Teddy if it is there, else the first scene with pictures."""
    from hyperacuity.cli.stereo import disparities_of
    from hyperacuity.data import read_image
    from hyperacuity.run import Cell

    scenes = [one for one in reader.scenes.values() if one.image is not None and "right" in one.extras]
    if not scenes:
        raise UsageError("no scene has its pictures: there is nothing to match")
    sample = max(scenes, key=lambda one: one.name == "teddy")
    cell = Cell("", sample.name, sample.truths[0], sample.truths)
    truth = reader.truth(cell)
    left, right = read_image(sample.image or Path()), read_image(sample.extras["right"])
    both = reader.regions(cell, truth, ("nonocc",))["nonocc"]
    return StereoPair(sample.name, left, right, truth, both, disparities_of(sample, left.shape[1]))


def _roc(pair: StereoPair, protocol: Protocol) -> tuple[dict[str, RocCurve], RocCurve, dict[str, Standing]]:
    """Error rate against sparsity on one scene: a curve per technique, and the feasibility boundary."""
    from hyperacuity.disparity import tally
    from hyperacuity.studies.roc import curve, feasibility

    judged = replace(protocol, regions=("nonocc",))
    points: dict[str, list[tuple[float, float]]] = {}
    for base, settings in semi_dense_grid().items():
        for setting in settings:
            disparity = setting(pair.left, pair.right, pair.disparities)
            found = tally(disparity, pair.truth, {"nonocc": pair.matchable}, judged)
            pixels, known, wrong = int(found.pixels[0]), int(found.known[0]), int(found.bad[0, 0])
            points.setdefault(base, []).append(((pixels - known) / pixels, wrong / pixels))
    boundary, standing = feasibility(points)
    return {base: curve(settings) for base, settings in points.items()}, boundary, standing


def _consistency(pair: StereoPair, systems: Sequence[Matcher]) -> dict[str, list[float]]:
    """Of one setting per technique: the shares of points whose two depths, from left and from right, differ by ½, 1 and 2 σ."""
    from hyperacuity.disparity import consistency_curve, distances, stereo_views

    found = {}
    for system in {system.base: system for system in reversed(systems)}.values():
        there = system(pair.left, pair.right, pair.disparities)
        back = system(pair.right[:, ::-1].copy(), pair.left[:, ::-1].copy(), pair.disparities)[:, ::-1]
        found[str(system)] = consistency_curve(distances(stereo_views(there, back)), SIGMAS).tolist()
    return dict(sorted(found.items()))


def _server_table(scenes: Mapping[str, Any]) -> Table | None:
    """The server's table beside the scenes, as systems × images × regions; None when there is none."""
    import numpy as np

    from hyperacuity.compare import Table
    from hyperacuity.data import read_table

    path = next(iter(scenes.values())).truths[0].parents[1] / "server-table-10.csv"
    if not path.is_file():
        return None
    found = read_table(path)
    images = [column.removesuffix("_nonocc") for column in found.columns if column.endswith("_nonocc")]
    regions = ("nonocc", "all", "disc")
    values = np.stack([[found.column(f"{image}_{region}") for region in regions] for image in images])
    return Table(
        found.names, tuple(images), regions, ("min",) * 3, values.transpose(2, 0, 1).copy(), "server table, δ = 1"
    )


def _told(scenario: Scenario) -> dict[str, Any]:
    return {
        "scenario": scenario.name,
        "regions": scenario.regions,
        "concat": scenario.concat.as_json(),
        "mean": scenario.mean.as_json(),
    }


def _rows(scenario: Scenario) -> list[list[str]]:
    """System, average rank, place, in A* of either kind of vector, and the group; by place, as in the paper's tables."""
    import numpy as np

    ranking, mean = scenario.concat, scenario.mean
    return [
        [
            ranking.systems[i],
            f"{ranking.average_rank[i]:.2f}",
            str(ranking.place[i]),
            "yes" if ranking.optimal[i] else "",
            str(ranking.group[i] + 1),
            "yes" if mean.optimal[i] else "",
            str(mean.group[i] + 1),
        ]
        for i in np.argsort(ranking.average_rank, kind="stable")
    ]


HEADINGS = ("system", "average rank", "rank", "in A*", "group", "in A* (mean)", "group (mean)")


def _write(folder: Path, what: str, found: Sequence[Scenario]) -> None:
    for scenario in found:
        path = folder / f"{what}-{scenario.name.replace(', ', '-')}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(HEADINGS)
            writer.writerows(_rows(scenario))


def _print(title: str, found: Sequence[Scenario], often: Any) -> None:
    from rich.markup import escape
    from rich.table import Table as Sheet

    for scenario in found:
        ranking = scenario.concat
        size = int(ranking.optimal.sum())
        heading = (
            f"\n{title}: {scenario.name} ({', '.join(scenario.regions)}), {size} of {len(ranking.systems)} optimal"
        )
        common.results.print(f"{heading} (in the paper {PAPER[scenario.name]} of the server's)", markup=False)
        sheet = Sheet(box=None, pad_edge=False)
        resampled = often is not None and scenario.name == "dense"
        for column in (*HEADINGS, *(("in A*, resampled",) if resampled else ())):
            sheet.add_column(column, justify="left" if column == "system" else "right")
        for row in _rows(scenario):
            extra = [f"{100 * often[ranking.systems.index(row[0])]:.0f} %"] if resampled else []
            sheet.add_row(escape(row[0]), *row[1:], *extra)
        common.results.print(sheet)
        common.results.print(ranking.interpretation, markup=False)


def _print_pair(scene: str, standing: Mapping[str, Standing], agreeing: Mapping[str, list[float]]) -> None:
    common.results.print(f"\n{scene}: error rate against sparsity", markup=False)
    for name, one in standing.items():
        common.results.print(
            f"{name}: {one.gap:.4f} above the feasibility boundary, reaches it at {100 * one.share:.0f} % of the sparsities",
            markup=False,
        )
    limits = ", ".join(f"{sigma:g}" for sigma in SIGMAS)
    common.results.print(
        f"\n{scene}: self-consistency, points within {limits} σ (a matching error of 1 px)", markup=False
    )
    for name, shares in agreeing.items():
        common.results.print(f"{name}: {', '.join(f'{100 * share:.1f} %' for share in shares)}", markup=False)


def _draw(folder: Path, what: str, found: Sequence[Scenario], often: Any) -> None:
    from hyperacuity.report import theme
    from hyperacuity.report.charts import compare as draw

    for scenario in found:
        name = f"{what}-{scenario.name.replace(', ', '-')}"
        ranking = scenario.concat
        stable = often if scenario.name == "dense" else None
        for kind, chart in (
            ("parallel", draw.parallel_chart(ranking)),
            ("ranks", draw.rank_group_chart(ranking, stability=stable)),
        ):
            theme.save(chart, folder / f"{name}-{kind}.png", signature=ranking.signature)
        if len(scenario.regions) == 2:
            theme.save(draw.front_chart(scenario.mean), folder / f"{name}-front.png", signature=ranking.signature)
    theme.save(
        draw.dominance_chart(found[0].concat), folder / f"{what}-dominance.png", signature=found[0].concat.signature
    )


def _draw_roc(folder: Path, curves: Mapping[str, RocCurve], boundary: RocCurve, signature: str) -> None:
    from hyperacuity.report import theme
    from hyperacuity.report.charts import compare as draw

    theme.save(draw.roc_chart(curves, boundary), folder / "roc.png", signature=signature)
