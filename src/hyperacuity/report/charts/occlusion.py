"""A chart of occlusion boundaries: how often the right side is in front of what is found, over how much is found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np

from hyperacuity.ordering import OcclusionScore
from hyperacuity.report import theme


def orientation_chart(scores: Mapping[str, OcclusionScore]) -> Any:
    """AOR: the share of matched pixels with the right side in front, over the recall of boundaries; a curve per system.

    The mark is at the threshold with the best OPR. The dotted line is what guessing would get.
    """
    rows, best = [], []
    for name, score in scores.items():
        curve = score.boundary.curve
        at = int(np.argmax(score.opr.curve.f))
        points = zip(curve.threshold.tolist(), curve.recall.tolist(), score.accuracy.tolist(), strict=True)
        for n, (threshold, recall, accuracy) in enumerate(points):
            if np.isfinite(accuracy):
                row = {"system": name, "threshold": round(threshold, 4), "recall": recall, "accuracy": accuracy}
                rows.append(row)
                best += [row] if n == at else []
    lowest = min([0.5, *(row["accuracy"] for row in rows)])
    span = alt.Scale(domain=[np.floor(lowest * 10) / 10, 1], nice=False)
    x = alt.X("recall:Q", title="recall of boundaries", scale=alt.Scale(domain=[0, 1], nice=False))
    y = alt.Y("accuracy:Q", title="right side in front (AOR)", scale=span)
    legend = alt.Legend(title=None, orient="bottom", columns=3, symbolOpacity=1)
    colour, dash, shape = theme.channels(theme.systems(list(scores)), legend=legend)
    lines = theme.chart(rows).encode(x=x, y=y, color=colour, order=alt.Order("threshold:Q"))
    marks = theme.chart(best).encode(
        x=x, y=y, color=colour, shape=shape, tooltip=["system:N", "accuracy:Q", "recall:Q"]
    )
    guess = theme.chart([{"accuracy": 0.5}]).mark_rule(strokeDash=[2, 3], color=theme.FAINT)
    return alt.layer(
        guess.encode(y=y),
        lines.mark_line(strokeWidth=1.6).encode(strokeDash=dash),
        marks.mark_point(filled=True, size=70, opacity=1),
    ).properties(width=theme.ONE_COLUMN, height=theme.ONE_COLUMN - 60)
