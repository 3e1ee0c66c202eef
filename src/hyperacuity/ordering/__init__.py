"""Depth order: local and global depth consistency, the over-random index, and the figure/ground benchmark.

:func:`ordering` takes an order map or labelled contours; :func:`tally` and :func:`collect` score a data set;
:mod:`~hyperacuity.ordering.prc` is the algebra underneath, for anything that first detects and then classifies.

References
----------
Palou & Salembier (2014), Precision-recall-classification evaluation framework: application to depth estimation on single images.
Maire, Narihira & Yu (2016), Affinity CNN: learning pixel-centric pairwise relations for figure/ground embedding, supplement.
"""

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
from hyperacuity.ordering.orderings import Ordering, Partition, Sides, ordering, partition, transfer
from hyperacuity.ordering.pairwise import PairCounts, compare_regions, match_regions
from hyperacuity.ordering.prc import Outcomes, Summary, from_confusion, over_random_index, summary
from hyperacuity.ordering.protocols import Protocol
from hyperacuity.ordering.scores import Consistency, OrderingScore, collect, collect_sweep, resampled_scores
from hyperacuity.ordering.tallies import OrderingTally, match_image, tally, tally_humans, tally_questions

__all__ = [
    "Consistency",
    "Contours",
    "Inconsistency",
    "LocalMatch",
    "Neighbours",
    "Ordering",
    "OrderingScore",
    "OrderingTally",
    "Outcomes",
    "Ownership",
    "PairCounts",
    "Partition",
    "Protocol",
    "Sides",
    "Summary",
    "WholeOrder",
    "border_votes",
    "collect",
    "collect_sweep",
    "combine",
    "compare_neighbours",
    "compare_regions",
    "contours",
    "from_confusion",
    "match_contours",
    "match_image",
    "match_regions",
    "neighbours",
    "order_of_pairs",
    "ordering",
    "over_random_index",
    "partition",
    "resampled_scores",
    "split_inconsistent",
    "summary",
    "tally",
    "tally_humans",
    "tally_questions",
    "transfer",
    "whole_order",
]
