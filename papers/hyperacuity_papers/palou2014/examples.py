"""The equations of Palou & Salembier (2014) on small examples that can be worked out by hand."""

from __future__ import annotations

from functools import cache

import numpy as np

from hyperacuity.detect.depth.ownership import probability_of_ownership
from hyperacuity.ordering import (
    Contours,
    LocalMatch,
    Outcomes,
    PairCounts,
    compare_regions,
    match_contours,
    match_regions,
    partition,
)
from hyperacuity.ordering.orderings import Partition
from hyperacuity.regions import Hierarchy, merge_boundaries, piecewise_constant
from hyperacuity.regions.pruning import least_energy, prune

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
    """What becomes of their pairs."""
    return compare_regions(*regions(), missed_pairs="literal" if literal else "matched")


def stands_for() -> list[int]:
    """Which true region each of the system's stands for, counted from 1."""
    return [int(one) + 1 for one in match_regions(*regions())]


@cache
def tree() -> Hierarchy:
    """A row of four pixels; 0 and 1 merge first, then 2 and 3, then all."""
    return merge_boundaries([[0, 1, 2, 3]], [[0.1, 0.9, 0.1, 0]], [[0, 0, 0, 0]])


def pruned_regions(lam: float) -> int:
    """How many regions the best pruning of the values 0, 1, 4, 5 has."""
    return len(np.unique(prune(tree(), piecewise_constant(tree(), [[0, 1, 4, 5]]), lam)))


def pruned_energy(lam: float) -> float:
    """Its energy; perimeters are without the frame, which would add the same to every pruning."""
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
