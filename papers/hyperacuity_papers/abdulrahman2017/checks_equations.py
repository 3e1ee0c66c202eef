"""Checks of the equations of Abdulrahman et al. (2017) on four tiny examples, worked out by hand from the paper.

On a picture of 5×5 pixels the truth is the middle column. E1 detects its upper three pixels, one pixel to the right of the
fourth and one two pixels to the left of the fifth: TP 3, FP 2, FN 2, TN 18. E2 is the column to the right of the truth; E3
the upper three pixels of the truth; E4 the truth and the two false pixels of E1. κ = 1/9, so that a pixel at distance 1 is
worth 9/10, at √2 9/11 and at 2 9/13.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hyperacuity.edges import confusion
from hyperacuity_papers.abdulrahman2017.displacement import normalise
from hyperacuity_papers.abdulrahman2017.edge_readings import worked_score, worked_vectors
from hyperacuity_papers.abdulrahman2017.study import Abdulrahman2017
from hyperacuity_papers.common.claims import Finding, expect, worked

NEAR, FAR = 9 / 10, 9 / 13
"""Worth of a pixel at distance 1 and 2."""


def four_counts(_: Abdulrahman2017) -> Finding:
    found = tuple(confusion(*worked_vectors()["E1"]))
    return expect(found == (3, 2, 2, 18), ", ".join(map(str, found)), "counted by hand: 3, 2, 2, 18")


def rates(_: Abdulrahman2017) -> Finding:
    hits, false, missed, rest = confusion(*worked_vectors()["E1"])
    text = f"{hits / (hits + missed):.3f}, {false / (false + rest):.3f}, {hits / (hits + false):.3f}"
    return expect(text == "0.600, 0.100, 0.600", text, "worked out by hand: 0.600, 0.100, 0.600")


def square(_: Abdulrahman2017) -> Finding:
    truth, found = square_with_errors()
    _hits, false, missed, _rest = confusion(truth, found)
    return expect((false, missed) == (6, 4), f"{false} FP, {missed} FN", "drawn with 6 false and 4 missed pixels")


def square_with_errors() -> tuple[Any, Any]:
    """The outline of a square, and the same with four pixels missing and six too many (Fig. 1)."""
    truth = np.zeros((12, 12), np.bool_)
    truth[2:10, 2:10] = True
    truth[3:9, 3:9] = False
    found = truth.copy()
    found[2, 4:6] = found[6:8, 9] = False
    found[1, 4:6] = found[6:8, 10] = found[5, 5:7] = True
    return truth, found


def literal_scale(_: Abdulrahman2017) -> Finding:
    first, second = normalise(np.array([0.0, 2, 4]), np.array([1.0, 3, 5]), norm="literal")
    top = float(max(first.max(), second.max()))
    reason = (
        "m = 0 where nothing is displaced, and then the rule as printed scales nothing; here it does whenever M > 1"
    )
    return expect(top <= 1, f"largest value {top:g}", reason)


def mended_scale(_: Abdulrahman2017) -> Finding:
    first, second = normalise(np.array([0.0, 2, 4]), np.array([1.0, 3, 5]))
    text = ", ".join(f"{value:g}" for value in (*first, *second))
    return expect(text == "0, 0.4, 0.8, 0.2, 0.6, 1", text, "divided by 5 it is 0, 0.4, 0.8, 0.2, 0.6, 1")


def scaled_pair(_: Abdulrahman2017, low: float, high: float, expected: str) -> Finding:
    found = normalise(np.array([low, high]), np.array([high, low]), norm="literal")
    text = ", ".join(f"{value:g}" for value in np.concatenate(found))
    return expect(text == expected, text, f"by the printed line it is {expected}")


def worked_score_of(_: Abdulrahman2017, name: str, example: str, by_hand: float | str) -> Finding:
    """Compare the score of an example with its value by hand."""
    return worked(worked_score(name, example), by_hand)


def chi2_range(_: Abdulrahman2017) -> Finding:
    scores = {vector: worked_score("chi2(reading=printed)", vector) for vector in worked_vectors()}
    text = ", ".join(f"{vector} {score:.2f}" for vector, score in scores.items())
    kept = all(0 <= score <= 1 for score in scores.values())
    mended = ", ".join(f"{worked_score('chi2', vector):.2f}" for vector in scores)
    return expect(kept, text, f"a sign is misprinted: with −FPR the four are {mended}")


def second_line(_: Abdulrahman2017) -> Finding:
    ours, printed = worked_score("fom", "E4"), 1 - (NEAR + FAR) / 7
    return expect(
        abs(ours - printed) < 1e-9,
        f"{ours:.4f}",
        f"the line forgets the hits: 1 − (TP + Σ)/|D| by Eq. 1, which is {1 - (5 + NEAR + FAR) / 7:.4f}",
    )
