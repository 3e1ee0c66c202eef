"""The systems that ``study palou2014`` compares, and what one picture says about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperacuity.detect.depth.cues import group_of, pair_cues, quantisation_steps
from hyperacuity.detect.depth.orderers import LEVEL, region_tree, shipped_cues
from hyperacuity.detect.depth.ownership import (
    depth_partition,
    integrate,
    lightness,
    order_along_contours,
    probability_of_ownership,
)
from hyperacuity.detect.depth.region_depths import depth_of_regions
from hyperacuity.ordering import Partition, neighbours, order_of_pairs, tally, tally_humans
from hyperacuity.ordering.figure_ground import REACH
from hyperacuity.ordering.orderings import Ordering, consecutive, pieces, region_medians

if TYPE_CHECKING:
    from hyperacuity.maps import LabelMap, OrderMap
    from hyperacuity.ordering import OrderingTally
    from hyperacuity.regions import Hierarchy

LAMBDAS = (0.1, 0.2, 0.5, 1.0, 2.0, 4.0)
LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
STEPS = (2, 3, 4, 6, 8, 16)

OWNERSHIP, TREE, CUES, TJC = "ownership", "ownership + tree", "learned cues", "learned cues, tjc"
ORACLE = "true order, own regions"
"""The ceiling: regions found by machine, ordered by the truth."""

SYSTEMS = (OWNERSHIP, TREE, CUES, TJC, ORACLE)

COLUMNS = (
    "true regions, median",
    "true regions, along",
    "own regions, median",
    "own regions, along",
)


class OrderSums(NamedTuple):
    """Length of boundary whose nearer side is right, of all boundary; pairs of regions that are right, of all."""

    right_length: float = 0.0
    length: float = 0.0
    right_pairs: float = 0.0
    pairs: float = 0.0

    def plus(self, other: OrderSums) -> OrderSums:
        """The sums of both."""
        return OrderSums(*(a + b for a, b in zip(self, other, strict=True)))

    @property
    def bacc(self) -> float:
        """B-ACC; NaN without a question."""
        return self.right_length / self.length if self.length else float("nan")

    @property
    def racc(self) -> float:
        """R-ACC."""
        return self.right_pairs / self.pairs if self.pairs else float("nan")


@dataclass(frozen=True, eq=False)
class OrderedPicture:
    """A picture, who is in front in it according to one or more people, and the regions they were asked about."""

    name: str
    load: Callable[[], tuple[NDArray[Any], tuple[Ordering, ...], LabelMap]]


@dataclass(frozen=True, eq=False)
class OrderFindings:
    """What one picture says; of people only where there are several."""

    people: OrderingTally | None = None
    sums: dict[tuple[str, str], OrderSums] = field(default_factory=dict)
    sweeps: dict[tuple[str, str], OrderingTally] = field(default_factory=dict)


class SystemViews:
    """What the systems make of one picture; each part is computed once, when it is asked for."""

    def __init__(self, image: NDArray[Any]) -> None:
        self.image = image

    @cached_property
    def ownership(self) -> OrderMap:
        """Probability of ownership."""
        return probability_of_ownership(self.image)

    @cached_property
    def tree(self) -> Hierarchy:
        """The hierarchy of the picture's regions."""
        return region_tree(self.image)

    def pruned(self, lam: float) -> Partition:
        """Ownership on the tree."""
        return depth_partition(self.ownership, self.tree, lam)

    def quantised(self, steps: int) -> Partition:
        """Ownership, spread within edges and cut into this many depths of equal area."""
        smooth = integrate(self.ownership, self.image)
        cuts = np.quantile(smooth, np.arange(1, steps) / steps)
        return pieces(np.searchsorted(cuts, smooth.ravel()).reshape(smooth.shape).astype(np.float32))

    def ordered(self, regions: LabelMap, *, tjc: bool = False) -> Partition:
        """Regions in the order of the learned cues."""
        weights = shipped_cues().choose("tjc" if tjc else "all")
        groups = {group_of(name) for name in weights.names}
        cues = pair_cues(self.image, regions, groups=groups, ownership=self.ownership)
        return depth_of_regions(cues.beside, weights.advantages(cues))

    def dense(self) -> dict[str, OrderMap]:
        """Ownership, its variants, and controls that know nothing of depth."""
        light = lightness(self.image)
        rows = np.repeat(np.arange(light.shape[0], dtype=np.float32)[:, np.newaxis], light.shape[1], axis=1)
        return {
            OWNERSHIP: self.ownership,
            "ownership, |κ|": probability_of_ownership(self.image, curvature="absolute", smooth=True),
            "ownership, κ < 0": probability_of_ownership(self.image, curvature="concave", smooth=True),
            **{f"{TREE}, λ = {lam:g}": self.pruned(lam).order for lam in LAMBDAS[:4]},
            "control: ownership without curvature": probability_of_ownership(self.image, curvature="none"),
            "control: gradient": np.hypot(*np.gradient(light)).astype(np.float32),
            "control: crack density": quantisation_steps(light),
            "control: lower is nearer": rows,
        }

    def sweeps(self, truth: Ordering) -> Iterator[tuple[str, str, Partition]]:
        """Every system at every value of its parameter."""
        for steps in STEPS:
            yield OWNERSHIP, f"{steps} depths", self.quantised(steps)
        for lam in LAMBDAS:
            yield TREE, f"λ = {lam:g}", self.pruned(lam)
        for level in LEVELS:
            regions = self.tree.at(level)
            yield CUES, f"level {level:g}", self.ordered(regions)
            yield TJC, f"level {level:g}", self.ordered(regions, tjc=True)
            yield ORACLE, f"level {level:g}", truly_ordered(regions, truth)


def truly_ordered(regions: LabelMap, truth: Ordering) -> Partition:
    """Regions in the order that the truth gives to neighbours; where it has none they are level."""
    beside = neighbours(regions)
    front = order_of_pairs(truth, beside, reach=REACH)
    return depth_of_regions(beside, front * (np.abs(front) == 1))


def examine(picture: OrderedPicture) -> OrderFindings:
    """Everything about one picture. A truth of labelled contours knows neighbours only; then pairs of regions are not counted."""
    image, truths, true_regions = picture.load()
    views = SystemViews(image)
    dense = views.dense()
    found = OrderFindings(tally_humans(truths) if len(truths) > 1 else None)
    for regions, kind, reach in ((true_regions, "true", 0), (views.tree.at(LEVEL), "own", REACH)):
        labels = consecutive(regions)
        beside = neighbours(labels)
        orders = {**dense, CUES: views.ordered(labels).order, TJC: views.ordered(labels, tjc=True).order}
        for truth in truths:
            true = order_of_pairs(truth, beside, reach=reach)
            for system, order in orders.items():
                middle = region_medians(np.asarray(order, np.float32), beside.labels)
                answers = {
                    "median": np.sign(middle[beside.first] - middle[beside.second]),
                    "along": order_along_contours(order, beside),
                }
                for reading, answer in answers.items():
                    key = (system, f"{kind} regions, {reading}")
                    found.sums[key] = found.sums.get(key, OrderSums()).plus(_sums(answer, true, beside.cracks))
    for system, parameter, partition in views.sweeps(truths[0]):
        found.sweeps[system, parameter] = tally(partition, truths)
    return found


def _sums(answer: NDArray[Any], true: NDArray[np.int64], length: NDArray[np.float64]) -> OrderSums:
    asked = np.abs(true) == 1
    right = asked & (answer == true)
    return OrderSums(float(length[right].sum()), float(length[asked].sum()), float(right.sum()), float(asked.sum()))
