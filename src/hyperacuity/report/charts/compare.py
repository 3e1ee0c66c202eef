"""Charts of a comparison: the front, parallel coordinates, rank against group, who dominates whom, critical
difference.

Groups run from dark (the optimal set) to light, and each has a dash and a marker of its own as well.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from hyperacuity.compare import CriticalDifference, Ranking, direct
from hyperacuity.report import theme

_GROUPS = ("#1b1b3a", "#4d5a9a", "#8d9cc8", "#b4bedd")
_DASHES = ([1, 0], [6, 2], [2, 2], [1, 3])
_MARKERS = ("circle", "square", "triangle-up", "diamond")
LAST = len(_GROUPS)
"""Groups from this one on look alike: they are far from the optimum."""


def front_chart(ranking: Ranking) -> Any:
    """Two criteria: every system a point, the optimal ones joined by the staircase of what nothing dominates."""
    width = theme.ONE_COLUMN
    domains = [_padded(column) for column in ranking.values.T]
    low, span = (np.array(part) for part in zip(*((low, high - low) for low, high in domains), strict=True))
    spots = _beside(width * (ranking.values - low) / span, ranking.systems, width)
    points: list[dict[str, Any]] = [
        {"system": name, "x": float(x), "y": float(y), "group": _group(group)}
        for name, (x, y), group in zip(ranking.systems, ranking.values, ranking.group, strict=True)
    ]
    named = [
        {"system": row["system"], "x": row["x"], "y": row["y"], "side": side}
        | dict(zip(("x2", "y2"), (low + np.array(at) * span / width).tolist(), strict=True))
        for row, (side, at) in zip(points, spots, strict=True)
    ]
    x, y = (
        kind(
            f"{name}:Q",
            title=f"{component} ({'lower' if sense == 'min' else 'higher'} is better)",
            scale=alt.Scale(domain=domain, nice=False),
        )
        for kind, name, component, sense, domain in zip(
            (alt.X, alt.Y), "xy", ranking.components, ranking.senses, domains, strict=True
        )
    )
    front = sorted((row["x"], row["y"]) for row, best in zip(points, ranking.optimal, strict=True) if best)
    step: Any = "step-after" if ranking.senses[1] == "min" else "step-before"
    stairs = theme.chart([{"x": a, "y": b} for a, b in front])
    line = stairs.mark_line(interpolate=step, color=_GROUPS[0], strokeWidth=1, opacity=0.6)
    leaders = theme.chart(named).mark_rule(color=theme.FAINT, strokeWidth=0.5).encode(x=x, y=y, x2="x2", y2="y2")
    colour, shape = _channels(legend=True)
    dots = theme.chart(points).mark_point(filled=True, size=45, opacity=1).encode(x=x, y=y, color=colour, shape=shape)
    aligned: tuple[tuple[Any, int], ...] = (("left", 2), ("right", -2))
    labels = [
        theme.chart(row for row in named if row["side"] == side)
        .mark_text(align=side, baseline="middle", dx=dx, fontSize=8)
        .encode(x=alt.X("x2:Q"), y=alt.Y("y2:Q"), text="system:N")
        for side, dx in aligned
    ]
    layers = [line.encode(x=x, y=y), leaders, dots.encode(tooltip=["system:N", "group:N", "x:Q", "y:Q"]), *labels]
    return alt.layer(*layers).properties(width=width, height=width)


def _padded(values: NDArray[np.float64]) -> list[float]:
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    margin = 0.08 * ((high - low) or 1.0)
    return [low - margin, high + margin]


def _beside(at: NDArray[np.float64], names: Sequence[str], width: int) -> list[tuple[str, tuple[float, float]]]:
    """Place each label near its point, where neither points nor labels cover it; a letter is about 4.4 × 10 pixels."""
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in at]
    chosen = []
    for (x, y), name in zip(at.tolist(), names, strict=True):
        tried = []
        for far, turn in itertools.product((5, 14, 24, 36, 50, 66), (0, 4, 1, 7, 3, 5, 2, 6)):
            across, up = far * math.cos(turn * math.pi / 4), far * math.sin(turn * math.pi / 4)
            side = "left" if across > -1 else "right"
            end = x + across + (2 + 4.4 * len(name)) * (1 if side == "left" else -1)
            box = (min(x + across, end), y + up - 5, max(x + across, end), y + up + 5)
            inside = box[0] >= 0 and box[2] <= width + 90 and box[1] >= 0 and box[3] <= width
            covered = sum(box[0] < t[2] and t[0] < box[2] and box[1] < t[3] and t[1] < box[3] for t in taken)
            tried.append((not inside, covered, far, side, (x + across, y + up), box))
        _, _, _, side, spot, box = min(tried, key=lambda one: (one[1], one[0], one[2]))
        taken.append(box)
        chosen.append((side, spot))
    return chosen


def parallel_chart(ranking: Ranking, *, width: int = theme.TWO_COLUMNS) -> Any:
    """More criteria: a line per system across all of them, each axis from the best value (bottom) to the worst (top)."""
    height = 240
    least = np.where([sense == "max" for sense in ranking.senses], -1, 1) * ranking.values
    low, high = np.nanmin(least, axis=0), np.nanmax(least, axis=0)
    shares, values = ((least - low) / np.where(high > low, high - low, 1)).tolist(), ranking.values.tolist()
    rows: list[dict[str, Any]] = [
        {"system": name, "group": _group(g), "criterion": of, "index": c, "share": shares[i][c], "value": values[i][c]}
        for i, (name, g) in enumerate(zip(ranking.systems, ranking.group, strict=True))
        for c, of in enumerate(ranking.components)
        if not math.isnan(shares[i][c])
    ]
    count = len(ranking.components)
    names = f"{json.dumps(list(ranking.components))}[datum.value]"
    slanted: Any = {"labelAngle": -35 if count > 5 else 0, "labelOverlap": False, "labelExpr": names}
    across = alt.Axis(values=[*range(count)], title=None, tickCount=count, grid=True, domain=False, **slanted)
    scale = "best ← each criterion's own scale → worst"
    up = alt.Axis(values=[0, 1], title=scale, labelExpr="datum.value == 0 ? 'best' : 'worst'")
    x = alt.X("index:Q", scale=alt.Scale(domain=[-0.2, count - 0.9], nice=False), axis=across)
    y = alt.Y("share:Q", axis=up)
    lines = [  # the optimal set last, on top
        theme.chart([row for row in rows if row["group"] == _group(n)])
        .mark_line(strokeWidth=1.4, opacity=0.9, color=_GROUPS[n], strokeDash=_DASHES[n])
        .encode(x=x, y=y, detail="system:N")
        for n in reversed(range(LAST))
    ]
    colour, shape = _channels(legend=True)
    tooltip = ["system:N", "group:N", "criterion:N", "value:Q"]
    points = theme.chart(rows).mark_point(filled=True, size=18, opacity=1)
    dots = points.encode(x=x, y=y, color=colour, shape=shape, tooltip=tooltip)
    ends = [row for row in rows if row["index"] == count - 1]
    heights = theme.spread([row["share"] for row in ends], 11 / height, low=0, high=1)
    named = [row | {"at": at, "end": count - 1 + 0.035 * count} for row, at in zip(ends, heights, strict=True)]
    leaders = theme.chart(named).mark_rule(color=theme.FAINT, strokeWidth=0.5).encode(x=x, y=y, x2="end", y2="at")
    texts = theme.chart(named).mark_text(align="left", dx=3, fontSize=8)
    labels = texts.encode(x=alt.X("end:Q", axis=across), y=alt.Y("at:Q", axis=up), text="system:N")
    return alt.layer(leaders, *lines, dots, labels).properties(width=width - 110, height=height)


def rank_group_chart(ranking: Ranking, *, stability: NDArray[np.float64] | None = None) -> Any:
    """Rank against group, as a table: average rank as the Middlebury server has it, the group by dominance beside it.

    ``stability`` adds how often each system is optimal when images are resampled.
    """
    order = np.argsort(ranking.average_rank, kind="stable")
    often = [None] * len(order) if stability is None else [f"{100 * share:.0f} %" for share in stability]
    name, rank, group = ranking.systems, ranking.average_rank.tolist(), ranking.group.tolist()
    rows = [
        {"system": name[i], "rank": rank[i], "number": group[i] + 1, "group": _group(group[i]), "often": often[i]}
        for i in order
    ]
    beside = alt.Axis(labelLimit=220, ticks=False, domain=False)
    y = alt.Y("system:N", sort=[row["system"] for row in rows], title=None, axis=beside)
    base = theme.chart(rows).encode(y=y)
    x = alt.X("rank:Q", title="average rank", axis=alt.Axis(orient="top"))
    bars = base.mark_bar(height=3, color=theme.GRID).encode(x=x)
    colour, shape = _channels()
    dots = base.mark_point(filled=True, size=40, opacity=1).encode(x="rank:Q", color=colour, shape=shape)
    texts = base.mark_text(align="left", dx=7, fontSize=8).encode(x="rank:Q", text=alt.Text("rank:Q", format=".2f"))
    ranks = alt.layer(bars, dots, texts).properties(width=theme.TWO_COLUMNS * 0.42)
    count = int(ranking.group.max()) + 1
    scale, above = alt.Scale(domain=list(range(1, count + 1))), alt.Axis(orient="top", labelAngle=0)
    unnamed = theme.chart(rows).encode(y=y.axis(None))
    groups = (
        unnamed.mark_point(filled=True, size=70, opacity=1)
        .encode(x=alt.X("number:O", title="group by dominance", axis=above, scale=scale), color=colour, shape=shape)
        .properties(width=min(theme.TWO_COLUMNS * 0.3, 26 * count))
    )
    title = alt.TitleParams("in A*, resampled", fontSize=9, anchor="middle")
    shares = unnamed.mark_text(fontSize=9).encode(text="often:N").properties(width=70, title=title)
    panels = [ranks, groups] if stability is None else [ranks, groups, shares]
    return alt.hconcat(*(panel.properties(height=16 * len(rows)) for panel in panels), spacing=14)


def dominance_chart(ranking: Ranking) -> Any:
    """Dominance: groups as rows from the optimal set down, a line where one system dominates another and none is between."""
    positions: dict[int, tuple[float, int]] = {}
    for number in range(int(ranking.group.max()) + 1):
        members = sorted(np.flatnonzero(ranking.group == number), key=lambda i: float(ranking.average_rank[i]))
        for step, i in enumerate(members):
            positions[int(i)] = ((step + 0.5) / len(members), number + 1)
    nodes = [
        {"system": ranking.systems[i], "x": x, "row": row, "group": _group(row - 1)}
        for i, (x, row) in positions.items()
    ]
    pairs = [(positions[i], positions[j]) for i, j in np.argwhere(direct(ranking.dominance)).tolist() if i != j]
    edges = [{"x": x, "row": row, "x2": x2, "row2": row2} for (x, row), (x2, row2) in pairs]
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("row:O", title="group", axis=alt.Axis(ticks=False, domain=False))
    arcs = theme.chart(edges).mark_rule(color=theme.FAINT, strokeWidth=0.6, opacity=0.5)
    lines = arcs.encode(x=x, y=y, x2="x2:Q", y2="row2:O")
    colour, shape = _channels()
    points = theme.chart(nodes).mark_point(filled=True, size=45, opacity=1)
    dots = points.encode(x=x, y=y, color=colour, shape=shape, tooltip=["system:N", "group:N"])
    written = theme.chart(nodes).encode(x=x, y=y, text="system:N")
    halo = written.mark_text(dy=-10, fontSize=8, stroke=theme.GROUND, strokeWidth=4, strokeJoin="round")
    labels = halo + written.mark_text(dy=-10, fontSize=8)
    height = 46 * (int(ranking.group.max()) + 1)
    return alt.layer(lines, dots, labels).properties(width=theme.TWO_COLUMNS, height=height)


def critical_difference_chart(systems: Sequence[str], cd: CriticalDifference, *, width: int = theme.TWO_COLUMNS) -> Any:
    """Average ranks on a line, systems that the images cannot tell apart joined by a bar (Demšar 2006)."""
    order = [int(i) for i in np.argsort(cd.average_rank, kind="stable")]
    half = (len(order) + 1) // 2
    low, high = 1.0, float(max(len(order), 2))
    start = 1.2 + 0.5 * len(cd.bars)
    labels: list[dict[str, Any]] = []
    for n, i in enumerate(order):
        name, rank = systems[i], float(cd.average_rank[i])
        if n < half:
            side, text, depth, end = "left", f"{name}  {rank:.2f}", n, low - 0.02 * (high - low)
        else:
            side, text, depth, end = "right", f"{rank:.2f}  {name}", len(order) - 1 - n, high + 0.02 * (high - low)
        row = {"system": text, "rank": rank, "top": 0.0, "depth": start + depth * 0.9, "end": end, "side": side}
        labels.append(row)
    bottom = max(row["depth"] for row in labels) + 0.6
    margin = 0.22 * (high - low)
    x_scale = alt.Scale(domain=[low - margin, high + margin], nice=False)
    y_scale = alt.Scale(domain=[bottom, -1.6], nice=False)

    def x(field: str) -> Any:
        return alt.X(f"{field}:Q", scale=x_scale, axis=None)

    def y(field: str = "depth") -> Any:
        return alt.Y(f"{field}:Q", scale=y_scale, axis=None)

    def spans(rows: Sequence[Mapping[str, Any]], **options: Any) -> Any:
        return theme.chart(rows).mark_rule(color=theme.INK, **options).encode(x=x("a"), x2="b:Q", y=y())

    thin = theme.chart(labels).mark_rule(color=theme.FAINT, strokeWidth=0.8)
    sides: list[tuple[str, Any, int]] = [("left", "right", -3), ("right", "left", 3)]
    names = [
        theme.chart([row for row in labels if row["side"] == side])
        .mark_text(align=align, dx=dx, fontSize=9)
        .encode(x=x("end"), y=y(), text="system:N")
        for side, align, dx in sides
    ]
    ticks = theme.chart({"rank": float(t), "depth": 0.0, "label": str(t)} for t in range(1, len(order) + 1))
    joined = [cd.average_rank[list(bar)].tolist() for bar in cd.bars]
    bars = [{"a": min(bar) - 0.03, "b": max(bar) + 0.03, "depth": 0.5 + 0.5 * n} for n, bar in enumerate(joined)]
    gap = cd.difference
    scale_bar = [{"a": low, "b": low + gap, "depth": -1.1, "label": f"critical difference {gap:.2f}"}]
    parts = [
        thin.encode(x=x("rank"), y=y("top"), y2="depth:Q"),
        thin.encode(x=x("rank"), x2="end:Q", y=y()),
        *names,
        spans([{"a": low, "b": high, "depth": 0.0}]),
        ticks.mark_text(dy=-8, fontSize=9).encode(x=x("rank"), y=y(), text="label:N"),
        spans(bars, strokeWidth=4),
        spans(scale_bar, strokeWidth=1.5),
        theme.chart(scale_bar).mark_text(align="left", dx=4, fontSize=9).encode(x=x("b"), y=y(), text="label:N"),
    ]
    return alt.layer(*parts).properties(width=width, height=20 * (bottom + 1.6))


def _group(number: int) -> str:
    names = ["1 (optimal)", *map(str, range(2, LAST)), f"{LAST} and on"]
    return names[min(int(number), LAST - 1)]


def _channels(*, legend: bool = False) -> tuple[Any, Any]:
    """Colour and marker of groups."""
    styles = {_group(n): theme.Style(_GROUPS[n], _MARKERS[n], _DASHES[n]) for n in range(LAST)}
    key = alt.Legend(title="group", orient="top") if legend else None
    colour, _, shape = theme.channels(styles, "group", legend=key)
    return colour, shape
