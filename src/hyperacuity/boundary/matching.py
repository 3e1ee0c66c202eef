"""Exact one-to-one matching of detected and true boundary pixels within a tolerance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import UsageError
from hyperacuity.kernels.pairs import PairCost, reach
from hyperacuity.kernels.sweep import match_maps
from hyperacuity.maps import EdgeMap, diagonal, edge_map, same_size

TOLERANCE = 0.0075
"""Berkeley's tolerance, a fraction of the image diagonal."""


@dataclass(frozen=True, eq=False)
class Match:
    """A one-to-one matching of detected and true boundary pixels.

    ``detected`` and ``truth`` are the flat indices (``y · width + x``) of the matched pixels, one pair per entry, in the raster
    order of the detected ones.
    """

    shape: tuple[int, int]
    detected: NDArray[np.int64]
    truth: NDArray[np.int64]

    @property
    def count(self) -> int:
        """Number of pairs."""
        return self.detected.size

    @property
    def distances(self) -> NDArray[np.float64]:
        """Euclidean distance of each pair, in pixels."""
        width = self.shape[1]
        down = self.detected // width - self.truth // width
        across = self.detected % width - self.truth % width
        return np.asarray(np.sqrt(down * down + across * across), np.float64)

    @property
    def distance(self) -> float:
        """Sum of the pairs' distances, in pixels; 0 without pairs."""
        return float(self.distances.sum())

    @property
    def partner_of_detected(self) -> NDArray[np.int64]:
        """Per pixel the flat index of its true partner, −1 where there is none."""
        return self._partners(self.detected, self.truth)

    @property
    def partner_of_truth(self) -> NDArray[np.int64]:
        """Per pixel the flat index of its detected partner, −1 where there is none."""
        return self._partners(self.truth, self.detected)

    def _partners(self, of: NDArray[np.int64], partner: NDArray[np.int64]) -> NDArray[np.int64]:
        partners = np.full(self.shape, -1, np.int64)
        partners.flat[of] = partner
        return partners


def tolerance_in_pixels(shape: tuple[int, ...], tolerance: float) -> float:
    """A tolerance given as a fraction of the image diagonal, in pixels.

    >>> round(tolerance_in_pixels((321, 481), 0.0075), 4)
    4.3371
    """
    return tolerance * diagonal(shape)


def match(
    detected: ArrayLike,
    truth: ArrayLike,
    tolerance: float = TOLERANCE,
    *,
    tolerance_px: float | None = None,
    pair_cost: PairCost | None = None,
    pair_cost_most: float = 0.0,
    checked: bool = False,
) -> Match:
    r"""Match boundary pixels one to one: as many pairs as possible, then the least total distance.

    Pairs farther apart than the tolerance (inclusive) are not allowed. Of all sets of allowed pairs :math:`(d, g)` in which no
    pixel occurs twice, take those of maximum cardinality, and among them one that minimises :math:`\sum \lVert d - g \rVert`
    (each distance rounded to 0.01 px, as in Berkeley's benchmark). What ties remain are broken by a fixed hash of the pixels'
    indices, so the result depends on the two maps and the tolerance alone. Two empty maps, or one, give no pairs.

    Parameters
    ----------
    detected, truth
        Boundary maps of the same size; what is above zero is boundary.
    tolerance
        Fraction of the image diagonal.
    tolerance_px
        Tolerance in pixels, instead of ``tolerance``.
    pair_cost
        Further cost of pairs in pixels, 0 to ``pair_cost_most``: a function of two arrays, the flat indices of the true and the
        detected pixels of all candidate pairs. It is added to the distances before they are minimised.
    checked
        Verify the optimality certificate of :mod:`hyperacuity.kernels.assignment` (slower).

    References
    ----------
    Martin, Fowlkes & Malik (2004), Appendix; Goldberg & Kennedy (1995) for the assignment problem it poses.

    Examples
    --------
    >>> result = match([[1, 1, 0, 0]], [[0, 1, 0, 1]], tolerance_px=1)
    >>> result.count, result.distance
    (1, 0.0)
    >>> result.partner_of_detected
    array([[-1,  1, -1, -1]])
    """
    detected_map, truth_map = edge_map(detected, name="detected"), edge_map(truth, name="truth")
    same_size(detected_map, truth_map, names=("detected", "truth"))
    if tolerance_px is None:
        tolerance_px = tolerance_in_pixels(detected_map.shape, tolerance)
    if not 0 <= tolerance_px < np.inf:
        raise UsageError(f"a tolerance of {tolerance_px:g} pixels makes no sense, expected 0 or more")
    indices, partners = match_maps(
        detected_map, truth_map, reach(tolerance_px), extra=pair_cost, extra_most=pair_cost_most, checked=checked
    )
    return Match((detected_map.shape[0], detected_map.shape[1]), indices, partners)


def overlay(detected: EdgeMap, truth: EdgeMap, matches: Match) -> NDArray[np.uint8]:
    """Draw a matching: 0 nothing, 1 hit (detected and matched), 2 false alarm, 3 miss (true and not matched)."""
    codes = np.zeros(detected.shape, np.uint8)
    codes[truth] = 3
    codes.flat[matches.truth] = 0
    codes[detected] = 2
    codes.flat[matches.detected] = 1
    return codes
