"""Orders for the overview: how far two people's relations agree, where they differ, and a third order of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from hyperacuity.studio.actions import WorkVersion
from hyperacuity.studio.order.files import KINDS, outputs_of
from hyperacuity.studio.order.history import Snapshot
from hyperacuity.studio.order.image_order import ImageOrder, image_order
from hyperacuity.studio.order.relations import Pair, Statements, as_sentence, find_contradiction
from hyperacuity.studio.order.suggestions import longest_first
from hyperacuity.studio.outputs import Outputs
from hyperacuity.studio.overview.agreement import Confusion, cohen_kappa, confusion_of_orders, share_agreed
from hyperacuity.studio.overview.work import Difference, Measures, SideBySide, Work
from hyperacuity.studio.web import Refused

STOPS = np.array(
    [[31, 47, 107], [74, 111, 174], [159, 180, 196], [236, 220, 176], [240, 168, 96], [200, 72, 30]], float
)
"""Depth in colours, from far to near, as on the page."""


class OrderWork(Work[ImageOrder]):
    """Orders of regions."""

    name: ClassVar[str] = "order"
    title: ClassVar[str] = "Order regions by depth"
    photograph: ClassVar[str] = "/items/{item}/photograph"
    measures: ClassVar[Measures] = {"agreement": share_agreed, "κ": cohen_kappa}
    about: ClassVar[str] = (
        "Agreement is the share of the boundaries' length on which two people say the same: near, far or equally far. κ is "
        "agreement beyond chance. Only boundaries of which both know the order count."
    )

    def _confusion(self, one: ImageOrder, other: ImageOrder) -> Confusion | None:
        if one.shape != other.shape:
            return None
        return confusion_of_orders(_relations(one), _relations(other), one.regions.lengths)

    def note(self, item: str, versions: Sequence[WorkVersion]) -> str:
        """Remark on people who have ordered different regions."""
        shapes = {one.shape for one in self._load(item, *versions)}
        return "ordered with different regions" if len(shapes) > 1 else ""

    def side_by_side(self, item: str, a: WorkVersion, b: WorkVersion) -> SideBySide:
        """Two finished orders, and the neighbours of which they say different things."""
        one, other = self._both(item, a, b)
        boxes = ndimage.find_objects(one.regions.labels + 1, max_label=one.regions.count)
        differences = []
        for x, y in _disputed(one, other):
            words = (_words(x, y, version.arrangement.relation(x, y)) for version in (one, other))
            differences.append(Difference(_around(boxes[x], boxes[y]), *words))
        return SideBySide((_painted(one), _painted(other)), differences)

    def settle(
        self, item: str, a: WorkVersion, b: WorkVersion, choices: Sequence[str], facts: Mapping[str, Any]
    ) -> Outputs:
        """The order that follows from what both say of neighbours and what was chosen of the others. ``Refused`` if that
        contradicts itself."""
        one, other = self._both(item, a, b)
        pairs = settled_pairs(one, other, choices)
        current = Snapshot(one.current.level, Statements(pairs=pairs), edits=one.current.edits)
        order = image_order(current, one.regions)
        if order.arrangement.tangled:
            why = as_sentence(find_contradiction(current.statements, order.arrangement.tangled), {})
            raise Refused(422, f"these choices contradict each other: {why}")
        if not order.arrangement.known_pairs:
            raise Refused(422, "these choices order nothing")
        provenance = {**facts, "coverage": order.coverage, "missing": order.missing.facts}
        provenance["complete"] = bool(facts.get("complete")) and order.missing.complete
        outputs = outputs_of(self._out, ".", self.items[item].name, order, provenance)
        return {
            self._out / "adjudicated" / kind / path.name: data
            for kind, (path, data) in zip(KINDS, outputs.items(), strict=True)
        }

    def _both(self, item: str, a: WorkVersion, b: WorkVersion) -> tuple[ImageOrder, ImageOrder]:
        one, other = self._load(item, a, b)
        if one.shape != other.shape:
            raise Refused(422, f"{a.name} and {b.name} ordered different regions, which cannot be compared")
        return one, other


def settled_pairs(one: ImageOrder, other: ImageOrder, choices: Sequence[str]) -> dict[Pair, int]:
    """Relations of neighbours on which both agree, or that the one who was chosen states."""
    chosen = dict(zip(_disputed(one, other), choices, strict=True))
    pairs = {}
    for a, b in one.regions.pairs.tolist():
        choice = chosen.get((a, b), "a")
        relation = None if choice == "mark" else (one if choice == "a" else other).arrangement.relation(a, b)
        if relation is not None:
            pairs[(a, b)] = relation
    return pairs


def _disputed(one: ImageOrder, other: ImageOrder) -> list[Pair]:
    """Neighbours of which two orders say different things, those with the longest boundary first."""
    pairs = longest_first(one.regions)
    return [pair for pair in pairs if one.arrangement.relation(*pair) != other.arrangement.relation(*pair)]


def _relations(order: ImageOrder) -> NDArray[np.float64]:
    relations = [order.arrangement.relation(a, b) for a, b in order.regions.pairs.tolist()]
    return np.array([np.nan if relation is None else relation for relation in relations], np.float64)


def _words(a: int, b: int, relation: int | None) -> str:
    """Describe what an order says of two regions.

    >>> _words(0, 3, -1), _words(0, 3, None)
    ('region 4 is in front of region 1', 'nothing is known of regions 1 and 4')
    """
    if relation is None:
        return f"nothing is known of regions {a + 1} and {b + 1}"
    if relation == 0:
        return f"regions {a + 1} and {b + 1} are at the same depth"
    near, far = (a, b) if relation > 0 else (b, a)
    return f"region {near + 1} is in front of region {far + 1}"


def _around(one: tuple[slice, slice], other: tuple[slice, slice]) -> tuple[int, int, int, int]:
    """The box (top, left, height, width) around two boxes."""
    (top, bottom), (left, right) = (
        (min(a.start, b.start), max(a.stop, b.stop)) for a, b in zip(one, other, strict=True)
    )
    return top, left, bottom - top, right - left


def _painted(order: ImageOrder) -> NDArray[np.uint8]:
    """Each region in the colour of its depth; transparent where nothing is known."""
    layers = max(1, order.arrangement.layers - 1)
    table = np.zeros((order.regions.count + 1, 4), np.uint8)
    for region, layer in enumerate(order.arrangement.layer):
        if layer is not None:
            place = (layer - 1) / layers * (len(STOPS) - 1) if order.arrangement.layers > 1 else len(STOPS) - 1
            low = min(int(place), len(STOPS) - 2)
            table[region, :3] = STOPS[low] + (STOPS[low + 1] - STOPS[low]) * (place - low)
            table[region, 3] = 170
    painted: NDArray[np.uint8] = table[order.regions.labels]
    return painted
