"""Charts of detectors swept over thresholds: rates, thresholds chosen by rules, profiles, and the grid of half kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from hyperacuity.edges.names import measure
from hyperacuity.report import theme
from hyperacuity.report.charts.edges import lines_panel
from hyperacuity.studies.edge_curves import EdgeCurves
from hyperacuity.studies.half_kernels import HalfKernelStudy

SIDE = theme.TWO_COLUMNS // 2 - 62
ISO_F = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
ABOVE = 4.0
"""The largest ratio to the minimum that is drawn."""

LEAD = ("#0b6e4f", "#a9dcc3", "#f7f7f5", "#e9c7a5", "#9a5b1c")
"""From far ahead of the best rival to far behind."""


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
    """How far above the minimum the score is at thresholds that rules choose (Fig. 3), a panel per measure."""
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
