"""Region measures in a report: covering, Rand index and variation of information, and how they change with the level."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.boundary import Protocol as Boundaries
from hyperacuity.boundary import overlays
from hyperacuity.maps import EdgeMap, LabelMap, boundary_marks
from hyperacuity.regions import collect
from hyperacuity.regions.benchmark import RegionScore
from hyperacuity.regions.levels import Levels
from hyperacuity.report import theme
from hyperacuity.report.pictures import layers
from hyperacuity.report.pictures.slider import Budget, with_slider
from hyperacuity.report.sheets.engine import Judged, TaskSheet
from hyperacuity.report.sheets.sheet import Figure
from hyperacuity.report.sheets.viewer import PHOTO, Layer, Shared, Viewer, legend
from hyperacuity.run import Cell


def _figures(judged: Judged) -> list[Figure]:
    words = "The covering of the annotators' regions at every level, a curve for each system; higher is better."
    draw = partial(_covering_over_level, judged.scores)
    return [Figure("covering-over-level", "Covering over the level", words, draw, fluid=True)]


def _covering_over_level(scores: Mapping[str, RegionScore], hover: bool) -> Any:
    import altair as alt

    rows = [
        {"system": system, "level": round(float(level), 3), "covering": round(float(value), 4)}
        for system, score in scores.items()
        for level, value in zip(score.levels, score.curves[0], strict=True)
    ]
    colour, dash, _ = theme.channels(theme.systems(list(scores)), legend=theme.key(len(scores)))
    base = theme.chart(rows).encode(
        x=alt.X("level:Q", scale=alt.Scale(nice=False)),
        y=alt.Y("covering:Q", scale=alt.Scale(domain=[0, 1])),
        color=colour,
        strokeDash=dash,
    )
    return base.mark_line(point=len(rows) <= len(scores)).properties(width=theme.ONE_COLUMN, height=220)


class RegionViewer(Viewer):
    """Borders of regions at every level.

    Covering has no hits and misses of its own; borders are matched as the boundary benchmark does it, with its tolerance.
    """

    layers = (
        Layer("match", "Borders", "Borders of regions at the level, against those that people drew"),
        Layer("prediction", "All levels", "Borders of the system's regions; the darker, the longer they last"),
        Layer("truth", "Truth", "Borders that people drew; the darker, the more of them"),
        PHOTO,
    )
    legend = legend(
        "a border, matched with what somebody drew nearby",
        "a border, matched with nothing that anybody drew",
        "a border that somebody drew, but the system lacks",
    )

    def shared(self, cell: Cell) -> Shared:
        """The borders that people drew."""
        truths = [np.asarray(boundary_marks(labels), np.bool_) for labels in self.reader.truths(cell)]
        return Shared(truths[0].shape, {"truth": layers.drawn(truths, 2)}, truths)

    def of_system(self, system: str, cell: Cell, truth: list[EdgeMap], budget: Budget) -> dict[str, Any]:
        """A system's borders, and how they match at each level."""
        borders = _borders(self.reader.prediction(cell, self.protocol))
        here = collect({cell.image: self.grid.tally(system, cell.image)}, resamples=1)
        everywhere = self.scores[system]
        slider = with_slider(
            {"prediction": layers.soft_picture(np.mean(borders, axis=0, dtype=np.float32), budget.share() // 2)},
            _matched(borders, truth),
            everywhere.levels,
            dict(zip(("covering", "PRI", "VI"), np.round(here.curves, 3).tolist(), strict=True)),
            curve=everywhere.curves[0],
            best=int(np.argmin(np.abs(everywhere.levels - everywhere.covering.level))),
            budget=budget,
        )
        return slider | {"what": "Level"}


def _borders(prediction: Levels | list[LabelMap]) -> NDArray[np.bool_]:
    """Borders of regions, a picture per level."""
    if not isinstance(prediction, Levels):
        return np.stack([boundary_marks(labels) for labels in prediction])
    borders: list[NDArray[np.bool_]] = []
    for level, joins in enumerate(prediction.ends):
        same = level > 0 and joins == prediction.ends[level - 1]
        borders.append(borders[-1] if same else boundary_marks(prediction.at(level)))
    return np.stack(borders)


def _matched(borders: NDArray[np.bool_], truths: list[EdgeMap]) -> NDArray[np.uint8]:
    """Hits, false and missed borders, a picture per level. Borders of a hierarchy only vanish, so one pass does them all."""
    nested = bool((borders[1:] <= borders[:-1]).all())
    if nested:
        count = len(borders)
        lasting = (borders.sum(axis=0) / count).astype(np.float32)
        thresholds = tuple((np.arange(count) + 0.5) / count)
        return overlays(lasting, truths, Boundaries(thin=False, thresholds=thresholds))
    alone = Boundaries(thin=False, thresholds=(0.5,))
    return np.concatenate([overlays(one.astype(np.float32), truths, alone) for one in borders])


SHEET = TaskSheet(RegionViewer, _figures)
