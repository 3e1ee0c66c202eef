"""Charts of edge detectors on trial: shifted lines, disturbances, sheets of maps, rates, thresholds by rules, half kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from hyperacuity.edges.names import measure
from hyperacuity.maps import EdgeMap
from hyperacuity.report import theme
from hyperacuity.report.charts.edges import best_maps_chart, lines_panel
from hyperacuity_papers.abdulrahman2017.displacement import Shift
from hyperacuity_papers.abdulrahman2017.edge_curves import EdgeCurves
from hyperacuity_papers.abdulrahman2017.edge_trials import DetectorTrial, DetectorTrials
from hyperacuity_papers.abdulrahman2017.half_kernels import HalfKernelStudy

SIDE = theme.TWO_COLUMNS // 2 - 62
ISO_F = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
ABOVE = 4.0
"""The largest ratio to the minimum that is drawn."""

LEAD = ("#0b6e4f", "#a9dcc3", "#f7f7f5", "#e9c7a5", "#9a5b1c")
"""Colours from far ahead of the best rival to far behind."""


def rate_chart(curves: EdgeCurves, kind: str) -> Any:
    """ROC (``roc``) or precision–recall (``pr``) curves of all pictures together, a panel per truth, a curve per detector."""
    styles = theme.systems(curves.detectors)
    colour, dash, _ = theme.channels(styles, "detector", legend=alt.Legend(title=None, symbolStrokeWidth=2))
    panels = []
    for g, truth in enumerate(curves.truths):
        recall, precision, false = curves.rates(g)
        across, up = (false, recall) if kind == "roc" else (recall, precision)
        names = ("false", "recall") if kind == "roc" else ("recall", "precision")
        rows: list[dict[str, Any]] = [
            {"detector": d, names[0]: float(x), names[1]: float(y), "threshold": float(t)}
            for n, d in enumerate(curves.detectors)
            for x, y, t in zip(across[n], up[n], curves.thresholds, strict=True)
            if np.isfinite(x) and np.isfinite(y)
        ]
        detected = max((row[names[0]] for row in rows if row["detector"] != "speckle"), default=1.0)
        wide = min(1.0, 1.1 * detected) if kind == "roc" else 1.0
        unit: dict[str, Any] = {"nice": False}
        x = alt.X(
            f"{names[0]}:Q",
            title="rate of false pixels" if kind == "roc" else "recall",
            scale=alt.Scale(domain=[0, wide], **unit),
        )
        y = alt.Y(f"{names[1]}:Q", title=names[1], scale=alt.Scale(domain=[0, 1], **unit))
        lines = (
            theme.chart(rows, title=f"{truth} truth", width=SIDE, height=SIDE)
            .mark_line(clip=True)
            .encode(x=x, y=y, color=colour, strokeDash=dash, order="threshold:Q")
        )
        iso = theme.iso_f(x, y, ISO_F, labels=8) if kind == "pr" else []
        panels.append(alt.layer(*iso, lines))
    title = "Recall against false pixels" if kind == "roc" else "Precision against recall"
    return alt.hconcat(*panels, spacing=28, title=f"{title} over thresholds, without tolerance, all pictures together")


def swept_chart(curves: EdgeCurves, names: Sequence[str], *, picture: int = 0, truth: int = 0, columns: int = 3) -> Any:
    """One panel per measure: each detector's score against the threshold on one picture, its minimum marked (Fig. 8)."""
    levels = curves.thresholds.tolist()
    panels = []
    for name in names:
        m = curves.number(name)
        scores = dict(zip(curves.detectors, curves.scores[picture, truth, :, m], strict=True))
        best = dict(zip(curves.detectors, curves.best[picture, truth, :, m].tolist(), strict=True))
        marks = {d: (levels[at], float(scores[d][at])) for d, at in best.items()}
        top = 2 * float(np.median(list(scores.values())))
        panels.append(
            lines_panel(measure(name).symbol, levels, scores, axis="threshold", columns=columns, top=top, marks=marks)
        )
    title = f"{curves.pictures[picture]}: score against threshold, minimum marked ({curves.truths[truth]} truth)"
    return alt.concat(*panels, columns=columns, spacing=16, title=title)


