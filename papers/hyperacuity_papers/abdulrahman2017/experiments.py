"""The experiments of Abdulrahman, Magnier & Montesinos (2017): what edge measures, detectors and the choice of truth do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data import (
    Sample,
    load_dataset,
    pair_folders,
    read_boundary_truths,
    read_edges,
    read_image,
    write_edges,
)
from hyperacuity.data.datasets.layouts import LAYOUTS
from hyperacuity.data.datasets.pairing import stem_of
from hyperacuity.data.scenes import make_scene, name_of
from hyperacuity.detect import detector, masks, rosin, split_names
from hyperacuity.edges import add_noise, shapes
from hyperacuity.edges.names import measures as parse_measures
from hyperacuity.edges.synthetic import SnrDefinition
from hyperacuity.errors import InputError, UsageError, option
from hyperacuity.maps import EdgeMap, same_size
from hyperacuity.outputs import output_file
from hyperacuity.run.many import Failures, PictureSource, attempt_each
from hyperacuity.tally import Signature
from hyperacuity_papers.abdulrahman2017.displacement import Shift
from hyperacuity_papers.abdulrahman2017.edge_trials import (
    Condition,
    DetectorTrial,
    DetectorTrials,
    FindEdges,
    StudyPicture,
    blurred,
    collect_trials,
    noisy,
    semi_automatic,
    speckle,
    trial,
    unchanged,
)

SHIFT_SIGNATURE = "edges|study:shift|size:64|length:48|v:1"


@dataclass(frozen=True)
class EdgeSetup:
    """Settings of a study: pictures (:func:`picture_sources`), detectors and measures.

    ``detectors`` and ``measures`` are names with commas; the detector ``speckle`` is a control, random pixels.
    """

    data: str
    truth: Path | None
    folder: Path | None
    count: int | None
    detectors: str
    measures: str
    workers: int | None = None
    invert_truth: bool = False


@dataclass(frozen=True, eq=False)
class EdgeStudy:
    """The best scores of all detectors on all pictures under all conditions, and the pictures that failed."""

    signature: str
    trials: DetectorTrials
    failures: Failures

    def means(self) -> dict[str, dict[str, dict[str, float]]]:
        """Mean best scores by condition, detector and measure."""
        return {
            condition: {
                detector: dict(zip(self.trials.measures, self.trials.mean[c, d].tolist(), strict=True))
                for d, detector in enumerate(self.trials.detectors)
            }
            for c, condition in enumerate(self.trials.conditions)
        }

    def rows(self) -> list[tuple[str, ...]]:
        """Mean best scores as text, a row per measure and condition and a column per detector; * marks the best of a row."""
        found = []
        for m, measure in enumerate(self.trials.measures):
            for c, condition in enumerate(self.trials.conditions):
                scores = self.trials.mean[c, :, m]
                cells = [f"{score:.4f}{'*' if score == scores.min() else ' '}" for score in scores]
                found.append((measure if c == 0 else "", condition, *cells))
        return found


def shift_records(study: Shift) -> list[dict[str, Any]]:
    """One record per measure, kind of error and distance, with the score as it is and as it is plotted."""
    return [
        {"measure": str(m), "errors": errors, "distance": int(d), "score": float(score), "normalised": float(scaled)}
        for errors, scores, curves in zip(
            ("false", "missed"), (study.false, study.missed), study.normalised(), strict=True
        )
        for m, raw, curve in zip(study.measures, scores, curves, strict=True)
        for d, score, scaled in zip(study.distances, raw, curve, strict=True)
    ]


def sheet_study(
    setup: EdgeSetup,
    snr: float | None,
    watch: Callable[[StudyPicture, DetectorTrial, str], None],
    *,
    definition: SnrDefinition = "variance",
) -> EdgeStudy:
    """Find the best edge map of each detector under each measure (Fig. 8, Fig. 9, Table 4), with noise of ``snr`` dB.

    ``definition`` says what the signal of the ratio is (:func:`~hyperacuity.edges.add_noise`). ``watch`` is called with each
    picture, its trial and the signature, in order: maps are too many to keep.
    """
    if snr is None:
        return _study("sheet", setup, {"as it is": unchanged}, watch)
    level = snr
    conditions: dict[str, Condition] = {
        f"{snr:g} dB": lambda picture: replace(picture, image=add_noise(picture.image, level, definition=definition))
    }
    parts = {} if definition == "variance" else {"signal": definition}
    return _study("sheet", setup, conditions, watch, snr=f"{snr:g}dB", **parts)


def noise_study(setup: EdgeSetup, levels: Sequence[float], *, seed: int = 0) -> EdgeStudy:
    """Add more and more noise; levels are standard deviations in grey levels of 255."""
    return _study("noise", setup, {f"{level:g}": noisy(level, seed=seed) for level in levels})


def blur_study(setup: EdgeSetup, levels: Sequence[float]) -> EdgeStudy:
    """Blur more and more; levels are standard deviations in pixels."""
    return _study("blur", setup, {f"{level:g}": blurred(level) for level in levels})


def truth_study(setup: EdgeSetup, *, semi: Path | None, radius: float, made: Path | None) -> EdgeStudy:
    """Compare hand-made with semi-automatic truth on the same pictures (Table 4).

    ``semi`` is a folder of semi-automatic truths by the names of the pictures. Without it a stand-in is used
    (:func:`.edge_trials.semi_automatic` with ``radius``, from edges of the masks [−1 0 1]) and
    written to the folder ``made``.
    """
    if semi is not None and not semi.is_dir():
        raise UsageError(f"{option('semi', semi)}: there is no folder of that name")

    def redrawn(picture: StudyPicture) -> StudyPicture:
        if semi is not None:
            return replace(picture, truth=_truth_in(semi, picture.name))
        edges = redraw(picture, radius)
        if made is not None:
            with output_file(made / f"{picture.name}.png") as part:
                write_edges(part, edges)
        return replace(picture, truth=edges)

    conditions = {"hand-made": unchanged, "semi-automatic": redrawn}
    return _study("truth", setup, conditions, semi=semi.name if semi else f"masks+{radius:g}px")


def redraw(picture: StudyPicture, radius: float = 3) -> EdgeMap:
    """The hand-made truth of a picture redrawn on the edges that the masks [−1 0 1] find, those above Rosin's threshold."""
    return semi_automatic(picture.truth, mask_edges(picture.image), radius=radius)


