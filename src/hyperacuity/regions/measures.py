"""Measures of two segmentations: covering, Rand index, variation of information; and all of them along a hierarchy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import InputError
from hyperacuity.kernels.regions import agreement, count_pairs
from hyperacuity.maps import LabelMap, label_map, same_size
from hyperacuity.regions.levels import Levels


@dataclass(frozen=True, eq=False)
class Agreement:
    """Agreement of segmentations at several levels with all annotators. Arrays have one entry per level.

    ``covered`` is Σ area × best overlap over the annotators' regions, of a largest possible ``truth_area``; ``covering`` and
    ``machine_area`` are the same over the machine's regions; ``best_covered`` takes each annotator's region at its best level.
    ``rand`` and ``variation`` are means over annotators.
    """

    covered: NDArray[np.float64]
    truth_area: int
    covering: NDArray[np.float64]
    machine_area: NDArray[np.int64]
    best_covered: float
    rand: NDArray[np.float64]
    variation: NDArray[np.float64]


def compare(prediction: Levels | Sequence[ArrayLike], truths: Sequence[ArrayLike]) -> Agreement:
    """Compare a hierarchy, or a stack of segmentations, with every annotator's segmentation.

    Pixels that an annotator left void (−1) are out of the comparison with that annotator. Pixels void in the prediction belong
    to no region: they lower covering, and are left out of the Rand index and the variation of information.

    Examples
    --------
    >>> result = compare([[[0, 0, 1, 1]], [[0, 0, 0, 0]]], [[[5, 5, 7, 7]]])
    >>> result.covered, result.rand, result.variation
    (array([4., 2.]), array([1.        , 0.33333333]), array([0., 1.]))
    """
    if len(truths) == 0:
        raise InputError("no truth was given, expected at least one annotator")
    maps = [_numbered(label_map(truth, name="truth")) for truth in truths]
    areas = np.concatenate([_areas(labels) for labels in maps])
    # The regions of all annotators, side by side, are the columns of contingency tables.
    starts = np.cumsum([0, *(int(labels.max()) + 1 for labels in maps)]).astype(np.int64)
    best = np.zeros(areas.size)

    def rows_of(labels: LabelMap, joins: NDArray[np.int32], ends: NDArray[np.int64]) -> NDArray[np.float64]:
        table = np.zeros((int(labels.max()) + 1, areas.size), np.int64)
        for start, stop, truth in zip(starts, starts[1:], maps, strict=False):
            same_size(labels, truth, names=("segmentation", "truth"))
            count_pairs(labels, truth, table[:, start:stop])
        rows: NDArray[np.float64] = agreement(table, starts, _areas(labels), areas, joins, ends, best)
        return rows

    if isinstance(prediction, Levels):
        rows = rows_of(prediction.labels, prediction.joins, prediction.ends)
        machine_area = np.full(len(rows), np.count_nonzero(prediction.labels >= 0), np.int64)
    else:
        stack = [_numbered(label_map(labels, name="segmentation")) for labels in prediction]
        if not stack:
            raise InputError("the stack of segmentations is empty, expected at least one")
        rows = np.concatenate([rows_of(labels, np.empty((0, 2), np.int32), np.zeros(1, np.int64)) for labels in stack])
        machine_area = np.array([np.count_nonzero(labels >= 0) for labels in stack], np.int64)
    return Agreement(
        covered=rows[:, 0],
        truth_area=int(areas.sum()),
        covering=rows[:, 1],
        machine_area=machine_area,
        best_covered=float((areas * best).sum()),
        rand=rows[:, 2],
        variation=rows[:, 3],
    )


def covering(segmentation: ArrayLike, truth: ArrayLike) -> float:
    r"""Covering of the truth by a segmentation; 1 is perfect.

    .. math:: C = \frac1N \sum_{G} |G| \max_{S} \frac{|S ∩ G|}{|S ∪ G|}

    A truth that is void throughout gives ``nan``.

    References
    ----------
    Arbeláez, Maire, Fowlkes & Malik (2011), eq. 9.

    Examples
    --------
    >>> covering([[0, 0, 0, 1]], [[0, 0, 1, 1]])
    0.5833333333333333
    """
    sums = compare([segmentation], [truth])
    return float(sums.covered[0] / sums.truth_area) if sums.truth_area else float("nan")


def rand_index(segmentation: ArrayLike, truth: ArrayLike) -> float:
    r"""Rand index as Berkeley's benchmark computes it; 1 is perfect.

    .. math:: RI = 1 - \frac{½ Σ n_u^2 + ½ Σ n_v^2 - Σ n_{uv}^2}{N (N-1) / 2}

    Without two pixels to compare it is 1. Averaged over annotators it is the probabilistic Rand index.

    Examples
    --------
    >>> rand_index([[0, 0, 0, 1]], [[0, 0, 1, 1]])
    0.5
    """
    return float(compare([segmentation], [truth]).rand[0])


def variation_of_information(segmentation: ArrayLike, truth: ArrayLike) -> float:
    r"""Variation of information :math:`H(S) + H(G) - 2 I(S, G)` in bits; 0 is perfect, and it is 0 without a pixel to compare.

    References
    ----------
    Meilă (2005).

    Examples
    --------
    >>> variation_of_information([[0, 0, 0, 0]], [[0, 0, 1, 1]])
    1.0
    """
    return float(compare([segmentation], [truth]).variation[0])


def _areas(labels: LabelMap) -> NDArray[np.int64]:
    return np.bincount(labels[labels >= 0], minlength=int(labels.max()) + 1).astype(np.int64)


def _numbered(labels: LabelMap) -> LabelMap:
    """Number the regions from 0 without gaps; void stays −1. Small labels are left alone: a gap is an empty region."""
    if labels.max() < 1024:
        return labels
    names, numbers = np.unique(labels, return_inverse=True)
    return (numbers.reshape(labels.shape) - int(names[0] < 0)).astype(np.int32)