def rules_chart(
    curves: EdgeCurves, ruled: Mapping[str, NDArray[np.float64]], names: Sequence[str], *, columns: int = 4
) -> Any:
    """Scores at thresholds chosen by rules, over the minimum (Fig. 3), a panel per measure."""
    rules = [rule for rule in ruled if rule != "minimum"]
    detectors = [d for d in curves.detectors if d != "speckle"]
    styles = theme.systems(rules)
    below = alt.Legend(title=None, orient="bottom", columns=len(rules))
    colour, _, shape = theme.channels(styles, "rule", legend=below)
    lowest = ruled["minimum"][:, 0].mean(axis=0)
    panels = []
    for n, name in enumerate(names):
        m, last = curves.number(name), n >= len(names) - columns
        rows = [
            {"rule": rule, "detector": d, "ratio": min(float(ruled[rule][:, 0, i, m].mean() / lowest[i, m]), ABOVE)}
            for rule in rules
            for i, d in enumerate(detectors)
        ]
        axis = alt.Axis(values=[1, 1.5, 2, 3, 4], format="~g", labels=last)
        scale = alt.Scale(type="log", domain=[0.95, ABOVE * 1.05], nice=False)
        x = alt.X("ratio:Q", scale=scale, axis=axis, title="× minimum" if last else None)
        beside = alt.Axis(ticks=False, domain=False, labels=n % columns == 0)
        y = alt.Y("detector:N", sort=detectors, title=None, axis=beside)
        points = theme.chart(rows).mark_point(opacity=0.9, size=34).encode(x=x, y=y, color=colour, shape=shape)
        size = {"width": theme.TWO_COLUMNS / columns - 30, "height": 13 * len(detectors)}
        panels.append(points.properties(title=measure(name).symbol, **size))
    title = alt.TitleParams(
        "Mean score at thresholds chosen by rules, as a multiple of the mean minimum",
        subtitle=f"{curves.truths[0]} truth; larger multiples than {ABOVE:g} are drawn at {ABOVE:g}",
    )
    return alt.concat(*panels, columns=columns, spacing=12, title=title)


def profile_chart(profiles: Mapping[str, Sequence[float]], answers: Mapping[str, Sequence[float]]) -> Any:
    """Profiles across an edge above, and what the mask [−1 0 1] answers below (Fig. 4)."""
    width = theme.TWO_COLUMNS // len(profiles) - 26
    rows = []
    for height, curves, colour in ((52, profiles, theme.INK), (52, answers, theme.FALSE)):
        panels = []
        for n, (name, values) in enumerate(curves.items()):
            points = [{"x": x, "y": float(y)} for x, y in enumerate(values)]
            axis = alt.Axis(values=[0, 0.5, 1], labels=n == 0, ticks=n == 0, domain=n == 0)
            base = theme.chart(points, width=width, height=height, title=name if curves is profiles else "")
            where = alt.Axis(
                labels=curves is answers, ticks=curves is answers, grid=False, format="d", tickCount=len(values)
            )
            x = alt.X("x:Q", title="pixel" if curves is answers else None, axis=where, scale=alt.Scale(nice=False))
            y = alt.Y("y:Q", title=None, axis=axis, scale=alt.Scale(domain=[0, 1.05], nice=False))
            line = base.mark_line(point={"color": colour}, color=colour).encode(x=x, y=y)
            panels.append(line)
        rows.append(alt.hconcat(*panels, spacing=14))
    title = "Grey values across types of edges (above), and the absolute answer of the mask [−1 0 1], a step giving 1 (below)"
    return alt.vconcat(*rows, spacing=8, title=title)


