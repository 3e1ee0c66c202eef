"""Formulas of Abdulrahman et al. (2017) that can be read in two ways: both, on worked examples and on pictures.

Which reading the paper's own numbers follow is decided from Table 4 where it can be (:mod:`.edge_table`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperacuity.edges.names import measure
from hyperacuity.maps import EdgeMap
from hyperacuity_papers.abdulrahman2017.edge_curves import EdgeCurves
from hyperacuity_papers.abdulrahman2017.edge_sweeps import CONTROL
from hyperacuity_papers.abdulrahman2017.edge_table import (
    COLUMNS,
    DETECTORS,
    FIGURE_9_DIFFERS,
    TRUTHS,
    chi2_fit,
    d4_bound,
    dp_bound,
    score,
)

ROUNDING = 0.001
"""Error of a bound computed from scores printed with three digits."""


@dataclass(frozen=True)
class FormulaReading:
    """Two readings of a formula by name, ``default`` the one that is used here; ``worked`` are both as tried on the vectors."""

    symbol: str
    default: str
    other: str
    says: tuple[str, str]
    evidence: Callable[[], str]
    worked: tuple[str, str]


def worked_vectors() -> dict[str, tuple[EdgeMap, EdgeMap]]:
    """Truth and detection of four 5×5 examples: the truth is the middle column, the detection misses, adds or displaces."""
    truth = np.zeros((5, 5), np.bool_)
    truth[:, 2] = True
    both, moved, missing, added = (np.zeros((5, 5), np.bool_) for _ in range(4))
    both[:3, 2] = both[3, 3] = both[4, 0] = True
    moved[:, 3] = True
    missing[:3, 2] = True
    added[:, 2] = added[3, 3] = added[4, 0] = True
    return {"E1": (truth, both), "E2": (truth, moved), "E3": (truth, missing), "E4": (truth, added)}


def _chi2_evidence() -> str:
    fits = {printed: [chi2_fit(truth, printed=printed) for truth in TRUTHS] for printed in (False, True)}
    ours, theirs = (max(error for _, error in fits[printed]) for printed in (False, True))
    return f"Table 4's χ²* follows from its F* to within {ours:.4f} with −FPR, at no density closer than {theirs:.3f} with +FPR"


def _d4_evidence() -> str:
    kept = {
        printed: sum(d4_bound(t, d, printed=printed) <= score(t, "d4", d) + ROUNDING for t in TRUTHS for d in COLUMNS)
        for printed in (False, True)
    }
    return f"Table 4's F* and FoM allow its d4 in {kept[False]} of 10 columns with FoM², in {kept[True]} with FoM"


def dp_columns_refused() -> int:
    """Count the columns of Table 4, of ten, in which D_p is larger than the printed formula allows."""
    return sum(score(t, "dp", d) > dp_bound(t, d) + ROUNDING for t in TRUTHS for d in COLUMNS)


def _dp_evidence() -> str:
    return f"in {dp_columns_refused()} of 10 columns of Table 4 Dp is larger than SFoM and FoM allow for the printed formula"


def sk_below_f2d6() -> tuple[int, int]:
    """Count the columns in which S¹ is below f_2d_6, as the sum of both sizes makes it: of Table 4 (10), and of Figure 9 (5)."""
    table = sum(score(t, "sk(k=1)", d) < score(t, "f2d6", d) for t in TRUTHS for d in COLUMNS)
    figure = sum(FIGURE_9_DIFFERS["sk(k=1)", d] < FIGURE_9_DIFFERS["f2d6", d] for d in COLUMNS)
    return table, figure


def _sk_evidence() -> str:
    table, figure = sk_below_f2d6()
    return f"|D|+|G| makes S¹ ≤ f2d6: so in {table} of 10 columns of Table 4, in {figure} of 5 of Fig. 9 (rows swapped)"


def _none() -> str:
    return "Table 4 rules neither out"


READINGS = (
    FormulaReading(
        "χ²*",
        "chi2",
        "chi2(reading=printed)",
        ("Q − FPR: 1 − MCC²", "Q + FPR, as printed"),
        _chi2_evidence,
        ("chi2", "chi2(reading=printed)"),
    ),
    FormulaReading(
        "d4",
        "d4",
        "d4(fom_term=linear)",
        ("FoM² under the root", "FoM, as printed"),
        _d4_evidence,
        ("d4", "d4(fom_term=linear)"),
    ),
    FormulaReading(
        "Dp",
        "dp",
        "dp(target=detection)",
        ("missed pixels to the nearest hit, as in the text", "to the nearest detected pixel, as in the formula"),
        _dp_evidence,
        ("dp", "dp(target=detection)"),
    ),
    *(
        FormulaReading(
            measure(f"sk(k={k})").symbol,
            f"sk(k={k})",
            f"sk(k={k},denominator=sum)",
            ("over |D∪G|, as printed", "over |D| + |G|"),
            _sk_evidence if k == 1 else _none,
            (f"sk(k={k})", f"sk(k={k},denominator=sum)"),
        )
        for k in (1, 2)
    ),
    FormulaReading(
        "H5%",
        "hausdorff(percent=5)",
        "hausdorff(percent=5,tail=mean_top)",
        ("the distance of rank 95 %", "the mean of the 5 % largest"),
        _none,
        ("hausdorff(percent=50)", "hausdorff(percent=50,tail=mean_top)"),
    ),
)
OTHERS = tuple(str(measure(reading.other)) for reading in READINGS)
"""The readings that are not the default, by canonical name."""


def worked_score(name: str, vector: str) -> float:
    """A measure of one of the four worked examples.

    >>> worked_score("pm", "E4") == 2 / 7
    True
    """
    return measure(name)(*worked_vectors()[vector])


def reading_records(curves: EdgeCurves) -> list[dict[str, Any]]:
    """One record per formula and reading: the worked examples, the mean on the pictures, and who wins there."""
    return [
        {
            "measure": reading.symbol,
            "reading": says,
            **{vector: worked_score(tiny, vector) for vector in worked_vectors()},
            **{f"{truth}, mean": _overall(curves, name, g) for g, truth in enumerate(curves.truths)},
            **{f"{truth}, best": curves.winner(name, g) for g, truth in enumerate(curves.truths)},
            "what Table 4 says": reading.evidence(),
        }
        for reading in READINGS
        for name, tiny, says in zip((reading.default, reading.other), reading.worked, reading.says, strict=True)
    ]


def ratio_range(curves: EdgeCurves, name: str, other: str) -> tuple[float, float]:
    """The least and the largest ratio of two measures' means, over truths and detectors."""
    ratios = [
        curves.mean(name, g)[d] / curves.mean(other, g)[d]
        for g in range(len(curves.truths))
        for d in curves.detectors
        if d != CONTROL
    ]
    return min(ratios), max(ratios)


def _overall(curves: EdgeCurves, name: str, truth: int) -> float:
    scores = curves.mean(name, truth)
    return float(np.mean([scores[d] for d in DETECTORS]))
