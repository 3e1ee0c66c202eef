"""gPb and its closed contours on BSDS500's test images, compared with ``pb`` and with the authors' published results."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage, stats

from hyperacuity.boundary import BoundaryScore, Protocol, collect
from hyperacuity.data import Sample, find_data, load_dataset, read_image, read_soft, read_ucm
from hyperacuity.detect.global_pb.detector import CLOSURE, global_contours
from hyperacuity.detect.pb_detector import pb
from hyperacuity.errors import InputError
from hyperacuity.kinds.contours import ContourKind
from hyperacuity.maps import SoftMap
from hyperacuity.outputs import output_folder
from hyperacuity.run import Cell
from hyperacuity.run.jobs import job_for
from hyperacuity.run.keeping import code_key
from hyperacuity.run.many import Failures, attempt_each, failures_of, tally_cells, write_csv
from hyperacuity.systems.maps import detect_samples
from hyperacuity.tasks import task
from hyperacuity.train.drawings import evenly

AUTHORS = "gPb-ucm (authors)"
GLOBAL = ("gpb", "gpb-ucm")
SYSTEMS = ("pb", *GLOBAL)
REACH = 4
"""Largest distance of two contours to be compared, in pixels: the benchmark's tolerance on images of 481 × 321."""

TIMED = 3
"""Number of images on which each system is timed."""


@dataclass(frozen=True, eq=False)
class GpbStudy:
    """Scores by system, processor seconds per image, and the mean rank correlation of our contours with the authors'.

    ``correlation`` is that of pixels, ``nearby`` that of the strongest contour within :data:`REACH` pixels of each. Both are None
    where the authors' files are absent.
    """

    scores: dict[str, BoundaryScore]
    seconds: dict[str, float]
    correlation: float | None
    nearby: float | None
    failures: Failures

    def records(self) -> list[dict[str, Any]]:
        """A line per system, for tables and files."""
        return [
            {
                "system": name,
                "images": len(score.images),
                "ods": round(score.ods.f, 4),
                "low": round(score.ods.interval[0], 4),
                "high": round(score.ods.interval[1], 4),
                "ois": round(score.ois.f, 4),
                "ap": round(score.ap, 4),
                "seconds": round(self.seconds[name], 2) if name in self.seconds else "",
            }
            for name, score in self.scores.items()
        ]


def gpb_study(
    folder: Path, *, data: Path | None = None, count: int | None = None, timed: int = TIMED, workers: int | None = None
) -> GpbStudy:
    """Run pb, gpb and gpb-ucm on ``count`` test images, evenly chosen (default: all 200), and score them.

    Maps and the run go to ``folder``, where both are resumed. Each system is timed anew, on ``timed`` images.
    """
    samples = evenly(load_dataset("bsds500", data, split="test").samples, count)
    folders = {name: output_folder(folder / "maps" / name) for name in SYSTEMS}
    keys = dict.fromkeys(folders, code_key(global_contours.__module__))
    cells, failures = detect_samples(samples, folders, see, workers, keys=keys)
    authors = _authors(data, samples)
    cells += [Cell(AUTHORS, one.name, authors[one.name], one.truths) for one in samples if one.name in authors]
    outcome = tally_cells(job_for(task("boundary"), Protocol(), ContourKind()), cells, folder / "run", workers)
    (correlation, nearby), unread = _correlations(authors, folders["gpb-ucm"], workers)
    study = GpbStudy(
        {name: collect(found) for name, found in outcome.tallies.items() if found},
        _seconds(samples[:timed]),
        correlation,
        nearby,
        [*failures, *failures_of(outcome), *unread],
    )
    if study.scores:
        write_csv(folder / "gpb.csv", study.records())
    return study


def see(image: NDArray[Any], names: Sequence[str]) -> dict[str, SoftMap]:
    """The maps of some of the systems."""
    found = global_maps(image, [name for name in names if name in GLOBAL])
    return found | ({"pb": pb(image).thin} if "pb" in names else {})


def global_maps(image: NDArray[Any], names: Sequence[str]) -> dict[str, SoftMap]:
    """The maps of gpb, of gpb-ucm, or of both; what they share is computed once."""
    if not names:
        return {}
    contours = global_contours(image)
    return {
        name: contours.detection(closure=CLOSURE).thin if name == "gpb" else contours.hierarchy.ucm() for name in names
    }


def rank_correlation(ours: SoftMap, theirs: SoftMap, *, reach: int = 0) -> float:
    """Spearman's rank correlation of two maps over their pixels; NaN where one of them is flat.

    With a ``reach``, a pixel counts with the largest value up to so many pixels away, so that lines need not coincide.

    >>> rank_correlation(np.float32([[0, 1, 2]]), np.float32([[0, 10, 11]]))
    1.0
    """
    if reach:
        ours, theirs = (ndimage.maximum_filter(one, 2 * reach + 1, mode="nearest") for one in (ours, theirs))
    if np.ptp(ours) == 0 or np.ptp(theirs) == 0:
        return float("nan")
    return round(float(stats.spearmanr(ours.ravel(), theirs.ravel()).statistic), 12)


def _authors(data: Path | None, samples: Sequence[Sample]) -> dict[str, Path]:
    """The authors' ucm2 files of the samples, by name, if they come with the data."""
    folder = find_data("bsds500", data) / "ucm2" / "test"
    paths = {one.name: folder / f"{one.name}.mat" for one in samples}
    return {name: path for name, path in paths.items() if path.is_file()}


def _correlations(
    authors: dict[str, Path], ours: Path, workers: int | None
) -> tuple[tuple[float | None, float | None], Failures]:
    """Mean rank correlations, of pixels and of what is near them."""

    def work(name: str) -> tuple[float, float]:
        theirs = np.ascontiguousarray(read_ucm(authors[name])[2::2, 2::2], np.float32)
        mine = read_soft(ours / f"{name}.png")
        return rank_correlation(mine, theirs), rank_correlation(mine, theirs, reach=REACH)

    made = [name for name in authors if (ours / f"{name}.png").is_file()]
    found = list(attempt_each(work, made, workers, "comparing"))
    failed = [(f"{AUTHORS}: {name}", str(error)) for name, error in found if isinstance(error, InputError)]
    values = [both for _, both in found if isinstance(both, tuple) and not np.isnan(both).any()]
    if not values:
        return (None, None), failed
    means = np.mean(values, axis=0)
    return (float(means[0]), float(means[1])), failed


def _seconds(samples: Sequence[Sample]) -> dict[str, float]:
    """Mean processor seconds of this thread per image, by system, compiled and loaded beforehand."""
    images = [read_image(one.image) for one in samples if one.image]
    if not images:
        return {}
    spent = {}
    for name in SYSTEMS:
        see(images[0][:40, :40], [name])
        start = time.thread_time()
        for image in images:
            see(image, [name])
        spent[name] = (time.thread_time() - start) / len(images)
    return spent