def half_kernel_chart(study: HalfKernelStudy) -> Any:
    """The grid of half kernels: a panel per kind of noise, a row per measure, a column per setting.

    Colour is the mean margin to the best of the other detectors; a cell where H-K wins on some picture says on how many.
    """
    grid = study.grid
    margin, _ = study.interval(study.margin)
    settings = [f"{s.across:g}|{s.along:g}|{s.step:g}°" for s in grid.settings]
    names = [measure(name).symbol for name in grid.measures]
    columns = 2 if len(grid.conditions) % 2 == 0 else 1
    width = (theme.TWO_COLUMNS - 60) / columns / len(settings)
    panels = []
    for c, condition in enumerate(grid.conditions):
        rows = [
            {
                "setting": setting,
                "measure": name,
                "margin": float(np.clip(margin[c, s, m], -0.5, 1)),
                "won": str(study.won[c, s, m]) if study.won[c, s, m] else "",
            }
            for s, setting in enumerate(settings)
            for m, name in enumerate(names)
        ]
        leftmost, lowest = c % columns == 0, c >= len(grid.conditions) - columns
        below = alt.Axis(ticks=False, domain=False, labels=lowest, labelAngle=-90, labelFontSize=7)
        beside = alt.Axis(ticks=False, domain=False, labels=leftmost, labelFontSize=8)
        scale = alt.Scale(domain=[-0.5, -0.1, 0, 0.4, 1], range=list(LEAD), clamp=True)
        base = theme.chart(rows, title=f"{condition}").encode(
            x=alt.X("setting:N", sort=settings, title="across|along|Δθ" if lowest else None, axis=below),
            y=alt.Y("measure:N", sort=names, title=None, axis=beside),
        )
        cells = base.mark_rect(stroke=theme.GROUND, strokeWidth=0.5)
        cells = cells.encode(color=alt.Color("margin:Q", scale=scale, legend=None))
        marks = base.mark_text(fontSize=7, color=theme.INK).encode(text="won:N")
        panels.append(alt.layer(cells, marks).properties(width=width * len(settings), height=10 * len(names)))
    title = alt.TitleParams(
        "Half kernels against the best of Sobel, Canny, SF1, SF5 and AGK on noisy shapes",
        subtitle=[
            "green: H-K's score is lower (darkest: by half), brown: higher (darkest: twice as high or more)",
            f"numbers: on how many of {grid.seeds} noisy pictures it is first",
        ],
    )
    return alt.concat(*panels, columns=columns, spacing=14, title=title)


def shift_chart(study: Shift, *, columns: int = 6) -> Any:
    """One small panel per measure: its score against the distance of a line of false and of missed pixels (Fig. 2)."""
    false, missed = study.normalised()
    labelled = int(np.argmax(np.abs(false[:, -1] - missed[:, -1]) > 0.3))  # the first panel with room for both names
    panels = [
        _shift_panel(study, {"false": false[n], "missed": missed[n]}, n, columns, named=n == labelled)
        for n in range(len(study.measures))
    ]
    title = "Score of a line of false (solid) or missed (dashed) pixels, by its distance from the true contour"
    return alt.concat(*panels, columns=columns, spacing=12, title=title)


def robustness_chart(study: DetectorTrials, *, axis: str, columns: int = 3) -> Any:
    """One panel per measure: each detector's mean best score against the level of a disturbance.

    The conditions of the study are its levels, numbers. Each panel has a scale of scores, which a control that is far
    worse than the detectors may leave.
    """
    levels = [float(condition) for condition in study.conditions]
    on_trial = [d for d, detector in enumerate(study.detectors) if detector != "speckle"] or [0]
    panels = [
        lines_panel(
            measure(name).symbol,
            levels,
            {detector: study.mean[:, d, m] for d, detector in enumerate(study.detectors)},
            axis=axis,
            columns=columns,
            top=1.2 * float(study.mean[:, on_trial, m].max()),
        )
        for m, name in enumerate(study.measures)
    ]
    return alt.concat(*panels, columns=columns, spacing=16, title=f"Mean best score against {axis}; lower is better")


def curves_chart(study: DetectorTrial, *, condition: int = 0, columns: int = 3) -> Any:
    """One panel per measure: each detector's score against the threshold, its minimum marked (Fig. 8)."""
    sweeps = dict(zip(study.detectors, study.sweeps[condition], strict=True))
    first = next(iter(sweeps.values()))
    panels = [
        lines_panel(
            measure(name).symbol,
            first.thresholds.tolist(),
            {detector: swept.of(name) for detector, swept in sweeps.items()},
            axis="threshold",
            columns=columns,
            top=2 * float(np.median([swept.of(name) for swept in sweeps.values()])),
            marks={detector: (b.threshold, b.score) for detector, b in ((d, s.best(name)) for d, s in sweeps.items())},
        )
        for name in first.names
    ]
    title = f"{study.picture}: score against threshold, minimum marked"
    return alt.concat(*panels, columns=columns, spacing=16, title=title)


