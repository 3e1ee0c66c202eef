"""Results of the systems for depth order on one picture, each at every value of its parameter."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.detect.depth.cues import pair_cues, quantisation_steps
from hyperacuity.detect.depth.orderers import AE_LEVEL, ae, cue_field, shipped_cues
from hyperacuity.detect.depth.ownership import Curvature, depth_partition, integrate, lightness, ownership_by_readings
from hyperacuity.detect.depth.soft_depth import depth_of_regions
from hyperacuity.detect.depth.ucm_tj import ucm_tj
from hyperacuity.detect.net.network import Look, look
from hyperacuity.detect.net.sight import Sight, sight_of
from hyperacuity.detect.registry import detector
from hyperacuity.maps import LabelMap, OrderMap
from hyperacuity.ordering.figure_ground import REACH, neighbours, order_of_pairs
from hyperacuity.ordering.orderings import Ordering, Partition, partition, pieces
from hyperacuity.regions import Hierarchy
from hyperacuity.run.keeping import Kept
from hyperacuity_papers.common.sights import Sights, keep_sights, read_sights

LAMBDAS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""λ of the ownership on the tree, in units of squared ownership: from many hundreds of regions to a few, on images that are
learned from."""

SHOWN_LAMBDA = 0.5
"""The one that pictures show."""

LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
STEPS = (2, 3, 4, 6, 8, 16)

HIERARCHY = "gpb-ucm"
"""The detector whose hierarchy all systems share but ownership alone and the network: the paper's UCM."""

LEVEL = 0.5
"""Level at which it is cut for a system's own regions: of best covering of people's regions (.608; .596 at 0.4) on twelve of the
images that are learned from."""

Reading = tuple[Curvature, bool]
CONVEX: Reading = ("convex", False)
ABSOLUTE: Reading = ("absolute", True)
CONCAVE: Reading = ("concave", True)
STRAIGHT: Reading = ("none", False)
READINGS = (CONVEX, ABSOLUTE, CONCAVE, STRAIGHT)
"""Readings of ownership: the curvature that counts, and whether distances are smoothed first."""

OWNERSHIP, TREE, CUES, TJC = "ownership", "ownership + tree", "learned cues", "learned cues, tjc"
AE, UCM_TJ = "angular embedding", "UCM + T-junctions"
NETWORK = "network"
"""Left out where the extra ``see`` is not installed."""

ORACLE = "true order, own regions"
"""The ceiling: a machine's regions, ordered by the truth."""

RANDOM = "random order, own regions"
"""The floor: the same regions, ordered by lot."""

SYSTEMS = (NETWORK, OWNERSHIP, TREE, AE, UCM_TJ, CUES, TJC, ORACLE, RANDOM)


