"""Charts of depth order: contours by precision, recall and order, figure/ground accuracy, and occlusion boundaries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import altair as alt
import numpy as np

from hyperacuity.ordering import Consistency, OcclusionScore, OrderingScore
from hyperacuity.report import theme

Rows = list[dict[str, Any]]
Which = Literal["ldc", "gdc"]

HUMAN = "people"
ACCURACY_NAMES = {"racc": "R-ACC", "bacc": "B-ACC", "bacc50": "B-ACC-50", "bacc25": "B-ACC-25"}


def prc_chart(
    scores: Mapping[str, OrderingScore],
    which: Which = "ldc",
    *,
    human: OrderingScore | None = None,
    chance: bool = False,
) -> Any:
    """Precision over recall for β from 0 to 1 (Palou & Salembier 2014, Fig. 8).

    Each operating point is a segment: its upper right end counts detections (β = 1), its lower left end only those in the
    right order (β = 0). A sweep's segments fill a region; the thinner, the better the order. The point of best F(1) has the
    system's marker at both ends, filled at β = 1. The key gives [F max, F min] and the over-random index. With ``chance`` a
    dotted line shows where the open ends would lie if the same detections had their classes by lot: at half of both (Eq. 7).
    """
    everyone = _everyone(scores, human)
    found = {name: part for name, score in everyone.items() if (part := getattr(score, which)) is not None}
    best = {name: part.best for name, part in found.items()}
    keys = {name: f"{name}  [{at.fmax:.2f}, {at.fmin:.2f}]  {at.ori:.2f}" for name, at in best.items()}
    rows: dict[str, Rows] = {"outline": [], "edge": [], "segment": [], "best": [], "chance": []}
    for name, part in found.items():
        for kind, more in _sweep_rows(part).items():
            rows[kind] += [{"system": keys[name], **row} for row in more]
    x = alt.X("recall:Q", title="recall", scale=alt.Scale(domain=[0, 1]), axis=_axis())
    y = alt.Y("precision:Q", title="precision", scale=alt.Scale(domain=[0, 1]), axis=_axis())
    title = "[F max, F min]  over-random index"
    legend = alt.Legend(title=title, orient="bottom", columns=1, labelLimit=theme.ONE_COLUMN, symbolOpacity=1)
    colour, _, shape = theme.channels(_styles(scores, found), names=keys, sort=list(keys.values()), legend=legend)
    by_beta = alt.StrokeDash("beta:N", scale=alt.Scale(domain=["1", "0"], range=[[1, 0], [3, 2]]), legend=None)
    outline, edge, segment, ends, by_lot = (theme.chart(one).encode(x=x, y=y, color=colour) for one in rows.values())
    ends = ends.encode(shape=shape, tooltip=["system:N", "F:Q", "beta:N", "at:N"])
    open_end, full_end = (ends.transform_filter(f"datum.beta == '{beta}'") for beta in "01")
    layers = [
        *theme.iso_f(x, y, np.arange(1, 10) / 10, labels=7, color=theme.GRID, strokeWidth=0.8),
        outline.mark_line(filled=True, fillOpacity=0.14, strokeWidth=0).encode(order="index:Q"),
        edge.mark_line(strokeWidth=1.2).encode(order="index:Q", detail="beta:N", strokeDash=by_beta),
        *([by_lot.mark_line(strokeWidth=1.2, strokeDash=[1, 3]).encode(order="index:Q")] if chance else []),
        segment.mark_rule(strokeWidth=0.8, opacity=0.75).encode(x2="recall0:Q", y2="precision0:Q"),
        open_end.mark_point(filled=False, fill=theme.GROUND, size=55, strokeWidth=1.4, opacity=1),
        full_end.mark_point(filled=True, size=65, opacity=1),
    ]
    heading = alt.TitleParams(
        f"{which.upper()}: {'local' if which == 'ldc' else 'global'} depth consistency",
        subtitle=[
            "filled: detected (β = 1); open: in the right order (β = 0)",
            *(["dotted: the same detections, their order by lot (β = 0)"] if chance else []),
        ],
    )
    return alt.layer(*layers).properties(width=theme.ONE_COLUMN - 60, height=theme.ONE_COLUMN - 60, title=heading)


def _sweep_rows(part: Consistency) -> dict[str, Rows]:
    """Rows of a sweep: the outline of its region, the region's two edges, its segments, and the ends of the best one."""
    outcomes, best = part.outcomes, part.best
    columns = [np.atleast_1d(f(beta)).tolist() for beta in (1, 0) for f in (outcomes.recall, outcomes.precision)]
    ends = [
        (n, {"recall": r, "precision": p}, {"recall": r0, "precision": p0})
        for n, (r, p, r0, p0) in enumerate(zip(*columns, strict=True))
        if np.isfinite([r, p, r0, p0]).all()
    ]
    around = [one for _, one, _ in ends] + [zero for _, _, zero in reversed(ends)]
    both = [(n, *end) for n, one, zero in ends for end in (("1", best.fmax, one), ("0", best.fmin, zero))]
    return {
        "outline": [{"index": n, **end} for n, end in enumerate(around if len(ends) > 1 else [])],
        "edge": [{"beta": beta, "index": n, **end} for n, beta, _, end in both],
        "chance": [{"index": n, **{axis: value / 2 for axis, value in one.items()}} for n, one, _ in ends],
        "segment": [{**one, "recall0": zero["recall"], "precision0": zero["precision"]} for _, one, zero in ends],
        "best": [{"beta": beta, "F": round(f, 4), "at": n, **end} for n, beta, f, end in both if n == best.index],
    }


