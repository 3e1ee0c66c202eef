"""Matchers that may leave pixels out: error rate against sparsity, one curve per system (Kostlivá, Čech & Šára 2007).

Each setting of a matcher gives a point: its **sparsity**, the share of matchable pixels left unmatched, and its **error
rate**, the share of matchable pixels matched wrongly. What no other setting beats in both is the system's curve:
``height(x)`` is the least error rate that some setting reaches with sparsity x or less. It is a staircase, as settings in
between need not exist; left of the first setting it is 1. The lowest of all curves is the **feasibility boundary**: what the
field can do on this scene.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.compare.pareto import optimal
from hyperacuity.errors import InputError


@dataclass(frozen=True, eq=False)
class RocCurve:
    """A staircase that never rises: from ``sparsity[i]`` on, the error rate is ``error[i]``."""

    sparsity: NDArray[np.float64]
    error: NDArray[np.float64]

    def height(self, at: ArrayLike) -> NDArray[np.float64]:
        """The least error rate at a sparsity."""
        steps = np.concatenate([[1.0], self.error])
        height: NDArray[np.float64] = steps[np.searchsorted(self.sparsity, np.asarray(at), side="right")]
        return height

    def area(self) -> float:
        """Under the curve, from sparsity 0 to 1."""
        ends = np.concatenate([[0.0], self.sparsity, [1.0]])
        return float(np.diff(ends) @ np.concatenate([[1.0], self.error]))


def curve(points: ArrayLike) -> RocCurve:
    """The curve of one system from its settings' (sparsity, error rate) pairs, both shares from 0 to 1.

    >>> curve([(0.5, 0.1), (0.1, 0.3), (0.3, 0.4), (0.5, 0.2)]).sparsity
    array([0.1, 0.5])
    """
    table = np.asarray(points, dtype=np.float64)
    if table.ndim != 2 or table.shape[1:] != (2,) or len(table) == 0:
        raise InputError(f"points have shape {table.shape}, expected settings × (sparsity, error rate)")
    if not ((table >= 0) & (table <= 1)).all():
        found = f"{table.min():g} to {table.max():g}"
        raise InputError(f"sparsity and error rate run from {found}, expected shares from 0 to 1")
    steps = np.unique(table[optimal(table)], axis=0)
    return RocCurve(steps[:, 0], steps[:, 1])


@dataclass(frozen=True)
class Standing:
    """Distance of a system from the feasibility boundary.

    ``gap``: area between its curve and the boundary, 0 if it is never beaten. ``share``: part of the sparsities at which it
    reaches the boundary. ``improvement``: area by which the boundary would rise without it. ``below``: the systems whose
    curves its own lies below everywhere (and somewhere strictly).
    """

    gap: float
    share: float
    improvement: float
    below: tuple[str, ...]


def feasibility(systems: Mapping[str, ArrayLike]) -> tuple[RocCurve, dict[str, Standing]]:
    """The feasibility boundary of several systems' settings, and where each system stands.

    >>> boundary, standing = feasibility({"A": [(0.0, 0.2)], "B": [(0.5, 0.1)], "C": [(0.5, 0.3)]})
    >>> boundary.area(), standing["A"].share, standing["B"].share, standing["A"].below
    (0.15000000000000002, 0.5, 0.5, ('C',))
    """
    if not systems:
        raise InputError("there are no systems to draw a boundary of")
    curves = {name: curve(points) for name, points in systems.items()}
    boundary = _lowest(list(curves.values()))
    ends = np.unique(np.concatenate([[0.0, 1.0], *(one.sparsity for one in curves.values())]))
    widths = np.diff(ends)
    heights = {name: one.height(ends) for name, one in curves.items()}
    floor = boundary.height(ends)
    standing = {}
    for name, height in heights.items():
        others = [one for other, one in curves.items() if other != name]
        without = _lowest(others).height(ends) if others else np.ones_like(ends)
        beaten = (other for other, theirs in heights.items() if (height <= theirs).all() and (height < theirs).any())
        standing[name] = Standing(
            gap=float(widths @ (height - floor)[:-1]),
            share=float(widths @ ((height == floor) & (floor < 1))[:-1]),
            improvement=float(widths @ (without - floor)[:-1]),
            below=tuple(beaten),
        )
    return boundary, standing


def _lowest(curves: list[RocCurve]) -> RocCurve:
    return curve(np.concatenate([np.column_stack([one.sparsity, one.error]) for one in curves]))
