"""Learning the parameters of :func:`hyperacuity.detect.pb` from images and what people drew on them.

Textons are the centres of k-means over filter answers at random pixels. The logistic function is fitted by maximum likelihood to
pixels that survive non-maximum suppression of the plain sum of the cues, with the cues at their best orientation.

References
----------
Martin, Fowlkes & Malik (2004), section 4. Hou, Yuille & Koch (2013), section 5.1, for training on consensus labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from hyperacuity.detect.detection import Float32Array, planes
from hyperacuity.detect.pb_detector import CUES, PbModel, across, as_written, gradients, texture_responses, to_lab
from hyperacuity.errors import UsageError
from hyperacuity.kernels.half_discs import HistDistance
from hyperacuity.kernels.suppression import suppress
from hyperacuity.maps import EdgeMap

NEAR = 2.0
"""Largest distance, in pixels, of a label from the boundary that it stands for."""

Weak = Literal["ignore", "negative"]
"""Use of a pixel near weak labels only: left out, or no boundary."""

Floats = NDArray[np.float64]
Item = TypeVar("Item")


class Observed(NamedTuple):
    """Pixels of an image that may be boundaries: their indices (flat) and their cues (pixels × cues)."""

    indices: NDArray[np.int64]
    cues: Floats


class Examples(NamedTuple):
    """Examples to learn from: the cues of pixels (pixels × cues), and whether each is a boundary (0 or 1)."""

    cues: Floats
    boundary: Floats


def learn_textons(answers: Floats, *, count: int = 64, rounds: int = 30, seed: int = 0) -> Floats:
    """Centres of the answers by k-means (Lloyd's rounds from random answers); a centre that loses all stays where it is."""
    if len(answers) < count:
        raise UsageError(f"{len(answers)} samples are too few for {count} textons")
    order = np.argsort(np.random.PCG64(seed).random_raw(len(answers)), kind="stable")
    centres = answers[order[:count]].copy()
    for _ in range(rounds):
        nearest = ((centres**2).sum(axis=1) / 2 - answers @ centres.T).argmin(axis=1)
        sizes = np.bincount(nearest, minlength=count)
        sums = np.stack([np.bincount(nearest, column, minlength=count) for column in answers.T], axis=1)
        centres = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres)
    return centres


def observe(
    image: ArrayLike, textons: Floats, *, samples: int = 2000, seed: int = 0, hist_distance: HistDistance = "chi2"
) -> Observed:
    """Up to ``samples`` random pixels of those that stand out from their neighbours, and their cues at the best orientation."""
    cues = gradients(image, textons, hist_distance=hist_distance)
    spread = cues.max(axis=1).reshape(len(CUES), -1).std(axis=1)
    even = np.divide(1, spread, out=np.zeros_like(spread), where=spread > 0)
    total = np.tensordot(even, cues, axes=1)
    best = total.argmax(axis=0)
    strength = np.take_along_axis(total, best[None], axis=0)[0]
    return draw_observed(cues, strength, best, samples, seed)


def draw_observed(
    cues: Float32Array, strength: Floats | Float32Array, best: NDArray[np.int64], samples: int, seed: int
) -> Observed:
    """Up to ``samples`` random pixels where the strength across the ``best`` direction stands out, with their cues in it."""
    indices = np.flatnonzero(suppress(np.rint(strength * 1e4).astype(np.float32), across(best)))
    indices = indices[np.argsort(np.random.PCG64(seed).random_raw(indices.size), kind="stable")[:samples]]
    y, x = np.unravel_index(indices, best.shape)
    return Observed(indices, cues[:, best[y, x], y, x].T.astype(np.float64))


def observe_all(
    items: Sequence[Item],
    *,
    read: Callable[[Item], Any] = lambda item: item,
    each: Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]] = map,
    samples: int = 2000,
    seed: int = 0,
    hist_distance: HistDistance = "chi2",
) -> tuple[Floats, list[Observed]]:
    """Textons of all images, and what is observed with them in each.

    ``read`` turns an item into an image; it is called twice per item, so that not all images are kept. ``each`` is ``map``, or
    what works on several items at a time.
    """
    if len(items) == 0:
        raise UsageError("there is nothing to learn from: no image was given")
    numbered = list(enumerate(items, seed))

    def texture_samples(one: tuple[int, Item]) -> Floats:
        """Answers of the texture filters at random pixels: samples × filters."""
        answers = texture_responses(to_lab(planes(read(one[1])))[0])
        flat = answers.reshape(len(answers), -1)
        chosen = np.random.PCG64(one[0]).random_raw(samples) % np.uint64(flat.shape[1])
        return flat[:, chosen.astype(np.int64)].T.astype(np.float64)

    textons = as_written(learn_textons(np.concatenate(list(each(texture_samples, numbered))), seed=seed))

    def look(one: tuple[int, Item]) -> Observed:
        return observe(read(one[1]), textons, samples=samples, seed=one[0], hist_distance=hist_distance)

    return textons, list(each(look, numbered))


