"""The equations of Palou & Salembier (2014) on small examples that can be worked out by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from hyperacuity.detect.depth.ownership import probability_of_ownership
from hyperacuity.ordering import (
    Contours,
    LocalMatch,
    Outcomes,
    PairCounts,
    compare_regions,
    from_confusion,
    match_contours,
    match_regions,
    over_random_index,
    partition,
    summary,
)
from hyperacuity.ordering.orderings import Partition
from hyperacuity.regions import Hierarchy, merge_boundaries, piecewise_constant
from hyperacuity.regions.pruning import least_energy, prune
from hyperacuity_papers.common.claims import Finding, expect
from hyperacuity_papers.common.claims import worked as by_hand_same
from hyperacuity_papers.palou2014.study import PalouSets

COUNTS = Outcomes(consistent=6, inconsistent=2, false=2, missed=4)
"""CD = 6, ID = 2, FD = 2, MD = 4: P(1) = 4/5, R(1) = 2/3, P(0) = 3/5, R(0) = 1/2."""

CONFUSION = ((0, 3, 1), (2, 5, 1), (0, 1, 1))
"""Rows: nothing, A, not A as detected; columns as true. CD = 5 + 1, ID = 1 + 1, FD = 2, MD = 3 + 1."""


def true_positives(beta: float) -> float:
    """TP(β) of :data:`COUNTS`, from precision: TP = P · (TP + FP)."""
    return float(COUNTS.precision(beta)) * float(COUNTS.consistent + COUNTS.inconsistent + COUNTS.false)


def false_positives(beta: float) -> float:
    """FP(β): what else was detected."""
    return float(COUNTS.consistent + COUNTS.inconsistent + COUNTS.false) - true_positives(beta)


def false_negatives(beta: float) -> float:
    """FN(β): what is there and is not recalled."""
    there = float(COUNTS.consistent + COUNTS.inconsistent + COUNTS.missed)
    return there - float(COUNTS.recall(beta)) * there


@cache
def matched() -> LocalMatch:
    """Four true contour pixels of angle 0; detections one pixel aside of 0, 10, 20 and 180 degrees, and one far away."""

    def drawn(column: int, angles: tuple[float, ...], extra: tuple[int, int] | None = None) -> Contours:
        pixels, angle = np.zeros((4, 12), np.bool_), np.full((4, 12), np.nan)
        pixels[:, column], angle[:, column] = True, angles
        if extra is not None:
            pixels[extra], angle[extra] = True, 0
        return Contours(pixels, angle)

    return match_contours(drawn(4, (0, 10, 20, 180), (0, 9)), drawn(3, (0, 0, 0, 0)))


@cache
def regions() -> tuple[Partition, Partition]:
    """Four regions of a system and four true ones in 4 × 6 pixels: two stand for the first, one could stand for either of two."""
    truth = np.array([[1, 1, 2, 2, 4, 4]] * 2 + [[1, 1, 3, 3, 4, 4]] * 2)
    system = np.array([[1, 1, 3, 3, 4, 4]] * 2 + [[2, 2, 3, 3, 4, 4]] * 2)
    depths = np.array([0, 1, 3, 2, 4], np.float32)
    return partition(depths[system], system), partition(truth.astype(np.float32), truth)


@cache
def pairs(*, literal: bool = False) -> PairCounts:
    """Counts of their pairs."""
    return compare_regions(*regions(), missed_pairs="literal" if literal else "matched")


def stands_for() -> list[int]:
    """True region that each of the system's stands for, counted from 1."""
    return [int(one) + 1 for one in match_regions(*regions())]


@cache
def tree() -> Hierarchy:
    """A row of four pixels; 0 and 1 merge first, then 2 and 3, then all."""
    return merge_boundaries([[0, 1, 2, 3]], [[0.1, 0.9, 0.1, 0]], [[0, 0, 0, 0]])


def pruned_regions(lam: float) -> int:
    """Number of regions of the best pruning of the values 0, 1, 4, 5."""
    return len(np.unique(prune(tree(), piecewise_constant(tree(), [[0, 1, 4, 5]]), lam)))


def pruned_energy(lam: float) -> float:
    """Energy of that pruning; perimeters are without the frame, which would add the same to every pruning."""
    return least_energy(tree(), piecewise_constant(tree(), [[0, 1, 4, 5]]), lam)


