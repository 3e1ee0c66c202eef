"""Checks of Section 3 of Abdulrahman et al. (2017): truths, and the minimum of a measure over thresholds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hyperacuity.detect import masks
from hyperacuity.edges import shapes
from hyperacuity.edges.names import measure
from hyperacuity_papers.abdulrahman2017.edge_table import DETECTORS, TABLE
from hyperacuity_papers.abdulrahman2017.findings import (
    of_the_table,
    photographs,
    ruled_winner,
)
from hyperacuity_papers.abdulrahman2017.study import Abdulrahman2017
from hyperacuity_papers.common.claims import Finding, NotRunError, drawn, expect, incomparable

FALSE_ONLY = ("fom_e", "yasnoff", "dk(k=2)", "theta(k=2)", "gamma")


def elected(study: Abdulrahman2017) -> Finding:
    curves, because = of_the_table(study)
    winners = {name: ruled_winner(curves, name) for name in ("yasnoff", "baddeley(k=2)", "omega(k=2)", "fom")}
    text = ", ".join(f"{measure(name).symbol} {winner}" for name, winner in winners.items())
    rule = "thresholds chosen by a person are not given, ours detect as many as are true"
    return incomparable(drawn(study, "fig3-maps.png", text), f"{because}; {rule}")


def differing(study: Abdulrahman2017) -> Finding:
    curves, _ = of_the_table(study)
    winners = {ruled_winner(curves, name) for name in curves.measures}
    return expect(len(winners) > 1, f"{len(winners)} of 6 are first under some measure", "one detector is always first")


def anyone(study: Abdulrahman2017) -> Finding:
    mean = study.curves.scores[:, 0, : len(DETECTORS)].mean(axis=0)  # [detector, measure, threshold], the same for all
    first, last = (set(np.unique(pick(mean, axis=0))) for pick in (np.argmin, np.argmax))
    text = f"first {len(first)} of 6, last {len(last)} of 6, at a threshold common to all"
    return expect(len(first) == len(last) == len(DETECTORS), text, "some detector never is")


def left_out(study: Abdulrahman2017) -> Finding:
    photographs(study)
    share = study.places.left_out[0]
    text = f"{100 * share:.0f} % of the edges as strong as the median along the truth lie more than 3 px from it"
    return expect(share > 0.1, text, "less than a tenth is left out")


def inaccurate(study: Abdulrahman2017) -> Finding:
    photographs(study)
    hand, semi = (100 * share for share in study.places.on_edge)
    text = f"exactly on an edge of the masks: {hand:.0f} % of the hand-made, {semi:.0f} % of the semi-automatic truth"
    return expect(hand < 50 < semi, text, "the hand-made truth lies as well as the other")


def penalised(study: Abdulrahman2017) -> Finding:
    exact, off = (study.clean.mean("f_alpha", g) for g in range(2))
    text = f"F_α* of Sobel {exact['sobel']:.3f} → {off['sobel']:.3f} and of AGK {exact['agk']:.3f} → {off['agk']:.3f}"
    gap = exact["agk"] - exact["sobel"] > off["agk"] - off["sobel"]
    return expect(gap, f"{text}, truth 2 px off", "Sobel does not lose more than AGK")


def agreed(study: Abdulrahman2017) -> Finding:
    if study.consensus is None:
        raise NotRunError("needs BSDS500")
    on, out = ([100 * share for share in shares] for shares in (study.consensus.on_edge, study.consensus.left_out))
    text = (
        f"one person's lines and those of everyone: {on[0]:.0f} and {on[1]:.0f} % exactly on an edge of the masks; "
        f"{out[0]:.0f} and {out[1]:.0f} % of the edges as strong as theirs are left out"
    )
    return expect(on[1] < 50 and out[1] > 10, text, "lines of everyone lie on edges, or leave out less than a tenth")


def errors(study: Abdulrahman2017) -> Finding:
    curves = photographs(study)
    best = min(curves.mean("f_alpha", 0)[d] for d in DETECTORS)
    return incomparable(
        f"{100 * best:.0f} % (F_α*, best of six)", "quoted from Hou et al., who allow a tolerance; ours has none"
    )


def grey_rim(_: Abdulrahman2017) -> Finding:
    made = shapes(128)
    levels = np.unique(made.image).tolist()
    rim = bool((made.truth == (made.image == 0.5)).all())
    return expect(levels == [0, 0.5, 1] and rim, ", ".join(f"{v:g}" for v in levels), "truth and grey pixels differ")


def exact_place(study: Abdulrahman2017) -> Finding:
    scores = study.clean.mean("f_alpha")
    text = ", ".join(f"{d} {scores[d]:.3f}" for d in ("masks", *DETECTORS))
    smallest = min(scores, key=scores.__getitem__) in ("masks", "sobel")
    return expect(smallest and scores["masks"] < 0.1, f"F_α* {text}", "the masks do not find the grey pixels")


def smoothing(study: Abdulrahman2017) -> Finding:
    scores = study.clean.mean("f_alpha")
    worse = [d for d in DETECTORS[1:] if scores[d] > scores["masks"]]
    return expect(len(worse) == 5, f"{len(worse)} of 5 with smoothing are worse than the masks", "some are not")


def majority(study: Abdulrahman2017) -> Finding:
    photographs(study)
    near = study.places.near_edge[0]
    return expect(near > 0.5, f"{100 * near:.0f} % of the hand-made truth has one within 3 px", "less than half")


def redrawn(study: Abdulrahman2017) -> Finding:
    photographs(study)
    on = study.places.on_edge[1]
    return incomparable(
        drawn(study, "fig6.png", f"{100 * on:.0f} % from the masks, the rest by hand"),
        "a person deletes and adds there; here edges near the hand-made truth stand in, so none is added in the background",
    )


def peaks(_: Abdulrahman2017, profile: Sequence[float], expected: list[int]) -> Finding:
    row = masks(np.tile(np.array(profile, np.float64), (5, 1))).strength[2]
    found = np.flatnonzero(row == row.max()).tolist()
    return expect(found == expected, f"strongest at {', '.join(map(str, found))}", f"expected at {expected}")


def one_line(_: Abdulrahman2017) -> Finding:
    row = masks(np.tile(np.array([0, 0, 0, 1.0, 0, 0, 0]), (5, 1))).strength[2]
    return incomparable(f"{np.count_nonzero(row == row.max())} by the masks", "nobody was asked to mark a peak")


def colour(_: Abdulrahman2017) -> Finding:
    picture = np.zeros((5, 6, 3))
    picture[:, :3, 0] = picture[:, 3:, 1] = 1.0  # red beside green, of the same mean grey
    both, grey = (masks(one).strength[2].max() for one in (picture, picture.mean(axis=2)))
    text = f"red beside green of the same grey: {both:.3f} in colour, {grey:.3f} in grey"
    return expect(both > 0 == grey, text, "the masks see no edge between colours of the same grey")


def process(study: Abdulrahman2017) -> Finding:
    curves = study.curves
    n, d = curves.number("psi"), curves.detectors.index("canny")
    curve, at = curves.scores[study.shown, 1, d, n], int(curves.best[study.shown, 1, d, n])
    text = f"Canny on {curves.pictures[study.shown]}: Ψ {curve[at]:.3f} at Th = {curves.thresholds[at]:.2f}"
    between = bool(curve[at] < min(curve[0], curve[-1]))
    return expect(between, drawn(study, "fig7.png", text), "the lowest score is at an end of the thresholds")


def lowest_within(study: Abdulrahman2017, names: Sequence[str], low: float, high: float, reason: str) -> Finding:
    means = {name: study.curves.threshold(name) for name in names}
    per = {name: float(np.mean([at[d] for d in DETECTORS])) for name, at in means.items()}
    text = ", ".join(f"{measure(name).symbol} {value:.2f}" for name, value in per.items())
    outside = [measure(name).symbol for name, value in per.items() if not low <= value <= high]
    return expect(not outside, f"mean Th {text}", f"not {', '.join(outside)}: {reason}")


def compromise(study: Abdulrahman2017) -> Finding:
    numbers = [study.curves.number(name) for name in TABLE]
    at = study.curves.thresholds[study.curves.best[:, :, : len(DETECTORS)][..., numbers]]
    share = float(((at > 0) & (at < 1)).mean())
    return expect(
        share > 0.9, f"{100 * share:.0f} % of the minima lie at 0 < Th < 1", "one in ten or more lies at an end"
    )


def counts_over_thresholds(study: Abdulrahman2017) -> Finding:
    hits, false, missed = study.curves.counts[:, 0, : len(DETECTORS)].sum(axis=(0, 1))
    falling, rising = bool(np.all(np.diff(false) <= 0)), bool(np.all(np.diff(missed) >= 0))
    true = (hits + missed)[0]
    text = f"false per true pixel {false[0] / true:.1f} at Th = 0, missed {100 * missed[-1] / true:.0f} % at 1"
    return expect(falling and rising, text, "the counts do not fall and rise with the threshold")


def two_truths(study: Abdulrahman2017) -> Finding:
    n, d = study.curves.number("psi"), study.curves.detectors.index("canny")
    gap = float(np.abs(np.diff(study.curves.scores[study.shown, :, d, n], axis=0)).max())
    return expect(
        gap > 0,
        f"Ψ of Canny on {study.curves.pictures[study.shown]} differs by up to {gap:.3f}",
        "the curves are the same",
    )


def automatic(study: Abdulrahman2017) -> Finding:
    lowest, n = study.ruled("minimum"), study.curves.number("psi")
    parts, kept = [], True
    for rule in ("as many as true", "otsu", "rosin"):
        found = study.ruled(rule)
        kept &= bool((found >= lowest - 1e-9).all())
        parts.append(f"{rule} {found[:, 0, :6, n].mean():.3f}")
    text = f"Ψ, mean of six: {', '.join(parts)}, minimum {lowest[:, 0, :6, n].mean():.3f}"
    return expect(kept, drawn(study, "fig3.png", text), "a rule finds a lower score than the minimum")
