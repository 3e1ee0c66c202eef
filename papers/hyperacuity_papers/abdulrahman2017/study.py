"""The whole of Abdulrahman, Magnier & Montesinos (2017): every table and figure, on photographs, shapes and noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.audit.strength import strengths
from hyperacuity.data import Sample, find_data, load_dataset, read_boundary_truths
from hyperacuity.detect import masks
from hyperacuity.edges import PAPER, add_noise, shapes
from hyperacuity.errors import UsageError
from hyperacuity.kernels.distances import squared_distances
from hyperacuity.run.keeping import Kept
from hyperacuity.run.many import Failures, PictureSource, write_csv
from hyperacuity.tally import Signature
from hyperacuity.train.drawings import evenly
from hyperacuity_papers.abdulrahman2017 import edge_curves, half_kernels
from hyperacuity_papers.abdulrahman2017.displacement import Shift, shift
from hyperacuity_papers.abdulrahman2017.edge_curves import AUTOMATIC, EdgeCurves, TruthsOfPicture
from hyperacuity_papers.abdulrahman2017.edge_readings import OTHERS, reading_records
from hyperacuity_papers.abdulrahman2017.edge_sweeps import CONTROL, MODULES
from hyperacuity_papers.abdulrahman2017.edge_table import DETECTORS, HAND, PRINTED, SEMI, TABLE, THRESHOLDS, TRUTHS
from hyperacuity_papers.abdulrahman2017.edge_trials import StudyPicture
from hyperacuity_papers.abdulrahman2017.experiments import (
    mask_edges,
    picture_sources,
    redraw,
    sample_picture,
    shift_records,
)
from hyperacuity_papers.abdulrahman2017.half_kernels import HalfKernelGrid, HalfKernelStudy

RADIUS = 3
"""Largest distance of an edge from the hand-made truth to be taken for it, pixels."""

BERKELEY = 10
"""Number of photographs of BSDS300."""

EXACT, DISPLACED = "exact", "2 px off"
ONE, EVERYONE = "one person", "everyone"
RULES = ("as many as true", *AUTOMATIC, "minimum")
"""Rules that choose a threshold: so that as many pixels are detected as the truth has (in place of a person, of whom the paper
says no more), by Otsu, by Rosin, and where the measure is lowest."""


@dataclass(frozen=True)
class PlaceOfTruth:
    """Shares of the truths of a picture that lie on edges of the masks [−1 0 1], and of edges that they leave out.

    ``on_edge``: of the truth, exactly on a found edge. ``near_edge``: of the truth, within :data:`RADIUS` of one. ``left_out``:
    of the found edges that are at least as strong as the median of those along the truth, farther than that from the truth.
    """

    on_edge: tuple[float, ...]
    near_edge: tuple[float, ...]
    left_out: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Abdulrahman2017:
    """Results of the study. ``data`` names the photographs, or is ``scenes`` without any.

    ``curves``: the photographs under both truths. ``clean``: shapes under the exact truth and one displaced by two pixels.
    ``noisy``: shapes under noise, by level in dB, a picture per seed. ``places``: the mean over the photographs. ``berkeley``:
    photographs of BSDS300 under both truths, the hand-made one drawn by one person, and ``consensus`` where that person's
    lines and those on which everyone agrees lie; None without BSDS500. Figures lie in ``folder`` if they were drawn.
    """

    folder: Path
    data: str
    shift: Shift
    curves: EdgeCurves
    clean: EdgeCurves
    noisy: Mapping[str, EdgeCurves]
    halves: HalfKernelStudy
    places: PlaceOfTruth
    berkeley: EdgeCurves | None
    consensus: PlaceOfTruth | None
    sources: Sequence[PictureSource[TruthsOfPicture]]
    failures: Failures

    @property
    def photographs(self) -> bool:
        """True if there were photographs."""
        return self.data != "scenes"

    @property
    def notes(self) -> list[str]:
        """Parts that were left out."""
        made = len(self.curves.pictures)
        return [] if self.photographs else [f"RUG is not at hand: {made} made scenes instead of its photographs"]

    @property
    def signature(self) -> str:
        """Signature of the scores."""
        parts = {"study": "abdulrahman2017", "data": self.data, "semi": f"masks+{RADIUS}px"}
        return str(Signature.of("edges", 1, **parts, thr=101, norm="max"))

    @property
    def shown(self) -> int:
        """The number of the photograph that figures show: the easiest for the six detectors (mean F_α*, both truths)."""
        scores = self.curves.minimum[:, :, : len(DETECTORS), self.curves.number("f_alpha")]
        return int(scores.mean(axis=(1, 2)).argmin())

    def table(self) -> list[tuple[str, ...]]:
        """Table 4: per measure a row of ours and one of the paper's; hand-made and semi-automatic truth per detector."""
        rows = []
        for name in TABLE:
            ours = [f"{self.curves.mean(name, g)[d]:#.4g}" for d in DETECTORS for g in range(2)]
            theirs = [f"{PRINTED[t][name][d]:g}" if d in PRINTED[t][name] else "" for d in DETECTORS for t in TRUTHS]
            rows += [(name, "ours", *ours), ("", "paper", *theirs)]
        return rows

    def table_records(self, curves: EdgeCurves | None = None) -> list[dict[str, Any]]:
        """Table 4 and the thresholds of Figure 9, one record per measure, detector and truth; by default of the photographs."""
        curves = curves or self.curves
        return [
            {
                "measure": name,
                "detector": d,
                "truth": truth,
                "ours": curves.mean(name, g)[d],
                "paper": PRINTED[truth][name].get(d, ""),
                "threshold": curves.threshold(name, g)[d],
                "paper's threshold": THRESHOLDS[name].get(d, "") if truth == SEMI else "",
            }
            for name in TABLE
            for d in DETECTORS
            for g, truth in enumerate(TRUTHS)
        ]

    def ruled(self, rule: str) -> NDArray[np.float64]:
        """Scores at the threshold that a rule chooses, [picture, truth, detector, measure]."""
        if rule == "minimum":
            return self.curves.minimum
        if rule in AUTOMATIC:
            return self.curves.at(self.curves.automatic_index(rule))
        return ruled_by_number(self.curves)

    def threshold_records(self) -> list[dict[str, Any]]:
        """Mean scores by measure, detector and truth at the thresholds of all :data:`RULES` (Fig. 3)."""
        means = {rule: self.ruled(rule).mean(axis=0) for rule in RULES}
        return [
            {"measure": name, "detector": d, "truth": truth, **{rule: float(means[rule][g, n, m]) for rule in RULES}}
            for m, name in enumerate(self.curves.measures)
            for n, d in enumerate(self.curves.detectors)
            for g, truth in enumerate(self.curves.truths)
        ]

    def rate_records(self) -> list[dict[str, Any]]:
        """ROC and precision–recall curves of all photographs together."""
        return [
            {
                "truth": truth,
                "detector": d,
                "threshold": th,
                "recall": r[n, t],
                "precision": p[n, t],
                "false rate": f[n, t],
            }
            for g, truth in enumerate(self.curves.truths)
            for r, p, f in [self.curves.rates(g)]
            for n, d in enumerate(self.curves.detectors)
            for t, th in enumerate(self.curves.thresholds.tolist())
        ]

    def write_tables(self, folder: Path) -> list[Path]:
        """Write all tables as CSV."""
        tables = {
            "table4": self.table_records(),
            "thresholds": self.threshold_records(),
            "readings": reading_records(self.curves),
            "rates": self.rate_records(),
            "half-kernels": self.halves.rows(),
            "shift": shift_records(self.shift),
        }
        if self.berkeley is not None:
            tables["table4-berkeley"] = self.table_records(self.berkeley)
        return [write_csv(folder / f"{name}.csv", records) for name, records in tables.items()]


