"""Figures of the studies of edge measures and detectors (Abdulrahman et al. 2017)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hyperacuity.edges.displacement import Shift
from hyperacuity.report import theme
from hyperacuity.report.charts.edges import curves_chart, robustness_chart, sheet_chart, shift_chart, truth_chart
from hyperacuity.report.papers.saving import save_both
from hyperacuity.studies.abdulrahman2017 import SHIFT_SIGNATURE, EdgeStudy
from hyperacuity.studies.edge_trials import DetectorTrial, StudyPicture


def draw_shift(study: Shift, folder: Path) -> list[Path]:
    """Scores against the distance of a line of errors (Fig. 2 of Abdulrahman et al.)."""
    return save_both(shift_chart(study), folder / "shift", SHIFT_SIGNATURE)


def sheet_drawer(folder: Path, files: list[Path]) -> Callable[[StudyPicture, DetectorTrial, str], None]:
    """What draws the sheet and the curves of each picture as it comes, and adds the paths to ``files``."""

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
