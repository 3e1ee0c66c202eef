"""Regions: how well segmentations agree with people's, and hierarchies of them.

:func:`tally` and :func:`collect` are Berkeley's region benchmark: segmentation covering, probabilistic Rand index and variation
of information of a hierarchy (:func:`ucm_levels`) or a stack of segmentations, against several annotators.

:func:`hierarchy` makes a hierarchy of a soft boundary map; :func:`ucm_hierarchy` reads one from a contour map;
:func:`prune` and :func:`pruning_path` cut it by a region energy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperacuity.syntax import on_demand

if TYPE_CHECKING:
    from hyperacuity.regions.benchmark import LevelSummary, Protocol, RegionScore, RegionTally, collect, tally
    from hyperacuity.regions.berkeley import berkeley_files
    from hyperacuity.regions.hierarchies import Hierarchy, hierarchy, merge_boundaries, ucm_hierarchy
    from hyperacuity.regions.levels import Levels, level_thresholds, ucm_levels
    from hyperacuity.regions.measures import Agreement, compare, covering, rand_index, variation_of_information
    from hyperacuity.regions.pruning import (
        Energy,
        PruningPath,
        least_energy,
        node_means,
        piecewise_constant,
        prune,
        pruning_path,
    )
else:
    __getattr__ = on_demand(__name__, __file__)

__all__ = [
    "Agreement",
    "Energy",
    "Hierarchy",
    "LevelSummary",
    "Levels",
    "Protocol",
    "PruningPath",
    "RegionScore",
    "RegionTally",
    "berkeley_files",
    "collect",
    "compare",
    "covering",
    "hierarchy",
    "least_energy",
    "level_thresholds",
    "merge_boundaries",
    "node_means",
    "piecewise_constant",
    "prune",
    "pruning_path",
    "rand_index",
    "tally",
    "ucm_hierarchy",
    "ucm_levels",
    "variation_of_information",
]
