"""Depth order: local and global depth consistency, the over-random index, and the figure/ground benchmark.

:func:`ordering` takes an order map or labelled contours; :func:`tally` and :func:`collect` score a data set;
:mod:`~hyperacuity.ordering.prc` is the algebra underneath, for anything that first detects and then classifies.

Three more benchmarks are here: soft boundary maps with an owner's side (:mod:`~hyperacuity.ordering.occlusion`,
:mod:`~hyperacuity.ordering.occlusion_scores`), pairs of points (:mod:`~hyperacuity.ordering.whdr.benchmark`), and depth
boundaries (:mod:`~hyperacuity.ordering.dbe.benchmark`).

References
----------
Palou & Salembier (2014), Precision-recall-classification evaluation framework: application to depth estimation on single images.
Maire, Narihira & Yu (2016), Affinity CNN: learning pixel-centric pairwise relations for figure/ground embedding, supplement.
"""

from typing import TYPE_CHECKING

from hyperacuity.syntax import on_demand

if TYPE_CHECKING:
    from hyperacuity.ordering.dbe.benchmark import (
        DepthEdgeProtocol,
        DepthEdgeScore,
        DepthEdgeTally,
        collect_depth_edges,
        compare_depth_edges,
        depth_edges,
        tally_depth_edges,
    )
    from hyperacuity.ordering.directed_contours import Contours, contours
    from hyperacuity.ordering.figure_ground import (
        Neighbours,
        Ownership,
        WholeOrder,
        border_votes,
        compare_neighbours,
        neighbours,
        order_of_pairs,
        whole_order,
    )
    from hyperacuity.ordering.local import Inconsistency, LocalMatch, combine, match_contours, split_inconsistent
    from hyperacuity.ordering.occlusion import (
        OcclusionMap,
        OcclusionProtocol,
        OcclusionTally,
        match_occlusion,
        occlusion_map,
        occlusion_overlays,
        owned_contours,
        tally_occlusion,
        tally_occlusion_humans,
    )
    from hyperacuity.ordering.occlusion_scores import HumanOcclusion, OcclusionScore, collect_occlusion
    from hyperacuity.ordering.orderings import Ordering, Partition, Sides, ordering, partition, transfer
    from hyperacuity.ordering.pairwise import PairCounts, compare_regions, match_regions
    from hyperacuity.ordering.prc import Outcomes, Summary, from_confusion, over_random_index, summary
    from hyperacuity.ordering.protocols import Protocol
    from hyperacuity.ordering.scores import Consistency, OrderingScore, collect, collect_sweep, resampled_scores
    from hyperacuity.ordering.tallies import OrderingTally, match_image, tally, tally_humans, tally_questions
    from hyperacuity.ordering.whdr.benchmark import (
        PairProtocol,
        PairScore,
        PairTally,
        PointPairs,
        answers,
        collect_pairs,
        point_pairs,
        tally_pairs,
    )
else:
    __getattr__ = on_demand(__name__, __file__)

__all__ = [
    "Consistency",
    "Contours",
    "DepthEdgeProtocol",
    "DepthEdgeScore",
    "DepthEdgeTally",
    "HumanOcclusion",
    "Inconsistency",
    "LocalMatch",
    "Neighbours",
    "OcclusionMap",
    "OcclusionProtocol",
    "OcclusionScore",
    "OcclusionTally",
    "Ordering",
    "OrderingScore",
    "OrderingTally",
    "Outcomes",
    "Ownership",
    "PairCounts",
    "PairProtocol",
    "PairScore",
    "PairTally",
    "Partition",
    "PointPairs",
    "Protocol",
    "Sides",
    "Summary",
    "WholeOrder",
    "answers",
    "border_votes",
    "collect",
    "collect_depth_edges",
    "collect_occlusion",
    "collect_pairs",
    "collect_sweep",
    "combine",
    "compare_depth_edges",
    "compare_neighbours",
    "compare_regions",
    "contours",
    "depth_edges",
    "from_confusion",
    "match_contours",
    "match_image",
    "match_occlusion",
    "match_regions",
    "neighbours",
    "occlusion_map",
    "occlusion_overlays",
    "order_of_pairs",
    "ordering",
    "over_random_index",
    "owned_contours",
    "partition",
    "point_pairs",
    "resampled_scores",
    "split_inconsistent",
    "summary",
    "tally",
    "tally_depth_edges",
    "tally_humans",
    "tally_occlusion",
    "tally_occlusion_humans",
    "tally_pairs",
    "tally_questions",
    "transfer",
    "whole_order",
]
