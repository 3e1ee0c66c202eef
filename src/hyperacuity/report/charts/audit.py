"""Charts and pictures of an audit: label strength, and what it does to systems (Hou et al. 2013, Figs. 2 to 9)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from hyperacuity.audit.benchmark import OUTPUT_LEVELS, SystemAudit
from hyperacuity.audit.strength import CLASSES, LabelScore, Strengths, strength_class
from hyperacuity.boundary.scores import BoundaryScore
from hyperacuity.report import theme
from hyperacuity.report.pictures.colours import plain, rgb

STRENGTH_COLOURS = ("#c9dcec", "#9dc3df", "#6aa5cd", "#3f83b6", "#215f97", "#0a3161")
"""Label strength, light to dark, a colour per class."""

PEOPLE = "share of the annotators who drew it"
ISO_F = (0.3, 0.5, 0.7, 0.9)
MOST_NAMED = 10
"""Systems that a small panel has room to name; the best are."""


def strength_picture(found: Strengths, photograph: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
    """All annotators' boundaries on white, or on a faded photograph, coloured by strength; the strongest on top.

    Each pixel is drawn three by three, so that thin lines can be seen.
    """
    picture = plain(found.drawn_by[0].shape, theme.GROUND)
    if photograph is not None:
        grey = photograph if photograph.ndim == 2 else photograph.mean(axis=2)
        picture[:] = (185 + grey / 255 * 70).astype(np.uint8)[..., None]
    strongest = np.max(found.drawn_by, axis=0)
    classes = np.where(strongest > 0, strength_class(strongest.astype(np.int64), found.annotators), -1)
    widened = ndimage.maximum_filter(classes, 3, mode="constant", cval=-1)
    for number, colour in enumerate(STRENGTH_COLOURS):
        picture[widened == number] = rgb(colour)
    return picture


def label_chart(labels: LabelScore) -> Any:
    """Strength of the labels: shares of boundaries, each counted once, and of pixels, by class of strength."""
    rows = [
        {"strength": name, "of": of, "share": float(share)}
        for name, shares in zip(CLASSES, labels.by_strength, strict=True)
        for of, share in zip(("boundaries", "pixels"), shares, strict=True)
        if not math.isnan(share)
    ]
    base = theme.chart(rows).encode(
        x=alt.X("strength:N", sort=list(CLASSES), title=PEOPLE, axis=alt.Axis(labelAngle=0, ticks=False)),
        y=alt.Y("share:Q", title="share", axis=alt.Axis(format="%", tickCount=5)),
    )
    bars = base.mark_bar().encode(color=_strength_colour(None))
    numbers = base.mark_text(dy=-6, fontSize=8).encode(text=alt.Text("share:Q", format=".0%"))
    panel = (bars + numbers).properties(width=theme.TWO_COLUMNS / 2 - 60, height=140)
    return panel.facet(column=alt.Column("of:N", title=None, header=alt.Header(labelExpr="'of ' + datum.value")))


def agreement_chart(matrix: NDArray[np.float64], names: Sequence[str] | None = None) -> Any:
    """Share of what one annotator (row) drew that another one (column) drew too."""
    people = [str(n) for n in range(1, len(matrix) + 1)] if names is None else list(names)
    rows = [
        {"row": row, "column": column, "share": float(matrix[i, j])}
        for i, row in enumerate(people)
        for j, column in enumerate(people)
        if i != j and not math.isnan(matrix[i, j])
    ]
    scale = alt.Scale(domain=[0, 1], range=[STRENGTH_COLOURS[0], STRENGTH_COLOURS[-1]])
    base = theme.chart(rows).encode(
        x=alt.X("column:N", sort=people, title="was drawn by annotator", axis=alt.Axis(labelAngle=0, ticks=False)),
        y=alt.Y("row:N", sort=people, title="what annotator … drew", axis=alt.Axis(ticks=False)),
    )
    cells = base.mark_rect().encode(color=alt.Color("share:Q", scale=scale, legend=None))
    light = alt.condition("datum.share > 0.45", alt.value("#fefefe"), alt.value("#212121"))  # whatever the theme
    numbers = base.mark_text(fontSize=8).encode(text=alt.Text("share:Q", format=".0%"), color=light)
    side = max(120, 34 * len(people))
    return (cells + numbers).properties(width=side, height=side)


def image_agreement_chart(images: Mapping[str, tuple[int, float]]) -> Any:
    """Agreement on each image: a row per number of annotators, a mark per image, the median of the row tall.

    ``images`` are, by name, the number of annotators and the share of a person's pixels that another one drew too.
    """
    rows = [
        {"image": name, "people": f"{people} annotators", "agreement": round(share, 4)}
        for name, (people, share) in images.items()
    ]
    order = [f"{people} annotators" for people in sorted({people for people, _ in images.values()})]
    title, axis = "share of a person's pixels that another one drew too", alt.Axis(format="%", tickCount=5)
    base = theme.chart(rows).encode(
        x=alt.X("agreement:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=axis),
        y=alt.Y("people:N", sort=order, title=None, axis=alt.Axis(ticks=False)),
    )
    marks = base.mark_tick(thickness=1.5, size=11, opacity=0.8, color=STRENGTH_COLOURS[3]).encode(
        tooltip=["image:N", "people:N", alt.Tooltip("agreement:Q", format=".1%")]
    )
    median = base.mark_tick(thickness=2.5, size=17, color=theme.INK).encode(x=alt.X("median(agreement):Q"))
    return (median + marks).properties(width=theme.ONE_COLUMN - 80, height=alt.Step(22))


def strength_chart(systems: Mapping[str, SystemAudit]) -> Any:
    """Precision and recall at the best threshold against the strength of the labels (Fig. 4)."""
    rows = [
        {"system": name, "strength": strength, "precision": score.ods.precision, "recall": score.ods.recall}
        for name, audit in systems.items()
        for strength, score in zip(audit.protocol.strengths, audit.by_strength, strict=True)
    ]
    panels = [_lines(rows, list(systems), measure) for measure in ("precision", "recall")]
    return alt.hconcat(*panels, spacing=30, title="At the best threshold, on labels of at least a strength")


def label_curves_chart(systems: Mapping[str, SystemAudit]) -> Any:
    """Precision over recall on all labels, on consensus labels and on partial labels, the best F marked (Fig. 5)."""
    panels = [
        _curves({name: audit.all for name, audit in systems.items()}, "all labels", first=True),
        _curves({name: audit.consensus for name, audit in systems.items()}, "what everyone drew"),
        _curves({name: audit.partial["halfplane"][0] for name, audit in systems.items()}, "an arbitrary part"),
    ]
    return alt.hconcat(*panels, spacing=14)


def optimal_chart(systems: Mapping[str, SystemAudit]) -> Any:
    """The best F of each system on all, consensus and partial labels, the spread of the latter as a line (Fig. 6)."""
    kinds = {
        "all": theme.Style(theme.INK, "circle", [1, 0]),
        "what everyone drew": theme.Style(STRENGTH_COLOURS[-3], "square", [1, 0]),
        "an arbitrary part": theme.Style(theme.FAINT, "triangle-up", [1, 0]),
    }
    rows: list[dict[str, Any]] = []
    spans: list[dict[str, Any]] = []
    for name, audit in systems.items():
        partial = [score.ods.f for score in audit.partial["halfplane"]]
        best = (audit.all.ods.f, audit.consensus.ods.f, float(np.mean(partial)))
        ends = (audit.all.ods.interval, audit.consensus.ods.interval, (min(partial), max(partial)))
        for labels, f, (low, high) in zip(kinds, best, ends, strict=True):
            rows.append({"system": name, "labels": labels, "F": f})
            spans.append({"system": name, "labels": labels, "low": low, "high": high})
    return dots(rows, spans, kinds, "labels", list(systems))


def dots(
    rows: Sequence[Mapping[str, Any]],
    spans: Sequence[Mapping[str, Any]],
    kinds: Mapping[str, theme.Style],
    field: str,
    order: Sequence[str],
) -> Any:
    """A mark for each kind in each row, with its interval."""
    key = alt.Legend(title=None, orient="top", direction="horizontal")
    colour, _, shape = theme.channels(kinds, field, legend=key)
    y = alt.Y("system:N", sort=list(order), title=None, axis=alt.Axis(ticks=False, grid=True))
    offset = alt.YOffset(f"{field}:N", sort=list(kinds), scale=alt.Scale(paddingOuter=0.5))
    x = alt.X("F:Q", title="best F", scale=alt.Scale(zero=False, padding=12))
    every = {"y": y, "yOffset": offset, "color": colour}
    lines = theme.chart(span for span in spans if not math.isnan(span["low"])).mark_rule()
    lines = lines.encode(x=alt.X("low:Q", title="best F"), x2="high:Q", **every)
    points = theme.chart(rows).mark_point(size=45, opacity=1).encode(x=x, shape=shape, **every)
    return (lines + points).properties(width=theme.ONE_COLUMN - 60, height=44 * len(order))


def output_chart(systems: Mapping[str, SystemAudit], *, columns: int = 4) -> Any:
    """Strength of the labels that a detector matches, at each level of its output: shares, a row per level (Fig. 7)."""
    panels = [_output(name, audit, n % columns == 0) for n, (name, audit) in enumerate(systems.items())]
    return alt.concat(*panels, columns=columns, spacing=14).resolve_scale(color="shared")


def _lines(rows: Sequence[Mapping[str, Any]], names: Sequence[str], measure: str) -> Any:
    height = 170
    colour, dash, shape = theme.channels(theme.systems(list(names)))
    values = [float(row[measure]) for row in rows]
    low, high = math.floor(min(values) * 10) / 10, math.ceil(max(values) * 10) / 10
    low, high = (low, high) if high > low else (low, low + 0.1)
    below = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], grid=False)
    x = alt.X("strength:Q", title="strength of the labels", axis=below)
    y = alt.Y(f"{measure}:Q", title=measure, scale=alt.Scale(domain=[low, high]))
    base = theme.chart(rows).encode(x=x, y=y, color=colour)
    ends = [next(float(row[measure]) for row in reversed(rows) if row["system"] == name) for name in names]
    at = theme.spread(ends, (high - low) * 11 / height, low=low, high=high)
    labels = [{"system": name, "strength": 1, measure: y} for name, y in zip(names, at, strict=True)]
    named = theme.chart(labels).mark_text(align="left", dx=9, fontSize=8).encode(x=x, y=y, text="system:N")
    layers = base.mark_line().encode(strokeDash=dash) + base.mark_point(opacity=1).encode(shape=shape) + named
    return layers.properties(width=theme.TWO_COLUMNS / 2 - 90, height=height)


def _curves(scores: Mapping[str, BoundaryScore], title: str, *, first: bool = False) -> Any:
    side = theme.TWO_COLUMNS / 3 - 38
    colour, dash, shape = theme.channels(theme.systems(list(scores)))
    rows = [
        {"system": name, "recall": float(r), "precision": float(p), "n": n}
        for name, score in scores.items()
        for n, (r, p) in enumerate(zip(score.curve.recall, score.curve.precision, strict=True))
        if r + p > 0
    ]
    best: list[dict[str, Any]] = [
        {"system": n, "recall": s.ods.recall, "precision": s.ods.precision, "F": s.ods.f} for n, s in scores.items()
    ]
    scale, axis = alt.Scale(domain=[0, 1], nice=False), alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".2~f")
    x = alt.X("recall:Q", title="recall", scale=scale, axis=axis)
    y = alt.Y("precision:Q", title="precision" if first else None, scale=scale, axis=axis)
    equal = theme.iso_f(x, y, ISO_F, strokeWidth=0.7)
    lines = theme.chart(rows).mark_line(strokeWidth=1.3).encode(x=x, y=y, color=colour, strokeDash=dash, order="n:Q")
    points = theme.chart(best).mark_point(opacity=1, size=45).encode(x=x, y=y, color=colour, shape=shape)
    named = list(reversed(sorted(best, key=lambda row: -row["F"])[:MOST_NAMED]))
    behind = [{"recall": 0.02, "precision": 0.01, "right": 0.62, "top": 0.025 + 0.06 * len(named)}]
    key = theme.chart(
        {"system": r["system"], "text": f"{r['F']:.3f}  {r['system']}", "recall": 0.06, "precision": 0.045 + 0.06 * n}
        for n, r in enumerate(named)
    )
    ground = theme.chart(behind).mark_rect(color=theme.GROUND, opacity=0.8)
    ground = ground.encode(x=x, y=y, x2="right:Q", y2="top:Q")
    marks = key.mark_point(opacity=1, size=24).encode(x=x, y=y, color=colour, shape=shape)
    texts = key.mark_text(align="left", dx=7, fontSize=8).encode(x=x, y=y, text="text:N")
    return alt.layer(*equal, lines, ground, points, marks, texts, title=title).properties(width=side, height=side)


def _output(name: str, audit: SystemAudit, leftmost: bool) -> Any:
    step = 1 / OUTPUT_LEVELS
    rows = [
        {"low": level * step, "high": (level + 1) * step, "strength": strength, "share": float(share), "order": order}
        for level, shares in enumerate(audit.output.shares)
        for order, (strength, share) in enumerate(zip(CLASSES, shares, strict=True))
        if share > 0
    ]
    low, high = audit.output.interval
    spread = "" if math.isnan(low) else f" [{low:.2f}, {high:.2f}]"
    legend = alt.Legend(orient="bottom", title=PEOPLE, direction="horizontal", symbolType="square")
    unit, ticks = alt.Scale(domain=[0, 1]), [0, 0.5, 1]
    below, beside = alt.Axis(values=ticks, format="%"), alt.Axis(values=ticks, grid=False, labels=leftmost)
    x = alt.X("share:Q", stack=True, title="share of matched pixels", scale=unit, axis=below)
    y = alt.Y("low:Q", bin="binned", title="output" if leftmost else None, scale=unit, axis=beside)
    title = alt.TitleParams(name, subtitle=f"rank correlation {audit.output.spearman:.2f}{spread}")
    base = theme.chart(rows, title=title, width=theme.TWO_COLUMNS / 4 - 36, height=150)
    bars = base.mark_bar(stroke=theme.GROUND, strokeWidth=0.3)
    return bars.encode(x=x, y=y, y2="high:Q", color=_strength_colour(legend), order="order:Q")


def _strength_colour(legend: Any) -> Any:
    scale = alt.Scale(domain=list(CLASSES), range=list(STRENGTH_COLOURS))
    return alt.Color("strength:N", scale=scale, legend=legend)
