"""Figures of the study of Cabezas & Trujillo (2011)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from hyperacuity.data import read_disparity, write_png
from hyperacuity.outputs import output_file
from hyperacuity.report import theme
from hyperacuity.report.charts import compare as compare_charts
from hyperacuity.report.pictures.disparity import depth_picture
from hyperacuity.report.pictures.ordering import panel_sheet
from hyperacuity_papers.cabezas2011.roc import RocCurve
from hyperacuity_papers.cabezas2011.stereo_scenarios import Scenario
from hyperacuity_papers.cabezas2011.study import FIELD, Cabezas2011


def draw_cabezas2011(study: Cabezas2011, folder: Path) -> None:
    """Charts of technique against technique, of all systems and of the server's; error against sparsity; a sheet of maps."""
    for kind, found in (("inter", study.inter), ("filled", study.filled)):
        _draw_scenarios(found, folder, kind)
    whole = study.field[0]
    often = np.array([study.stability[name] for name in whole.concat.systems])
    chart = compare_charts.rank_group_chart(whole.concat, stability=often)
    theme.save(chart, _file(folder, "field", whole, "ranks"), signature=study.signature)
    if study.server is not None:
        _draw_scenarios(study.server.scenarios, folder, "server")
    roc = roc_chart(study.pair.curves, study.pair.boundary)
    theme.save(roc, folder / "roc.png", signature=study.signature)
    with output_file(folder / "maps.png") as part:
        write_png(part, map_sheet(study, folder))


def map_sheet(study: Cabezas2011, folder: Path) -> NDArray[Any]:
    """The left picture, the truth and each technique's map of one pair, filled, all on one scale; warm is near."""
    pair = study.pair
    low, high = float(np.nanmin(pair.truth)), float(np.nanmax(pair.truth))
    panels = [(pair.left, f"{pair.scene}, left"), (depth_picture(pair.truth, low=low, high=high), "truth")]
    for technique in FIELD:
        system = f"{technique}(fill=1)"
        found = read_disparity(folder / "maps" / system / f"{pair.scene}.pfm", zero="known")
        panels.append((depth_picture(np.clip(found, low, high), low=low, high=high), system))
    return panel_sheet(panels, columns=5)


def _draw_scenarios(found: Sequence[Scenario], folder: Path, kind: str) -> None:
    """Two regions as points in the plane; more as lines, average ranks and groups, and who dominates whom."""
    for scenario in found:
        ranking = scenario.concat
        if len(scenario.regions) == 2:
            charts = {"front": compare_charts.front_chart(scenario.mean)}
        else:
            charts = {
                "parallel": compare_charts.parallel_chart(ranking),
                "ranks": compare_charts.rank_group_chart(ranking),
                "dominance": compare_charts.dominance_chart(ranking),
            }
        for name, chart in charts.items():
            theme.save(chart, _file(folder, kind, scenario, name), signature=ranking.signature)


def _file(folder: Path, kind: str, scenario: Scenario, chart: str) -> Path:
    return folder / f"{kind}-{scenario.name.replace(', ', '-')}-{chart}.png"


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
