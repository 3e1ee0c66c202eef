r"""Depth boundary errors (iBims-1): do the steps of a depth map lie where depth steps in the scene?

The edges :math:`E` of the predicted depth are compared with the true ones :math:`G`, distances being cut off at θ = 10 pixels:

.. math:: \mathrm{acc} = \frac{1}{|E'|} \sum_{p ∈ E'} d_G(p), \quad E' = \{p ∈ E : d_G(p) < θ\} \qquad
          \mathrm{comp} = \frac{\sum_{p ∈ E} \min(d_G(p), θ) + \sum_{p ∈ G} \min(d_E(p), θ)}{|E| + |G|}

Accuracy says how far the edges near a true one are off, completeness also missing and superfluous edges. An image without
a true edge has no value; one without a predicted edge near a true one has θ for both. A data set has the mean over its images.

Edges are detected by Canny's method on the depth scaled to 0 … 1: a Gaussian of √2 pixels, Sobel's gradient, non-maximum
suppression by interpolation along the gradient, hysteresis. The thresholds of the authors' MATLAB program for the paper are
unknown (its edge detector scales them by the image); these are those of the programs used since.

References
----------
Koch, Liebel, Fraundorfer & Körner (2018), Evaluation of CNN-based single-image depth estimation methods, section 3.2.
Canny (1986), A computational approach to edge detection.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import InputError, UsageError
from hyperacuity.kernels.distances import squared_distances
from hyperacuity.maps import EdgeMap, edge_map, order_map, same_size
from hyperacuity.resampling import mean_and_interval, ratio, weighted_mean
from hyperacuity.tally import Arrays, BaseProtocol, Counts, Scores, Sums, Tally, Weights, number, protocol_of
from hyperacuity.tasks import Criteria

MEASURES = ("accuracy", "completeness")

SAME = 1e-9
"""Gradients that differ by no more than this share are equally long, so that both sides of a step are its edge on any machine."""


@dataclass(frozen=True)
class DepthEdgeProtocol(BaseProtocol):
    """A benchmark of depth edges.

    Examples
    --------
    >>> DepthEdgeProtocol().signature
    dbe|canny:1.4142135623730951px,0.15,0.3|cut:10px|v:1
    """

    task: ClassVar[str] = "dbe"
    sigma: float = math.sqrt(2)
    """Canny's Gaussian, in pixels."""
    low: float = 0.15
    """Canny's lower threshold, of the length of Sobel's gradient.

    Of depth scaled to 0 … 1; the gradient is a sum over 3×3 pixels: a step of height 1 at a pixel's border has the length 4.
    """
    high: float = 0.3
    """Canny's upper threshold, of the length of Sobel's gradient."""
    reach: float = 10.0
    """Largest distance, in pixels; longer ones are cut off."""

    def __post_init__(self) -> None:
        """Validate the options."""
        if not 0 < self.sigma < 100:
            raise UsageError(f"sigma {self.sigma:g}: expected pixels, more than 0")
        if not 0 <= self.low <= self.high:
            raise UsageError(f"thresholds {self.low:g} and {self.high:g}: expected two rising, non-negative numbers")
        if not 0 < self.reach < float("inf"):
            raise UsageError(f"a reach of {self.reach:g} pixels: expected more than 0")

    def parts(self) -> dict[str, object]:
        """Parts of the signature."""
        canny = f"{number(self.sigma)}px,{number(self.low)},{number(self.high)}"
        return {"canny": canny, "cut": f"{number(self.reach)}px"}


DEPTH_EDGES = DepthEdgeProtocol()
"""The defaults."""


@dataclass(frozen=True, eq=False)
class DepthEdgeTally(Tally):
    """Sums of one image (or, added up, of many).

    ``near`` are predicted edges closer than the reach to a true one, ``predicted`` and ``true`` all of either;
    ``near_distance``, ``predicted_distance`` and ``true_distance`` the sums of their (cut) distances.
    """

    near: Counts
    predicted: Counts
    true: Counts
    near_distance: Sums
    predicted_distance: Sums
    true_distance: Sums

    def validate(self) -> None:
        """Require that distances are no longer than the reach."""
        super().validate()
        reach = protocol_of([self], DepthEdgeProtocol).reach
        self.require_shape((), *self.names())
        self.require_at_most("predicted", "near")
        self.require_at_most("predicted_distance", "near_distance")
        for edges in ("near", "predicted", "true"):
            self.require_at_most(getattr(self, edges) * reach, f"{edges}_distance")

    def truth_counts(self) -> Arrays:
        """The true edges."""
        return {"true": self.true}


def depth_edges(depth: ArrayLike, protocol: DepthEdgeProtocol = DEPTH_EDGES) -> EdgeMap:
    """The edges of a depth map, or of an order map: it does not matter which way is near.

    There are no edges in a map of constant depth, at the frame, or next to unknown pixels.

    >>> depth_edges([[1.0] * 8 + [3.0] * 8] * 9).sum(axis=0)[6:10]
    array([0, 7, 7, 0])
    """
    from scipy import ndimage  # slow to load, and the rest of this room does without

    values = order_map(depth, name="depth map").astype(np.float64)
    valid = ~np.isnan(values)
    low, high = np.nanmin(values), np.nanmax(values)
    if low == high:
        return np.zeros(values.shape, np.bool_)
    scaled = np.where(valid, (values - low) / (high - low), 0.0)
    # Smoothed over valid pixels only: normalised by the weights that they have.
    smooth, share = (
        ndimage.gaussian_filter(plane, protocol.sigma, mode="constant") for plane in (scaled, valid.astype(np.float64))
    )
    smooth = smooth / np.maximum(share, np.finfo(np.float64).eps)
    down, across = ndimage.sobel(smooth, axis=0), ndimage.sobel(smooth, axis=1)
    length = np.hypot(down, across)
    inside = ndimage.binary_erosion(valid, np.ones((3, 3), np.bool_), border_value=0)
    ridge = inside & _is_maximum(length, down, across) & (length >= protocol.low)
    pieces, count = ndimage.label(ridge, np.ones((3, 3), np.int64))
    strong = np.zeros(count + 1, np.bool_)
    strong[pieces[ridge & (length >= protocol.high)]] = True
    return np.asarray(strong[pieces] & ridge)


