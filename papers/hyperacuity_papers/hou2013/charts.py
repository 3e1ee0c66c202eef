"""Charts of Hou, Yuille & Koch (2013): what was learned from which labels, two sets of images, a Venn diagram, risks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import altair as alt

from hyperacuity.audit.benchmark import SystemAudit
from hyperacuity.audit.risk import RiskScore
from hyperacuity.audit.trials import Mode
from hyperacuity.boundary.scores import BoundaryScore
from hyperacuity.report import theme
from hyperacuity.report.charts.audit import STRENGTH_COLOURS, dots
from hyperacuity_papers.hou2013.sets import SetSizes

VENN = 95.0
"""Radius of the larger set, in pixels."""


def learned_chart(learned: Mapping[str, SystemAudit]) -> Any:
    """The best F on all and on consensus labels of what was learned from either, by what it was learned from (Fig. 8)."""
    styles = (theme.Style(theme.INK, "circle", [1, 0]), theme.Style(STRENGTH_COLOURS[-3], "square", [1, 0]))
    kinds = {f"learned from {labels} labels": style for labels, style in zip(learned, styles, strict=False)}
    scores = {
        (f"tested on {labels} labels", kind): getattr(audit, labels)
        for labels in ("all", "consensus")
        for kind, audit in zip(kinds, learned.values(), strict=True)
    }
    return _score_dots(scores, kinds)


def sets_chart(sets: Mapping[str, Mapping[str, SystemAudit]]) -> Any:
    """The best F of each system on all and on consensus labels, a mark for each of two data sets (Fig. 9)."""
    styles = (theme.Style(theme.INK, "circle", [1, 0]), theme.Style(STRENGTH_COLOURS[-3], "square", [1, 0]))
    kinds = dict(zip(sets, styles, strict=False))
    systems = [name for name in next(iter(sets.values())) if all(name in of for of in sets.values())]
    scores = {
        (f"{name}, {labels} labels", part): getattr(sets[part][name], labels)
        for name in systems
        for labels in ("all", "consensus")
        for part in sets
    }
    return _score_dots(scores, kinds)


def venn_chart(sizes: SetSizes, system: str) -> Any:
    """Venn diagram of people's labels and a system's detections: orphans in green, false alarms in red (Fig. 2B)."""
    unit = VENN / math.sqrt(max(sizes.labels, sizes.detected, 1) / math.pi)
    human, machine, alone = (unit * math.sqrt(n / math.pi) for n in (sizes.labels, sizes.detected, sizes.orphans))
    apart = lens_distance(human, machine, (sizes.detected - sizes.false_alarms) * unit**2)
    reach = lens_distance(machine, alone, sizes.orphans_found * unit**2)
    inside = max(human - alone, 0.0)  # the orphans' disc touches the edge of the human one from inside
    cosine = (apart**2 + inside**2 - reach**2) / (2 * apart * inside) if apart * inside else 0.0
    angle = math.acos(max(-1.0, min(1.0, cosine)))
    left = -(apart + machine - human) / 2
    at = {"human": (left, 0.0), "machine": (left + apart, 0.0)}
    at["alone"] = (left + inside * math.cos(angle), -inside * math.sin(angle))
    # A unit is a pixel, as in the sizes of points.
    wide, high = (alt.Scale(domain=[-by * VENN, by * VENN], nice=False) for by in (2, 1.4))

    def disc(which: str, radius: float, **look: Any) -> Any:
        x, y = at[which]
        encoded = theme.chart([{"x": x, "y": y}]).mark_point(shape="circle", opacity=1, size=(2 * radius) ** 2, **look)
        axis = alt.Axis(labels=False, ticks=False, grid=False, domain=False)
        return encoded.encode(
            x=alt.X("x:Q", scale=wide, axis=axis, title=None), y=alt.Y("y:Q", scale=high, axis=axis, title=None)
        )

    top = max(human, machine) + 14
    texts = [
        {"x": left - human, "y": top, "text": f"people drew {sizes.labels:,.0f}"},
        {"x": at["machine"][0] + machine, "y": -top, "text": f"{system} detected {sizes.detected:,.0f}"},
    ]
    named = [
        theme.chart([row]).mark_text(align=align, fontSize=10).encode(x="x:Q", y="y:Q", text="text:N")
        for row, align in zip(texts, ("left", "right"), strict=True)
    ]
    alarms = {"x": (left + human + at["machine"][0] + machine) / 2, "y": 0, "text": f"{sizes.false_alarms:,.0f}"}
    alone_text = {"x": at["alone"][0], "y": at["alone"][1], "text": f"{sizes.orphans:,.0f}"}
    named += [
        theme.chart([row]).mark_text(fontSize=10, color="#fefefe").encode(x="x:Q", y="y:Q", text="text:N")
        for row in (alarms, alone_text)
    ]
    title = alt.TitleParams("Orphans (green) and false alarms (red)", subtitle="areas: pixels of boundary")
    return alt.layer(
        disc("machine", machine, filled=True, color=theme.FALSE),
        disc("human", human, filled=True, color=theme.GROUND),
        disc("alone", alone, filled=True, color=theme.HIT),
        disc("machine", machine, filled=False, color=theme.INK, strokeDash=[4, 3], strokeWidth=1.2),
        disc("human", human, filled=False, color=theme.INK, strokeWidth=2.5),
        *named,
        title=title,
    ).properties(width=4 * VENN, height=2.8 * VENN)


def lens_distance(one: float, other: float, area: float) -> float:
    """Distance between the centres of two discs that share an area; at the least they touch from inside, at most from outside.

    >>> lens_distance(1, 1, 0), lens_distance(2, 1, 99)
    (2.0, 1.0)
    >>> round(lens_distance(1, 1, 2 * math.pi / 3 - math.sqrt(3) / 2), 6)
    1.0
    """
    near, far = abs(one - other), one + other

    def shared(apart: float) -> float:
        if not near < apart < far:
            return 0.0 if apart >= far else math.pi * min(one, other) ** 2
        total = 0.0
        for a, b in ((one, other), (other, one)):
            half = math.acos(max(-1.0, min(1.0, (apart**2 + a**2 - b**2) / (2 * apart * a))))
            total += a**2 * (half - math.sin(2 * half) / 2)
        return total

    if area <= 0 or area >= shared(near):
        return float(far if area <= 0 else near)
    for _ in range(60):
        middle = (near + far) / 2
        near, far = (middle, far) if shared(middle) > area else (near, middle)
    return (near + far) / 2


def _score_dots(scores: Mapping[tuple[str, str], BoundaryScore], kinds: Mapping[str, theme.Style]) -> Any:
    """The best F with its interval, by (row, kind)."""
    rows = [{"system": row, "kind": kind, "F": score.ods.f} for (row, kind), score in scores.items()]
    spans = [
        {"system": row, "kind": kind, "low": score.ods.interval[0], "high": score.ods.interval[1]}
        for (row, kind), score in scores.items()
    ]
    return dots(rows, spans, kinds, "kind", list(dict.fromkeys(row for row, _ in scores)))


def risk_chart(score: RiskScore) -> Any:
    """Risk of each system and mode: how often a false alarm wins over a label; with intervals and the line of chance (Fig. 3)."""
    return alt.hconcat(*(_risks(score, mode) for mode in score.risks), spacing=24)


def _risks(score: RiskScore, mode: Mode) -> Any:
    rows: list[dict[str, Any]] = [
        {"system": name, "risk": one.risk, "low": one.interval[0], "high": one.interval[1]}
        for name, one in [*score.risks[mode].items(), ("mean", score.mean[mode])]
        if not math.isnan(one.risk)
    ]
    y = alt.Y("system:N", sort=[row["system"] for row in rows], title=None, axis=alt.Axis(ticks=False))
    x = alt.X("risk:Q", scale=alt.Scale(domain=[0, 1]), title="risk: share of trials that the false alarm wins")
    base = theme.chart(rows)
    mean = alt.condition("datum.system == 'mean'", alt.value(STRENGTH_COLOURS[3]), alt.value(STRENGTH_COLOURS[1]))
    bars = base.mark_bar(height={"band": 0.6}).encode(x=x, y=y, color=mean)
    half = theme.chart([{"risk": 0.5}]).mark_rule(color=theme.FALSE, strokeDash=[4, 3]).encode(x=x)
    ends = base.mark_rule(color=theme.INK).encode(x=alt.X("low:Q"), x2="high:Q", y=y)
    width = theme.TWO_COLUMNS / 2 - 100
    text = alt.Text("risk:Q", format=".2f")
    numbers = base.mark_text(align="left", dx=6, fontSize=8).encode(x=alt.value(width), y=y, text=text)
    trials = sum(one.trials for one in score.risks[mode].values())
    title = alt.TitleParams(f"{mode} mode", subtitle=f"{trials} trials; dashed: chance")
    return alt.layer(bars, half, ends, numbers, title=title).properties(width=width, height=alt.Step(18))
