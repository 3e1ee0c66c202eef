"""Table 4 and Figure 9 of Abdulrahman et al. (2017) as printed, and what follows from those numbers alone.

The hand-made truth is one of Berkeley's ([2] in the caption), but the paper does not say of which photograph, and the truth made
of it semi-automatically was not published with it. But each score is a minimum over thresholds of a
formula, and formulas bound each other: what one reading of a formula forbids, the printed numbers can refute.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from scipy import optimize

TABLE = (
    *("phi", "chi2", "pm", "f_alpha", "fom", "f_pinho", "d4", "sfom", "dp"),
    *("hausdorff", "hausdorff(percent=5)", "baddeley(k=2)", "f2d6", "sk(k=1)", "sk(k=2)", "psi"),
)
"""The measures of Table 4, in its order."""

DETECTORS = ("sobel", "canny", "sf1", "sf5", "agk", "hk")
"""The six detectors of the paper; Table 4 leaves sf5 out."""

COLUMNS = ("sobel", "canny", "sf1", "agk", "hk")
"""The detectors of Table 4."""

HAND, SEMI = "hand-made", "semi-automatic"
TRUTHS = (HAND, SEMI)

_ROWS = """
phi                  .738 .298  .757 .430  .971 .447  .813 .496  .761 .504
chi2                 .979 .635  .975 .725  .983 .712  .982 .759  .973 .502
pm                   .901 .530  .901 .603  .909 .594  .917 .637  .893 .778
f_alpha              .820 .360  .819 .432  .834 .422  .847 .468  .808 .483
fom                  .303 .168  .310 .147  .309 .164  .299 .154  .277 .146
f_pinho              .592 .346  .579 .352  .572 .310  .589 .337  .589 .367
d4                   .675 .333  .671 .379  .687 .375  .695 .412  .667 .424
sfom                 .297 .145  .289 .134  .270 .111  .271 .119  .268 .128
dp                   .173 .036  .184 .058  .193 .056  .208 .065  .183 .072
hausdorff            40.02 29.52  19.41 15.175  18.97 18.02  35.35 14.76  36.87 15.03
hausdorff(percent=5) 13.72 9.406  11.89 9.142  11.53 6.781  14.18 6.048  14.56 7.165
baddeley(k=2)        6.632 4.094  5.039 3.000  4.844 2.462  6.044 2.040  6.562 2.576
f2d6                 2.851 1.066  2.498 1.294  2.467 .900  2.625 .895  2.582 .983
sk(k=1)              2.584 1.005  2.315 .990  2.316 .877  2.471 .866  2.432 .966
sk(k=2)              4.270 2.323  3.725 2.361  3.690 1.819  4.172 1.667  4.281 2.029
psi                  .213 .041  .181 .044  .173 .032  .224 .032  .222 .038
"""

_THRESHOLDS = """
phi 0 0 .14 .09 .10
chi2 .01 .01 .21 .16 .14
pm .01 .01 .21 .13 .14
f_alpha .01 .01 .21 .13 .14
fom .01 .01 .18 .10 .12
f_pinho .02 .02 .31 .18 .20
d4 .01 .01 .19 .12 .14
sfom .02 .01 .19 .11 .12
dp .01 0 .18 .10 .11
hausdorff .03 .02 .33 .18 .20
hausdorff(percent=5) .02 .02 .29 .16 .20
baddeley(k=2) .03 .02 .28 .14 .20
f2d6 .01 .01 .26 .15 .16
sk(k=1) .02 .02 .29 .14 .15
sk(k=2) .02 .01 .29 .15 .20
psi .02 .02 .29 .16 .20
"""

FIGURE_9_DIFFERS: Mapping[tuple[str, str], float] = {
    ("chi2", "agk"): 0.758,
    ("chi2", "hk"): 0.778,
    ("pm", "hk"): 0.652,
    ("sfom", "sf1"): 0.117,
    ("hausdorff", "canny"): 25.17,
    ("sk(k=2)", "canny"): 2.261,
    ("psi", "sobel"): 0.261,
    ("psi", "hk"): 0.041,
    **{("f2d6", name): score for name, score in zip(COLUMNS, (1.005, 0.990, 0.877, 0.866, 0.966), strict=True)},
    **{("sk(k=1)", name): score for name, score in zip(COLUMNS, (1.066, 1.294, 0.900, 0.895, 0.983), strict=True)},
}
"""Scores under the semi-automatic truth that Figure 9 prints otherwise than Table 4."""


def _numbers(text: str) -> dict[str, list[float]]:
    return {
        name: [float(value) for value in values]
        for name, *values in (line.split() for line in text.split("\n") if line)
    }


PRINTED: Mapping[str, Mapping[str, Mapping[str, float]]] = {
    truth: {name: dict(zip(COLUMNS, row[n::2], strict=True)) for name, row in _numbers(_ROWS).items()}
    for n, truth in enumerate(TRUTHS)
}
"""Table 4 as printed, by truth, measure and detector."""

THRESHOLDS: Mapping[str, Mapping[str, float]] = {
    name: dict(zip(COLUMNS, row, strict=True)) for name, row in _numbers(_THRESHOLDS).items()
}
"""The thresholds of Figure 9, by measure and detector."""

REPAIRED_CELLS = {("chi2", "hk"): 0.778, ("pm", "hk"): 0.652}
"""Two cells of Table 4 hold each other's neighbours; Figure 9 and F* = P_m*/(2 − P_m*) give these values."""


