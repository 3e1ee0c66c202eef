"""Edge measures: how unlike are a detected edge map and the truth?

21 dissimilarity measures (23 with the paper's parameters), each a plain function ``(truth, detected, *, …)`` with 0 = perfect;
the minimum of a measure over the thresholds of a thin soft map (:func:`sweep`); and synthetic shapes with exact edges
(:func:`shapes`). Everything here is Abdulrahman, Magnier & Montesinos (2017), with the readings and the rules for empty maps
stated where they matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperacuity.syntax import on_demand

if TYPE_CHECKING:
    from hyperacuity.edges.benchmark import EdgeScore, EdgeTally, Protocol, collect, tally, wins
    from hyperacuity.edges.distance import baddeley, dk, f2d6, gamma, hausdorff, omega, psi, sk, theta, yasnoff
    from hyperacuity.edges.merit import d4, dp, f_pinho, fom, fom_e, mfom, sfom
    from hyperacuity.edges.names import FAMILIES, PAPER, Measure, evaluate, measure, measures
    from hyperacuity.edges.pair import Comparison, Pair
    from hyperacuity.edges.statistical import Confusion, chi2, confusion, f_alpha, phi, pm
    from hyperacuity.edges.synthetic import Shapes, add_noise, rimmed, shapes
    from hyperacuity.edges.thresholds import Best, Sweep, edges_at, sweep
else:
    __getattr__ = on_demand(__name__, __file__)

__all__ = [
    "FAMILIES",
    "PAPER",
    "Best",
    "Comparison",
    "Confusion",
    "EdgeScore",
    "EdgeTally",
    "Measure",
    "Pair",
    "Protocol",
    "Shapes",
    "Sweep",
    "add_noise",
    "baddeley",
    "chi2",
    "collect",
    "confusion",
    "d4",
    "dk",
    "dp",
    "edges_at",
    "evaluate",
    "f2d6",
    "f_alpha",
    "f_pinho",
    "fom",
    "fom_e",
    "gamma",
    "hausdorff",
    "measure",
    "measures",
    "mfom",
    "omega",
    "phi",
    "pm",
    "psi",
    "rimmed",
    "sfom",
    "shapes",
    "sk",
    "sweep",
    "tally",
    "theta",
    "wins",
    "yasnoff",
]
