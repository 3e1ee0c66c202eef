"""Charts of depth order: the precision–recall–classification plane, figure/ground accuracy, and the figure/ground benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import altair as alt
import numpy as np

from hyperacuity.ordering import Consistency, OrderingScore
from hyperacuity.report import theme

Rows = list[dict[str, Any]]
Which = Literal["ldc", "gdc"]

HUMAN = "people"
ACCURACY_NAMES = {"racc": "R-ACC", "bacc": "B-ACC", "bacc50": "B-ACC-50", "bacc25": "B-ACC-25"}


def prc_chart(scores: Mapping[str, OrderingScore], which: Which = "ldc", *, human: OrderingScore | None = None) -> Any:
    """Precision over recall for β from 0 to 1 (Palou & Salembier 2014, Fig. 8).

    Each operating point is a segment: its upper right end counts detections (β = 1), its lower left end only those in the
    right order (β = 0). A sweep's segments fill a region; the thinner, the better the order. The point of best F(1) has the
    system's marker at both ends, filled at β = 1. The key gives [F max, F min] and the over-random index.
    """
    theme.register()
    found = {name: part for name, score in scores.items() if (part := getattr(score, which)) is not None}
    people = None if human is None else getattr(human, which)
    if people is not None:
        found = {**found, HUMAN: people}
    keys = {name: _key(name, part) for name, part in found.items()}
    styles = theme.systems([name for name in found if name != HUMAN or name in scores])
    if people is not None:
        styles[HUMAN] = theme.HUMAN
    x = alt.X("recall:Q", title="recall", scale=alt.Scale(domain=[0, 1]), axis=_axis())
    y = alt.Y("precision:Q", title="precision", scale=alt.Scale(domain=[0, 1]), axis=_axis())
    legend = alt.Legend(
        title="[F max, F min]  over-random index",
        orient="bottom",
        columns=1,
        labelLimit=theme.ONE_COLUMN,
        symbolOpacity=1,
    )
    colour, _, shape = theme.channels(styles, names=keys, sort=list(keys.values()), legend=legend)
    base: dict[str, Any] = {"x": x, "y": y, "color": colour}
    areas = theme.chart(_outlines(found, keys)).mark_line(filled=True, fillOpacity=0.14, strokeWidth=0)
    by_beta = alt.StrokeDash("beta:N", scale=alt.Scale(domain=["1", "0"], range=[[1, 0], [3, 2]]), legend=None)
    edges = theme.chart(_edges(found, keys)).mark_line(strokeWidth=1.2)
    segments = theme.chart(_segments(found, keys)).mark_rule(strokeWidth=0.8, opacity=0.75)
    best = theme.chart(_best(found, keys)).encode(**base, shape=shape, tooltip=["system:N", "F:Q", "beta:N", "at:N"])
    open_ends = best.transform_filter("datum.beta == '0'").mark_point(
        filled=False, fill=theme.GROUND, size=55, strokeWidth=1.4, opacity=1
    )
    full_ends = best.transform_filter("datum.beta == '1'").mark_point(filled=True, size=65, opacity=1)
    side = theme.ONE_COLUMN - 60
    name = "local" if which == "ldc" else "global"
    layers = [
        *_iso_f(x, y),
        areas.encode(**base, order="place:Q"),
        edges.encode(**base, order="place:Q", detail="beta:N", strokeDash=by_beta),
        segments.encode(**base, x2="recall0:Q", y2="precision0:Q"),
        open_ends,
        full_ends,
    ]
    return alt.layer(*layers).properties(
        width=side,
        height=side,
        title=alt.TitleParams(
            f"{which.upper()}: {name} depth consistency",
            subtitle="filled: detected (β = 1); open: in the right order (β = 0)",
        ),
    )


def figure_ground_chart(scores: Mapping[str, OrderingScore], *, human: OrderingScore | None = None) -> Any:
    """Figure/ground accuracy of the detected contours over boundary recall (Palou & Salembier 2014, Fig. 7).

    What the plane above adds is precision: a system that draws every contour there could be has a recall of 1 here.
    """
    theme.register()
    rows: Rows = []
    found = {name: score.ldc for name, score in scores.items() if score.ldc is not None}
    if human is not None and human.ldc is not None:
        found[HUMAN] = human.ldc
    parameters = {name: score.parameters for name, score in scores.items()} | {HUMAN: ("",)}
    for name, part in found.items():
        recall, accuracy = np.atleast_1d(part.outcomes.recall(1)), np.atleast_1d(part.outcomes.accuracy)
        rows += [
            {
                "system": name,
                "recall": float(r),
                "accuracy": float(a),
                "place": n,
                "best": n == part.best.index,
                "at": parameters[name][n],
            }
            for n, (r, a) in enumerate(zip(recall, accuracy, strict=True))
            if np.isfinite(r) and np.isfinite(a)
        ]
    lowest = min([0.5, *(row["accuracy"] for row in rows)])
    x = alt.X("recall:Q", title="boundary recall", scale=alt.Scale(domain=[0, 1]), axis=_axis())
    y = alt.Y(
        "accuracy:Q",
        title="figure/ground accuracy",
        scale=alt.Scale(domain=[np.floor(lowest * 10) / 10, 1], nice=False),
    )
    legend = alt.Legend(title=None, orient="bottom", columns=3, symbolOpacity=1)
    colour, _, shape = theme.channels(_styles(scores, found), legend=legend)
    base = theme.chart(rows).encode(x=x, y=y, color=colour, order="place:Q")
    guess = theme.chart([{"accuracy": 0.5}]).mark_rule(strokeDash=[2, 3], color=theme.FAINT)
    chance = guess.encode(y=alt.Y("accuracy:Q"))
    points = base.mark_point(opacity=1).encode(
        shape=shape, size=alt.condition("datum.best", alt.value(75), alt.value(22)), tooltip=["system:N", "at:N"]
    )
    return alt.layer(chance, base.mark_line(), points).properties(
        width=theme.ONE_COLUMN - 60, height=theme.ONE_COLUMN - 110, title="Figure/ground accuracy of what is found"
    )


def accuracy_chart(scores: Mapping[str, OrderingScore], *, human: OrderingScore | None = None) -> Any:
    """R-ACC, B-ACC, B-ACC-50 and B-ACC-25 of every system with 95 % intervals; the line is what guessing would get."""
    theme.register()
    everyone = {**scores, **({} if human is None else {HUMAN: human})}
    rows: Rows = [
        {
            "system": name,
            "measure": ACCURACY_NAMES[measure],
            "accuracy": value,
            "low": score.intervals[measure][0],
            "high": score.intervals[measure][1],
        }
        for name, score in everyone.items()
        for measure, value in score.accuracy.items()
        if np.isfinite(value)
    ]
    colour, _, shape = theme.channels(_styles(scores, everyone))
    order = list(everyone)
    x = alt.X("accuracy:Q", title="accuracy", scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("system:N", title=None, sort=order)
    base = alt.Chart().encode(x=x, y=y, color=colour)
    bars = base.mark_rule().encode(x=alt.X("low:Q"), x2="high:Q")
    chance = alt.Chart().mark_rule(strokeDash=[2, 3], color=theme.FAINT).encode(x=alt.datum(0.5))
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    return (
        alt.layer(chance, bars, base.mark_point(opacity=1).encode(shape=shape), data=alt.InlineData(values=rows))
        .properties(width=(theme.TWO_COLUMNS - 130) / max(len(measures), 1), height=22 * len(order) + 8)
        .facet(column=alt.Column("measure:N", sort=measures, title=None), spacing=14)
    )


def _styles(scores: Mapping[str, Any], shown: Iterable[str]) -> dict[str, theme.Style]:
    """The styles of those that are shown, people among them or not."""
    every = {**theme.systems(list(scores)), HUMAN: theme.HUMAN}
    return {name: every[name] for name in shown}


def _key(name: str, part: Consistency) -> str:
    best = part.best
    return f"{name}  [{best.fmax:.2f}, {best.fmin:.2f}]  {best.ori:.2f}"


def _ends(part: Consistency) -> list[tuple[int, dict[str, float]]]:
    """The two ends of each operating point's segment that exist, by index in the sweep."""
    outcomes = part.outcomes
    columns = [np.atleast_1d(f(beta)) for beta in (1, 0) for f in (outcomes.recall, outcomes.precision)]
    names = ("recall", "precision", "recall0", "precision0")
    points = [dict(zip(names, map(float, values), strict=True)) for values in zip(*columns, strict=True)]
    return [(n, point) for n, point in enumerate(points) if all(np.isfinite(list(point.values())))]