def score(truth: str, name: str, detector: str) -> float:
    """A score of Table 4, its two swapped cells repaired."""
    if truth == SEMI and (name, detector) in REPAIRED_CELLS:
        return REPAIRED_CELLS[name, detector]
    return PRINTED[truth][name][detector]


def f_from_pm(pm: float) -> float:
    """F_α* with α = ½ from P_m*: both are functions of TP : (FP + FN), so their minima lie at the same threshold.

    >>> round(f_from_pm(0.530), 2)
    0.36
    """
    return pm / (2 - pm)


def chi2_of(f: float, density: float, *, printed: bool) -> float:
    """χ²* where precision = recall = ``f`` and the truth covers ``density`` of the picture.

    >>> chi2_of(1, 0.1, printed=False)
    0.0
    """
    false_rate = (1 - f) * density / (1 - density)
    return 1 - (f - density) / (1 - density) * (density + (false_rate if printed else -false_rate)) / density


def chi2_fit(truth: str, *, printed: bool) -> tuple[float, float]:
    """The density of the truth at which F* explains the χ²* of Table 4 best, and the largest error of a detector there."""

    def worst(density: float) -> float:
        return max(
            abs(chi2_of(1 - score(truth, "f_alpha", d), density, printed=printed) - score(truth, "chi2", d))
            for d in COLUMNS
        )

    grid = np.linspace(0.001, 0.5, 500)
    densities = [*grid, *np.linspace(0.5, 1, 2000)[:-1]]
    best = min(densities, key=worst)
    return float(best), float(worst(best))


def d4_bound(truth: str, detector: str, *, printed: bool) -> float:
    """The least d_4 that the detector's F* and FoM in Table 4 allow."""
    return d4_least(1 - score(truth, "f_alpha", detector), score(truth, "fom", detector), printed=printed)


def d4_least(f: float, fom: float, *, printed: bool) -> float:
    """The least d_4 at any threshold where F is at most ``f`` and FoM at least ``fom``; FoM is not squared if ``printed``.

    >>> d4_least(1, 0, printed=False)
    0.0
    """

    def counts(size: float) -> float:
        """S with the larger map of size 1 and the smaller of ``size``, at the most hits that F allows."""
        hits = min(f * (1 + size) / 2, size)
        return 2 * (1 - hits) ** 2 + (size - hits) ** 2

    least = optimize.minimize_scalar(counts, bounds=(1e-3, 1.0), method="bounded").fun
    return 0.5 * math.sqrt(min(least, counts(1.0)) + (fom if printed else fom**2))


def dp_bound(truth: str, detector: str) -> float:
    """The largest D_p that the detector's SFoM and FoM in Table 4 allow, the density being that of :func:`chi2_fit`."""
    density, _ = chi2_fit(truth, printed=False)
    return dp_most(score(truth, "sfom", detector), score(truth, "fom", detector), density)


def dp_most(sfom: float, fom: float, density: float) -> float:
    """The largest that the lowest D_p can be if missed pixels are measured to the nearest *detected* one, as printed.

    At the threshold where SFoM is lowest, FoM(D, G) ≤ 2·SFoM − FoM with the lowest ``fom``. There R/|G| ≤ FoM(D, G); and
    L ≤ M·FoM(G, D) with M ≤ |G|/(1 − FoM(D, G)). ``density`` is the share of the picture that is true.
    """
    missed = 2 * sfom - fom
    return missed / 2 + density / (1 - density) * 2 * sfom / (1 - missed) / 2
