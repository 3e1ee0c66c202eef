"""Random numbers and sines that come out the same, to the last bit, on every machine.

A scene is drawn from the raw 64-bit words of PCG64, whose stream numpy guarantees, and computed with ``+ − × ÷ √`` and ``floor``
alone, which IEEE 754 rounds the same way everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Item = TypeVar("Item")
Floats = NDArray[np.float64]

_TAU = 6.283185307179586
# Taylor's coefficients of the sine; on a quarter turn the error is below 1e-11, far finer than a scene's fixed point.
_SINE = (1.0, -1 / 6, 1 / 120, -1 / 5040, 1 / 362880, -1 / 39916800, 1 / 6227020800, -1 / 1307674368000)

_EVEN_BYTES = np.uint64(0x00FF00FF00FF00FF)
_ADD_UP = np.uint64(0x0001000100010001)  # multiplying by this gathers four 16-bit sums in the topmost


class Dice:
    """A stream of random draws named by integers: equal names give equal streams.

    >>> Dice(1, 2).integer(1000) == Dice(1, 2).integer(1000)
    True
    """

    def __init__(self, *name: int) -> None:
        self._words = np.random.PCG64(np.random.SeedSequence(list(name)))

    def words(self, count: int) -> NDArray[np.uint64]:
        """``count`` raw 64-bit words."""
        return self._words.random_raw(count)

    def integer(self, stop: int) -> int:
        """A whole number in [0, stop)."""
        return int(self._words.random_raw()) * stop >> 64

    def unit(self) -> float:
        """A number in [0, 1) with 53 random bits."""
        return (int(self._words.random_raw()) >> 11) * 2.0**-53

    def between(self, low: float, high: float) -> float:
        """A number in [low, high)."""
        return low + (high - low) * self.unit()

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.unit() < probability

    def choose(self, items: Sequence[Item]) -> Item:
        """One of the items, each as likely."""
        return items[self.integer(len(items))]

    def sample(self, items: Sequence[Item], count: int) -> list[Item]:
        """``count`` different items, in random order (Fisher and Yates)."""
        rest = list(items)
        return [rest.pop(self.integer(len(rest))) for _ in range(min(count, len(rest)))]

    def normals(self, shape: tuple[int, ...]) -> Floats:
        """Nearly normal numbers, mean 0 and variance 1: the scaled sum of the eight bytes of a word."""
        words = self.words(int(np.prod(shape)))
        pairs = (words & _EVEN_BYTES) + ((words >> np.uint64(8)) & _EVEN_BYTES)
        total = (pairs * _ADD_UP) >> np.uint64(48)
        scaled: Floats = (total.astype(np.float64) - 1020) * (1 / 209.0215)
        return scaled.reshape(shape)


def sine(turns: Floats) -> Floats:
    """sin(2π·turns), by folding to a quarter turn and a polynomial.

    >>> sine(np.array([0.0, 1 / 12, 0.25, 0.75])).round(9).tolist()
    [0.0, 0.5, 1.0, -1.0]
    """
    part = turns - np.floor(turns + 0.5)
    part = np.where(part > 0.25, 0.5 - part, np.where(part < -0.25, -0.5 - part, part))
    x = part * _TAU
    square = x * x
    total = np.full_like(square, _SINE[-1])
    for coefficient in _SINE[-2::-1]:
        total = total * square + coefficient
    return total * x


def cosine(turns: Floats) -> Floats:
    """cos(2π·turns)."""
    return sine(turns + 0.25)


def direction(turns: float) -> tuple[float, float]:
    """The unit vector (cos, sin) at an angle given in turns."""
    return float(cosine(np.array(turns))), float(sine(np.array(turns)))


def bell(sigma: float) -> Floats:
    """Half of a Gaussian's weights, centre first, so that ``w[0] + 2·Σ w[1:]`` is 1; ``sigma`` 0 gives ``[1]``.

    >>> bell(0.0).tolist()
    [1.0]
    """
    weights = [1.0]
    while sigma > 0 and len(weights) <= 3 * sigma + 0.5:
        exponent = len(weights) * len(weights) / (2 * sigma * sigma)
        root = 1 + exponent / 4096  # (1 + x/n)⁻ⁿ, n = 2¹²: near enough to e⁻ˣ, and the same everywhere
        for _ in range(12):
            root *= root
        weights.append(1 / root)
    total = 1.0
    for weight in weights[1:]:
        total += 2 * weight
    return np.array([weight / total for weight in weights])
