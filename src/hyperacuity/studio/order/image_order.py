"""One person's order of one image, and its gaps: *done* names them, and an order that is written all the same is marked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hyperacuity.studio.order.edits import shape_of
from hyperacuity.studio.order.history import Snapshot
from hyperacuity.studio.order.regions import Regions
from hyperacuity.studio.order.relations import Arrangement, Pair, arrange


@dataclass(frozen=True)
class MissingOrder:
    """Gaps of an order: regions of which nothing was said, groups with nothing between them, and neighbours within a group whose
    relation is unorder. Pairs that a person could not tell are no gaps."""

    regions: tuple[int, ...]
    count: int
    groups: int
    pairs: tuple[Pair, ...]

    @property
    def complete(self) -> bool:
        """True if nothing is missing."""
        return not self.words

    @property
    def words(self) -> list[str]:
        """The gaps, a sentence each; empty for a complete order.

        >>> MissingOrder(regions=(3,), count=4, groups=1, pairs=((0, 2), (1, 2))).words
        ['1 of 4 regions has no order', '2 pairs of neighbours have no order']
        """
        regions, pairs = len(self.regions), len(self.pairs)
        said = []
        if regions:
            said.append(f"{regions} of {self.count} regions {'has' if regions == 1 else 'have'} no order")
        if self.groups > 1:
            said.append(f"{self.groups} groups of regions are not ordered against each other")
        if pairs:
            said.append(
                f"{pairs} pair{'s' if pairs > 1 else ''} of neighbours {'have' if pairs > 1 else 'has'} no order"
            )
        return said

    @property
    def facts(self) -> dict[str, Any]:
        """For the provenance; regions are numbered from 1."""
        return {
            "regions": [region + 1 for region in self.regions],
            "groups_apart": max(0, self.groups - 1),
            "neighbours": [[a + 1, b + 1] for a, b in self.pairs],
        }


@dataclass(frozen=True, eq=False)
class ImageOrder:
    """A snapshot of a person's statements, its regions, and the arrangement that follows."""

    current: Snapshot
    regions: Regions
    arrangement: Arrangement

    @property
    def shape(self) -> str:
        """Name of the regions that were ordered."""
        return shape_of(self.current.level, self.current.edits)

    @cached_property
    def missing(self) -> MissingOrder:
        """The gaps of the order. A single region has none once it is ordered."""
        order = self.arrangement
        unknown = [
            (a, b)
            for a, b in self.regions.pairs.tolist()
            if order.group[a] is not None and order.group[a] == order.group[b] and order.relation(a, b) is None
        ]
        return MissingOrder(
            tuple(region for region, layer in enumerate(order.layer) if layer is None),
            self.regions.count,
            order.groups,
            tuple(pair for pair in unknown if pair not in self.current.dismissed),
        )

    @property
    def coverage(self) -> dict[str, float]:
        """Shares of the regions, of the boundaries' length and of all pairs that are ordered; 1 of what does not exist."""
        regions, count = self.regions, self.regions.count
        related = np.array([self.arrangement.relation(a, b) is not None for a, b in regions.pairs.tolist()], np.bool_)
        return {
            "regions": _share(self.arrangement.ordered, count),
            "boundary": _share(int(regions.lengths[related].sum()), int(regions.lengths.sum())),
            "pairs": _share(self.arrangement.known_pairs, count * (count - 1) // 2),
        }


def image_order(current: Snapshot, regions: Regions) -> ImageOrder:
    """The order that follows from a snapshot."""
    return ImageOrder(current, regions, arrange(current.statements, regions.count))


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 1.0
