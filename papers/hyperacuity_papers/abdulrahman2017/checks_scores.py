"""Table 4 and Figure 9 of Abdulrahman et al. (2017), row by row, and what the printed numbers say about the formulas."""

from __future__ import annotations

from collections.abc import Iterator

from hyperacuity.edges.names import measure
from hyperacuity_papers.abdulrahman2017.checks_equations import COMMAND
from hyperacuity_papers.abdulrahman2017.edge_readings import READINGS, dp_columns_refused, ratio_range, sk_below_f2d6
from hyperacuity_papers.abdulrahman2017.edge_table import (
    COLUMNS,
    DETECTORS,
    FIGURE_9_DIFFERS,
    HAND,
    PRINTED,
    SEMI,
    TABLE,
    THRESHOLDS,
    TRUTHS,
    chi2_fit,
    d4_bound,
    f_from_pm,
    score,
)
from hyperacuity_papers.abdulrahman2017.findings import Check, Rows, claims_of, of_the_table, short, symbols
from hyperacuity_papers.abdulrahman2017.study import Abdulrahman2017
from hyperacuity_papers.common.claims import Claim, Finding, expect, incomparable


def table_claims() -> Iterator[Claim[Abdulrahman2017]]:
    """Table 4 and Figure 9, row by row, and what their numbers say about the formulas."""

    def row(name: str) -> Check:
        def check(study: Abdulrahman2017) -> Finding:
            curves, because = of_the_table(study)
            hand, semi = (curves.mean(name, g) for g in range(2))
            return incomparable(", ".join(f"{d} {short(hand[d])}/{short(semi[d])}" for d in DETECTORS), because)

        return check

    def thresholds(name: str) -> Check:
        def check(study: Abdulrahman2017) -> Finding:
            curves, because = of_the_table(study)
            at = curves.threshold(name, 1)
            return incomparable(", ".join(f"{d} {at[d]:.2f}" for d in DETECTORS), because)

        return check

    def lower(study: Abdulrahman2017) -> Finding:
        curves, _ = of_the_table(study)
        falls = [(name, d) for name in TABLE for d in DETECTORS if curves.mean(name, 1)[d] < curves.mean(name, 0)[d]]
        total = len(TABLE) * len(DETECTORS)
        rising = sorted({name for name in TABLE for d in DETECTORS if (name, d) not in falls}, key=TABLE.index)
        return expect(len(falls) == total, f"{len(falls)} of {total} fall", f"not all under {symbols(rising)}")

    for name in TABLE:
        theirs = ", ".join(f"{d} {PRINTED[HAND][name][d]:g}/{PRINTED[SEMI][name][d]:g}" for d in COLUMNS)
        yield Claim("Table 4", f"{measure(name).symbol}, hand-made / semi-automatic truth", theirs, COMMAND, row(name))
    fallen = sum(PRINTED[SEMI][n][d] < PRINTED[HAND][n][d] for n in TABLE for d in COLUMNS)
    yield Claim("Table 4", "every score is lower under the semi-automatic truth", f"{fallen} of 80", COMMAND, lower)
    for name in TABLE:
        theirs = ", ".join(f"{d} {THRESHOLDS[name][d]:g}" for d in COLUMNS)
        yield Claim(
            "Fig. 9", f"{measure(name).symbol}: thresholds of the best edge maps", theirs, COMMAND, thresholds(name)
        )
    yield from claims_of(_printed_numbers())