def _outlines(found: Mapping[str, Consistency], keys: Mapping[str, str]) -> Rows:
    """The border of each sweep's region: forth along β = 1, back along β = 0."""
    rows: Rows = []
    for name, part in found.items():
        ends = [point for _, point in _ends(part)]
        around = [(p["recall"], p["precision"]) for p in ends] + [
            (p["recall0"], p["precision0"]) for p in reversed(ends)
        ]
        rows += [
            {"system": keys[name], "recall": r, "precision": p, "place": n}
            for n, (r, p) in enumerate(around if len(ends) > 1 else [])
        ]
    return rows


def _edges(found: Mapping[str, Consistency], keys: Mapping[str, str]) -> Rows:
    rows: Rows = []
    for name, part in found.items():
        for n, point in _ends(part):
            for beta, end in (("1", ""), ("0", "0")):
                where = {"recall": point[f"recall{end}"], "precision": point[f"precision{end}"]}
                rows.append({"system": keys[name], "beta": beta, "place": n, **where})
    return rows


def _segments(found: Mapping[str, Consistency], keys: Mapping[str, str]) -> Rows:
    return [{"system": keys[name], **point} for name, part in found.items() for _, point in _ends(part)]


def _best(found: Mapping[str, Consistency], keys: Mapping[str, str]) -> Rows:
    rows: Rows = []
    for name, part in found.items():
        for n, point in _ends(part):
            if n == part.best.index:
                for beta, end, f in (("1", "", part.best.fmax), ("0", "0", part.best.fmin)):
                    where = {"recall": point[f"recall{end}"], "precision": point[f"precision{end}"]}
                    rows.append({"system": keys[name], "beta": beta, "F": round(f, 4), "at": n, **where})
    return rows


def _iso_f(x: Any, y: Any) -> list[Any]:
    """Thin grey lines on which F is the same, each with its value at its lower end."""
    rows: Rows = []
    for level in np.arange(1, 10) / 10:
        least = level / (2 - level)
        for n, recall in enumerate(least + (1 - least) * np.linspace(0, 1, 40) ** 3):
            rows.append(
                {"F": f"{level:.1f}", "recall": recall, "precision": level * recall / (2 * recall - level), "place": n}
            )
    base = theme.chart(rows).encode(x=x, y=y)
    lines = base.mark_line(color=theme.GRID, strokeWidth=0.8).encode(detail="F:N", order="place:Q")
    labels = base.transform_filter("datum.place == 39").mark_text(align="left", dx=3, fontSize=7, color=theme.FAINT)
    return [lines, labels.encode(text="F:N")]


def _axis() -> Any:
    return alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format=".1f", grid=False)
