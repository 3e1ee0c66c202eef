"""Figures of the studies: charts, and sheets of pictures, written from what a study found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from hyperacuity.audit.risk import RiskScore
from hyperacuity.data import write_png
from hyperacuity.detect.depth.orderers import LEVEL
from hyperacuity.edges.displacement import Shift
from hyperacuity.ordering import Partition, transfer
from hyperacuity.regions import PruningPath, piecewise_constant, pruning_path
from hyperacuity.report import theme
from hyperacuity.report.charts import compare as compare_charts
from hyperacuity.report.charts.audit import risk_chart
from hyperacuity.report.charts.edges import curves_chart, robustness_chart, sheet_chart, shift_chart, truth_chart
from hyperacuity.report.charts.ordering import figure_ground_chart, prc_chart
from hyperacuity.report.pictures.ordering import order_picture, panel_sheet
from hyperacuity.studies.abdulrahman2017 import SHIFT_SIGNATURE, EdgeStudy
from hyperacuity.studies.cabezas2011 import Cabezas2011, Scenario
from hyperacuity.studies.edge_trials import DetectorTrial, StudyPicture
from hyperacuity.studies.palou2014 import (
    CUES,
    NETWORK,
    OWNERSHIP,
    TJC,
    TREE,
    Loaded,
    Palou2014,
    SystemViews,
    truly_ordered,
)
from hyperacuity.studies.risk_of_trials import RISK_SIGNATURE
from hyperacuity.studies.running import PictureSource

PANELS = 6
"""How many λ the series of pictures (Fig. 6 of Palou & Salembier) shows."""

SHOWN_LAMBDA = 0.5
"""λ of the ownership on the tree that is shown, in units of squared ownership as in the study's sweep."""

BOX = (420, 300)
"""Panels of the sheets: width and height in pixels."""


def draw_shift(study: Shift, folder: Path) -> list[Path]:
    """Scores against the distance of a line of errors (Fig. 2 of Abdulrahman et al.)."""
    return _save(shift_chart(study), folder / "shift", SHIFT_SIGNATURE)


def sheet_drawer(folder: Path, files: list[Path]) -> Callable[[StudyPicture, DetectorTrial, str], None]:
    """What draws the sheet and the curves of each picture as it comes, and adds the paths to ``files``."""

    def draw(picture: StudyPicture, found: DetectorTrial, signature: str) -> None:
        files.append(theme.save(sheet_chart(found, picture.truth), folder / f"{picture.name}.png", signature=signature))
        files.extend(_save(curves_chart(found), folder / f"{picture.name}-curves", signature))

    return draw


def draw_robustness(study: EdgeStudy, stem: Path, *, axis: str) -> list[Path]:
    """Best scores against the level of a disturbance."""
    return _save(robustness_chart(study.trials, axis=axis), stem, study.signature)


def draw_truths(study: EdgeStudy, stem: Path) -> list[Path]:
    """Best scores against two truths (Table 4 of Abdulrahman et al.)."""
    return _save(truth_chart(study.trials), stem, study.signature)


def draw_risk(score: RiskScore, folder: Path) -> list[Path]:
    """Risks by system and mode (Fig. 3 of Hou et al.)."""
    return _save(risk_chart(score), folder / "risk", RISK_SIGNATURE)


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


def draw_palou2014(results: Mapping[str, Palou2014], folder: Path) -> None:
    """Precision and recall of every set, the λ series (Fig. 6) and the comparison of the systems (Fig. 9)."""
    for name, result in results.items():
        charts = {
            "ldc": prc_chart(result.scores, "ldc", human=result.human),
            "figure-ground": figure_ground_chart(result.scores, human=result.human),
        }
        if any(score.gdc is not None for score in result.scores.values()):
            charts["gdc"] = prc_chart(result.scores, "gdc")
        for kind, chart in charts.items():
            theme.save(chart, folder / f"{name}-{kind}.png", signature=result.signature)
    last = list(results.values())[-1].pictures
    compared = [*results["scenes"].pictures[:2], *(last[:4] if len(results) > 1 else last[2:6])]
    write_png(folder / "lambda-series.png", lambda_series(last[0]))
    write_png(folder / "comparison.png", comparison_sheet(compared))


def lambda_series(picture: PictureSource[Loaded]) -> NDArray[Any]:
    """The picture, its ownership, and ownership on the tree from fine to coarse."""
    image, _, _ = picture.load()
    views = SystemViews(image)
    panels = [(_boxed(image), picture.name), (_boxed(order_picture(views.ownership)), "ownership: warm is near")]
    for lam in telling_lambdas(pruning_path(views.tree, piecewise_constant(views.tree, views.ownership))):
        found = views.pruned(lam)
        count = f"{found.regions} region{'' if found.regions == 1 else 's'}"
        panels.append((_boxed(order_picture(found.order)), f"lambda = {lam:.3g}: {count}"))
    return panel_sheet(panels, columns=4)


def telling_lambdas(path: PruningPath) -> list[float]:
    """λ from many regions to few, in even steps of the logarithm of their number where there are such partitions."""
    lambdas = path.breakpoints
    merged = np.searchsorted(np.sort(path.scales), lambdas, side="right")
    regions = path.tree.leaves - merged
    lambdas, regions = lambdas[regions > 1], regions[regions > 1]
    if lambdas.size == 0:
        return [0.0]
    steps = np.geomspace(regions.max() / 2, regions.min(), PANELS)
    chosen = np.unique(np.abs(np.log(regions)[:, None] - np.log(steps)).argmin(axis=0))
    return [float(lam) * (1 + 1e-6) for lam in lambdas[chosen]]  # beyond the tie at the very λ


def comparison_sheet(pictures: Sequence[PictureSource[Loaded]]) -> NDArray[Any]:
    """Each row a picture, its truth, and what the systems make of it."""
    panels = []
    for picture in pictures:
        image, truths, regions = picture.load()
        views = SystemViews(image)
        own = views.tree.at(LEVEL)
        whole = truths[0] if isinstance(truths[0], Partition) else truly_ordered(regions, truths[0])
        orders = {
            "truth": whole.painted().astype(np.float32),
            OWNERSHIP: views.ownership,
            f"{TREE}, lambda = {SHOWN_LAMBDA:g}": views.pruned(SHOWN_LAMBDA).order,
            TJC: views.ordered(own, tjc=True).order,
            CUES: views.ordered(own).order,
        }
        if views.network:
            orders[NETWORK] = transfer(views.network.order, views.network.regions())
        panels.append((_boxed(image), picture.name))
        panels += [(_boxed(order_picture(order)), name) for name, order in orders.items()]
    return panel_sheet(panels, columns=len(panels) // max(len(pictures), 1) or 1)


def _boxed(picture: NDArray[Any]) -> NDArray[Any]:
    """A picture made to fit the box of a panel, on the sheet's ground."""
    image = Image.fromarray(np.ascontiguousarray(picture)).convert("RGB")
    return np.asarray(ImageOps.pad(image, BOX, Image.Resampling.BOX, color=theme.GROUND))


def _save(chart: Any, stem: Path, signature: str) -> list[Path]:
    """The chart as SVG and as PNG."""
    return [theme.save(chart, stem.with_name(stem.name + suffix), signature=signature) for suffix in (".svg", ".png")]