class SystemViews:
    """Results of the systems on one picture; each part is computed once, when asked for, or comes from the cache ``kept``."""

    def __init__(self, image: NDArray[Any], kept: Kept | None = None) -> None:
        self.image, self.kept = image, kept

    @cached_property
    def _before(self) -> Sights | None:
        """Sights of this picture in the cache."""
        return read_sights(self.kept, self.image)

    def keep(self) -> None:
        """Keep what others can use."""
        if self._before is None:
            keep_sights(self.kept, self.image, Sights(self.ownership, self.tree, self._look))

    @cached_property
    def ownership(self) -> OrderMap:
        """Probability of ownership."""
        return self._owned[CONVEX] if self._before is None else self._before.ownership

    @cached_property
    def _owned(self) -> dict[Reading, OrderMap]:
        """Probability of ownership by all readings."""
        return dict(zip(READINGS, ownership_by_readings(self.image, READINGS), strict=True))

    @cached_property
    def tree(self) -> Hierarchy:
        """The hierarchy of the picture's regions, one for all systems."""
        return detector(HIERARCHY).hierarchy(self.image) if self._before is None else self._before.tree

    @cached_property
    def embedded(self) -> OrderMap:
        """Angular embedding."""
        return ae(self.image, self.tree, cue_field(self.image, self.tree.at(AE_LEVEL), ownership=self.ownership))

    @cached_property
    def network(self) -> Sight | None:
        """Sight of the network, if it can be run."""
        return None if self._look is None else sight_of(self._look)

    @cached_property
    def _look(self) -> Look | None:
        if self._before is not None:
            return self._before.look
        return look(self.image, setting="best") if find_spec("onnxruntime") else None

    def pruned(self, lam: float) -> Partition:
        """Ownership on the tree."""
        return depth_partition(self.ownership, self.tree, lam)

    def quantised(self, steps: int) -> Partition:
        """Ownership, spread within edges and cut into this many depths of equal area."""
        smooth = self._spread
        cuts = np.quantile(smooth, np.arange(1, steps) / steps)
        return pieces(np.searchsorted(cuts, smooth.ravel()).reshape(smooth.shape).astype(np.float32))

    @cached_property
    def _spread(self) -> OrderMap:
        return integrate(self.ownership, self.image)

    def ordered(self, regions: LabelMap) -> tuple[Partition, Partition]:
        """Regions in the order of all learned cues, and in that of T-junctions and convexity alone."""
        cues = pair_cues(self.image, regions, ownership=self.ownership)
        chosen = shipped_cues()
        all_cues, tjc = (depth_of_regions(cues.borders, chosen.choose(s).advantages(cues)) for s in ("all", "tjc"))
        return all_cues, tjc

    def layered(self, regions: LabelMap) -> Partition:
        """Regions in layers by T-junctions and convexity, nothing learned."""
        return partition(ucm_tj(self.image, regions), regions)

    def dense(self) -> dict[str, OrderMap]:
        """Ownership, its variants, and controls that know nothing of depth."""
        light = lightness(self.image)
        rows = np.repeat(np.arange(light.shape[0], dtype=np.float32)[:, np.newaxis], light.shape[1], axis=1)
        return {
            **({NETWORK: self.network.order} if self.network else {}),
            OWNERSHIP: self.ownership,
            "ownership, |κ|": self._owned[ABSOLUTE],
            "ownership, κ < 0": self._owned[CONCAVE],
            **{f"{TREE}, λ = {lam:g}": self.pruned(lam).order for lam in LAMBDAS},
            AE: self.embedded,
            "control: ownership without curvature": self._owned[STRAIGHT],
            "control: gradient": np.hypot(*np.gradient(light)).astype(np.float32),
            "control: crack density": quantisation_steps(light),
            "control: lower is nearer": rows,
        }

    def sweeps(self, truth: Ordering, systems: Collection[str] = SYSTEMS) -> Iterator[tuple[str, str, Partition]]:
        """Run these systems at every value of their parameter."""
        for steps in STEPS if OWNERSHIP in systems else ():
            yield OWNERSHIP, f"{steps} depths", self.quantised(steps)
        for lam in LAMBDAS if TREE in systems else ():
            yield TREE, f"λ = {lam:g}", self.pruned(lam)
        for level in LEVELS:
            for system, found in self._at(level, truth, systems):
                yield system, f"level {level:g}", found

    def _at(self, level: float, truth: Ordering, systems: Collection[str]) -> Iterator[tuple[str, Partition]]:
        """Run these systems on the regions at a level of the hierarchy; the network, on those of its own."""
        regions = self.tree.at(level)
        if AE in systems:
            yield AE, partition(self.embedded, regions)
        if UCM_TJ in systems:
            yield UCM_TJ, self.layered(regions)
        if CUES in systems or TJC in systems:
            by_all, by_tjc = self.ordered(regions)
            yield from ((system, found) for system, found in ((CUES, by_all), (TJC, by_tjc)) if system in systems)
        if ORACLE in systems:
            yield ORACLE, truly_ordered(regions, truth)
        if RANDOM in systems:
            yield RANDOM, randomly_ordered(regions)
        if NETWORK in systems and self.network:
            yield NETWORK, partition(self.network.order, self.network.regions(level))


def truly_ordered(regions: LabelMap, truth: Ordering) -> Partition:
    """Regions in the order that the truth gives to neighbours; where it has none they are level."""
    beside = neighbours(regions)
    front = order_of_pairs(truth, beside, reach=REACH)
    return depth_of_regions(beside, front * (np.abs(front) == 1))


def randomly_ordered(regions: LabelMap, *, seed: int = 0) -> Partition:
    """Regions in an order by lot, no two of them level; the same for the same regions and seed."""
    depth = np.random.default_rng(seed).permutation(int(regions.max()) + 1).astype(np.float32)
    return partition(depth[regions], regions)
