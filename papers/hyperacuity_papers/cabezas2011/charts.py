"""Chart of Cabezas & Trujillo (2011): error rate against sparsity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt

from hyperacuity.report import theme
from hyperacuity_papers.cabezas2011.roc import RocCurve


def roc_chart(curves: Mapping[str, RocCurve], boundary: RocCurve) -> Any:
    """Error rate against sparsity, a staircase per system, and the feasibility boundary as a wide pale band below them."""
    top = 1.15 * max(float(one.error.max()) for one in curves.values())
    right = min(1.0, 1.3 * max(float(one.sparsity.max()) for one in curves.values()) + 0.02)
    rows: list[dict[str, Any]] = [
        {"system": name, "sparsity": s, "error": e} for name, one in curves.items() for s, e in _steps(one, right)
    ]
    title, scale = "sparsity: share of matchable pixels left out", alt.Scale(domain=[0, right], nice=False)
    x = alt.X("sparsity:Q", title=title, scale=scale, axis=alt.Axis(tickCount=5))
    y = alt.Y("error:Q", title="error rate: share matched wrongly", scale=alt.Scale(domain=[0, top], nice=False))
    colour, dash, shape = theme.channels(theme.systems(list(curves)))
    below = theme.chart({"sparsity": s, "error": e} for s, e in _steps(boundary, right))
    floor = below.mark_line(interpolate="step-after", color=theme.GRID, strokeWidth=8, clip=True)
    lines = theme.chart(rows).mark_line(interpolate="step-after", clip=True)
    settings = theme.chart(row for row in rows if row["sparsity"] < right)
    dots = settings.mark_point(filled=True, size=30, opacity=1, clip=True)
    ends = {row["system"]: row for row in rows}
    heights = theme.spread([row["error"] for row in ends.values()], top / 24, low=0, high=top)
    named = theme.chart(row | {"at": at} for row, at in zip(ends.values(), heights, strict=True))
    leaders = named.mark_rule(color=theme.FAINT, strokeWidth=0.5, xOffset=1, x2Offset=12)
    return alt.layer(
        floor.encode(x=x, y=y),
        lines.encode(x=x, y=y, color=colour, strokeDash=dash),
        dots.encode(x=x, y=y, color=colour, shape=shape),
        leaders.encode(x=x, x2="sparsity:Q", y=y, y2="at:Q"),
        named.mark_text(align="left", dx=15, fontSize=8).encode(x=x, y="at:Q", text="system:N"),
    ).properties(width=theme.ONE_COLUMN, height=theme.ONE_COLUMN * 0.75)


def _steps(one: RocCurve, right: float) -> list[tuple[float, float]]:
    return [*zip(one.sparsity.tolist(), one.error.tolist(), strict=True), (right, float(one.error[-1]))]
