"""Equations of Abdulrahman et al. (2017) on four tiny examples, worked out by hand from the paper.

On a picture of 5×5 pixels the truth is the middle column. E1 detects its upper three pixels, one pixel to the right of the
fourth and one two pixels to the left of the fifth: TP 3, FP 2, FN 2, TN 18. E2 is the column to the right of the truth; E3
the upper three pixels of the truth; E4 the truth and the two false pixels of E1. κ = 1/9, so that a pixel at distance 1 is
worth 9/10, at √2 9/11 and at 2 9/13.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import sqrt
from typing import Any

import numpy as np

from hyperacuity.edges import confusion
from hyperacuity.edges.displacement import normalise
from hyperacuity_papers.abdulrahman2017.edge_readings import worked_score, worked_vectors
from hyperacuity_papers.common.claims import Claim, Finding, expect, worked

COMMAND = "hyperacuity study abdulrahman2017 --out abdulrahman2017"
SHIFT = "hyperacuity study shift --out shift"
NEAR, DIAGONAL, FAR = 9 / 10, 9 / 11, 9 / 13
"""What a pixel at distance 1, √2 and 2 is worth."""

FOM = 1 - (3 + NEAR + FAR) / 5
REVERSED = 1 - (3 + NEAR + DIAGONAL) / 5
COUNTS = ((3 - 5) ** 2 + 2**2 + 2**2) / 5**2

TABLE_1 = (
    ("P_m*", "pm", "1 − 3/7", 4 / 7),
    ("Φ*", "phi", "1 − 3/5 · 18/20", 0.46),
    ("F_α*, α = ½", "f_alpha", "1 − 3/5", 0.4),
)
TABLE_2 = (
    ("FoM", "fom", "1 − (3 + 9/10 + 9/13)/5", FOM),
    ("FoM_e", "fom_e", "1 − (9/10 + 9/13)/2", 1 - (NEAR + FAR) / 2),
    ("F", "f_pinho", "1 − (3 + 9/10 + 9/11)/7", 1 - (3 + NEAR + DIAGONAL) / 7),
    ("d_4 as printed, with FoM", "d4(fom_term=linear)", "½√(12/25 + FoM)", sqrt(COUNTS + FOM) / 2),
    ("d_4 with FoM², as its authors have it", "d4", "½√(12/25 + FoM²)", sqrt(COUNTS + FOM**2) / 2),
    ("SFoM", "sfom", "½·0.0815 + ½·0.0564", (FOM + REVERSED) / 2),
    ("MFoM", "mfom", "0.0815", FOM),
    (
        "D_p as printed: missed pixels to the nearest detected one",
        "dp(target=detection)",
        "½(1/10 + 4/13)/20 + ½(1/10 + 2/11)/5",
        ((1 - NEAR) + (1 - FAR)) / 40 + ((1 - NEAR) + (1 - DIAGONAL)) / 10,
    ),
    (
        "D_p as the text has it: missed pixels to the nearest hit",
        "dp",
        "½(1/10 + 4/13)/20 + ½(1/10 + 4/13)/5",
        ((1 - NEAR) + (1 - FAR)) / 40 + ((1 - NEAR) + (1 - FAR)) / 10,
    ),
)
TABLE_3 = (
    ("Υ", "yasnoff", "100/25 · √5", 4 * sqrt(5)),
    ("H", "hausdorff", "2", 2.0),
    ("D^k, k = 1", "dk(k=1)", "3/5", 0.6),
    ("D^k, k = 2", "dk(k=2)", "√5/5", sqrt(5) / 5),
    ("f_2d_6", "f2d6", "max(3/5, (1+√2)/5)", 0.6),
    ("Θ, k = δ = 1", "theta(k=1)", "3/2", 1.5),
    ("Θ, k = 2", "theta(k=2)", "5/2", 2.5),
    ("Ω, k = δ = 1", "omega(k=1)", "(1+√2)/2", (1 + sqrt(2)) / 2),
    ("Ω, k = 2", "omega(k=2)", "3/2", 1.5),
    ("S^k, k = 1, over |D∪G| as printed", "sk(k=1)", "(3+1+√2)/7", (4 + sqrt(2)) / 7),
    ("S^k, k = 1, over |D| + |G|", "sk(k=1,denominator=sum)", "(3+1+√2)/10", (4 + sqrt(2)) / 10),
    ("S^k, k = 2, over |D∪G| as printed", "sk(k=2)", "√(8/7)", sqrt(8 / 7)),
    ("S^k, k = 2, over |D| + |G|", "sk(k=2,denominator=sum)", "√(8/10)", sqrt(8 / 10)),
    ("Γ", "gamma", "4/25 · √5", 4 * sqrt(5) / 25),
    ("Ψ", "psi", "4/25 · √(3+5)", 4 * sqrt(8) / 25),
)


def counts() -> Iterator[Claim[Any]]:
    """TP, FP, FN, TN and the rates."""

    def four(_: Any) -> Finding:
        found = tuple(confusion(*worked_vectors()["E1"]))
        return expect(found == (3, 2, 2, 18), ", ".join(map(str, found)), "counted by hand: 3, 2, 2, 18")

    def rates(_: Any) -> Finding:
        hits, false, missed, rest = confusion(*worked_vectors()["E1"])
        text = f"{hits / (hits + missed):.3f}, {false / (false + rest):.3f}, {hits / (hits + false):.3f}"
        return expect(text == "0.600, 0.100, 0.600", text, "worked out by hand: 0.600, 0.100, 0.600")

    yield Claim(
        "Section 2",
        "TP, FP, FN and TN count pixels of both maps, of one, of neither (E1)",
        "3, 2, 2, 18",
        COMMAND,
        four,
    )
    yield Claim("Section 2", "TPR, FPR and PREC (E1)", "3/5, 2/20, 3/5", COMMAND, rates)


def figure_1() -> Iterator[Claim[Any]]:
    """A contour with six false and four missed pixels."""

    def check(_: Any) -> Finding:
        truth, found = square_with_errors()
        _, false, missed, _ = confusion(truth, found)
        return expect((false, missed) == (6, 4), f"{false} FP, {missed} FN", "drawn with 6 false and 4 missed pixels")

    yield Claim(
        "Fig. 1", "a contour spoilt by hand: the confusion matrix counts its errors", "6 FP, 4 FN", COMMAND, check
    )


def square_with_errors() -> tuple[Any, Any]:
    """The outline of a square, and the same with four pixels missing and six too many (Fig. 1)."""
    truth = np.zeros((12, 12), np.bool_)
    truth[2:10, 2:10] = True
    truth[3:9, 3:9] = False
    found = truth.copy()
    found[2, 4:6] = found[6:8, 9] = False
    found[1, 4:6] = found[6:8, 10] = found[5, 5:7] = True
    return truth, found


def tables() -> Iterator[Claim[Any]]:
    """Tables 1, 2 and 3 on E1."""
    for where, rows in (("Table 1", TABLE_1), ("Table 2", TABLE_2), ("Table 3", TABLE_3)):
        for says, name, by_hand, value in rows:
            yield _worked(where, f"{says} (E1)", by_hand, name, "E1", value)
        if where == "Table 1":
            yield _worked(where, "χ²* with −FPR, as its authors have it: 1 − MCC² (E1)", "3/4", "chi2", "E1", 3 / 4)
            yield _worked(where, "χ²* as printed, with +FPR (E1)", "1/4", "chi2(reading=printed)", "E1", 1 / 4)
            yield Claim(where, "χ²* as printed lies in [0, 1]", "0 to 1", COMMAND, _chi2_range)
    yield _worked(
        "Table 3", "Δ^k: two columns side by side differ by 1 everywhere (E2)", "1", "baddeley(k=2)", "E2", 1.0
    )
    yield _worked(
        "Section 2",
        "H_n% at n = 50, by rank: 3 of 5 detected pixels lie on the truth (E1)",
        "0",
        "hausdorff(percent=50)",
        "E1",
        0,
    )
    by_mean = "hausdorff(percent=50,tail=mean_top)"
    yield _worked("Section 2", "H_n% at n = 50, the mean of the largest: (2+1+0)/3 (E1)", "1", by_mean, "E1", 1)


def identities() -> Iterator[Claim[Any]]:
    """Equations 1 to 5."""
    yield _worked("Eq. 1", "FoM = 1 − (TP + Σ over false pixels)/max(|G|, |D|) (E1)", "0.0815", "fom", "E1", FOM)
    yield _worked("Eq. 2, line 1", "FP = 0: FoM = 1 − TP/|G| (E3)", "2/5", "fom", "E3", 2 / 5)
    yield Claim("Eq. 2, line 2", "FN = 0: FoM = 1 − Σ over false pixels/|D| (E4)", "0.7725", COMMAND, _second_line)
    by_hand = 1 - (3 + NEAR + DIAGONAL) / 7
    yield _worked("Eq. 3", "F = 1 − (TP + Σ over missed pixels)/|G∪D| (E1)", "0.3260", "f_pinho", "E1", by_hand)
    third = 1 - (3 + NEAR + FAR) / 5
    yield _worked(
        "Eq. 4, line 1", "FP = 0: F = 1 − (|D| + Σ over missed pixels)/|G| (E3)", "0.0815", "f_pinho", "E3", third
    )
    yield _worked("Eq. 4, line 2", "FN = 0: F = 1 − |G|/|D| (E4)", "2/7", "f_pinho", "E4", 2 / 7)


def normalisation() -> Iterator[Claim[Any]]:
    """Equation 5."""

    def literal(_: Any) -> Finding:
        first, second = normalise(np.array([0.0, 2, 4]), np.array([1.0, 3, 5]), norm="literal")
        top = float(max(first.max(), second.max()))
        reason = (
            "m = 0 where nothing is displaced, and then the rule as printed scales nothing; here it does whenever M > 1"
        )
        return expect(top <= 1, f"largest value {top:g}", reason)

    def scaled(_: Any) -> Finding:
        first, second = normalise(np.array([0.0, 2, 4]), np.array([1.0, 3, 5]))
        text = ", ".join(f"{value:g}" for value in (*first, *second))
        return expect(text == "0, 0.4, 0.8, 0.2, 0.6, 1", text, "divided by 5 it is 0, 0.4, 0.8, 0.2, 0.6, 1")

    def branch(low: float, high: float, expected: str) -> Callable[[Any], Finding]:
        def check(_: Any) -> Finding:
            found = normalise(np.array([low, high]), np.array([high, low]), norm="literal")
            text = ", ".join(f"{value:g}" for value in np.concatenate(found))
            return expect(text == expected, text, f"by the printed line it is {expected}")

        return check

    yield Claim("Eq. 5, line 1", "M = m = 0: f = 0, 0 gives 0", "0", SHIFT, branch(0, 0, "0, 0, 0, 0"))
    yield Claim("Eq. 5, line 2", "M = m ≠ 0: f = 3, 3 gives 1", "1", SHIFT, branch(3, 3, "1, 1, 1, 1"))
    yield Claim(
        "Eq. 5, line 3", "M > 1, m ≠ 0: f = 1, 3 gives (f − m)/(M − m)", "0, 1", SHIFT, branch(1, 3, "0, 1, 1, 0")
    )
    says = "otherwise f itself: f = 0.25, 0.75 stays"
    yield Claim("Eq. 5, line 4", says, "0.25, 0.75", SHIFT, branch(0.25, 0.75, "0.25, 0.75, 0.75, 0.25"))
    yield Claim("Eq. 5", "brings f = 0, 2, 4 and 1, 3, 5 to [0, 1], taken literally", "0 to 1", SHIFT, literal)
    says = "the same, scaled whenever M > 1"
    yield Claim("Eq. 5", says, "0, 0.4, 0.8, 0.2, 0.6, 1", SHIFT, scaled)


def _worked(where: str, says: str, theirs: str, name: str, vector: str, value: float) -> Claim[Any]:
    return Claim(where, says, theirs, COMMAND, lambda _: worked(worked_score(name, vector), value))


def _chi2_range(_: Any) -> Finding:
    scores = {vector: worked_score("chi2(reading=printed)", vector) for vector in worked_vectors()}
    text = ", ".join(f"{vector} {score:.2f}" for vector, score in scores.items())
    kept = all(0 <= score <= 1 for score in scores.values())
    mended = ", ".join(f"{worked_score('chi2', vector):.2f}" for vector in scores)
    return expect(kept, text, f"a sign is misprinted: with −FPR the four are {mended}")


def _second_line(_: Any) -> Finding:
    ours, printed = worked_score("fom", "E4"), 1 - (NEAR + FAR) / 7
    return expect(
        abs(ours - printed) < 1e-9,
        f"{ours:.4f}",
        f"the line forgets the hits: 1 − (TP + Σ)/|D| by Eq. 1, which is {1 - (5 + NEAR + FAR) / 7:.4f}",
    )
