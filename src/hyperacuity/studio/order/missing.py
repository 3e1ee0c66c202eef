"""Gaps of an order: someone who says *done* hears of them, and an order that is written all the same is marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hyperacuity.studio.order.history import Snapshot
from hyperacuity.studio.order.regions import Regions
from hyperacuity.studio.order.relations import Arrangement, Pair


@dataclass(frozen=True)
class MissingOrder:
    """Gaps of an order: regions of which nothing was said, groups with nothing between them, and neighbours within a group whose
    relation is unknown. Pairs that a person could not tell are no gaps."""

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


def find_missing(current: Snapshot, regions: Regions, arrangement: Arrangement) -> MissingOrder:
    """Find the gaps of an order. A single region has none once it is ordered."""
    unknown = [
        (a, b)
        for a, b in regions.pairs.tolist()
        if arrangement.group[a] is not None
        and arrangement.group[a] == arrangement.group[b]
        and arrangement.relation(a, b) is None
    ]
    return MissingOrder(
        tuple(region for region, layer in enumerate(arrangement.layer) if layer is None),
        regions.count,
        arrangement.groups,
        tuple(pair for pair in unknown if pair not in current.dismissed),
    )
