"""Other ways to evaluate stereo systems, on one pair: error against sparsity, and self-consistency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data import Sample, read_disparity, write_disparity
from hyperacuity.detect.stereo import BUILT_IN, Matcher, matcher
from hyperacuity.disparity import Protocol, bad, consistency_curve, distances, prediction_error, stereo_views, tally
from hyperacuity.errors import UsageError
from hyperacuity.kinds import Inputs
from hyperacuity.kinds.disparity import DisparityKind
from hyperacuity.maps import DisparityMap, EdgeMap
from hyperacuity.outputs import output_folder
from hyperacuity.run.keeping import WRITERS, code_key, keep_file, key_of, system_key
from hyperacuity.run.many import each
from hyperacuity.systems.maps import disparities_of, match_scenes, read_pair
from hyperacuity_papers.cabezas2011.roc import RocCurve, Standing, curve, feasibility

SIGMAS = (0.5, 1.0, 2.0)
MARGINS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)
SLOW = ("adaptive-weights",)
"""Techniques that are tried with the check alone, without further margins."""


@dataclass(frozen=True, eq=False)
class StereoPair:
    """One scene: its pictures, its truth, what both pictures show, and how many disparities to try."""

    scene: str
    sample: Sample
    left: NDArray[Any]
    right: NDArray[Any]
    truth: DisparityMap
    matchable: EdgeMap
    disparities: int


@dataclass(frozen=True, eq=False)
class OnePair:
    """Error rate against sparsity, a curve per technique, with the feasibility boundary (:mod:`.roc`).

    ``consistency`` holds, for each technique, the shares of points whose two depths, from left and from right, differ by no
    more than each of :data:`SIGMAS`. ``flat`` is that share, at the last of them, of a map that says the same disparity
    everywhere, and the share of the matchable pixels where it is wrong. ``drawn`` is the PSNR in dB of the right view drawn
    from the left one by the true map, and by each technique's. ``left`` and ``truth`` are the pair's.
    """

    scene: str
    left: NDArray[Any]
    truth: DisparityMap
    curves: dict[str, RocCurve]
    boundary: RocCurve
    standing: dict[str, Standing]
    consistency: dict[str, list[float]]
    flat: tuple[float, float]
    drawn: dict[str, float]


def one_pair(
    scenes: Mapping[str, Sample],
    inputs: Inputs,
    maps: Mapping[str, Path],
    parent: Path,
    *,
    delta: float,
    workers: int | None,
) -> OnePair:
    """Evaluate every technique on Teddy, or the first scene with pictures; ``maps`` are the folders of the dense ones.

    Maps go to ``parent``, and those of the same pictures, systems and code are reused.
    """
    pair = chosen_pair(scenes, inputs)
    points = _sparsity_and_error(pair, delta, parent / "semi-dense", workers)
    boundary, standing = feasibility(points)
    curves = {base: curve(settings) for base, settings in points.items()}
    systems = [matcher(base) for base in BUILT_IN if base in maps]
    consistency = _consistency(pair, systems, maps, output_folder(parent / "from-right"), workers)
    shown = {"truth": pair.truth}
    shown |= {str(one): read_disparity(maps[str(one)] / f"{pair.scene}.pfm", zero="known") for one in systems}
    bits = 8 * pair.left.dtype.itemsize
    drawn = {
        name: prediction_error(pair.left, pair.right, one, way="forward", bits=bits).psnr for name, one in shown.items()
    }
    flat = _flat(pair, delta)
    return OnePair(pair.scene, pair.left, pair.truth, curves, boundary, standing, consistency, flat, drawn)


def chosen_pair(scenes: Mapping[str, Sample], inputs: Inputs) -> StereoPair:
    """Teddy if the data set has it, else the first scene with pictures."""
    pictured = [one for one in scenes.values() if one.image is not None and "right" in one.extras]
    if not pictured:
        raise UsageError("no scene has its pictures: there is nothing to match")
    sample = max(pictured, key=lambda one: one.name == "teddy")
    cell = next(cell for cell in inputs if cell.image == sample.name)
    reader = inputs.kind
    assert isinstance(reader, DisparityKind)  # noqa: S101  # as it was found
    (truth,) = reader.truths(cell)
    left, right = read_pair(sample)
    both = reader.regions(cell, truth, ("nonocc",))["nonocc"]
    return StereoPair(sample.name, sample, left, right, truth, both, disparities_of(sample, left.shape[1]))


def _settings(base: str) -> list[Matcher]:
    """Settings that leave out more and more doubtful pixels."""
    if base in SLOW:
        return [matcher(base), matcher(base, check=1)]
    return [matcher(base), *(matcher(base, check=1, margin=margin) for margin in MARGINS)]


def _sparsity_and_error(
    pair: StereoPair, delta: float, folder: Path, workers: int | None
) -> dict[str, list[tuple[float, float]]]:
    """Sparsity and error rate of each technique's settings."""
    judged = Protocol((delta,), ("nonocc",))
    settings = {base: _settings(base) for base in BUILT_IN}
    systems = [system for several in settings.values() for system in several]
    matched = match_scenes({pair.scene: pair.sample}, systems, output_folder(folder), workers, reuse=True)

    def point(system: Matcher) -> tuple[float, float]:
        disparity = read_disparity(matched.folders[str(system)] / f"{pair.scene}.pfm", zero="known")
        found = tally(disparity, pair.truth, judged, masks={"nonocc": pair.matchable})
        pixels, known, wrong = int(found.pixels[0]), int(found.known[0]), int(found.bad[0, 0])
        return (pixels - known) / pixels, wrong / pixels

    return {base: [point(system) for system in several] for base, several in settings.items()}


def _consistency(
    pair: StereoPair, systems: Sequence[Matcher], maps: Mapping[str, Path], folder: Path, workers: int | None
) -> dict[str, list[float]]:
    """The shares of consistent points."""

    def shares(system: Matcher) -> tuple[str, list[float]]:
        path = folder / f"{system}.pfm"
        right, left = (view[:, ::-1].copy() for view in (pair.right, pair.left))

        def match(part: Path) -> None:
            write_disparity(part, system(right, left, pair.disparities)[:, ::-1].copy())

        code = code_key(__name__, type(system).__module__, WRITERS)
        keep_file(path, key_of(code, system_key(system), pair.disparities, right, left), match)
        there, back = (read_disparity(file, zero="known") for file in (maps[str(system)] / f"{pair.scene}.pfm", path))
        return str(system), consistency_curve(distances(stereo_views(there, back)), SIGMAS).tolist()

    return dict(each(shares, systems, workers, "matching from the right"))


def _flat(pair: StereoPair, delta: float) -> tuple[float, float]:
    """A map that says the same everywhere, from the left and from the right: how consistent, and how wrong."""
    same = np.full(pair.truth.shape, np.rint(np.nanmedian(pair.truth)), np.float32)
    consistent = consistency_curve(distances(stereo_views(same, same)), SIGMAS)
    return float(consistent[-1]), bad(pair.truth, same, delta, mask=pair.matchable)
