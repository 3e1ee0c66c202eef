"""Regions: how well segmentations agree with people's, and hierarchies of them.

:func:`tally` and :func:`collect` are Berkeley's region benchmark: segmentation covering, probabilistic Rand index and variation
of information of a hierarchy (:func:`ucm_levels`) or a stack of segmentations, against several annotators.
"""

from __future__ import annotations

from hyperacuity.regions.berkeley import berkeley_files
from hyperacuity.regions.levels import Levels, level_thresholds, ucm_levels
from hyperacuity.regions.measures import Agreement, compare, covering, rand_index, variation_of_information
from hyperacuity.regions.protocol import Protocol, RegionScore, RegionTally, Summary, collect, tally

__all__ = [
    "Agreement",
    "Levels",
    "Protocol",
    "RegionScore",
    "RegionTally",
    "Summary",
    "berkeley_files",
    "collect",
    "compare",
    "covering",
    "level_thresholds",
    "rand_index",
    "tally",
    "ucm_levels",
    "variation_of_information",
]
