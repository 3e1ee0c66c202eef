"""Logistic regression without a constant: every example faces the truth, and the same example turned round faces away."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


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
