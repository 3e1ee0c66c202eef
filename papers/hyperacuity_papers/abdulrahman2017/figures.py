"""Figures of Abdulrahman et al. (2017): one file each by the paper's numbers, and those of the single studies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data import write_png
from hyperacuity.detect import canny, masks
from hyperacuity.edges import PAPER, add_noise, shapes, sweep
from hyperacuity.edges.thresholds import edges_at
from hyperacuity.outputs import output_file
from hyperacuity.report import theme
from hyperacuity.report.charts.edges import best_maps_chart
from hyperacuity.report.pictures.maps import edge_picture
from hyperacuity.report.pictures.ordering import panel_sheet
from hyperacuity_papers.abdulrahman2017.charts import (
    curves_chart,
    half_kernel_chart,
    profile_chart,
    rate_chart,
    robustness_chart,
    rules_chart,
    sheet_chart,
    shift_chart,
    swept_chart,
    truth_chart,
)
from hyperacuity_papers.abdulrahman2017.displacement import Shift
from hyperacuity_papers.abdulrahman2017.edge_curves import TruthsOfPicture
from hyperacuity_papers.abdulrahman2017.edge_sweeps import finder
from hyperacuity_papers.abdulrahman2017.edge_table import DETECTORS, HAND, SEMI, TABLE
from hyperacuity_papers.abdulrahman2017.edge_trials import DetectorTrial, DetectorTrials, StudyPicture
from hyperacuity_papers.abdulrahman2017.experiments import SHIFT_SIGNATURE, EdgeStudy
from hyperacuity_papers.abdulrahman2017.half_kernels import HalfKernelStudy
from hyperacuity_papers.abdulrahman2017.study import RULES, Abdulrahman2017, as_many_as_true
from hyperacuity_papers.common.saving import save_both

PROFILES: Mapping[str, tuple[float, ...]] = {
    "step": (0, 0, 0, 0, 1, 1, 1, 1),
    "step with grey": (0, 0, 0, 0.5, 1, 1, 1, 1),
    "ramp": (0, 0, 0, 0.25, 0.5, 0.75, 1, 1),
    "roof": (0, 0, 0.25, 0.5, 0.75, 1, 0.75, 0.5, 0.25, 0, 0),
    "peak": (0, 0, 0, 1, 0, 0, 0),
}
"""The types of edges of Figure 4."""

PANEL = 300
"""Longest side of a picture in a sheet, pixels."""


def draw_shift(study: Shift, folder: Path) -> list[Path]:
    """Scores against the distance of a line of errors (Fig. 2 of Abdulrahman et al.)."""
    return save_both(shift_chart(study), folder / "shift", SHIFT_SIGNATURE)


def sheet_drawer(folder: Path, files: list[Path]) -> Callable[[StudyPicture, DetectorTrial, str], None]:
    """Return a function that draws the sheet and the curves of a picture, and adds their paths to ``files``."""

    def draw(picture: StudyPicture, found: DetectorTrial, signature: str) -> None:
        files.append(theme.save(sheet_chart(found, picture.truth), folder / f"{picture.name}.png", signature=signature))
        files.extend(save_both(curves_chart(found), folder / f"{picture.name}-curves", signature))

    return draw


def draw_robustness(study: EdgeStudy, stem: Path, *, axis: str) -> list[Path]:
    """Best scores against the level of a disturbance."""
    return save_both(robustness_chart(study.trials, axis=axis), stem, study.signature)


def draw_truths(study: EdgeStudy, stem: Path) -> list[Path]:
    """Best scores against two truths (Table 4 of Abdulrahman et al.)."""
    return save_both(truth_chart(study.trials), stem, study.signature)


def draw_abdulrahman2017(study: Abdulrahman2017, folder: Path) -> list[Path]:
    """Every figure, and Table 4, ROC and precision–recall curves, and the grid of half kernels as charts."""
    curves, signature = study.curves, study.signature
    picture = next(source for source in study.sources if source.name == curves.pictures[study.shown]).load()
    charts = {
        "fig2": (shift_chart(study.shift), SHIFT_SIGNATURE),
        "fig3": (rules_chart(curves, {rule: study.ruled(rule) for rule in RULES}, TABLE), signature),
        "fig4": (profile_chart(PROFILES, {name: _answer(profile) for name, profile in PROFILES.items()}), ""),
        "fig8": (swept_chart(curves, PAPER, picture=study.shown), signature),
        "table4": (truth_chart(_trials(study)), signature),
        "roc": (rate_chart(curves, "roc"), signature),
        "pr": (rate_chart(curves, "pr"), signature),
    }
    files = [theme.save(chart, folder / f"{name}.png", signature=signed) for name, (chart, signed) in charts.items()]
    files += draw_half_kernels(study.halves, folder)
    files.append(theme.save(_best_maps(picture, SEMI), folder / "fig9.png", signature=signature))
    made = shapes()
    noisy = TruthsOfPicture("shapes at 4 dB", add_noise(made.image, 4), {"exact": made.truth})
    files.append(theme.save(_best_maps(noisy, "exact"), folder / "noise.png", signature=signature))
    sheets = {
        "fig3-maps": _chosen_by_hand(study, picture),
        "fig5": _shapes_sheet(),
        "fig6": _truth_sheet(picture),
        "fig7": _process_sheet(picture),
    }
    for name, sheet in sheets.items():
        with output_file(folder / f"{name}.png") as part:
            write_png(part, sheet)
        files.append(folder / f"{name}.png")
    return files


def draw_half_kernels(study: HalfKernelStudy, folder: Path) -> list[Path]:
    """The grid of half kernels."""
    return save_both(half_kernel_chart(study), folder / "half-kernels", study.grid.signature)


def _answer(profile: tuple[float, ...]) -> list[float]:
    strength = masks(np.tile(np.array(profile, np.float64), (5, 1))).strength[2]
    return [float(value) for value in strength]


def _trials(study: Abdulrahman2017) -> DetectorTrials:
    """Table 4 as the chart of two truths takes it."""
    curves = study.curves
    numbers = [curves.number(name) for name in TABLE]
    lowest = curves.minimum[:, :, : len(DETECTORS)][..., numbers]
    at = curves.thresholds[curves.best[:, :, : len(DETECTORS)][..., numbers]]
    return DetectorTrials(curves.pictures, curves.truths, DETECTORS, TABLE, lowest, at)


def _best_maps(picture: TruthsOfPicture, truth: str) -> Any:
    best = {}
    for name in DETECTORS:
        swept = sweep(picture.truths[truth], finder(name)(picture.image), TABLE)
        best[name] = {measure: swept.best(measure) for measure in TABLE}
    return best_maps_chart(f"{picture.name}, {truth} truth", picture.truths[truth], best)


def _chosen_by_hand(study: Abdulrahman2017, picture: TruthsOfPicture) -> NDArray[Any]:
    """The photograph, its truth, and the detectors of Figure 3 at the threshold that stands in for a person's choice."""
    curves, truth = study.curves, picture.truths[HAND]
    index = as_many_as_true(curves)[study.shown, 0]
    panels = [(_small(_grey(picture.image)), picture.name), (edge_picture(truth, truth, side=PANEL), "hand-made truth")]
    for name in ("sobel", "canny", "sf1", "hk"):
        at = float(curves.thresholds[index[curves.detectors.index(name)]])
        found = edges_at(finder(name)(picture.image), at)
        panels.append((edge_picture(truth, found, side=PANEL), f"{name}, Th = {at:.2f}: as many as true"))
    return panel_sheet(panels, columns=3)


