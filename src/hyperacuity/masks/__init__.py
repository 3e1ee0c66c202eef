"""Masks: how well the outlines of segmented objects agree, by DAVIS' boundary measure, Boundary IoU and exact matching.

:func:`count_masks` compares two masks, :func:`tally` the objects of a picture or a sequence (:class:`Frames`), :func:`collect`
scores a data set. DAVIS' F counts the contour pixels inside the other contour's dilation; F of a one-to-one
matching within the same tolerance, which is never higher, comes with it.

References
----------
Perazzi, Pont-Tuset, McWilliams, Van Gool, Gross & Sorkine-Hornung (2016), A benchmark data set and evaluation methodology for
video object segmentation.
Cheng, Girshick, Dollár, Berg & Kirillov (2021), Boundary IoU: improving object-centric image segmentation evaluation.
"""

from typing import TYPE_CHECKING

from hyperacuity.syntax import on_demand

if TYPE_CHECKING:
    from hyperacuity.masks.contours import MaskCounts, contour, count_masks, inner_band
    from hyperacuity.masks.objects import Frames
    from hyperacuity.masks.protocols import PROTOCOLS, Protocol, protocol
    from hyperacuity.masks.scores import LabelMean, MaskScore, collect
    from hyperacuity.masks.tallies import MaskTally, tally
else:
    __getattr__ = on_demand(__name__, __file__)

__all__ = [
    "PROTOCOLS",
    "Frames",
    "LabelMean",
    "MaskCounts",
    "MaskScore",
    "MaskTally",
    "Protocol",
    "collect",
    "contour",
    "count_masks",
    "inner_band",
    "protocol",
    "tally",
]
