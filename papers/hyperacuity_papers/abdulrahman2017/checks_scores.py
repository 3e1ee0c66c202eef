"""Checks of Table 4 and Figure 9 of Abdulrahman et al. (2017), row by row, and of what the printed numbers imply."""

from __future__ import annotations

from hyperacuity_papers.abdulrahman2017.edge_readings import READINGS, dp_columns_refused, ratio_range, sk_below_f2d6
from hyperacuity_papers.abdulrahman2017.edge_table import (
    COLUMNS,
    DETECTORS,
    FIGURE_9_DIFFERS,
    PRINTED,
    TABLE,
    TRUTHS,
    chi2_fit,
    d4_bound,
    f_from_pm,
    score,
)
from hyperacuity_papers.abdulrahman2017.findings import of_the_table, short, symbols
from hyperacuity_papers.abdulrahman2017.study import Abdulrahman2017
from hyperacuity_papers.common.claims import Finding, expect, incomparable


def mean_scores(study: Abdulrahman2017, name: str) -> Finding:
    curves, because = of_the_table(study)
    hand, semi = (curves.mean(name, g) for g in range(2))
    return incomparable(", ".join(f"{d} {short(hand[d])}/{short(semi[d])}" for d in DETECTORS), because)


def mean_thresholds(study: Abdulrahman2017, name: str) -> Finding:
    curves, because = of_the_table(study)
    at = curves.threshold(name, 1)
    return incomparable(", ".join(f"{d} {at[d]:.2f}" for d in DETECTORS), because)


def lower_scores(study: Abdulrahman2017) -> Finding:
    curves, _ = of_the_table(study)
    falls = [(name, d) for name in TABLE for d in DETECTORS if curves.mean(name, 1)[d] < curves.mean(name, 0)[d]]
    total = len(TABLE) * len(DETECTORS)
    rising = sorted({name for name in TABLE for d in DETECTORS if (name, d) not in falls}, key=TABLE.index)
    return expect(len(falls) == total, f"{len(falls)} of {total} fall", f"not all under {symbols(rising)}")


def f_follows(_: Abdulrahman2017) -> Finding:
    gaps = {(t, d): abs(f_from_pm(PRINTED[t]["pm"][d]) - PRINTED[t]["f_alpha"][d]) for t in TRUTHS for d in COLUMNS}
    bad = [f"{d}, {t}" for (t, d), gap in gaps.items() if gap > 0.0015]
    reason = (
        f"not for {'; '.join(bad)}: P_m* and χ²* there hold 0.778 and 0.502, Fig. 9 has 0.652 and 0.778, which agree"
    )
    return expect(not bad, f"{len(gaps) - len(bad)} of {len(gaps)} columns within 0.0015", reason)


def figure_9(_: Abdulrahman2017) -> Finding:
    same = len(TABLE) * len(COLUMNS) - len(FIGURE_9_DIFFERS)
    rows = "f_2d_6 and S¹ exchanged in all five columns, eight more in χ²*, P_m*, SFoM, H, S² and Ψ"
    return expect(not FIGURE_9_DIFFERS, f"{same} of {len(TABLE) * len(COLUMNS)} cells agree", rows)


def chi2_follows(_: Abdulrahman2017) -> Finding:
    ours, printed = (max(chi2_fit(t, printed=p)[1] for t in TRUTHS) for p in (False, True))
    text = f"largest error {printed:.3f} as printed, {ours:.4f} with −FPR (density of the truth fitted)"
    return expect(printed < 0.005, text, "+FPR is a misprint: the paper computed with −FPR")


def d4_follows(_: Abdulrahman2017) -> Finding:
    fits = [
        sum(d4_bound(t, d, printed=p) <= score(t, "d4", d) + 0.001 for t in TRUTHS for d in COLUMNS)
        for p in (True, False)
    ]
    text = f"{fits[0]} of 10 columns possible as printed, {fits[1]} with FoM²"
    return expect(
        fits[0] == 10, text, "FoM is squared in what the paper computed: its d_4 lies below what FoM alone allows"
    )


def dp_follows(_: Abdulrahman2017) -> Finding:
    refused = dp_columns_refused()
    text = f"{10 - refused} of 10 columns possible as printed"
    return expect(
        refused == 0,
        text,
        "D_p is larger than the formula allows: the paper computed with distances to hits, as in its text",
    )


def sk_denominator(study: Abdulrahman2017) -> Finding:
    table, figure = sk_below_f2d6()
    union, total = (ratio_range(study.curves, name, "f2d6") for name in ("sk(k=1)", "sk(k=1,denominator=sum)"))
    ours = f"ours S¹/f_2d_6 {union[0]:.2f}–{union[1]:.2f} over the union, {total[0]:.2f}–{total[1]:.2f} over the sum"
    return incomparable(
        f"S¹ < f_2d_6 in {table} of 10 columns of Table 4, in {figure} of 5 of Fig. 9; {ours}",
        "the sum forces S¹ ≤ f_2d_6, the union does not: Table 4 allows both, Fig. 9's labels only the union",
    )


def hausdorff_tail(study: Abdulrahman2017) -> Finding:
    paper = [PRINTED[t]["hausdorff(percent=5)"][d] / PRINTED[t]["hausdorff"][d] for t in TRUTHS for d in COLUMNS]
    rank, mean = (ratio_range(study.curves, name, "hausdorff") for name in (READINGS[-1].default, READINGS[-1].other))
    ours = f"ours {rank[0]:.2f}–{rank[1]:.2f} by rank, {mean[0]:.2f}–{mean[1]:.2f} by mean"
    return incomparable(
        f"H_5%/H: paper {min(paper):.2f}–{max(paper):.2f}, {ours}",
        "the paper says only 'a proportion'; neither is ruled out",
    )