def sheet_chart(study: DetectorTrial, truth: EdgeMap, *, condition: int = 0) -> Any:
    """Best edge maps: one row per measure, one column per detector, each with its threshold and score (Fig. 9).

    Hits, false and missed pixels have the colours they have everywhere; the best score of each row is bold.
    """
    sweeps = zip(study.detectors, study.sweeps[condition], strict=True)
    best = {detector: {name: swept.best(name) for name in swept.names} for detector, swept in sweeps}
    return best_maps_chart(study.picture, truth, best)


def truth_chart(study: DetectorTrials, *, columns: int = 4) -> Any:
    """Per measure and detector, the mean best score under two truths (Table 4): how much lower is the second?

    Scores of one measure are divided by the largest of them, so that measures with different units share an axis.
    """
    largest = study.mean.max(axis=(0, 1))
    scaled = study.mean / np.where(largest > 0, largest, 1)
    colour, _, _ = theme.channels(theme.systems(study.detectors), "detector")
    panels = []
    for m, name in enumerate(study.measures):
        rows = [
            {"detector": detector, "from": float(scaled[0, d, m]), "to": float(scaled[1, d, m])}
            for d, detector in enumerate(study.detectors)
        ]
        title = "share of the largest" if m >= len(study.measures) - columns else None
        scale, axis = alt.Scale(domain=[0, 1]), alt.Axis(values=[0, 0.5, 1], labels=title is not None)
        beside = alt.Axis(ticks=False, domain=False, labels=m % columns == 0)
        y = alt.Y("detector:N", sort=list(study.detectors), title=None, axis=beside)
        base = theme.chart(rows).encode(y=y, color=colour)
        span = base.mark_rule(strokeWidth=2).encode(x=alt.X("from:Q", scale=scale, axis=axis, title=title), x2="to:Q")
        before, after = (
            base.mark_point(filled=filled, size=36, strokeWidth=1.5, opacity=1).encode(x=alt.X(field, scale=scale))
            for field, filled in (("from:Q", False), ("to:Q", True))
        )
        panel = alt.layer(span, before, after, title=measure(name).symbol)
        size = {"width": theme.TWO_COLUMNS / columns - 26, "height": 12 * len(study.detectors)}
        panels.append(panel.properties(**size))
    title = "Mean best score under two truths: {} ○, {} ●".format(*study.conditions)
    return alt.concat(*panels, columns=columns, spacing=14, title=title)


def _shift_panel(study: Shift, curves: Mapping[str, NDArray[np.float64]], n: int, columns: int, *, named: bool) -> Any:
    rows = [
        {"errors": errors, "distance": int(d), "score": float(score)}
        for errors, curve in curves.items()
        for d, score in zip(study.distances, curve, strict=True)
    ]
    far, kinds = int(study.distances[-1]), list(curves)
    leftmost, lowest = n % columns == 0, n >= len(study.measures) - columns
    below = alt.Axis(values=[0, far / 2, far], labels=lowest, ticks=lowest)
    beside = alt.Axis(values=[0, 0.5, 1], labels=leftmost, ticks=leftmost, domain=leftmost)
    size = {"width": theme.TWO_COLUMNS / columns - 24, "height": 64}
    base = theme.chart(rows, title=study.measures[n].symbol, **size).encode(
        x=alt.X("distance:Q", title="distance, px" if lowest else None, axis=below),
        y=alt.Y("score:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=beside),
        color=alt.Color("errors:N", scale=alt.Scale(domain=kinds, range=[theme.FALSE, theme.MISS]), legend=None),
    )
    dash = alt.StrokeDash("errors:N", scale=alt.Scale(domain=kinds, range=[[1, 0], [4, 2]]), legend=None)
    lines = base.mark_line().encode(strokeDash=dash)
    if not named:
        return lines
    names = base.mark_text(align="right", dx=-2, dy=-6).encode(text="errors:N")
    return lines + names.transform_filter(f"datum.distance == {far}")