def figure_ground_chart(scores: Mapping[str, OrderingScore], *, human: OrderingScore | None = None) -> Any:
    """Figure/ground accuracy of the detected contours over boundary recall (Palou & Salembier 2014, Fig. 7).

    What the plane above adds is precision: a system that draws every contour there could be has a recall of 1 here.
    """
    everyone = _everyone(scores, human)
    found = {name: score.ldc for name, score in everyone.items() if score.ldc is not None}
    rows: Rows = []
    for name, part in found.items():
        recall, accuracy = np.atleast_1d(part.outcomes.recall(1)), np.atleast_1d(part.outcomes.accuracy)
        points = zip(everyone[name].parameters, recall.tolist(), accuracy.tolist(), strict=True)
        rows += [
            {"system": name, "recall": r, "accuracy": a, "index": n, "best": n == part.best.index, "at": at}
            for n, (at, r, a) in enumerate(points)
            if np.isfinite(r) and np.isfinite(a)
        ]
    x = alt.X("recall:Q", title="boundary recall", scale=alt.Scale(domain=[0, 1]), axis=_axis())
    y = alt.Y("accuracy:Q", title="figure/ground accuracy", scale=_from_guessing(rows))
    legend = alt.Legend(title=None, orient="bottom", columns=3, symbolOpacity=1)
    colour, _, shape = theme.channels(_styles(scores, found), legend=legend)
    base = theme.chart(rows).encode(x=x, y=y, color=colour, order="index:Q")
    points = base.mark_point(opacity=1).encode(
        shape=shape, size=alt.condition("datum.best", alt.value(75), alt.value(22)), tooltip=["system:N", "at:N"]
    )
    return alt.layer(_guessing().encode(y=y), base.mark_line(), points).properties(
        width=theme.ONE_COLUMN - 60, height=theme.ONE_COLUMN - 110, title="Figure/ground accuracy of what is found"
    )


