"""Charts of edge detectors under several measures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from hyperacuity.edges.benchmark import EdgeScore
from hyperacuity.edges.names import measure
from hyperacuity.edges.thresholds import Best
from hyperacuity.maps import EdgeMap
from hyperacuity.report import theme
from hyperacuity.report.pictures.layers import data_uri
from hyperacuity.report.pictures.maps import edge_picture

PANEL_HEIGHT = 110
WORSE = ("#f4efe9", "#e0c8ae", "#b98e5c", "#6f4a1f")
"""From the best score of a measure to the worst."""

MOST_NAMED = 10
"""Systems that a small panel has room to name."""


def mean_curves_chart(scores: Mapping[str, EdgeScore], *, columns: int = 3) -> Any:
    """One panel per measure: each system's score against the threshold, mean over images, its minimum marked.

    The minimum of the mean is no smaller than the mean of each image's minimum, by which systems are ranked.
    """
    protocol = next(iter(scores.values())).protocol
    panels = []
    for m, name in enumerate(protocol.names):
        curves = {system: score.curves[m] for system, score in scores.items() if not np.isnan(score.curves[m]).all()}
        if not curves:
            continue
        least = {system: int(np.nanargmin(curve)) for system, curve in curves.items()}
        panels.append(
            lines_panel(
                measure(name).symbol,
                protocol.levels.tolist(),
                curves,
                axis="threshold",
                columns=columns,
                top=2 * float(np.nanmedian(list(curves.values()))),
                marks={system: (float(protocol.levels[n]), float(curves[system][n])) for system, n in least.items()},
                named=len(curves) <= MOST_NAMED,
            )
        )
    return alt.concat(*panels, columns=columns, spacing=16, title="Mean score against the threshold, minimum marked")


def score_sheet_chart(scores: Mapping[str, EdgeScore]) -> Any:
    """Detectors × measures: the mean of the best scores, white for the best of a measure to dark for the worst; best bold."""
    names = next(iter(scores.values())).protocol.names
    table = np.array([score.minimum for score in scores.values()])
    lowest, highest = np.nanmin(table, axis=0), np.nanmax(table, axis=0)
    rows = [
        {
            "system": system,
            "measure": measure(name).symbol,
            "text": f"{table[s, m]:#.3g}".rstrip("."),
            "share": float((table[s, m] - lowest[m]) / (highest[m] - lowest[m])) if highest[m] > lowest[m] else 0.0,
            "best": bool(table[s, m] == lowest[m]),
        }
        for s, system in enumerate(scores)
        for m, name in enumerate(names)
        if not math.isnan(table[s, m])
    ]
    symbols = [measure(name).symbol for name in names]
    above = alt.Axis(orient="top", labelAngle=0, ticks=False, domain=False)
    base = theme.chart(rows).encode(
        x=alt.X("measure:N", sort=symbols, title=None, axis=above),
        y=alt.Y("system:N", sort=list(scores), title=None, axis=alt.Axis(ticks=False, domain=False, labelLimit=140)),
    )
    cells = base.mark_rect(stroke=theme.GROUND, strokeWidth=1.5).encode(
        color=alt.Color("share:Q", scale=alt.Scale(domain=[0, 1], range=list(WORSE)), legend=None)
    )
    ink = alt.condition("datum.share > 0.75", alt.value("#fefefe"), alt.value("#212121"))
    numbers = [
        base.transform_filter(f"{'' if best else '!'}datum.best")
        .mark_text(fontSize=9, fontWeight="bold" if best else "normal")
        .encode(text="text:N", color=ink)
        for best in (True, False)
    ]
    return alt.layer(cells, *numbers).properties(width=alt.Step(58), height=alt.Step(22))


def best_maps_chart(picture: str, truth: EdgeMap, best: Mapping[str, Mapping[str, Best]]) -> Any:
    """Best edge maps of one picture: one row per measure, one column per system, each with its threshold and score."""
    names = list(next(iter(best.values())))
    width = theme.TWO_COLUMNS // len(best) - 8
    height = round(width * truth.shape[0] / truth.shape[1])
    rows = []
    for name in names:
        lowest = min(of[name].score for of in best.values())
        cells = []
        for system, best_map in ((system, of[name]) for system, of in best.items()):
            weight: Any = "bold" if best_map.score == lowest else "normal"
            small: Any = {"subtitleFontSize": 8, "subtitleFontWeight": weight, "subtitleColor": theme.INK}
            numbers = [f"{measure(name).symbol} = {best_map.score:.3g}", f"Th = {best_map.threshold:.2f}"]
            heading = [system] if name == names[0] else []
            title = alt.TitleParams(heading, subtitle=numbers, anchor="middle", offset=2, limit=width, **small)
            drawn = edge_picture(truth, best_map.edges, side=2 * width)
            cells.append(_picture_cell(drawn, width, height).properties(title=title))
        rows.append(alt.hconcat(*cells, spacing=6))
    title = alt.TitleParams(
        f"{picture}: best edge map of each detector under each measure",
        subtitle="hits green, false alarms vermilion, misses blue; bold: the best of the row",
    )
    return alt.vconcat(*rows, spacing=4, title=title)


def _picture_cell(picture: NDArray[np.uint8], width: int, height: int) -> Any:
    unit: Any = {"scale": alt.Scale(domain=[0, 1]), "axis": None}
    return (
        theme.chart([{"x": 0.5, "y": 0.5, "url": data_uri(picture, 16)}], width=width, height=height)
        .mark_image(width=width, height=height, aspect=False)
        .encode(x=alt.X("x:Q", **unit), y=alt.Y("y:Q", **unit), url="url:N")
        .properties(view=alt.ViewConfig(stroke=theme.GRID))
    )


def lines_panel(
    title: str,
    xs: Sequence[float],
    curves: Mapping[str, NDArray[np.float64]],
    *,
    axis: str,
    columns: int,
    top: float,
    marks: Mapping[str, tuple[float, float]] | None = None,
    named: bool = True,
) -> Any:
    """Lines of several systems with their names at the right end; markers at every point, or where ``marks`` says.

    Scores above ``top`` are cut off; a line that ends there has an arrow beside its name.
    """
    points: list[dict[str, Any]] = [
        {"system": name, "x": float(x), "y": float(y)}
        for name, curve in curves.items()
        for x, y in zip(xs, curve, strict=True)
        if np.isfinite(y)
    ]
    values = np.concatenate(list(curves.values()))
    top = min(top, float(np.max(values, initial=0.0, where=np.isfinite(values)))) or 1.0
    ends = [float(np.nan_to_num(curve[-1], nan=top).clip(max=top)) for curve in curves.values()]
    heights = theme.spread(ends, top * 11 / PANEL_HEIGHT, low=0, high=top)
    labels = [
        {"system": name, "x": xs[-1], "y": height, "label": f"{name} ↑" if curve[-1] > top else name}
        for (name, curve), height in zip(curves.items(), heights, strict=True)
    ]
    marked = points
    if marks is not None:
        marked = [{"system": name, "x": x, "y": y} for name, (x, y) in marks.items()]
    colour, dash, shape = theme.channels(theme.systems(list(curves)))
    x = alt.X("x:Q", title=axis, scale=alt.Scale(domain=[xs[0], xs[-1]], nice=False), axis=alt.Axis(grid=False))
    y = alt.Y("y:Q", title=None, scale=alt.Scale(domain=[0, top * 1.02], nice=False), axis=alt.Axis(tickCount=4))
    lines = theme.chart(points).mark_line(clip=True).encode(x=x, y=y, color=colour, strokeDash=dash)
    dots = (
        theme.chart(point for point in marked if point["y"] <= top)
        .mark_point(opacity=1)
        .encode(x=x, y=y, color=colour, shape=shape)
    )
    layers = [lines, dots]
    if named:
        beside = theme.chart(labels)
        layers += [
            beside.mark_point(opacity=1, size=24, xOffset=10).encode(x=x, y=y, color=colour, shape=shape),
            beside.mark_text(align="left", dx=16, fontSize=8).encode(x=x, y=y, text="label:N"),
        ]
    return alt.layer(*layers, title=title).properties(width=theme.TWO_COLUMNS / columns - 84, height=PANEL_HEIGHT)
