"""Figures of the study of Palou & Salembier (2014)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data import write_png
from hyperacuity.maps import LabelMap, OrderMap
from hyperacuity.ordering import Ordering, Partition, transfer
from hyperacuity.regions import PruningPath, piecewise_constant, pruning_path
from hyperacuity.report import theme
from hyperacuity.report.charts.ordering import figure_ground_chart, prc_chart
from hyperacuity.report.pictures.ordering import order_picture, panel_sheet, picture_sheet
from hyperacuity.run.keeping import Kept, code_key, keep_files, key_of
from hyperacuity.run.many import PictureSource, each
from hyperacuity_papers.common.depth_pictures import Loaded
from hyperacuity_papers.common.saving import boxed
from hyperacuity_papers.palou2014.depth_views import (
    AE,
    CUES,
    LEVEL,
    NETWORK,
    ORACLE,
    OWNERSHIP,
    RANDOM,
    SHOWN_LAMBDA,
    TJC,
    TREE,
    UCM_TJ,
    SystemViews,
    truly_ordered,
)
from hyperacuity_papers.palou2014.study import PAPERS, RULES, SCENES, Palou2014, PalouSets

PANELS = 6
"""Number of λ in the series of pictures (Fig. 6 of Palou & Salembier)."""

NOT_DRAWN = (CUES, TJC, ORACLE, RANDOM)
"""Systems that the charts leave out: they have the regions of others that are drawn, and would cover them."""

SHEETS = ("measures.png", "lambda-series.png", "comparison.png", "outcomes.png")


def draw_palou2014(study: PalouSets, folder: Path, *, workers: int | None = None) -> PalouSets:
    """Precision and recall of every set (Figs. 7 and 8), and sheets of pictures; the study with the names of the files.

    Sheets: four outcomes of one scene (Fig. 1), how one picture is measured (Figs. 3 – 5), the λ series (Fig. 6) and the
    comparison of the systems (Fig. 9). These are left alone where they are of the same pictures and code.
    """
    names = [name for result in study.sets.values() for name in _draw_charts(result, folder)]
    scenes, *photographs = (list(result.pictures) for result in study.sets.values())
    last = photographs[0] if photographs else scenes
    compared = [*scenes[:2], *(last[:4] if photographs else last[2:6])]

    def draw(files: Sequence[Path]) -> None:
        kept = study.sights
        write_png(files[0], measures_sheet(scenes[0], kept))
        write_png(files[1], lambda_series(last[0], kept))
        write_png(files[2], comparison_sheet(compared, kept, workers=workers))
        write_png(files[3], outcomes_sheet(study.sets[SCENES], kept))

    images = [picture.load()[0] for picture in (*compared, scenes[0], last[0])]
    captions = outcome_captions(study.sets[SCENES])  # of all scenes: the parameters are those that suit all best
    key = key_of(code_key(__name__, panel_sheet.__module__, SystemViews.__module__), *images, captions)
    keep_files([folder / name for name in SHEETS], key, draw)
    return study.drawn(*names, *SHEETS)


def _draw_charts(result: Palou2014, folder: Path) -> list[str]:
    scores = {name: score for name, score in result.scores.items() if name not in NOT_DRAWN}
    charts = {
        "ldc": prc_chart(scores, "ldc", human=result.human, chance=True),
        "figure-ground": figure_ground_chart(scores, human=result.human),
    }
    if any(score.gdc is not None for score in scores.values()):
        charts["gdc"] = prc_chart(scores, "gdc", human=result.human, chance=True)
    names = {f"{result.name}-{kind}.png": chart for kind, chart in charts.items()}
    for name, chart in names.items():
        theme.save(chart, folder / name, signature=result.signature)
    return list(names)


def measures_sheet(picture: PictureSource[Loaded], kept: Kept | None = None) -> NDArray[Any]:
    """Draw how ownership on the tree is measured in one picture: matched contours, owners, regions and pairs of regions."""
    image, truths, _ = picture.load()
    return picture_sheet(SystemViews(image, kept).pruned(SHOWN_LAMBDA), truths[0])


def outcome_captions(scenes: Palou2014) -> dict[str, str]:
    """Captions of the outcomes of the paper's systems in the first scene: what each is worth by every number."""
    name = scenes.pictures[0].name
    return {
        system: f"{system}, {scenes.chosen(system)}: "
        + ", ".join(f"{rule} {mark:.2f}" for rule, mark in zip(RULES, scenes.marks(name, system), strict=True))
        for system in PAPERS
    }


def outcomes_sheet(scenes: Palou2014, kept: Kept | None = None) -> NDArray[Any]:
    """The first scene, its true order, and four outcomes: which is the best?"""
    picture = scenes.pictures[0]
    image, truths, regions = picture.load()
    orders = {
        system: found
        for system, parameter, found in SystemViews(image, kept).sweeps(truths[0], PAPERS)
        if parameter == scenes.chosen(system)
    }
    panels = [(boxed(image), picture.name), (boxed(order_picture(_whole(truths[0], regions))), "truth: warm is near")]
    for system, caption in outcome_captions(scenes).items():
        panels.append(
            (boxed(order_picture(orders[system].painted().astype(np.float32))), caption.replace("λ", "lambda"))
        )
    return panel_sheet(panels, columns=3)


def _whole(truth: Ordering, regions: LabelMap) -> OrderMap:
    """A true order, painted; of labelled contours that of their regions."""
    whole = truth if isinstance(truth, Partition) else truly_ordered(regions, truth)
    return whole.painted().astype(np.float32)


def lambda_series(picture: PictureSource[Loaded], kept: Kept | None = None) -> NDArray[Any]:
    """The picture, its ownership, and ownership on the tree from fine to coarse."""
    image, _, _ = picture.load()
    views = SystemViews(image, kept)
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


def comparison_sheet(
    pictures: Sequence[PictureSource[Loaded]], kept: Kept | None = None, *, workers: int | None = None
) -> NDArray[Any]:
    """Draw a row per picture: its truth, and the results of the systems."""
    rows = list(each(partial(_compared, kept=kept), pictures, workers, "comparison"))
    return panel_sheet([panel for row in rows for panel in row], columns=len(rows[0]))


def _compared(picture: PictureSource[Loaded], kept: Kept | None) -> list[tuple[NDArray[Any], str]]:
    image, truths, regions = picture.load()
    views = SystemViews(image, kept)
    own = views.tree.at(LEVEL)
    orders = {
        "truth": _whole(truths[0], regions),
        f"{TREE}, lambda = {SHOWN_LAMBDA:g}": views.pruned(SHOWN_LAMBDA).order,
        OWNERSHIP: views.ownership,
        AE: views.embedded,
        UCM_TJ: views.layered(own).order,
        CUES: views.ordered(own)[0].order,
    }
    if views.network:
        orders[NETWORK] = transfer(views.network.order, views.network.regions())
    return [(boxed(image), picture.name), *((boxed(order_picture(order)), name) for name, order in orders.items())]