def accuracy_chart(scores: Mapping[str, OrderingScore], *, human: OrderingScore | None = None) -> Any:
    """R-ACC, B-ACC, B-ACC-50 and B-ACC-25 of every system with 95 % intervals; the line is what guessing would get."""
    everyone = _everyone(scores, human)
    rows: Rows = [
        {"system": name, "measure": ACCURACY_NAMES[measure], "accuracy": value, "low": low, "high": high}
        for name, score in everyone.items()
        for measure, value in score.accuracy.items()
        for low, high in [score.intervals[measure]]
        if np.isfinite(value)
    ]
    colour, _, shape = theme.channels(_styles(scores, everyone))
    x = alt.X("accuracy:Q", title="accuracy", scale=alt.Scale(domain=[0, 1]))
    base = theme.chart(rows)
    points = base.encode(x=x, y=alt.Y("system:N", title=None, sort=list(everyone)), color=colour)
    bars = points.mark_rule().encode(x=alt.X("low:Q"), x2="high:Q")
    chance = base.mark_rule(strokeDash=[2, 3], color=theme.FAINT).encode(x=alt.datum(0.5))
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    return (
        alt.layer(chance, bars, points.mark_point(opacity=1).encode(shape=shape))
        .properties(width=(theme.TWO_COLUMNS - 130) / max(len(measures), 1), height=22 * len(everyone) + 8)
        .facet(column=alt.Column("measure:N", sort=measures, title=None), spacing=14)
    )


def orientation_chart(scores: Mapping[str, OcclusionScore]) -> Any:
    """AOR: the share of matched pixels with the right side in front, over the recall of boundaries; a curve per system.

    The mark is at the threshold with the best OPR. The dotted line is what guessing would get.
    """
    rows: Rows = []
    best: Rows = []
    for name, score in scores.items():
        curve = score.boundary.curve
        at = int(np.argmax(score.opr.curve.f))
        points = zip(curve.threshold.tolist(), curve.recall.tolist(), score.accuracy.tolist(), strict=True)
        for n, (threshold, recall, accuracy) in enumerate(points):
            if np.isfinite(accuracy):
                row = {"system": name, "threshold": round(threshold, 4), "recall": recall, "accuracy": accuracy}
                rows.append(row)
                best += [row] if n == at else []
    x = alt.X("recall:Q", title="recall of boundaries", scale=alt.Scale(domain=[0, 1], nice=False))
    y = alt.Y("accuracy:Q", title="right side in front (AOR)", scale=_from_guessing(rows))
    legend = alt.Legend(title=None, orient="bottom", columns=3, symbolOpacity=1)
    colour, dash, shape = theme.channels(theme.systems(list(scores)), legend=legend)
    lines = theme.chart(rows).encode(x=x, y=y, color=colour, order=alt.Order("threshold:Q"))
    marks = theme.chart(best).encode(
        x=x, y=y, color=colour, shape=shape, tooltip=["system:N", "accuracy:Q", "recall:Q"]
    )
    return alt.layer(
        _guessing().encode(y=y),
        lines.mark_line(strokeWidth=1.6).encode(strokeDash=dash),
        marks.mark_point(filled=True, size=70, opacity=1),
    ).properties(width=theme.ONE_COLUMN, height=theme.ONE_COLUMN - 60)


def _from_guessing(rows: Rows) -> Any:
    """The scale of accuracies: from the least of them, or from guessing where all are better."""
    lowest = min([0.5, *(row["accuracy"] for row in rows)])
    return alt.Scale(domain=[np.floor(lowest * 10) / 10, 1], nice=False)


def _guessing() -> Any:
    return theme.chart([{"accuracy": 0.5}]).mark_rule(strokeDash=[2, 3], color=theme.FAINT)


def _everyone(scores: Mapping[str, OrderingScore], human: OrderingScore | None) -> dict[str, OrderingScore]:
    return {**scores, **({} if human is None else {HUMAN: human})}


def _styles(scores: Mapping[str, OrderingScore], drawn: Iterable[str]) -> dict[str, theme.Style]:
    """The styles of those that are drawn, people among them or not; a system has the same one in every chart."""
    every = {**theme.systems(list(scores)), HUMAN: theme.HUMAN}
    return {name: every[name] for name in drawn}


def _axis() -> Any:
    return alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format=".1f", grid=False)
