"""Figures of the study of Cabezas & Trujillo (2011)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hyperacuity.report import theme
from hyperacuity.report.charts import compare as compare_charts
from hyperacuity.studies.cabezas2011 import Cabezas2011, Scenario


def draw_cabezas2011(study: Cabezas2011, folder: Path) -> None:
    """Charts of every scenario, and error rate against sparsity."""
    _draw_scenarios(study.baselines, folder, "baselines", study.stability)
    if study.server:
        _draw_scenarios(study.server, folder, "server", None)
    theme.save(compare_charts.roc_chart(study.curves, study.boundary), folder / "roc.png", signature=study.signature)


def _draw_scenarios(found: Sequence[Scenario], folder: Path, kind: str, stability: Any) -> None:
    def save(name: str, chart: Any, signature: str) -> None:
        theme.save(chart, folder / f"{kind}-{name}.png", signature=signature)

    for scenario in found:
        name, ranking = scenario.name.replace(", ", "-"), scenario.concat
        stable = stability if scenario.name == "dense" else None
        save(f"{name}-parallel", compare_charts.parallel_chart(ranking), ranking.signature)
        save(f"{name}-ranks", compare_charts.rank_group_chart(ranking, stability=stable), ranking.signature)
        if len(scenario.regions) == 2:
            save(f"{name}-front", compare_charts.front_chart(scenario.mean), ranking.signature)
    save("dominance", compare_charts.dominance_chart(found[0].concat), found[0].concat.signature)
