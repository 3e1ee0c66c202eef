"""Figures of the study of Cabezas & Trujillo (2011)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data import read_disparity, write_png
from hyperacuity.outputs import output_file
from hyperacuity.report import theme
from hyperacuity.report.charts import compare as compare_charts
from hyperacuity.report.pictures.disparity import depth_picture
from hyperacuity.report.pictures.ordering import panel_sheet
from hyperacuity_papers.cabezas2011.charts import roc_chart
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