def abdulrahman2017(
    folder: Path,
    *,
    data: Path | None = None,
    count: int | None = None,
    seeds: int = 5,
    size: int = 256,
    grid: HalfKernelGrid | None = None,
    workers: int | None = None,
) -> Abdulrahman2017:
    """Run the paper's experiments; what lies in the folder is used again.

    Photographs are RUG's, ``data`` the folder they are looked for in; without them, made scenes take their place. Where BSDS500
    is found, :data:`BERKELEY` photographs of BSDS300's test set are tried too: the paper's hand-made truth is one of them.
    """
    kept = Kept(folder / "kept", MODULES)
    name = "rug" if _at_hand("rug", data) else "scenes"
    sources = [PictureSource(one.name, partial(_both_truths, one)) for one in picture_sources(name, None, data, count)]
    names, tried = (*PAPER, *OTHERS), (*DETECTORS, CONTROL)
    curves, failures = edge_curves.edge_curves(sources, tried, names, kept, workers, "photographs")
    made = shapes(size)
    truths = {EXACT: made.truth, DISPLACED: np.roll(made.truth, 2, axis=1)}
    still = [PictureSource("shapes", lambda: TruthsOfPicture("shapes", made.image, truths))]
    clean, _ = edge_curves.edge_curves(still, (*DETECTORS, "masks"), PAPER, kept, workers, "shapes")
    noisy = {}
    for level in (4.0, 3.3):
        pictures = [PictureSource(f"shapes-{seed}", partial(_noisy, size, level, seed)) for seed in range(seeds)]
        noisy[f"{level:g} dB"], _ = edge_curves.edge_curves(pictures, DETECTORS, PAPER, kept, workers, f"{level:g} dB")
    halves = half_kernels.half_kernels(grid or HalfKernelGrid(TABLE, seeds=seeds, size=size), kept, workers)
    places = _places([source for source in sources if source.name in curves.pictures])
    berkeley: EdgeCurves | None = None
    consensus: PlaceOfTruth | None = None
    if chosen := _berkeley(data, count):
        drawn = [PictureSource(one.name, partial(_drawn, one)) for one in chosen]
        berkeley, unread = edge_curves.edge_curves(drawn, tried, names, kept, workers, "Berkeley")
        failures = [*failures, *unread]
        consensus = _places(
            [PictureSource(one.name, partial(_agreed, one)) for one in chosen if one.name in berkeley.pictures]
        )
    found = (curves, clean, noisy, halves, places, berkeley, consensus)
    return Abdulrahman2017(folder, name, shift(), *found, sources, failures)