def _shapes_sheet() -> NDArray[Any]:
    made = shapes()
    pictures = {
        "shapes: 0, 0.5 and 1": made.image,
        "truth: the grey pixels": 1.0 - made.truth,
        "4 dB": add_noise(made.image, 4),
        "3.3 dB": add_noise(made.image, 3.3),
    }
    return panel_sheet([(_grey(image), name) for name, image in pictures.items()], columns=4)


def _truth_sheet(picture: TruthsOfPicture) -> NDArray[Any]:
    """Draw the way from the photograph to its semi-automatic truth (Fig. 6)."""
    thin = masks(picture.image).thin
    panels = [
        (_grey(picture.image), picture.name),
        (_ink(np.sqrt(thin)), "edges of the masks [-1 0 1]"),
        (_ink(picture.truths[HAND]), "hand-made truth"),
        (_ink(picture.truths[SEMI]), "semi-automatic truth"),
    ]
    return panel_sheet([(_small(image), name) for image, name in panels], columns=4)


def _process_sheet(picture: TruthsOfPicture) -> NDArray[Any]:
    """Gradient, thin edges, and the edge map of the lowest score (Fig. 7)."""
    found = canny(picture.image)
    truth = picture.truths[SEMI]
    best = sweep(truth, found.thin, "psi").best("psi")
    grey = {
        picture.name: _grey(picture.image),
        "gradient (Canny)": _ink(found.soft),
        "thin after suppression": _ink(np.sqrt(found.thin)),
    }
    panels = [(_small(image), name) for name, image in grey.items()]
    caption = f"psi = {best.score:.3f} at Th = {best.threshold:.2f}, the lowest"
    return panel_sheet([*panels, (edge_picture(truth, best.edges, side=PANEL), caption)], columns=4)


def _grey(image: NDArray[Any]) -> NDArray[np.uint8]:
    eight = np.clip(np.rint(255 * np.asarray(image, np.float64)), 0, 255).astype(np.uint8)
    return eight if eight.ndim == 3 else np.repeat(eight[..., np.newaxis], 3, axis=2)


def _ink(strength: NDArray[Any]) -> NDArray[np.uint8]:
    """Dark on white."""
    return _grey(1 - np.asarray(strength, np.float64))


def _small(picture: NDArray[Any]) -> NDArray[Any]:
    """The picture with no side longer than a panel; of a drawing the darkest of each block, so that thin lines do not fade."""
    block = -(-max(picture.shape[:2]) // PANEL)
    height, width = (size - size % block for size in picture.shape[:2])
    blocks = picture[:height, :width].reshape(height // block, block, width // block, block, 3)
    drawing = np.unique(picture).size == 2
    return np.asarray(blocks.min(axis=(1, 3)) if drawing else blocks.mean(axis=(1, 3)).astype(np.uint8))