def ownership_steps() -> tuple[float, float, float]:
    """Ownership of an even image; the step across a straight edge; the step into a disc, at the edge of either."""
    straight, disc = np.zeros((48, 48)), np.zeros((48, 48))
    straight[:, 24:] = 1
    y, x = np.mgrid[:48, :48] - 23.5
    distance = np.hypot(y, x)
    disc[distance < 12] = 1
    of_straight, of_disc = (
        probability_of_ownership(image, curvature="absolute", smooth=True) for image in (straight, disc)
    )
    inside, outside = of_disc[(distance > 8) & (distance < 12)], of_disc[(distance > 12) & (distance < 16)]
    step = float(of_straight[:, 20:24].mean() - of_straight[:, 24:28].mean())
    even = float(probability_of_ownership(np.full((24, 24), 0.5)).max())
    return even, step, float(inside.mean() - outside.mean())


EXAMPLES: dict[str, Callable[..., Any]] = {
    "precision": COUNTS.precision,
    "recall": COUNTS.recall,
    "F": COUNTS.f,
    "TP": true_positives,
    "FP": false_positives,
    "FN": false_negatives,
    "fg": lambda: COUNTS.accuracy,
    "precision by chance": lambda: COUNTS.precision(1) * COUNTS.random_f(0) / COUNTS.f(1),
    "F by chance": COUNTS.random_f,
    "ORI": lambda: summary(COUNTS).ori,
    "ORI of": over_random_index,
    "ORI without inconsistency": lambda: summary(Outcomes(5, 0, 2, 3)).ori,
    "false pairs": lambda: pairs().false,
    "consistent pairs": lambda: pairs().consistent,
    "inconsistent pairs": lambda: pairs().inconsistent,
    "energy": pruned_energy,
}
"""Numbers that can be worked out by hand."""


def worked(_: PalouSets, of: str, by_hand: float | str, at: Sequence[float] = ()) -> Finding:
    """Compare one of :data:`EXAMPLES` with its value by hand."""
    return by_hand_same(float(EXAMPLES[of](*at)), by_hand)


def signs(_: PalouSets) -> Finding:
    found = pairs()
    told = f"CD {float(found.consistent):g}, ID {float(found.inconsistent):g} from (α, β) = (1, 1), (2, 0), (1, 0)"
    return expect(
        (float(found.consistent), float(found.inconsistent)) == (2.5, 0.5), told, "by hand CD is 2.5 and ID 0.5"
    )


def missed(_: PalouSets) -> Finding:
    read, literal = pairs().missed, pairs(literal=True).missed
    text = f"{read} with matched regions; {literal} as printed"
    return expect((read, literal) == (3, 6), text, "by hand it is 3, or 6 as printed")


def matching(_: PalouSets) -> Finding:
    found = stands_for()
    return expect(found == [1, 1, 2, 4], f"regions 1 – 4 stand for {found}", "by hand they stand for 1, 1, 2, 4")


def local(_: PalouSets) -> Finding:
    found = matched()
    counts = found.outcomes()
    four = [int(n) for n in (counts.consistent, counts.inconsistent, counts.false, counts.missed)]
    rough, wrong, _none = found.inconsistencies().tolist()
    text = f"CD, ID, FD, MD = {four}; of ID {rough} rough, {wrong} on the wrong side"
    return expect(four == [2, 2, 1, 0] and (rough, wrong) == (1, 1), text, "by hand 2, 2, 1, 0; 1 and 1")


def confusion(_: PalouSets) -> Finding:
    found = from_confusion(CONFUSION)
    four = [int(n) for n in (found.consistent, found.inconsistent, found.false, found.missed)]
    return expect(four == [6, 2, 2, 4], f"CD, ID, FD, MD = {four}", "by hand 6, 2, 2, 4")


def ownership(_: PalouSets) -> Finding:
    even, step, disc = ownership_steps()
    text = f"Z {even:g} of an even image; step {step:.3f} at a straight edge, {disc:+.3f} into a disc"
    return expect(even == 1 and abs(step) < 1e-6 and disc > 0, text, "the nearer side is not the larger one")


def merged(_: PalouSets) -> Finding:
    merging = tree()
    nodes = 2 * merging.leaves - 1
    text = f"{merging.leaves} leaves, {nodes} nodes; the lowest boundaries merge first, the root is the image"
    return expect(merging.children.tolist() == [[0, 1], [2, 3], [4, 5]], text, "the tree is another one")
