"""Charts of the boundary benchmark: precision over recall, F over thresholds, and how images scatter."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from hyperacuity.boundary import BoundaryScore, Point
from hyperacuity.report import theme

ISO_F = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
FEW = 8
"""Systems up to which the key fits inside the chart."""


def precision_recall(
    scores: Mapping[str, BoundaryScore],
    *,
    human: Point | None = None,
    width: int = theme.ONE_COLUMN,
    hover: bool = False,
) -> Any:
    """Precision over recall, a curve per system with its best point (ODS), lines of equal F, and people as a black diamond.

    Systems stand in the key in the order given, with their ODS. With ``hover``, each point of a curve tells its threshold.
    """
    import altair as alt

    theme.register()
    styles = theme.systems(list(scores))
    names = _names(scores)
    axis = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1.0], format=".1f")
    square = alt.Scale(domain=[0, 1], nice=False)
    x, y = alt.X("recall:Q", scale=square, axis=axis), alt.Y("precision:Q", scale=square, axis=axis)
    curves = alt.Chart(_rows(_curve_rows(scores, names))).encode(
        x=x.title("recall"),
        y=y.title("precision"),
        color=_by_system(alt.Color, "colour", styles, names),
        order=alt.Order("threshold:Q"),
    )
    tooltip = [
        alt.Tooltip("system:N"),
        alt.Tooltip("threshold:Q", format=".3f"),
        *(alt.Tooltip(f"{name}:Q", format=".3f") for name in ("precision", "recall", "F")),
    ]
    best = [_best_row(names[system], score.ods) for system, score in scores.items()]
    points = (
        alt.Chart(_rows(best))
        .mark_point(filled=True, size=70, opacity=1, stroke=theme.GROUND, strokeWidth=0.7)
        .encode(
            x=x,
            y=y,
            color=_by_system(alt.Color, "colour", styles, names),
            shape=_by_system(alt.Shape, "marker", styles, names),
            tooltip=tooltip,
        )
    )
    layers = [
        *_iso_f(alt, x, y),
        curves.mark_line(strokeWidth=1.6).encode(strokeDash=_by_system(alt.StrokeDash, "dash", styles, names)),
        *([curves.mark_circle(size=60, opacity=0).encode(tooltip=tooltip)] if hover else []),
        points,
    ]
    if human is not None and not math.isnan(human.f):
        layers += _people(alt, human, x, y)
    return alt.layer(*layers).properties(width=width, height=width)


def f_over_threshold(
    scores: Mapping[str, BoundaryScore], *, width: int = theme.ONE_COLUMN, height: int = 200, hover: bool = False
) -> Any:
    """F at each threshold, a curve per system, with the best one marked: how much does the choice of threshold matter?"""
    import altair as alt

    theme.register()
    styles = theme.systems(list(scores))
    names = _names(scores)
    stacks = all(score.protocol.thresholds == "levels" for score in scores.values())
    title = "level" if stacks else "threshold"
    x = alt.X("threshold:Q", title=title, scale=alt.Scale(nice=False))
    y = alt.Y("F:Q", scale=alt.Scale(domain=[0, 1]), title="F")
    colour = _by_system(alt.Color, "colour", styles, names, legend=False)
    tooltip = [alt.Tooltip("system:N"), *(alt.Tooltip(f"{name}:Q", format=".3f") for name in ("threshold", "F"))]
    lines = alt.Chart(_rows(_curve_rows(scores, names))).encode(x=x, y=y, color=colour)
    dash = _by_system(alt.StrokeDash, "dash", styles, names, legend=False)
    best = [_best_row(names[system], score.ods) for system, score in scores.items()]
    marks = (
        alt.Chart(_rows(best))
        .mark_point(filled=True, size=60, opacity=1)
        .encode(
            x=x, y=y, color=colour, shape=_by_system(alt.Shape, "marker", styles, names, legend=False), tooltip=tooltip
        )
    )
    layers = [lines.mark_line().encode(strokeDash=dash)]
    if hover:
        layers.append(lines.mark_circle(opacity=0, size=50).encode(tooltip=tooltip))
    return alt.layer(*layers, marks).properties(width=width, height=height)


def scatter_of_images(scores: Mapping[str, BoundaryScore], *, width: int = theme.ONE_COLUMN) -> Any:
    """Every image's own best F, a row per system, the median marked: is a system good everywhere, or only on average?"""
    import altair as alt

    theme.register()
    styles = theme.systems(list(scores))
    names = _names(scores)
    rows = [
        {"system": names[system], "image": image, "F": round(point.f, 4)}
        for system, score in scores.items()
        for image, point in zip(score.images, score.per_image, strict=True)
    ]
    base = alt.Chart(_rows(rows)).encode(
        x=alt.X("F:Q", title="best F of an image", scale=alt.Scale(domain=[0, 1])),
        y=alt.Y("system:N", title=None, sort=list(names.values()), axis=alt.Axis(labelLimit=140)),
    )
    dots = base.mark_tick(thickness=1.5, size=11, opacity=0.7).encode(
        color=_by_system(alt.Color, "colour", styles, names, legend=False), tooltip=["system:N", "image:N", "F:Q"]
    )
    median = base.mark_tick(thickness=2.5, size=17, color=theme.INK).encode(x=alt.X("median(F):Q"))
    return (dots + median).properties(width=width, height=22 * len(scores))


