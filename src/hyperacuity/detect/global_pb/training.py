"""Learning the weights of gPb from images and what people drew on them: of the local cues first, then of all cues.

Examples are pixels that stand out in the plain sum of the local cues, then in the local sum and the spectral cue together.
Cues are held in half precision.

References
----------
Arbeláez, Maire, Fowlkes & Malik (2011), sections 3.1 and 3.3, who climb the F-measure instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hyperacuity.detect.detection import Float32Array
from hyperacuity.detect.global_pb.cues import local_cues
from hyperacuity.detect.global_pb.detector import fourth_root, gpb_textons, local_contours, weighted_roots
from hyperacuity.detect.global_pb.model import GpbModel
from hyperacuity.detect.global_pb.spectral import spectral_gradients
from hyperacuity.detect.pb_training import Examples, Observed, draw_observed, examples, logistic_fit
from hyperacuity.errors import UsageError
from hyperacuity.maps import EdgeMap

WITHIN = 4.0
"""Largest distance, in pixels, of a label from the boundary it teaches; the benchmark matches as far apart."""

Floats = NDArray[np.float64]
Item = TypeVar("Item")


def learn_gpb(
    items: Sequence[Item],
    labels: Sequence[EdgeMap],
    *,
    read: Callable[[Item], Any] = lambda item: item,
    each: Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]] = map,
    samples: int = 2000,
    seed: int = 0,
    about: str = "",
) -> tuple[GpbModel, Examples]:
    """The weights, as a file holds them, and what those of all cues were learned from. Equal seeds give equal models.

    ``read`` turns an item into an image; it is called twice per item, so that not all images are kept. ``each`` is ``map``, or
    what works on several items at a time.
    """
    if len(items) == 0:
        raise UsageError("there is nothing to learn from: no image was given")
    numbered = list(enumerate(items, seed))

    def observe_local(one: tuple[int, Item]) -> Observed:
        cues = _held(local_cues(read(one[1]), gpb_textons()))
        spread = fourth_root(cues.max(axis=1)).reshape(len(cues), -1).std(axis=1, dtype=np.float64)
        even = np.divide(1, spread, out=np.zeros_like(spread), where=spread > 0)
        return _observed(cues, even, samples, one[0])

    local = logistic_fit(*examples(list(each(observe_local, numbered)), labels, within=WITHIN)).round(4)

    def observe_combined(one: tuple[int, Item]) -> Observed:
        cues = _held(local_cues(read(one[1]), gpb_textons()))
        spectral = _held(spectral_gradients(local_contours(cues, local)))
        weights = np.append(
            local[1:], local[1:].max()
        )  # the spectral cue counts as the local cue of the greatest weight
        return _observed(np.concatenate([cues, spectral[None]]), weights, samples, one[0])

    taught = examples(list(each(observe_combined, numbered)), labels, within=WITHIN)
    return GpbModel(local, logistic_fit(*taught), about).as_written(), taught


def _held(cues: Float32Array) -> Float32Array:
    return cues.astype(np.float16).astype(np.float32)


def _observed(cues: Float32Array, weights: Floats, samples: int, seed: int) -> Observed:
    """Up to ``samples`` random pixels that stand out in the weighted sum, with the fourth roots of their cues."""
    total = weighted_roots(cues, weights)
    best = total.argmax(axis=0)
    strength = np.maximum(np.take_along_axis(total, best[None], axis=0)[0], 0)
    observed = draw_observed(cues, strength, best, samples, seed)
    return observed._replace(cues=fourth_root(observed.cues))