def _is_maximum(length: NDArray[np.float64], down: NDArray[np.float64], across: NDArray[np.float64]) -> EdgeMap:
    """Pixels whose gradient is no shorter than one step along it, either way; interpolated linearly between pixels."""
    padded = np.pad(length, 1)
    height, width = length.shape
    steep = np.abs(down) >= np.abs(across)
    major = np.where(steep, np.abs(down), np.abs(across))
    share = np.divide(np.where(steep, np.abs(across), np.abs(down)), major, out=np.zeros_like(major), where=major > 0)
    y, x = np.mgrid[1 : height + 1, 1 : width + 1]
    up, aside = np.where(down < 0, -1, 1), np.where(across < 0, -1, 1)
    maximum, enough = length > 0, length * (1 + SAME)
    for way in (1, -1):
        straight = padded[y + way * np.where(steep, up, 0), x + way * np.where(steep, 0, aside)]
        slanted = padded[y + way * up, x + way * aside]
        maximum &= straight * (1 - share) + slanted * share <= enough
    return np.asarray(maximum)


def tally_depth_edges(
    prediction: ArrayLike, truths: Sequence[ArrayLike], protocol: DepthEdgeProtocol = DEPTH_EDGES
) -> DepthEdgeTally:
    """Measure one image: the edges of a depth or order map against the true ones, combined over annotators."""
    if not len(truths):
        raise InputError("there is no truth to compare with: expected a map of depth edges")
    drawn = [edge_map(truth, name="truth") for truth in truths]
    order = order_map(prediction, name="prediction")
    for one in drawn:
        same_size(order, one)
    return compare_depth_edges(depth_edges(order, protocol), np.logical_or.reduce(drawn), protocol)


def compare_depth_edges(predicted: EdgeMap, true: EdgeMap, protocol: DepthEdgeProtocol = DEPTH_EDGES) -> DepthEdgeTally:
    """Compare depth edges that were detected before.

    >>> one, other = np.zeros((2, 4, 20), bool)
    >>> one[:, 3], other[:, 5] = True, True
    >>> accuracy_completeness(compare_depth_edges(one, other))
    array([2., 2.])
    """
    to_true, to_predicted = _distances(true, protocol.reach), _distances(predicted, protocol.reach)
    near = predicted & (to_true < protocol.reach)
    near_count, count, true_count = (np.array(np.count_nonzero(edges), np.int64) for edges in (near, predicted, true))
    near_sum, total, true_sum = (np.array(of.sum()) for of in (to_true[near], to_true[predicted], to_predicted[true]))
    return DepthEdgeTally(near_count, count, true_count, near_sum, total, true_sum, protocol=protocol)


def _distances(edges: EdgeMap, reach: float) -> NDArray[np.float64]:
    """The distance of each pixel to the nearest edge, cut off."""
    if not edges.any():
        return np.full(edges.shape, reach)
    return np.minimum(np.sqrt(squared_distances(edges)), reach)


def accuracy_completeness(tally: DepthEdgeTally) -> NDArray[np.float64]:
    """Accuracy and completeness in pixels; NaN where there is no true edge."""
    if not tally.true:
        return np.full(2, np.nan)
    if not tally.near:
        return np.full(2, protocol_of([tally], DepthEdgeProtocol).reach)
    accuracy = ratio(tally.near_distance, tally.near)
    completeness = ratio(tally.predicted_distance + tally.true_distance, tally.predicted + tally.true)
    return np.array([float(accuracy), float(completeness)])


@dataclass(frozen=True, eq=False)
class DepthEdgeScore:
    """Accuracy and completeness: ``values`` of each image, their ``mean``, and its 95 % ``interval`` over images."""

    protocol: DepthEdgeProtocol
    images: tuple[str, ...]
    values: NDArray[np.float64]
    mean: NDArray[np.float64]
    interval: NDArray[np.float64]


def collect_depth_edges(
    tallies: Mapping[str, DepthEdgeTally], *, resamples: int = 1000, seed: int = 0
) -> DepthEdgeScore:
    """The means over images, those without true edges left out, with intervals. ``UsageError`` without images."""
    protocol = protocol_of(tallies.values(), DepthEdgeProtocol)
    values = np.array([accuracy_completeness(one) for one in tallies.values()])
    return DepthEdgeScore(
        protocol, tuple(tallies), values, *mean_and_interval(values[np.argsort(list(tallies))], resamples, seed)
    )


def depth_edge_criteria(protocol: DepthEdgeProtocol) -> Criteria:
    """Both errors; less is better."""

    def rescore(tallies: Sequence[DepthEdgeTally], weights: Weights) -> Scores:
        return weighted_mean(np.array([accuracy_completeness(one) for one in tallies]), weights)

    return Criteria(MEASURES, ("min",) * 2, rescore, MEASURES)
