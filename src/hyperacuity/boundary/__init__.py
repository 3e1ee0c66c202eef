"""Boundary detection: the Berkeley benchmark (ODS, OIS, AP), exact and deterministic.

:func:`match` pairs two boundary maps, :func:`tally` counts an image at all thresholds, :func:`collect` scores a data set.
See :mod:`hyperacuity.audit` for how far its labels can be trusted.

References
----------
Martin, Fowlkes & Malik (2004), Learning to detect natural image boundaries using local brightness, color, and texture cues.
Arbeláez, Maire, Fowlkes & Malik (2011), Contour detection and hierarchical image segmentation.
Hou, Yuille & Koch (2013), Boundary detection benchmarking: beyond F-measures.
"""

from typing import TYPE_CHECKING

from hyperacuity.syntax import on_demand

if TYPE_CHECKING:
    from hyperacuity.boundary.berkeley import write_berkeley
    from hyperacuity.boundary.human import HumanScore, collect_humans, tally_humans
    from hyperacuity.boundary.matching import TOLERANCE, Match, match, overlay, tolerance_in_pixels
    from hyperacuity.boundary.outcomes import overlays, overlays_with_partners
    from hyperacuity.boundary.protocols import PROTOCOLS, Protocol, Suppression, protocol
    from hyperacuity.boundary.scores import BoundaryScore, Curve, Point, collect, compare_systems, resampled_scores
    from hyperacuity.boundary.tallies import BoundaryTally, tally
else:
    __getattr__ = on_demand(__name__, __file__)

__all__ = [
    "PROTOCOLS",
    "TOLERANCE",
    "BoundaryScore",
    "BoundaryTally",
    "Curve",
    "HumanScore",
    "Match",
    "Point",
    "Protocol",
    "Suppression",
    "collect",
    "collect_humans",
    "compare_systems",
    "match",
    "overlay",
    "overlays",
    "overlays_with_partners",
    "protocol",
    "resampled_scores",
    "tally",
    "tally_humans",
    "tolerance_in_pixels",
    "write_berkeley",
]
