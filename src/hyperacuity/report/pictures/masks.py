"""Pictures of label maps: every object in a colour of its own, the background white."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hyperacuity.maps import VOID, LabelMap
from hyperacuity.report import theme
from hyperacuity.report.pictures.colours import UNKNOWN, plain, rgb

TINTS = ("#56B4E9", "#CC79A7", "#E69F00", "#8F7BC6", "#5DA06A", "#B5651D", "#9AA5B1", "#6E6E9E")
"""Colours that neighbouring ids differ in; hits, false alarms and misses have others."""


def label_picture(labels: LabelMap, *, left_out: NDArray[np.bool_] | None = None) -> NDArray[np.uint8]:
    """Objects in colours by their id, H×W×3; −1 is white, and what is left out grey.

    >>> label_picture(np.array([[-1, 1, 9]], np.int32))[0].tolist()
    [[255, 255, 255], [204, 121, 167], [204, 121, 167]]
    """
    picture = plain(labels.shape, theme.GROUND)
    colours = np.array([rgb(colour) for colour in TINTS], np.uint8)
    inside = labels != VOID
    picture[inside] = colours[labels[inside] % len(TINTS)]
    if left_out is not None:
        picture[left_out] = rgb(UNKNOWN)
    return picture
