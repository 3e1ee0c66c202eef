"""Tables of scores, systems × images × criteria, computed by any task or read from a CSV file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from hyperacuity.errors import UsageError
from hyperacuity.resampling import Draws, blocks_of, weighted_mean
from hyperacuity.tally import Scores, Weights
from hyperacuity.tasks import Vector

Names = Sequence[str] | None
Rescore = Callable[[Weights], Scores]
"""Scores of one system, resamples × criteria, from how often each image counts, resamples × images."""


@dataclass(frozen=True, eq=False)
class Table:
    """Scores of systems: ``values[s, i, c]`` is that of system s on image i by criterion c; NaN where there is none.

    ``senses`` says of each criterion whether ``"min"`` or ``"max"`` is better. ``signature`` is the protocol behind the scores.
    Some scores of a data set are not the mean of its images' scores; ``rescore(system, images)`` then gives what computes them,
    from tallies that it reads and that go with it. A table whose scores belong to no images in particular has one image without
    a name.
    """

    systems: tuple[str, ...]
    images: tuple[str, ...]
    criteria: tuple[str, ...]
    senses: tuple[str, ...]
    values: Scores
    signature: str = ""
    rescore: Callable[[str, Sequence[str]], Rescore] | None = None

    def __post_init__(self) -> None:
        expected = (len(self.systems), len(self.images), len(self.criteria))
        if (shape := self.values.shape) != expected:
            raise UsageError(f"scores have shape {shape}, expected systems × images × criteria = {expected}")
        if 0 in expected:
            raise UsageError("a table needs at least one system, one image and one criterion")
        if len(self.senses) != len(self.criteria) or not set(self.senses) <= {"min", "max"}:
            raise UsageError(f"the senses are {self.senses}: expected min or max for each of {expected[2]} criteria")
        for what, names in (("system", self.systems), ("image", self.images), ("criterion", self.criteria)):
            if twice := [name for name, count in Counter(names).items() if count > 1]:
                raise UsageError(f"the {what} {min(twice)} is in the table twice")

    @classmethod
    def flat(cls, systems: Sequence[str], criteria: Sequence[str], values: ArrayLike, *, senses: Names = None) -> Self:
        """A table without images: systems × criteria, minimised by default."""
        scores = np.asarray(values, dtype=np.float64)
        named = tuple(senses) if senses is not None else ("min",) * len(criteria)
        return cls(tuple(systems), ("",), tuple(criteria), named, scores.reshape(len(systems), 1, len(criteria)))

    def overall(self) -> Scores:
        """Scores on the whole data set, systems × criteria."""
        scores: Scores = self.resampled(np.ones((1, len(self.images)), dtype=np.int64))[0]
        return scores

    def resampled(self, weights: Draws) -> Scores:
        """Scores on resampled data sets, resamples × systems × criteria, a system after the other."""

        def scored(rescore: Rescore) -> Scores:
            return np.concatenate([rescore(block) for block in blocks_of(weights)])

        return np.stack([scored(self.rescore_of(system)) for system in self.systems], axis=1)

    def rescore_of(self, system: str) -> Rescore:
        """The function that scores a system on resampled data sets: by default the mean over the images that have a score."""
        if self.rescore is not None:
            return self.rescore(system, self.images)
        values = self.values[self.systems.index(system)]
        return lambda weights: weighted_mean(values, weights)

    def vectors(self, mode: Vector = "concat") -> tuple[Scores, tuple[str, ...], tuple[str, ...]]:
        """One vector per system, with the names and senses of its components.

        ``"concat"``: every criterion on every image is a component, since errors of different images should not be
        combined; ``"mean"``: every criterion once, on the whole data set.
        """
        if mode == "mean" or len(self.images) == 1:
            return self.overall(), self.criteria, self.senses
        if mode != "concat":
            raise UsageError(f"the vector mode is {mode}, expected concat or mean")
        names = tuple(f"{image} {criterion}" for image in self.images for criterion in self.criteria)
        return self.values.reshape(len(self.systems), -1), names, self.senses * len(self.images)

    def select(self, *, systems: Names = None, images: Names = None, criteria: Names = None) -> Table:
        """The table of some systems, images and criteria, in the order given."""
        rows = _indices("system", systems, self.systems)
        chosen = _indices("image", images, self.images)
        columns = _indices("criterion", criteria, self.criteria)
        return replace(
            self,
            systems=tuple(self.systems[i] for i in rows),
            images=tuple(self.images[i] for i in chosen),
            criteria=tuple(self.criteria[j] for j in columns),
            senses=tuple(self.senses[j] for j in columns),
            values=self.values[np.ix_(rows, chosen, columns)],
            rescore=self._rescored(lambda scores: scores[:, columns]),
        )

    def rounded(self, decimals: int) -> Table:
        """Round as a published table does. Rounding makes ties, and so larger optimal sets."""
        rescore = self._rescored(lambda scores: np.round(scores, decimals))
        return replace(self, values=np.round(self.values, decimals), rescore=rescore)

    def _rescored(self, change: Callable[[Scores], Scores]) -> Callable[[str, Sequence[str]], Rescore] | None:
        """The rescore with its scores changed."""
        before = self.rescore
        if before is None:
            return None

        def rescore(system: str, images: Sequence[str]) -> Rescore:
            score = before(system, images)
            return lambda weights: change(score(weights))

        return rescore


_LARGER_IS_BETTER = {
    "accuracy", "ap", "auc", "bacc", "bacc25", "bacc50", "covering", "density", "f", "f1", "fscore", "gdc-ori", "iou", "ldc-ori",
    "map", "miou", "ods", "ois", "ori", "precision", "pri", "psnr", "r50", "racc", "recall", "ssim", "visible",
}  # fmt: skip


def usual_sense(criterion: str) -> str:
    """``"max"`` for scores that everybody knows to be better when larger, ``"min"`` for all others: they are seen as errors.

    >>> usual_sense("ODS"), usual_sense("psnr forward"), usual_sense("tsukuba_nonocc")
    ('max', 'max', 'min')
    """
    first = criterion.strip().lower().replace("_", " ").split(" ")[0]
    return "max" if first in _LARGER_IS_BETTER else "min"


def _indices(what: str, wanted: Names, there: Sequence[str]) -> list[int]:
    if wanted is None:
        return list(range(len(there)))
    index = {name: i for i, name in enumerate(there)}
    for name in wanted:
        if name not in index:
            raise UsageError(f"there is no {what} {name}, expected one of {', '.join(there)}")
    return [index[name] for name in wanted]
