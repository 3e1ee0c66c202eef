"""A data set of masks: means over objects, or over images and labels, with intervals; and the same of pooled pixels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hyperacuity.masks.contours import MaskCounts
from hyperacuity.masks.protocols import Protocol
from hyperacuity.masks.tallies import COUNTS, MEASURES, MaskTally
from hyperacuity.resampling import Bootstrap, blocks_of, percentile_interval, ratio, resample
from hyperacuity.tally import Scores, Weights, protocol_of, stack
from hyperacuity.tasks import Criteria

NAMES = (*MEASURES, "jf")
"""The numbers of a data set: those of objects, and the mean of J and F, by which DAVIS ranks."""


@dataclass(frozen=True)
class LabelMean:
    """One label of a data set: in how many images (or sequences) it is, and its mean scores by name."""

    images: int
    mean: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class MaskScore:
    """Score of a system on a data set.

    Parameters
    ----------
    mean, interval
        By name (``f``, ``one_to_one``, ``boundary_iou``, ``j``, ``jf``): the mean over objects, and its 95 % interval.
        By label, the mean over the images that have the label, then over labels.
    pooled
        Pixels of all objects, as if they were one object.
    labels
        By label, where labels mean something.
    objects, missed, extra
        How many objects were compared; true ones without a partner, predicted ones without.
    values
        Each image alone, images × names; NaN where it has no object.
    """

    protocol: Protocol
    images: tuple[str, ...]
    mean: Mapping[str, float]
    interval: Mapping[str, tuple[float, float]]
    pooled: MaskCounts
    labels: Mapping[int, LabelMean]
    objects: int
    missed: int
    extra: int
    values: NDArray[np.float64]


def collect(tallies: Mapping[str, MaskTally], *, resamples: int = 1000, seed: int = 0) -> MaskScore:
    """The scores of a data set from its images' tallies. ``resamples=0`` leaves the intervals out (NaN).

    A data set without objects has NaN for all means. ``UsageError`` when there are no tallies.

    Examples
    --------
    >>> from hyperacuity.masks import tally
    >>> from hyperacuity.masks import tally
    >>> truth = np.zeros((20, 20), dtype=bool)
    >>> truth[5:15, 5:15] = True
    >>> score = collect({"a": tally(truth, [truth]), "b": tally(~truth, [truth])})
    >>> score.mean["f"], score.mean["one_to_one"], score.mean["j"]
    (1.0, 1.0, 0.5)
    """
    protocol, every = protocol_of(tallies.values(), Protocol), [tallies[image] for image in sorted(tallies)]
    (mean,) = rescore(every, np.ones((1, len(every)), np.int64))
    drawn = np.full((1, len(NAMES)), np.nan)
    if resamples:
        blocks = blocks_of(Bootstrap(len(every), resamples, seed))
        drawn = np.concatenate([rescore(every, weights) for weights in blocks])
    totals = {name: stack(every, name).sum(axis=0) for name in MaskTally.names()}
    return MaskScore(
        protocol,
        images=tuple(tallies),
        mean=dict(zip(NAMES, mean.tolist(), strict=True)),
        interval={name: percentile_interval(drawn[:, n]) for n, name in enumerate(NAMES)},
        pooled=MaskCounts(*(int(totals[name].sum()) for name in COUNTS)),
        labels=_by_label(totals) if protocol.by == "label" else {},
        objects=int(totals["objects"].sum()),
        missed=int(totals["missed"].sum()),
        extra=int(totals["extra"].sum()),
        values=criteria(protocol).alone(list(tallies.values())),
    )


def _by_label(totals: Mapping[str, NDArray[np.float64]]) -> dict[int, LabelMean]:
    means = {}
    for label in np.flatnonzero(totals["objects"]).tolist():
        count = int(totals["objects"][label])
        mean = {name: float(totals[name][label]) / count for name in MEASURES}
        means[label] = LabelMean(count, mean | {"jf": (mean["j"] + mean["f"]) / 2})
    return means


def rescore(tallies: Sequence[MaskTally], weights: Weights) -> Scores:
    """The numbers of a data set when each image counts as often as a row of weights says, resamples × names."""
    objects = resample(weights, stack(tallies, "objects"))
    present = (objects > 0).sum(axis=1)
    means = []
    for name in MEASURES:
        of_label = ratio(resample(weights, stack(tallies, name)), objects, empty=0.0)
        means.append(ratio(of_label.sum(axis=1), present))
    j, f = means[MEASURES.index("j")], means[MEASURES.index("f")]
    return np.column_stack([*means, (j + f) / 2])


def criteria(protocol: Protocol) -> Criteria:
    """F as DAVIS has it, F of a one-to-one matching, Boundary IoU, J, and the mean of J and F."""
    return Criteria(NAMES, ("max",) * len(NAMES), rescore, MEASURES)