def _names(scores: Mapping[str, BoundaryScore]) -> dict[str, str]:
    """What systems are called in keys: their ODS, then their name."""
    return {system: f"{score.ods.f:.3f}  {system}" for system, score in scores.items()}


def _curve_rows(scores: Mapping[str, BoundaryScore], names: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {"system": names[system], "threshold": round(t, 4), "recall": round(r, 4), "precision": round(p, 4), "F": round(f, 4)}
        for system, score in scores.items()
        for t, r, p, f in np.stack([score.curve.threshold, score.curve.recall, score.curve.precision, score.curve.f], 1).tolist()
        if f > 0  # nothing detected has no precision
    ]  # fmt: skip


def _rows(values: list[dict[str, Any]]) -> Any:
    import altair as alt

    return alt.InlineData(values=values)


def _best_row(name: str, point: Point) -> dict[str, Any]:
    return {
        "system": name,
        "threshold": point.threshold,
        "recall": point.recall,
        "precision": point.precision,
        "F": point.f,
    }


def _by_system(
    channel: Any, part: str, styles: Mapping[str, theme.Style], names: Mapping[str, str], *, legend: bool = True
) -> Any:
    """An encoding that gives every system its own colour, marker or dash, in one key for all three."""
    import altair as alt

    domain = list(names.values())
    scale = alt.Scale(domain=domain, range=[getattr(styles[system], part) for system in names])
    inside = {"orient": "bottom-left", "fillColor": theme.GROUND, "padding": 4, "cornerRadius": 3}
    below = {"orient": "bottom", "columns": 2, "symbolLimit": 0}
    look: dict[str, Any] = inside if len(domain) <= FEW else below
    key = alt.Legend(title="ODS", labelLimit=180, symbolStrokeWidth=2, **look) if legend else None
    return channel("system:N", scale=scale, legend=key)


def _iso_f(alt: Any, x: Any, y: Any) -> list[Any]:
    """Thin grey lines on which F is the same, each with its value at the right."""
    rows = [
        {"level": f, "recall": round(recall, 4), "precision": round(f * recall / (2 * recall - f), 4)}
        for f in ISO_F
        for recall in np.geomspace(f / (2 - f), 1, 40).tolist()
    ]
    lines = alt.Chart(_rows(rows)).mark_line(color=theme.ISO, strokeWidth=1).encode(x=x, y=y, detail="level:N")
    ends = [{"recall": 1.0, "precision": f / (2 - f), "label": f"{f:.1f}"} for f in ISO_F]
    labels = (
        alt.Chart(_rows(ends))
        .mark_text(align="left", dx=4, fontSize=8, color=theme.FAINT)
        .encode(x=x, y=y, text="label:N")
    )
    return [lines, labels]


def _people(alt: Any, human: Point, x: Any, y: Any) -> list[Any]:
    row = [{"recall": human.recall, "precision": human.precision, "F": human.f, "who": f"people {human.f:.2f}"}]
    base = alt.Chart(_rows(row)).encode(x=x, y=y)
    mark = base.mark_point(shape=theme.HUMAN.marker, filled=True, size=90, color=theme.HUMAN.colour, opacity=1)
    tooltip = [alt.Tooltip("who:N"), *(alt.Tooltip(f"{n}:Q", format=".3f") for n in ("precision", "recall"))]
    return [mark.encode(tooltip=tooltip), base.mark_text(align="left", dx=8, dy=1).encode(text="who:N")]