def ruled_by_number(curves: EdgeCurves) -> NDArray[np.float64]:
    """Scores where nearest to as many pixels are detected as are true, [picture, truth, detector, measure]."""
    return curves.at(as_many_as_true(curves)[..., np.newaxis])


def as_many_as_true(curves: EdgeCurves) -> NDArray[np.int64]:
    """The threshold at which nearest to as many pixels are detected as are true, as an index [picture, truth, detector]."""
    hits, false, missed = np.moveaxis(curves.counts, 3, 0)
    return np.asarray(np.abs((hits + false) - (hits + missed)).argmin(axis=-1))


def place_of_truth(picture: TruthsOfPicture) -> PlaceOfTruth:
    """Compare the truths of one picture with the edges of the masks."""
    found = mask_edges(picture.image)
    to_found = squared_distances(found)
    strength = masks(picture.image).strength
    shares = []
    for truth in picture.truths.values():
        far = squared_distances(truth) > RADIUS**2
        strong = found & (strength >= np.median(strength[found & ~far]) if (found & ~far).any() else found)
        on, near = found[truth].mean(), (to_found[truth] <= RADIUS**2).mean()
        shares.append((float(on), float(near), float(far[strong].mean()) if strong.any() else 0.0))
    return PlaceOfTruth(*zip(*shares, strict=True))


def _places(sources: Sequence[PictureSource[TruthsOfPicture]]) -> PlaceOfTruth:
    """The mean over pictures; those on which a truth is empty are left out."""
    pictures = [source.load() for source in sources]
    each = [place_of_truth(one) for one in pictures if all(truth.any() for truth in one.truths.values())]
    parts = (np.mean([getattr(one, part) for one in each], axis=0) for part in ("on_edge", "near_edge", "left_out"))
    return PlaceOfTruth(*(tuple(part.tolist()) for part in parts))


def _at_hand(name: str, data: Path | None) -> bool:
    if data is not None and not data.exists():
        raise UsageError(f"there is no folder {data}")
    try:
        find_data(name, data)
    except UsageError:
        return False
    return True


def _berkeley(data: Path | None, count: int | None) -> list[Sample]:
    """Photographs of BSDS300's test set, evenly chosen; none where it is not at hand."""
    if not _at_hand("bsds500", data):
        return []
    return evenly(load_dataset("bsds300", data).samples, BERKELEY if count is None else min(count, BERKELEY))


def _drawn(sample: Sample) -> TruthsOfPicture:
    """A photograph with what its first annotator drew, and that redrawn on edges."""
    return _both_truths(sample_picture(sample))


def _agreed(sample: Sample) -> TruthsOfPicture:
    """Return the photograph with the lines of its first annotator, and the part of them on which everyone agrees."""
    picture, people = sample_picture(sample).load(), strengths(read_boundary_truths(sample.truths))
    return TruthsOfPicture(picture.name, picture.image, {ONE: people.at_least(0)[0], EVERYONE: people.consensus[0]})


def _both_truths(source: PictureSource[StudyPicture]) -> TruthsOfPicture:
    picture = source.load()
    return TruthsOfPicture(picture.name, picture.image, {HAND: picture.truth, SEMI: redraw(picture, RADIUS)})


def _noisy(size: int, level: float, seed: int) -> TruthsOfPicture:
    made = shapes(size)
    return TruthsOfPicture(f"shapes-{seed}", add_noise(made.image, level, seed=seed), {EXACT: made.truth})
