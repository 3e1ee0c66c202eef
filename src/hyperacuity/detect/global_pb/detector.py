r"""``gpb``: the probability of a boundary from local cues and from the image as a whole; and ``gpb-ucm``, its closed contours.

.. math:: \text{mPb}(θ) = σ\Bigl(b_0 + \sum_i b_i \sqrt[4]{G_i(θ)}\Bigr), \qquad
          \text{gPb}(θ) = σ\Bigl(c_0 + \sum_i c_i \sqrt[4]{G_i(θ)} + c_s \sqrt[4]{s(θ)} - c_d \log d\Bigr)

G are the sixteen local gradients (:mod:`~hyperacuity.detect.global_pb.cues`), s the gradients of eigenvectors
(:mod:`~hyperacuity.detect.global_pb.spectral`), which start from the thin map of mPb, and σ the logistic function. The
orientation of the greatest one counts. Textons are those of ``pb``. d says how crowded with lines the surroundings are
(:func:`crowding`), which the paper's gPb does not ask: a line among many is more likely texture.

References
----------
Arbeláez, Maire, Fowlkes & Malik (2011), Contour detection and hierarchical image segmentation. Grigorescu, Petkov &
Westenberg (2003), Contour detection based on nonclassical receptive field inhibition.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from hyperacuity.detect.detection import (
    REGIONS_PER_PIXEL,
    Detection,
    Float32Array,
    ThinNorm,
    divide_by_max,
    finish,
    planes,
    takes_memory,
)
from hyperacuity.detect.global_pb.cues import WIDEST, each_local_cue
from hyperacuity.detect.global_pb.model import GpbModel, load_gpb
from hyperacuity.detect.global_pb.spectral import spectral_gradients
from hyperacuity.detect.pb_detector import across, load_model
from hyperacuity.errors import UsageError
from hyperacuity.kernels.half_discs import DIRECTIONS
from hyperacuity.kernels.planes import add_fourth_roots, strongest
from hyperacuity.maps import SoftMap, diagonal
from hyperacuity.regions import Hierarchy, hierarchy

CLOSURE = 0.5
"""Share of the strength of a thin line that is that of the closed contour nearby."""

NEARBY = 2
"""Largest distance of that contour from the line, in pixels."""

CROWDED = 0.7
"""c_d, how much the surroundings count."""

AROUND = 0.1
"""Reach of the surroundings of a pixel, as a fraction of the image diagonal: 58 pixels on images of 481 × 321."""

USUAL, QUIET = 0.04, 0.01
"""The mean strength of thin lines, over all pixels, that changes nothing; and what is added where there are hardly any."""


@cache
def _shipped() -> GpbModel:
    return load_gpb()


@cache
def gpb_textons() -> NDArray[np.float64]:
    """The textons of the ``pb`` that comes with the package."""
    return load_model().textons


@dataclass(frozen=True, eq=False)
class GlobalContours:
    """Contours by gPb: the weighted sum of fourth roots of cues, directions × H × W, and what is added to it.

    ``constant`` is one number, or one for each pixel.
    """

    scores: Float32Array
    constant: float | Float32Array

    def detection(self, thin_norm: ThinNorm = "none", closure: float = 0.0) -> Detection:
        """The largest probability over the directions; 0 where nothing speaks for a boundary.

        With ``closure``, that share of the strength of a thin line is the height of the strongest closed contour
        (:attr:`hierarchy`) within :data:`NEARBY` pixels of it.
        """
        best, largest = strongest(self.scores)
        strength = np.where(largest > 0, _logistic(largest + self.constant), 0)
        # Plateaus are level only to rounding, and suppression relies on level ones.
        strength = (np.rint(strength * 1e5) * 1e-5).astype(np.float32)
        seen = replace(finish(strength, across(best), "none"), absolute=True)
        if closure:
            closed = ndimage.maximum_filter(self.hierarchy.ucm(), 2 * NEARBY + 1)
            share = np.float32(closure)
            seen = replace(
                seen, thin=np.where(seen.thin > 0, (1 - share) * seen.thin + share * closed, 0).astype(np.float32)
            )
        return replace(seen, thin=divide_by_max(seen.thin)) if thin_norm == "max" else seen

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """Regions by the oriented watershed, merged by the mean probability along the boundary between them."""
        strength, speaking = np.zeros_like(self.scores), self.scores > 0
        strength[speaking] = _logistic((self.scores + self.constant)[speaking])
        return hierarchy(strength)


@takes_memory(REGIONS_PER_PIXEL, reach=WIDEST)
def gpb(image: ArrayLike, *, model: str = "", closure: float = CLOSURE, thin_norm: ThinNorm = "none") -> Detection:
    """Global probability of a boundary, learned from BSDS500's training images (Arbeláez et al. 2011).

    ``strength`` is the probability. ``thin`` is the same after non-maximum suppression, mixed by ``closure`` with the height of
    the closed contour nearby: lines that close around something count more than loose ends. 0 leaves it as it is.
    ``model`` is a file with other weights. A flat image has no boundary; a grey one has no gradients of colour.

    >>> image = np.zeros((40, 60), np.uint8)
    >>> image[:, 30:] = 200
    >>> seen = gpb(image)
    >>> bool(seen.strength[20, 29:31].max() > 5 * seen.strength[20, 10])
    True
    """
    if not 0 <= closure <= 1:
        raise UsageError(f"closure is {closure:g}, expected a share between 0 and 1")
    return global_contours(image, model).detection(thin_norm, closure)


@takes_memory(REGIONS_PER_PIXEL, reach=WIDEST)
def gpb_ucm(image: ArrayLike, *, model: str = "", thin_norm: ThinNorm = "none") -> Detection:
    """The closed contours of :func:`gpb_hierarchy` at the size of the image: ``strength`` and ``thin`` are both that map.

    >>> gpb_ucm(np.zeros((9, 9))).strength.any()
    np.False_
    """
    result = global_contours(image, model)
    seen, contours = result.detection(thin_norm), result.hierarchy.ucm()
    direction = np.where(contours > 0, seen.direction, np.float32(0))
    return Detection(contours, direction, divide_by_max(contours) if thin_norm == "max" else contours, absolute=True)


@takes_memory(REGIONS_PER_PIXEL, reach=WIDEST)
def gpb_hierarchy(image: ArrayLike, *, model: str = "", thin_norm: ThinNorm = "none") -> Hierarchy:
    """The hierarchy of regions of gPb (:attr:`GlobalContours.hierarchy`); ``thin_norm`` is of no matter.

    >>> image = np.zeros((40, 60), np.uint8)
    >>> image[:, 30:] = 200
    >>> len(np.unique(gpb_hierarchy(image).at(0.5)))
    2
    """
    return global_contours(image, model).hierarchy


def global_contours(image: ArrayLike, model: str | GpbModel = "") -> GlobalContours:
    """Look with a model: the one that comes with the package, that of a file, or a given one."""
    if isinstance(model, str):
        model = load_gpb(Path(model)) if model else _shipped()
    pixels = planes(image)
    weights = np.stack([model.local[1:], model.combined[1:-1]])
    local, scores = _sums_of_roots(each_local_cue(pixels, gpb_textons()), weights, pixels.shape[1:])
    spectral = spectral_gradients(GlobalContours(local, float(model.local[0])).detection().thin)
    scores += np.float32(model.combined[-1]) * fourth_root(spectral)
    seen = GlobalContours(scores, float(model.combined[0]))
    crowd = np.float32(CROWDED) * crowding(seen.detection().thin)
    return GlobalContours(scores, np.float32(seen.constant) - crowd)


def crowding(thin: SoftMap) -> Float32Array:
    """log d: how many and how strong the lines around each pixel are, compared with what is usual.

    .. math:: \\log d = \\log \\frac{m + 0.01}{0.04} ,

    with m the mean of the thin map within :data:`AROUND` of the pixel in x and y. The picture is mirrored at its border.

    >>> crowding(np.full((9, 9), 0.03, np.float32)).any()
    np.False_
    """
    reach = math.ceil(AROUND * diagonal(thin.shape))
    mean = ndimage.uniform_filter(thin.astype(np.float64), 2 * reach + 1)
    return np.asarray(np.log((np.maximum(mean, 0) + QUIET) / USUAL).round(6), np.float32)


def local_contours(cues: Float32Array, weights: NDArray[np.float64]) -> Float32Array:
    """The thin map of mPb, from the local cues and their weights, the constant first."""
    return GlobalContours(weighted_roots(cues, weights[1:]), float(weights[0])).detection().thin


def weighted_roots(cues: Float32Array, weights: NDArray[np.float64]) -> Float32Array:
    """The sum of the fourth roots of cues times weights, one cue after another."""
    (total,) = _sums_of_roots(enumerate(cues), weights[None], cues.shape[2:])
    return np.asarray(total)


def _sums_of_roots(
    cues: Iterable[tuple[int, Float32Array]], weights: NDArray[np.float64], shape: tuple[int, ...]
) -> Float32Array:
    """A sum for each row of weights, of cues by number: rows × directions × H × W. No cue is held longer than it is needed."""
    totals = np.zeros((len(weights), DIRECTIONS, *shape), np.float32)
    flat = totals.reshape(len(weights), -1)
    for cue, seen in cues:
        add_fourth_roots(np.ascontiguousarray(seen, np.float32).ravel(), weights[:, cue].astype(np.float32), flat)
    return totals


def fourth_root(cue: NDArray[Any]) -> NDArray[Any]:
    """The form in which cues add up: weak ones still count next to strong ones.

    >>> fourth_root(np.array([0.0, 1.0, 16.0]))
    array([0., 1., 2.])
    """
    root: NDArray[Any] = np.sqrt(np.sqrt(cue))
    return root


def _logistic(values: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-values.astype(np.float64))))
