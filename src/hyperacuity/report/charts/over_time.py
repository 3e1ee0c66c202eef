"""Charts of scores over time: series with their intervals, and what does not change beside them; single images."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from operator import sub
from typing import Any

import altair as alt

from hyperacuity.report import theme

WIDTH, HEIGHT = theme.TWO_COLUMNS, 300

FEW = 12
"""Numbers up to which each has its tick."""

LEVELS = {"people": (theme.HUMAN.colour, [1, 0]), "chance": (theme.FAINT, [1, 3]), "system": (theme.FAINT, [6, 3])}
"""Ink and dash of what does not change."""


def score_over_time(
    rows: Sequence[Mapping[str, Any]],
    levels: Sequence[tuple[str, float, str]],
    *,
    title: str,
    along: str,
    kind: str,
    digits: int = 3,
) -> Any:
    """Curves with bands of 95 % intervals, a line for each level, and every point's numbers on hover.

    ``rows`` have ``series``, ``x``, ``point``, ``score``, ``low``, ``high``, ``images`` and ``state`` (``whole`` or ``so
    far``). ``levels`` are (name, score, kind): ``people``, ``chance``, or ``system`` for one that does not change. ``along`` is
    what x counts, ``kind`` its type: ``Q`` numbers, ``T`` times, ``O`` names in their order.
    """
    styles = theme.systems(list(dict.fromkeys(row["series"] for row in rows)))
    colour, dash, shape = theme.channels(
        styles, "series", legend=theme.key(len(styles), orient="top", labelLimit=220, symbolLimit=0)
    )
    x = _x(kind, along, rows)
    y = alt.Y("score:Q", title=title, scale=alt.Scale(zero=False, nice=True))
    number = f".{digits}f"
    tooltip = [
        alt.Tooltip("point:N", title=" "),
        alt.Tooltip("score:Q", title=title, format=number),
        alt.Tooltip("low:Q", title="from", format=number),
        alt.Tooltip("high:Q", title="to", format=number),
        alt.Tooltip("images:Q", title="images"),
        alt.Tooltip("state:N", title="state"),
    ]
    count = Counter(row["series"] for row in rows)
    plain = [
        {**row, "low": _or_none(row["low"]), "high": _or_none(row["high"]), "single": count[row["series"]] == 1}
        for row in rows
    ]
    base = theme.chart(plain).encode(x=x, color=colour)
    band = base.mark_area(opacity=0.16, line=False).encode(y=alt.Y("low:Q", title=title), y2="high:Q")
    single = "datum.single"  # a point alone has no band
    whiskers = base.transform_filter(single).mark_rule(strokeWidth=1.2, opacity=0.55).encode(y="low:Q", y2="high:Q")
    lines = base.mark_line(strokeWidth=1.8).encode(y=y, strokeDash=dash, order="place:Q")
    whole = (
        base.transform_filter("datum.state == 'whole'")
        .mark_point(filled=True, size=46, opacity=1, stroke=theme.GROUND, strokeWidth=0.7)
        .encode(y=y, shape=shape, tooltip=tooltip)
    )
    partly = (
        base.transform_filter("datum.state != 'whole'")
        .mark_point(filled=False, size=52, opacity=1, strokeWidth=1.6)
        .encode(y=y, shape=shape, tooltip=tooltip)
    )
    layers = [*_levels(levels, rows, title, number), band, whiskers, lines, whole, partly]
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)


def images_over_time(places: Sequence[Mapping[str, Any]], *, title: str, along: str, kind: str, digits: int = 3) -> Any:
    """The scores of single images over time. The chart has no rows: the page fills in those of the chosen images.

    ``places`` are the rows of the chart of scores, which has the same axis. Rows to fill in have ``image``, ``series``,
    ``x``, ``point``, ``place`` and ``score``.
    """
    number = f".{digits}f"
    x = _x(kind, along, places)
    scale = alt.Scale(range=[style.colour for style in theme.systems([str(n) for n in range(8)]).values()])
    shapes = alt.Scale(range=list(theme.MARKERS))
    legend = alt.Legend(title=None, orient="top", columns=3, labelLimit=170, symbolLimit=0)
    y = alt.Y("score:Q", title=f"{title} of the image", scale=alt.Scale(zero=False, nice=True))
    colour = alt.Color("image:N", scale=scale, legend=legend)
    base = theme.chart([]).encode(x=x, y=y, color=colour, detail="series:N")
    tooltip = [alt.Tooltip("image:N"), alt.Tooltip("point:N", title=" "), alt.Tooltip("score:Q", format=number)]
    points = base.mark_point(filled=True, size=40, opacity=1).encode(
        shape=alt.Shape("image:N", scale=shapes, legend=None), tooltip=tooltip
    )
    dashes = alt.Scale(range=[[1, 0], [6, 2], [2, 2], [8, 2, 2, 2]])
    lines = base.mark_line(strokeWidth=1.5).encode(
        order="place:Q", strokeDash=alt.StrokeDash("series:N", scale=dashes, legend=None)
    )
    return alt.layer(lines, points).properties(width=WIDTH, height=220)


def _x(kind: str, along: str, rows: Sequence[Mapping[str, Any]]) -> Any:
    if kind == "T":
        return alt.X("x:T", title=along, axis=alt.Axis(labelOverlap=True))
    if kind == "O":
        names = list(dict.fromkeys(row["x"] for row in rows))
        axis = alt.Axis(labelAngle=-30 if len(names) > 4 else 0, labelLimit=120, labelOverlap=True)
        return alt.X("x:O", title=along, sort=names or None, axis=axis)
    numbers = sorted({row["x"] for row in rows})
    ticks = {"values": numbers} if len(numbers) <= FEW else {"tickMinStep": min(map(sub, numbers[1:], numbers))}
    axis = alt.Axis(format="~s" if numbers and numbers[-1] >= 10_000 else "~r", labelOverlap=True, **ticks)
    return alt.X("x:Q", title=along, scale=alt.Scale(zero=False, nice=False, padding=12), axis=axis)


LABEL = 14
"""Pixels between the names of two levels."""


def _levels(
    levels: Sequence[tuple[str, float, str]], rows: Sequence[Mapping[str, Any]], title: str, number: str
) -> list[Any]:
    """Lines across the chart with their names at the left end, above the line or as near to it as other names allow."""
    known = [level for level in levels if math.isfinite(level[1])]
    if not known:
        return []
    ends = [row[end] for row in rows for end in ("score", "low", "high") if math.isfinite(row[end])]
    low, high = (pick([value for _, value, _ in known] + ends) for pick in (min, max))
    gap = LABEL * (high - low) / HEIGHT
    places = theme.spread([value for _, value, _ in known], gap, low=low, high=high)
    layers = []
    for kind, (ink, dash) in LEVELS.items():
        of_kind = [
            {"name": f"{name} {value:{number}}", "score": value, "label": place}
            for (name, value, of), place in zip(known, places, strict=True)
            if of == kind
        ]
        if of_kind:
            base = theme.chart(of_kind)
            lines = base.mark_rule(strokeWidth=1.1, color=ink, strokeDash=dash)
            names = base.mark_text(align="left", baseline="bottom", dx=4, dy=-2)
            layers.append(lines.encode(y=alt.Y("score:Q", title=title)))
            layers.append(names.encode(x=alt.value(0), y=alt.Y("label:Q", title=title), text="name:N"))
    return layers


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
