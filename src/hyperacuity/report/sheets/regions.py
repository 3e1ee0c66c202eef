"""Region measures in a report: covering, Rand index and variation of information, and how they change with the level."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hyperacuity.data import read_image, read_segmentations, read_soft
from hyperacuity.errors import InputError
from hyperacuity.maps import SoftMap, boundary_marks
from hyperacuity.regions import Protocol, collect
from hyperacuity.report import layers, theme
from hyperacuity.report.gather import Grid
from hyperacuity.report.sheet import Column, Each, Figure, Layer, Sheet, Viewer
from hyperacuity.report.sheets.judged import Judged, judge, judged_sheet
from hyperacuity.run import Cell

COLUMNS = (
    Column("covering", "covering", note="Of the annotators' regions, at the best level for all images"),
    Column("pri", "PRI", note="Probabilistic Rand index, at the best level for all images"),
    Column("vi", "VI", better="min", note="Variation of information, at the best level for all images"),
)


def sheet(grid: Grid, each: Each) -> Sheet:
    """The regions part of a report."""
    judged = judge(grid, COLUMNS)
    layer = (
        Layer("prediction", "Prediction", "Borders of the system's regions; the darker, the longer they last"),
        Layer("truth", "Truth", "Borders that people drew; the darker, the more of them"),
        Layer("photo", "Photograph"),
    )
    return judged_sheet(
        grid,
        judged,
        title="Regions",
        figures=_figures(judged, Protocol(**grid.options["protocol"])) if judged.lines else (),
        viewer=Viewer(layer, (), _look(judged, grid.options.get("form"))),
    )


def _figures(judged: Judged, protocol: Protocol) -> tuple[Figure, ...]:
    scores = {line.system: collect(judged.tallies[line.system], protocol, resamples=1) for line in judged.lines}

    def draw(hover: bool) -> Any:
        import altair as alt

        theme.register()
        styles = theme.systems(list(scores))
        names = list(scores)
        key = alt.Legend(title=None, orient="bottom", columns=3) if len(names) > 1 else None
        rows = [
            {"system": system, "level": round(float(level), 3), "covering": round(float(value), 4)}
            for system, score in scores.items()
            for level, value in zip(score.levels, score.curves[0], strict=True)
        ]
        base = alt.Chart(alt.InlineData(values=rows)).encode(
            x=alt.X("level:Q", scale=alt.Scale(nice=False)),
            y=alt.Y("covering:Q", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color(
                "system:N", scale=alt.Scale(domain=names, range=[styles[n].colour for n in names]), legend=key
            ),
            strokeDash=alt.StrokeDash(
                "system:N", scale=alt.Scale(domain=names, range=[styles[n].dash for n in names]), legend=key
            ),
        )
        return base.mark_line(point=len(rows) <= len(names)).properties(width=theme.ONE_COLUMN, height=220)

    words = "The covering of the annotators' regions at every level, a curve for each system; higher is better."
    return (Figure("covering-over-level", "Covering over the level", words, draw),)


def _look(judged: Judged, form: object) -> Any:
    def look(image: str, cells: Mapping[str, Cell]) -> dict[str, Any]:
        some = next(iter(cells.values()))
        truths = [np.asarray(boundary_marks(labels), np.bool_) for labels in read_segmentations(some.truths)]
        height, width = truths[0].shape
        shared: dict[str, Any] = {"truth": layers.strength(layers.agreement(truths, 2), len(truths))}
        if some.picture is not None:
            shared["photo"] = layers.photograph(read_image(some.picture))
        systems: list[dict[str, Any]] = []
        for line in judged.lines:
            try:
                systems.append({"prediction": layers.soft_picture(_borders(cells[line.system], form))})
            except KeyError:
                systems.append({"missing": "this system was not run on this image"})
            except InputError as error:
                systems.append({"missing": str(error)})
        return {"size": [width, height], "shared": shared, "systems": systems}

    return look


def _borders(cell: Cell, form: object) -> SoftMap:
    """How long each border lasts: over the levels of a stack of segmentations, or as a contour map says."""
    if form in ("soft", "ucm"):
        return read_soft(cell.prediction)
    try:
        stack = read_segmentations([cell.prediction])
    except InputError:
        return read_soft(cell.prediction)
    return np.asarray(np.mean([boundary_marks(labels) for labels in stack], axis=0), np.float32)
