"""Charts as files for a paper: PDF, SVG and PNG of one column's width, the signature in small type below."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from PIL import Image

from hyperacuity.audit import strengths
from hyperacuity.console import folder_name
from hyperacuity.data import read_image, write_png
from hyperacuity.errors import InputError
from hyperacuity.evaluation.audits import AuditFindings
from hyperacuity.evaluation.comparison import SystemComparison
from hyperacuity.kinds import Kind
from hyperacuity.ordering import OrderingScore
from hyperacuity.outputs import output_file, output_folder
from hyperacuity.report import theme
from hyperacuity.report.charts import audit as charts_audit
from hyperacuity.report.charts import compare as charts_compare
from hyperacuity.report.charts.ordering import accuracy_chart, figure_ground_chart, prc_chart
from hyperacuity.report.pictures.disparity import error_sheet
from hyperacuity.report.pictures.ordering import picture_sheet
from hyperacuity.report.sheets.sheet import Sheet, file_names, systems_of
from hyperacuity.run import Cell
from hyperacuity.run.jobs import TaskJob
from hyperacuity.tally import Signature

KINDS = ("pdf", "svg", "png")

MOST_PICTURES = 8
"""Images of an audit that are drawn with their labels coloured by strength."""


def write_figures(sheets: Sequence[Sheet], folder: Path) -> list[Path]:
    """Write every chart of the sheets, each as PDF, SVG and PNG; returns the files' paths.

    Files are named after the task and the chart. A second protocol of the same task adds its number: ``boundary-2-…``.
    """
    output_folder(folder)
    paths = []
    for sheet, task in zip(sheets, file_names(sheets), strict=True):
        for figure in sheet.figures:
            with theme.one_page(systems_of(sheets)):
                chart = figure.draw(False)
            files = [folder / f"{task}-{figure.name}.{kind}" for kind in KINDS]
            paths += [theme.save(chart, file, signature=sheet.grid.signature) for file in files]
    return paths


def write_ordering_charts(
    folder: Path, scores: Mapping[str, OrderingScore], people: OrderingScore | None, signature: Signature
) -> None:
    """Precision over recall of contours and pairs of regions, and figure/ground accuracies, as SVG."""
    charts = {"ldc": prc_chart(scores, "ldc", human=people)}
    if any(score.gdc is not None for score in scores.values()):
        charts["gdc"] = prc_chart(scores, "gdc", human=people)
    charts["figure-ground"] = figure_ground_chart(scores, human=people)
    if any(value == value for score in scores.values() for value in score.accuracy.values()):
        charts["accuracy"] = accuracy_chart(scores, human=people)
    for name, chart in charts.items():
        theme.save(chart, folder / f"{name}.svg", signature=signature)


def write_comparison_charts(folder: Path, comparison: SystemComparison) -> None:
    """The front (of two criteria) or all criteria side by side, ranks and groups, dominance, and critical difference, as SVG."""
    ranking = comparison.ranking
    charts = {
        "ranks": charts_compare.rank_group_chart(ranking, stability=comparison.stable),
        "dominance": charts_compare.dominance_chart(ranking),
    }
    if len(ranking.components) == 2:
        charts["front"] = charts_compare.front_chart(ranking)
    elif len(ranking.components) > 2:
        charts["parallel"] = charts_compare.parallel_chart(ranking)
    if comparison.difference is not None:
        charts["critical-difference"] = charts_compare.critical_difference_chart(ranking.systems, comparison.difference)
    for name, chart in charts.items():
        theme.save(chart, folder / f"{name}.svg", signature=ranking.signature)


def write_ordering_pictures(folder: Path, job: TaskJob, cells: Iterable[Cell]) -> None:
    """A sheet of pictures for every system and image; cells that failed are left out."""

    def draw(cell: Cell) -> Any:
        given = job.kind.read(cell, job.protocol)
        asked = given.extras["regions"]
        return picture_sheet(given.prediction, given.truths[0], job.protocol, asked[0] if asked else None)  # type: ignore[arg-type]

    _write_pictures(folder, cells, draw)


def write_error_pictures(folder: Path, job: TaskJob, cells: Iterable[Cell]) -> None:
    """A picture of each disparity map's errors; cells that failed are left out."""

    def draw(cell: Cell) -> Any:
        given = job.kind.read(cell, job.protocol)
        return error_sheet(given.truths[0], given.prediction, given.extras["masks"], title=cell.system)

    _write_pictures(folder, cells, draw)


def _write_pictures(folder: Path, cells: Iterable[Cell], draw: Callable[[Cell], Any]) -> None:
    for cell in cells:
        try:
            picture = draw(cell)
        except InputError:
            continue  # has failed its own cell
        inside = folder.joinpath(
            *(folder_name(part) for part in cell.system.split("/"))
        )  # operating points have a folder each
        inside.mkdir(parents=True, exist_ok=True)
        with output_file(inside / f"{folder_name(cell.image)}.png") as part:
            write_png(part, picture)


def write_audit_figures(folder: Path, audit: AuditFindings, cells: Iterable[Cell], kind: Kind) -> list[Path]:
    """Charts as PDF, SVG and PNG, and the first images with their labels coloured by strength."""
    charts: dict[str, Any] = {"labels": charts_audit.label_chart(audit.labels)}
    if audit.labels.matrix is not None and len(audit.labels.matrix) > 1:
        charts["agreement"] = charts_audit.agreement_chart(audit.labels.matrix)
    if audit.systems:
        charts["strength"] = charts_audit.strength_chart(audit.systems)
        charts["curves"] = charts_audit.label_curves_chart(audit.systems)
        charts["optimal"] = charts_audit.optimal_chart(audit.systems)
        charts["output"] = charts_audit.output_chart(audit.systems)
    paths = [
        theme.save(chart, folder / f"{name}.{suffix}", signature=audit.signature)
        for name, chart in charts.items()
        for suffix in KINDS
    ]
    drawn = islice((cell for cell in cells if cell.image in audit.labels.images), MOST_PICTURES)
    return paths + [_draw_strength(cell, folder, kind) for cell in drawn]


def _draw_strength(cell: Cell, folder: Path, kind: Kind) -> Path:
    people = strengths(kind.truths(cell))
    photograph = None if cell.picture is None else read_image(cell.picture)
    if photograph is not None and (photograph.shape[:2] != people.drawn_by[0].shape or photograph.dtype != "uint8"):
        photograph = None
    path = folder / f"strength-{folder_name(cell.image)}.png"
    with output_file(path) as part:
        Image.fromarray(charts_audit.strength_picture(people, photograph)).save(part, optimize=True)
    return path
