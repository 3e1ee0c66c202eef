"""Semantic boundaries: one soft map per class, scored class by class and on average (SBD, Cityscapes, any label maps).

:func:`tally` counts an image, :func:`collect` scores a data set, :func:`masks2edges` turns label maps into boundaries.

References
----------
Hariharan, Arbeláez, Bourdev, Maji & Malik (2011), Semantic contours from inverse detectors.
Yu, Liu, Zou, Feng, Ramalingam, Kumar & Kautz (2018), Simultaneous edge alignment and learning.
"""

from typing import TYPE_CHECKING

from hyperacuity.syntax import on_demand

if TYPE_CHECKING:
    from hyperacuity.semantic.masks import masks2edges
    from hyperacuity.semantic.protocols import CITYSCAPES, PROTOCOLS, VOC, Protocol, protocol
    from hyperacuity.semantic.scores import ClassScore, SemanticMean, SemanticScore, area, collect, interpolated_ap
    from hyperacuity.semantic.tallies import SemanticTally, overlays, tally
    from hyperacuity.semantic.truths import ClassMaps, SemanticTruth, drawn_truth, semantic_truth
else:
    __getattr__ = on_demand(__name__, __file__)

__all__ = [
    "CITYSCAPES",
    "PROTOCOLS",
    "VOC",
    "ClassMaps",
    "ClassScore",
    "Protocol",
    "SemanticMean",
    "SemanticScore",
    "SemanticTally",
    "SemanticTruth",
    "area",
    "collect",
    "drawn_truth",
    "interpolated_ap",
    "masks2edges",
    "overlays",
    "protocol",
    "semantic_truth",
    "tally",
]