def mask_edges(image: NDArray[Any]) -> EdgeMap:
    """The edges that the masks [−1 0 1] find, those above Rosin's threshold."""
    thin = masks(image).thin
    return np.asarray(thin > rosin(thin[thin > 0]))


def _study(
    kind: str,
    setup: EdgeSetup,
    conditions: Mapping[str, Condition],
    watch: Callable[[StudyPicture, DetectorTrial, str], None] = lambda picture, found, signature: None,
    **parts: str,
) -> EdgeStudy:
    """Try the detectors on all pictures under all conditions; ``parts`` go into the signature."""
    names = [str(m) for m in parse_measures(setup.measures)]
    finders = _finders(setup.detectors)
    where = (setup.data, setup.truth, setup.folder, setup.count)
    sources = picture_sources(*where, invert_truth=setup.invert_truth)
    signed = str(Signature.of("edges", 1, study=kind, data=Path(setup.data).name, **parts, thr=101, norm="max"))

    def work(source: PictureSource[StudyPicture]) -> tuple[StudyPicture, DetectorTrial]:
        picture = source.load()
        return picture, trial(picture, finders, conditions, names)

    trials: list[DetectorTrial] = []
    failures: Failures = []
    for source, result in attempt_each(work, sources, setup.workers, "pictures"):
        if isinstance(result, InputError):
            failures.append((source.name, str(result)))
        else:
            trials.append(result[1])
            watch(*result, signed)
    if not trials:
        raise UsageError(f"no picture could be studied; {': '.join(failures[0])}")
    return EdgeStudy(signed, collect_trials(trials), failures)


def _finders(names: str) -> dict[str, FindEdges]:
    def finder(name: str) -> FindEdges:
        find = detector(name)
        return lambda image: find(image).thin

    found: dict[str, FindEdges] = {}
    for name in split_names(names):
        if name == "speckle":
            found[name] = lambda image: speckle(image.shape[:2])
        else:
            found[str(detector(name))] = finder(name)
    if not found:
        raise UsageError("`names=''` names no detector; for example `names='canny,hk'`")
    return found


def _truth_in(folder: Path, name: str) -> EdgeMap:
    for path in sorted(folder.iterdir()):
        if stem_of(path) == name:
            return read_edges(path)
    raise InputError(f"{option('semi', folder)}: holds no truth of {name}")


def picture_sources(
    data: str, truth: Path | None, folder: Path | None, count: int | None, *, invert_truth: bool = False
) -> list[PictureSource[StudyPicture]]:
    """The pictures that ``data`` names, at most ``count``.

    ``data`` is ``shapes``, ``scenes``, a known data set (in ``folder``), or a folder of pictures whose truths are in ``truth``.
    """
    path = Path(data)
    if truth is not None:
        found: Iterator[PictureSource[StudyPicture]] = (
            _files(p.name, p.prediction, p.truths, inverted=invert_truth) for p in pair_folders(path, truth).pairs
        )
    elif data == "shapes":
        found = iter([PictureSource("shapes", _shapes)])
    elif data == "scenes":
        found = (PictureSource(name_of(seed), partial(_scene, seed)) for seed in range(1, (count or 6) + 1))
    elif path.is_dir() and data not in LAYOUTS:
        raise UsageError(f"{data} is a folder of pictures, so `truth=''` must name the folder of their truths")
    else:
        known = load_dataset(data, folder)
        found = (sample_picture(one, inverted=known.inverted) for one in known.samples)
    return list(islice(found, count))


def sample_picture(sample: Sample, *, inverted: bool = False) -> PictureSource[StudyPicture]:
    """A photograph of a data set with the first of its truths."""
    return _files(sample.name, sample.image, sample.truths, inverted=inverted)


def _shapes() -> StudyPicture:
    made = shapes()
    return StudyPicture("shapes", made.image, made.truth)


def _scene(seed: int) -> StudyPicture:
    scene = make_scene(seed)
    return StudyPicture(name_of(seed), _unit(scene.image), scene.boundaries)


def _files(
    name: str, image: Path | None, truths: tuple[Path, ...], *, inverted: bool = False
) -> PictureSource[StudyPicture]:
    def load() -> StudyPicture:
        if image is None:
            raise InputError(f"{truths[0]}: is the truth of a picture that is missing")
        pixels, truth = read_image(image), read_boundary_truths(truths, inverted=inverted)[0]
        same_size(pixels, truth, names=(str(image), str(truths[0])))
        return StudyPicture(name, _unit(pixels), truth)

    return PictureSource(name, load)


def _unit(image: NDArray[Any]) -> NDArray[Any]:
    """An image of 8 or 16 bits as floats in [0, 1]."""
    return image / np.iinfo(image.dtype).max if image.dtype.kind == "u" else image
