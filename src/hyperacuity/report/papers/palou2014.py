"""Figures of the study of Palou & Salembier (2014)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data import write_png
from hyperacuity.detect.depth.orderers import LEVEL
from hyperacuity.ordering import Partition, transfer
from hyperacuity.regions import PruningPath, piecewise_constant, pruning_path
from hyperacuity.report import theme
from hyperacuity.report.charts.ordering import figure_ground_chart, prc_chart
from hyperacuity.report.papers.saving import boxed
from hyperacuity.report.pictures.ordering import order_picture, panel_sheet
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
from hyperacuity.studies.running import PictureSource

PANELS = 6
"""How many λ the series of pictures (Fig. 6 of Palou & Salembier) shows."""

SHOWN_LAMBDA = 0.5
"""λ of the ownership on the tree that is shown, in units of squared ownership as in the study's sweep."""


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
    panels = [(boxed(image), picture.name), (boxed(order_picture(views.ownership)), "ownership: warm is near")]
    for lam in telling_lambdas(pruning_path(views.tree, piecewise_constant(views.tree, views.ownership))):
        found = views.pruned(lam)
        count = f"{found.regions} region{'' if found.regions == 1 else 's'}"
        panels.append((boxed(order_picture(found.order)), f"lambda = {lam:.3g}: {count}"))
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
        panels.append((boxed(image), picture.name))
        panels += [(boxed(order_picture(order)), name) for name, order in orders.items()]
    return panel_sheet(panels, columns=len(panels) // max(len(pictures), 1) or 1)