def _printed_numbers() -> Rows:
    """Checks that need nothing but the printed numbers, and those of ours that bear on the same question."""

    def identity(_: Abdulrahman2017) -> Finding:
        gaps = {(t, d): abs(f_from_pm(PRINTED[t]["pm"][d]) - PRINTED[t]["f_alpha"][d]) for t in TRUTHS for d in COLUMNS}
        bad = [f"{d}, {t}" for (t, d), gap in gaps.items() if gap > 0.0015]
        reason = f"not for {'; '.join(bad)}: P_m* and χ²* there hold 0.778 and 0.502, Fig. 9 has 0.652 and 0.778, which agree"
        return expect(not bad, f"{len(gaps) - len(bad)} of {len(gaps)} columns within 0.0015", reason)

    def figure_9(_: Abdulrahman2017) -> Finding:
        same = len(TABLE) * len(COLUMNS) - len(FIGURE_9_DIFFERS)
        rows = "f_2d_6 and S¹ exchanged in all five columns, eight more in χ²*, P_m*, SFoM, H, S² and Ψ"
        return expect(not FIGURE_9_DIFFERS, f"{same} of {len(TABLE) * len(COLUMNS)} cells agree", rows)

    def chi2(_: Abdulrahman2017) -> Finding:
        ours, printed = (max(chi2_fit(t, printed=p)[1] for t in TRUTHS) for p in (False, True))
        text = f"largest error {printed:.3f} as printed, {ours:.4f} with −FPR (density of the truth fitted)"
        return expect(printed < 0.005, text, "+FPR is a misprint: the paper computed with −FPR")

    def d4(_: Abdulrahman2017) -> Finding:
        fits = [
            sum(d4_bound(t, d, printed=p) <= score(t, "d4", d) + 0.001 for t in TRUTHS for d in COLUMNS)
            for p in (True, False)
        ]
        text = f"{fits[0]} of 10 columns possible as printed, {fits[1]} with FoM²"
        return expect(
            fits[0] == 10, text, "FoM is squared in what the paper computed: its d_4 lies below what FoM alone allows"
        )

    def dp(_: Abdulrahman2017) -> Finding:
        refused = dp_columns_refused()
        text = f"{10 - refused} of 10 columns possible as printed"
        return expect(
            refused == 0,
            text,
            "D_p is larger than the formula allows: the paper computed with distances to hits, as in its text",
        )

    def sk(study: Abdulrahman2017) -> Finding:
        table, figure = sk_below_f2d6()
        union, total = (ratio_range(study.curves, name, "f2d6") for name in ("sk(k=1)", "sk(k=1,denominator=sum)"))
        ours = (
            f"ours S¹/f_2d_6 {union[0]:.2f}–{union[1]:.2f} over the union, {total[0]:.2f}–{total[1]:.2f} over the sum"
        )
        return incomparable(
            f"S¹ < f_2d_6 in {table} of 10 columns of Table 4, in {figure} of 5 of Fig. 9; {ours}",
            "the sum forces S¹ ≤ f_2d_6, the union does not: Table 4 allows both, Fig. 9's labels only the union",
        )

    def h5(study: Abdulrahman2017) -> Finding:
        paper = [PRINTED[t]["hausdorff(percent=5)"][d] / PRINTED[t]["hausdorff"][d] for t in TRUTHS for d in COLUMNS]
        rank, mean = (
            ratio_range(study.curves, name, "hausdorff") for name in (READINGS[-1].default, READINGS[-1].other)
        )
        ours = f"ours {rank[0]:.2f}–{rank[1]:.2f} by rank, {mean[0]:.2f}–{mean[1]:.2f} by mean"
        return incomparable(
            f"H_5%/H: paper {min(paper):.2f}–{max(paper):.2f}, {ours}",
            "the paper says only 'a proportion'; neither is ruled out",
        )

    return [
        ("Table 4", "F_α* = P_m*/(2 − P_m*), so α = ½", "10 columns", identity),
        ("Table 4, Fig. 9", "both print the same scores", "80 cells", figure_9),
        ("Table 4", "its χ²* follows from its F* by the formula as printed", "", chi2),
        ("Table 4", "its d_4 is possible by the formula as printed, given F* and FoM", "", d4),
        ("Table 4", "its D_p is possible by the formula as printed, given FoM and SFoM", "", dp),
        ("Table 4", "S^k over |D∪G| as printed, or over |D| + |G|", "", sk),
        ("Table 4", "H_5% by rank, or the mean of the largest 5 %", "", h5),
    ]
