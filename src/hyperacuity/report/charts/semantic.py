"""Charts of the semantic benchmark: precision over recall for each class, and how classes differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from hyperacuity.report import theme
from hyperacuity.report.charts.boundary import tooltip_of
from hyperacuity.semantic import ClassScore, SemanticScore

ISO_F = (0.25, 0.5, 0.75)
PANEL = 104
ACROSS = 5
"""Side of a small chart, in pixels, and how many stand in a row."""


def class_curves_chart(scores: Mapping[str, SemanticScore], *, hover: bool = False, across: int = ACROSS) -> Any:
    """Precision over recall, a small chart for each class, with a curve per system, its best point (ODS), and lines of equal F.

    The head of each chart is the class with the best system's ODS. Systems have the same look in all.
    """
    names = classes_of(scores)
    panels = []
    for n, name in enumerate(names):
        titles = ("recall" if n + across >= len(names) else None, "precision" if n % across == 0 else None)
        panels.append(_panel(name, scores, titles, hover=hover))
    return alt.concat(*panels, columns=across, spacing=14)


def class_scores_chart(scores: Mapping[str, SemanticScore]) -> Any:
    """ODS of each class with its 95 % interval, a mark per system; the class that is found best on top."""
    names = sorted(classes_of(scores), key=lambda name: -best_of(scores, name))
    styles = theme.systems(list(scores))
    colour, _, shape = theme.channels(styles, legend=theme.key(len(scores), labelLimit=160))
    rows = [
        {"class": name, "system": system, **_ods(score.classes[name])}
        for name in names
        for system, score in scores.items()
        if name in score.classes
    ]
    y = alt.Y("class:N", title=None, sort=names, axis=alt.Axis(labelLimit=130))
    offset = alt.YOffset("system:N", sort=list(scores))
    base = theme.chart(rows).encode(y=y, yOffset=offset)
    x = alt.X("ODS:Q", title="ODS", scale=alt.Scale(domain=[0, 1]))
    whisker = base.mark_rule(strokeWidth=1.2).encode(x=alt.X("low:Q", title="ODS"), x2="high:Q", color=colour)
    tooltip = [alt.Tooltip("class:N"), alt.Tooltip("system:N"), alt.Tooltip("ODS:Q"), alt.Tooltip("OIS:Q")]
    marks = base.mark_point(filled=True, size=44, opacity=1).encode(x=x, color=colour, shape=shape, tooltip=tooltip)
    height = max(60, len(names) * (10 + 8 * len(scores)))
    return alt.layer(whisker, marks).properties(width=theme.ONE_COLUMN, height=height)


def classes_of(scores: Mapping[str, SemanticScore]) -> list[str]:
    """The classes that any system has a score of, in the order of the protocol."""
    known = {name for score in scores.values() for name in score.classes}
    listed = next(iter(scores.values())).protocol.classes or sorted(known)
    return [name for name in listed if name in known]


def best_of(scores: Mapping[str, SemanticScore], name: str) -> float:
    """The best ODS of a class."""
    return max(score.classes[name].ods.f for score in scores.values() if name in score.classes)


def _panel(
    name: str, scores: Mapping[str, SemanticScore], titles: tuple[str | None, str | None], *, hover: bool
) -> Any:
    """One class; ``titles`` are those of its axes, None where a neighbour has it."""
    of_class = {system: score.classes[name] for system, score in scores.items() if name in score.classes}
    colour, dash, shape = theme.channels(theme.systems(list(scores)), legend=theme.key(len(scores), labelLimit=160))
    scale = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X("recall:Q", scale=scale, title=titles[0], axis=alt.Axis(values=[0, 0.5, 1], format=".1f"))
    ticks = alt.Axis(values=[0, 0.5, 1], format=".1f", labels=titles[1] is not None)
    y = alt.Y("precision:Q", scale=scale, title=titles[1], axis=ticks)
    tooltip = tooltip_of("threshold", "precision", "recall")
    lines = theme.chart(_curves(of_class)).encode(x=x, y=y, color=colour, order=alt.Order("threshold:Q"))
    best = (
        {"system": system, "threshold": p.threshold, "recall": p.recall, "precision": p.precision}
        for system, p in ((system, score.ods) for system, score in of_class.items())
    )
    points = theme.chart(best).mark_point(filled=True, size=36, opacity=1, stroke=theme.GROUND, strokeWidth=0.6)
    layers = [
        *theme.iso_f(x, y, ISO_F),
        lines.mark_line(strokeWidth=1.3).encode(strokeDash=dash),
        *([lines.mark_circle(size=40, opacity=0).encode(tooltip=tooltip)] if hover else []),
        points.encode(x=x, y=y, color=colour, shape=shape, tooltip=tooltip),
    ]
    head = alt.TitleParams(name, subtitle=f"{best_of(scores, name):.3f}")
    return alt.layer(*layers).properties(width=PANEL, height=PANEL, title=head)


def _curves(scores: Mapping[str, ClassScore]) -> Iterator[dict[str, Any]]:
    for system, score in scores.items():
        curve = score.curve
        columns = np.round(np.stack([curve.threshold, curve.recall, curve.precision], axis=1)[curve.f > 0], 3)
        for threshold, recall, precision in columns.tolist():
            yield {"system": system, "threshold": threshold, "recall": recall, "precision": precision}


def _ods(score: ClassScore) -> dict[str, float | None]:
    low, high = score.ods.interval
    return {
        "ODS": theme.rounded(score.ods.f),
        "low": theme.rounded(low),
        "high": theme.rounded(high),
        "OIS": theme.rounded(score.ois.f),
    }


def names_in_order(names: Sequence[str], most: int = 3) -> str:
    """The first few names, as a sentence says them.

    >>> names_in_order(["cat", "dog"]), names_in_order(["cat", "dog", "cow", "car"])
    ('cat and dog', 'cat, dog, cow and 1 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last
