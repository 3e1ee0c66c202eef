"""Agreement of BSDS300's labels with edges and with each other (Hou, Yuille & Koch 2013, section 1.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hyperacuity.boundary.matching import tolerance_in_pixels
from hyperacuity.boundary.protocols import Protocol
from hyperacuity.data import Sample, read_boundary_truths, read_image, read_segmentations
from hyperacuity.kernels.distances import squared_distances
from hyperacuity.maps import label_map, same_size
from hyperacuity.run.many import each
from hyperacuity_papers.abdulrahman2017.experiments import mask_edges


class Beside(NamedTuple):
    """A share, and the same by chance: with one of the two drawings turned upside down."""

    found: float
    chance: float


@dataclass(frozen=True)
class LabelAgreement:
    """Agreement of the drawings of the same pictures with each other and with edges: means over pictures, NaN without any.

    ``contradicted``: of two people, the share of the denser segmentation's regions that lies outside of the region of the
    sparser one. ``on_edges``: of what people drew, the share with an edge within the benchmark's tolerance.
    """

    images: int
    pairs: int
    contradicted: Beside
    on_edges: Beside


def refinement_error(dense: ArrayLike, sparse: ArrayLike) -> float:
    """Distance of a segmentation from refining another: the mean, over pixels, of the share of its region outside of the other's.

    0 where every region of the first lies within one of the second (Martin et al. 2001, the local refinement error).

    >>> refinement_error([[0, 0, 1, 1]], [[5, 5, 5, 5]]), refinement_error([[5, 5, 5, 5]], [[0, 0, 1, 1]])
    (0.0, 0.5)
    """
    fine, coarse = label_map(dense, name="dense segmentation"), label_map(sparse, name="sparse segmentation")
    same_size(fine, coarse, names=("the dense segmentation", "the sparse one"))
    columns = int(coarse.max()) + 2  # void is a region like others
    both, counts = np.unique((fine.astype(np.int64) + 1) * columns + coarse + 1, return_counts=True)
    sizes = np.bincount(both // columns, counts)
    return float(1 - (counts**2 / sizes[both // columns]).sum() / fine.size)


def label_agreement(samples: Sequence[Sample], workers: int | None = None) -> LabelAgreement:
    """Judge the labels of some pictures; all numbers are NaN without any."""
    found = list(each(_of_picture, samples, workers, "labels beside edges"))
    pairs = [pair for contradicted, _ in found for pair in contradicted]
    places = [place for _, on_edges in found for place in on_edges]
    return LabelAgreement(len(samples), len(pairs), _mean(pairs), _mean(places))


def _mean(shares: Sequence[Beside]) -> Beside:
    return Beside(*np.mean(shares, axis=0).tolist()) if shares else Beside(float("nan"), float("nan"))


def _of_picture(sample: Sample) -> tuple[list[Beside], list[Beside]]:
    """Compare each pair of people, and each person with the edges; without a photograph there are no edges."""
    drawn = sorted(read_segmentations(sample.truths), key=lambda one: -np.unique(one).size)
    pairs = [
        Beside(refinement_error(dense, sparse), refinement_error(dense, sparse[::-1, ::-1]))
        for dense, sparse in combinations(drawn, 2)
    ]
    if sample.image is None:
        return pairs, []
    image = read_image(sample.image)
    reach = tolerance_in_pixels(image.shape[:2], Protocol().tolerance)
    near = squared_distances(mask_edges(image / np.iinfo(image.dtype).max)) <= reach**2
    truths = [truth for truth in read_boundary_truths(sample.truths) if truth.any()]
    return pairs, [Beside(float(near[truth].mean()), float(near[truth[::-1, ::-1]].mean())) for truth in truths]
