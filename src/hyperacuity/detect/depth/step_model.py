r"""Is there a step in depth between two neighbouring regions at all? A logistic function of what does not change when they swap.

.. math:: P(\text{step}) = \frac{1}{1 + e^{-(c + w·f(a, b))}}, \qquad f(b, a) = f(a, b)

Machines find boundaries within objects too, where nobody is in front; an advantage times P(step) leaves these nearly level.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import InputError
from hyperacuity.ordering.figure_ground import Neighbours

Values = NDArray[np.float64]

FEATURES = ("height", "log of height", "|log-odds|", "log of border", "log of smaller area")
"""Height of the boundary in the hierarchy, how sure the cues are, length of the common border, area of the smaller region."""


@dataclass(frozen=True, eq=False)
class StepWeights:
    """A constant, and a weight for each of :data:`FEATURES` in units of its spread."""

    constant: float
    weights: Values
    spreads: Values

    def probability(self, features: Values) -> Values:
        """The probability that each pair has a step in depth."""
        score = self.constant + (features * (self.weights / self.spreads)).sum(axis=1)
        result: Values = 1 / (1 + np.exp(-np.clip(score, -500, 500)))
        return result


def step_features(borders: Neighbours, heights: ArrayLike, scores: ArrayLike) -> Values:
    """Features of each pair of neighbours: pairs × :data:`FEATURES`.

    ``heights`` are those of the boundaries (:func:`~hyperacuity.detect.depth.evidence.border_heights`), ``scores`` the log-odds
    that the first is in front.

    >>> from hyperacuity.ordering import neighbours
    >>> step_features(neighbours([[0, 0, 1]]), [0.5], [-2.0]).round(2)
    array([[ 0.5 , -0.69,  2.  ,  0.  ,  0.  ]])
    """
    high, sure = np.asarray(heights, np.float64), np.abs(np.asarray(scores, np.float64))
    if high.shape != (borders.count,) or sure.shape != (borders.count,):
        raise InputError(
            f"heights and scores: have shapes {high.shape} and {sure.shape}, expected {borders.count} each"
        )
    area = np.bincount(borders.labels[borders.labels >= 0], minlength=1)
    smaller = np.minimum(area[borders.first], area[borders.second])
    return np.stack(
        [high, np.log(np.maximum(high, 1e-3)), sure, np.log(np.maximum(borders.cracks, 1)), np.log(smaller)], axis=1
    )


def learn_steps(
    features: Sequence[Values],
    steps: Sequence[NDArray[np.float64]],
    lengths: Sequence[Values],
    *,
    penalty: float = 10.0,
) -> StepWeights | None:
    """Learn from pairs of which it is known whether they have a step (1), have none (0), or neither (NaN).

    Each pair counts with the square root of its border's length. None where steps, or pairs without one, are missing.

    >>> high = np.array([[0.1, -2.3, 0, 0, 0], [0.9, -0.1, 0, 0, 0]])
    >>> learned = learn_steps([high], [np.array([0.0, 1.0])], [np.ones(2)])
    >>> learned.probability(high).round() if learned else None
    array([0., 1.])
    """
    every, step, length = (np.concatenate(parts) for parts in (features, steps, lengths))
    known = ~np.isnan(step)
    every, step, weight = every[known], step[known], np.sqrt(length[known])
    if len(step) == 0 or step.min() == step.max():
        return None
    weight = weight / weight.mean()
    spreads = np.sqrt(np.average(every**2, axis=0, weights=weight))
    spreads[spreads == 0] = 1.0
    facing = np.column_stack([np.ones(len(step)), every / spreads]) * np.where(step > 0, 1.0, -1.0)[:, np.newaxis]
    constant, *weights = antisymmetric_fit(facing, weight, penalty)
    return StepWeights(float(constant), np.array(weights), spreads)


def antisymmetric_fit(facing: Values, weight: Values, penalty: float) -> Values:
    r"""Weights w that make examples likely whose cues all face the truth, by Newton's method.

    .. math:: \min_w \sum_i v_i \log(1 + e^{-w·x_i}) + \frac{1}{2C} |w|^2

    >>> antisymmetric_fit(np.array([[1.0], [1.0], [-1.0]]), np.ones(3), 1e6).round(3)  # odds of 2 : 1
    array([0.693])
    """
    learned = np.zeros(facing.shape[1])

    def cost(w: Values) -> float:
        return float(weight @ np.logaddexp(0, -facing @ w) + w @ w / (2 * penalty))

    for _ in range(100):
        wrong = 1 / (1 + np.exp(np.clip(facing @ learned, -500, 500)))
        slope = facing.T @ (weight * wrong) - learned / penalty
        bend = (facing * (weight * wrong * (1 - wrong))[:, None]).T @ facing + np.eye(len(learned)) / penalty
        step = np.linalg.solve(bend, slope)
        before, size = cost(learned), 1.0
        while cost(learned + size * step) > before and size > 1e-10:
            size /= 2
        learned = learned + size * step
        if not math.isfinite(before) or np.abs(size * step).max(initial=0) < 1e-9:
            break
    return learned