def examples(
    observed: Sequence[Observed],
    labels: Sequence[EdgeMap],
    others: Sequence[EdgeMap] | None = None,
    *,
    weak: Weak = "ignore",
    within: float = NEAR,
) -> Examples:
    """Examples from pixels and the labels of their images; a boundary is what has a label ``within`` so many pixels.

    ``others`` are labels that are too weak to be learned. A pixel near one of them, but near no label proper, is left out
    (``"ignore"``), or is no boundary (``"negative"``).
    """
    if weak not in ("ignore", "negative"):
        raise UsageError(f"weak labels as {weak!r}: expected ignore or negative")
    if not observed:
        raise UsageError("there is nothing to learn from: no image was given")
    cues, boundary = [], []
    for number, (seen, drawn) in enumerate(zip(observed, labels, strict=True)):
        near = _near(drawn, within).ravel()[seen.indices]
        known = np.ones_like(near)
        if others is not None and weak == "ignore":
            known = near | ~_near(others[number], within).ravel()[seen.indices]
        cues.append(seen.cues[known])
        boundary.append(near[known])
    return Examples(np.concatenate(cues), np.concatenate(boundary).astype(np.float64))


def train(
    images: Sequence[ArrayLike],
    labels: Sequence[EdgeMap],
    others: Sequence[EdgeMap] | None = None,
    *,
    weak: Weak = "ignore",
    hist_distance: HistDistance = "chi2",
    samples: int = 2000,
    seed: int = 0,
    about: str = "",
) -> PbModel:
    """Learn textons and weights from images and their labels; ``others`` and ``weak`` as for :func:`examples`.

    Equal seeds give equal models. The model is what :meth:`PbModel.save` writes, but for the last digits of its weights.

    >>> from hyperacuity.detect.pb_detector import detect_with
    >>> image = np.tile(np.repeat(np.uint8([40, 200, 90]), 24), (48, 1))
    >>> labels = np.zeros(image.shape, dtype=bool)
    >>> labels[:, [23, 47]] = True
    >>> model = train([image], [labels], samples=500)
    >>> seen = detect_with(model, image).strength[24]
    >>> bool(min(seen[23:25].max(), seen[47:49].max()) > seen[30:40].max())
    True
    """
    textons, observed = observe_all(images, samples=samples, seed=seed, hist_distance=hist_distance)
    weights = logistic_fit(*examples(observed, labels, others, weak=weak))
    return PbModel(textons, weights, about, hist_distance)


def logistic_fit(features: Floats, truth: Floats) -> Floats:
    r"""Weights, the constant first, that maximise the likelihood of ``truth`` (0 or 1) given the features.

    Newton's method with a trace of ridge (10⁻⁶ per example on standardised weights), so that a feature that never varies gets the
    weight 0 and a truth that can be predicted perfectly does not drive the weights to infinity.
    """
    scale = features.std(axis=0)
    scale = np.where(scale > 0, scale, 1)
    design = np.column_stack([np.ones(len(features)), features / scale])
    ridge = 1e-6 * len(features) * np.eye(design.shape[1])
    weights = np.zeros(design.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
        slope = design.T @ (truth - chance) - ridge @ weights
        bend = (design * (chance * (1 - chance))[:, None]).T @ design + ridge
        step = np.linalg.solve(bend, slope)
        weights = weights + step
        if np.abs(step).max() < 1e-9:
            break
    return np.asarray(np.concatenate([weights[:1], weights[1:] / scale]), np.float64)


def _near(labels: EdgeMap, within: float) -> NDArray[np.bool_]:
    if not labels.any():
        return np.zeros(labels.shape, np.bool_)
    return np.asarray(ndimage.distance_transform_edt(~labels) <= within)
