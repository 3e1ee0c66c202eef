"""Contour pixels that are hits, false alarms and misses, as pictures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hyperacuity.boundary import match
from hyperacuity.maps import EdgeMap
from hyperacuity.masks.contours import contour, near
from hyperacuity.masks.objects import Frame, ObjectPair


def outcomes(frame: Frame, pairs: Sequence[ObjectPair]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The contours of all objects of a picture: by the one-to-one matching, and by DAVIS' dilation rule.

    0 is nothing, 1 a hit, 2 a false alarm, 3 a miss. Where contours of several objects share a pixel, an error is shown
    before a hit.

    Examples
    --------
    >>> from hyperacuity.masks import Protocol
    >>> truth = np.zeros((10, 12), dtype=bool)
    >>> truth[:5] = True
    >>> matches = truth.copy()
    >>> matches[6] = True
    >>> exact, dilated = outcomes(Frame(matches, truth, Protocol(tolerance=0.1)), [ObjectPair(1, 1)])
    >>> np.bincount(exact.flat).tolist(), np.bincount(dilated.flat).tolist()
    ([84, 12, 24], [84, 36])
    """
    pictures = (np.zeros(frame.truth.shape, np.uint8), np.zeros(frame.truth.shape, np.uint8))
    for pair in pairs:
        prediction, truth, window = frame.masks(pair)
        detected, drawn = contour(prediction), contour(truth)
        matches = match(detected, drawn, tolerance_px=frame.radius)
        partnered = np.zeros((2, *detected.shape), np.bool_)
        partnered[0].flat[matches.detected] = partnered[1].flat[matches.truth] = True
        rules = ((partnered[0], partnered[1]), (near(drawn, frame.radius), near(detected, frame.radius)))
        for picture, (right, seen) in zip(pictures, rules, strict=True):
            shown = picture[window]
            np.maximum(shown, _states(detected, drawn, right, seen), out=shown)
    return pictures


def _states(detected: EdgeMap, drawn: EdgeMap, right: EdgeMap, seen: EdgeMap) -> NDArray[np.uint8]:
    states = np.zeros(detected.shape, np.uint8)
    states[drawn & ~seen] = 3
    states[detected & right] = 1
    states[detected & ~right] = 2
    return states
