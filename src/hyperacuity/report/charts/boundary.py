"""Charts of the boundary benchmark: precision over recall, F over thresholds, and how images scatter."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np

from hyperacuity.boundary import BoundaryScore, Point
from hyperacuity.report import theme

ISO_F = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
FEW = 8
"""Systems up to which the key fits inside the chart."""


def precision_recall(scores: Mapping[str, BoundaryScore], *, human: Point | None = None, hover: bool = False) -> Any:
    """Precision over recall, a curve per system with its best point (ODS), lines of equal F, and people as a black diamond.

    Systems stand in the key in the order given, with their ODS. With ``hover``, each point of a curve tells its threshold.
    """
    names = _names(scores)
    colour, dash, shape = theme.channels(theme.systems(list(scores)), names=names, legend=_key(len(scores)))
    axis = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1.0], format=".1f")
    square = alt.Scale(domain=[0, 1], nice=False)
    x, y = alt.X("recall:Q", scale=square, axis=axis), alt.Y("precision:Q", scale=square, axis=axis)
    curves = _curves(scores, names).encode(
        x=x.title("recall"), y=y.title("precision"), color=colour, order=alt.Order("threshold:Q")
    )
    tooltip = tooltip_of("threshold", "precision", "recall", "F")
    points = (
        _best(scores, names)
        .mark_point(filled=True, size=70, opacity=1, stroke=theme.GROUND, strokeWidth=0.7)
        .encode(x=x, y=y, color=colour, shape=shape, tooltip=tooltip)
    )
    layers = [
        *theme.iso_f(x, y, ISO_F, labels=8),
        curves.mark_line(strokeWidth=1.6).encode(strokeDash=dash),
        *([curves.mark_circle(size=60, opacity=0).encode(tooltip=tooltip)] if hover else []),
        points,
    ]
    if human is not None and not math.isnan(human.f):
        layers += _people(human, x, y)
    return alt.layer(*layers).properties(width=theme.ONE_COLUMN, height=theme.ONE_COLUMN)


def f_over_threshold(scores: Mapping[str, BoundaryScore], *, hover: bool = False) -> Any:
    """F at each threshold, a curve per system, with the best one marked: how much does the choice of threshold matter?"""
    names = _names(scores)
    colour, dash, shape = theme.channels(theme.systems(list(scores)), names=names)
    stacks = all(score.protocol.thresholds == "levels" for score in scores.values())
    x = alt.X("threshold:Q", title="level" if stacks else "threshold", scale=alt.Scale(nice=False))
    y = alt.Y("F:Q", scale=alt.Scale(domain=[0, 1]), title="F")
    tooltip = tooltip_of("threshold", "F")
    lines = _curves(scores, names).encode(x=x, y=y, color=colour)
    marks = _best(scores, names).mark_point(filled=True, size=60, opacity=1)
    layers = [
        lines.mark_line().encode(strokeDash=dash),
        *([lines.mark_circle(opacity=0, size=50).encode(tooltip=tooltip)] if hover else []),
        marks.encode(x=x, y=y, color=colour, shape=shape, tooltip=tooltip),
    ]
    return alt.layer(*layers).properties(width=theme.ONE_COLUMN, height=200)


def scatter_of_images(scores: Mapping[str, BoundaryScore]) -> Any:
    """Every image's own best F, a row per system, the median marked: is a system good everywhere, or only on average?"""
    names = _names(scores)
    colour, _, _ = theme.channels(theme.systems(list(scores)), names=names)
    rows = [
        {"system": names[system], "image": image, "F": round(point.f, 4)}
        for system, score in scores.items()
        for image, point in zip(score.images, score.per_image, strict=True)
    ]
    base = theme.chart(rows).encode(
        x=alt.X("F:Q", title="best F of an image", scale=alt.Scale(domain=[0, 1])),
        y=alt.Y("system:N", title=None, sort=list(names.values()), axis=alt.Axis(labelLimit=140)),
    )
    ticks = base.mark_tick(thickness=1.5, size=11, opacity=0.7)
    dots = ticks.encode(color=colour, tooltip=["system:N", "image:N", "F:Q"])
    median = base.mark_tick(thickness=2.5, size=17, color=theme.INK).encode(x=alt.X("median(F):Q"))
    return (dots + median).properties(width=theme.ONE_COLUMN, height=22 * len(scores))


def _names(scores: Mapping[str, BoundaryScore]) -> dict[str, str]:
    """Labels of systems in keys: their ODS, then their name."""
    return {system: f"{score.ods.f:.3f}  {system}" for system, score in scores.items()}


def _key(systems: int) -> Any:
    """One key for colour, marker and dash."""
    inside = {"orient": "bottom-left", "fillColor": theme.GROUND, "padding": 4, "cornerRadius": 3}
    below = {"orient": "bottom", "columns": 2, "symbolLimit": 0}
    options: dict[str, Any] = inside if systems <= FEW else below
    return alt.Legend(title="ODS", labelLimit=180, symbolStrokeWidth=2, **options)


def tooltip_of(*names: str) -> list[Any]:
    """Tooltip of a system: its name and numbers."""
    return [alt.Tooltip("system:N"), *(alt.Tooltip(f"{name}:Q", format=".3f") for name in names)]


def _curves(scores: Mapping[str, BoundaryScore], names: Mapping[str, str]) -> Any:
    return theme.chart(
        {"system": names[system], "threshold": round(t, 4), "recall": round(r, 4), "precision": round(p, 4), "F": round(f, 4)}
        for system, score in scores.items()
        for t, r, p, f in np.stack([score.curve.threshold, score.curve.recall, score.curve.precision, score.curve.f], 1).tolist()
        if f > 0  # nothing detected has no precision
    )  # fmt: skip


def _best(scores: Mapping[str, BoundaryScore], names: Mapping[str, str]) -> Any:
    return theme.chart(
        {"system": names[system], "threshold": p.threshold, "recall": p.recall, "precision": p.precision, "F": p.f}
        for system, p in ((system, score.ods) for system, score in scores.items())
    )


def _people(human: Point, x: Any, y: Any) -> list[Any]:
    row = {"recall": human.recall, "precision": human.precision, "F": human.f, "who": f"people {human.f:.2f}"}
    base = theme.chart([row]).encode(x=x, y=y)
    mark = base.mark_point(shape=theme.HUMAN.marker, filled=True, size=90, color=theme.HUMAN.colour, opacity=1)
    tooltip = [alt.Tooltip("who:N"), *(alt.Tooltip(f"{n}:Q", format=".3f") for n in ("precision", "recall"))]
    return [mark.encode(tooltip=tooltip), base.mark_text(align="left", dx=8, dy=1).encode(text="who:N")]
