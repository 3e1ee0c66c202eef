"""Checks of Sections 4 and 5 of Abdulrahman et al. (2017): noise, photographs, and the conclusion."""

from __future__ import annotations

from inspect import signature

import numpy as np

from hyperacuity.detect import hk
from hyperacuity.edges.names import measure
from hyperacuity_papers.abdulrahman2017.edge_sweeps import CONTROL
from hyperacuity_papers.abdulrahman2017.edge_table import DETECTORS, TABLE
from hyperacuity_papers.abdulrahman2017.findings import (
    ACCEPTING,
    OTHERS,
    false_share,
    found_share,
    missed_share,
    not_named,
    photographs,
    spread,
    stray_share,
    symbols,
    worst,
)
from hyperacuity_papers.abdulrahman2017.study import Abdulrahman2017
from hyperacuity_papers.common.claims import Finding, NotRunError, expect, incomparable

STATISTICAL = ("phi", "chi2", "pm", "f_alpha")

DISTANCES = ("hausdorff", "hausdorff(percent=5)", "baddeley(k=2)", "f2d6", "sk(k=1)", "sk(k=2)", "psi")

ORIENTED = ("sf1", "sf5", "agk", "hk")


def _usual(option: str, form: str) -> str:
    """The value that H-K has by default, as text."""
    default: object = signature(hk).parameters[option].default
    return form % default


def accepts(study: Abdulrahman2017, name: str) -> Finding:
    curves = study.noisy["4 dB"]
    mine, rest = false_share(curves, name), float(np.mean([false_share(curves, other) for other in OTHERS]))
    text = f"{100 * mine:.1f} % of its best maps is false; mean of the others {100 * rest:.1f} %"
    return expect(mine > rest, text, "no more than under the other measures")


def extracts(study: Abdulrahman2017) -> Finding:
    curves = study.noisy["4 dB"]
    shares, rest = (
        {n: found_share(curves, n) for n in ACCEPTING},
        float(np.mean([found_share(curves, n) for n in OTHERS])),
    )
    text = ", ".join(f"{measure(n).symbol} {100 * share:.0f} %" for n, share in shares.items())
    return expect(
        min(shares.values()) > rest,
        f"of the truth found at their best: {text}; mean of the others {100 * rest:.0f} %",
        "one of them finds no more of the truth than the others do",
    )


def broken(study: Abdulrahman2017) -> Finding:
    curves = study.noisy["4 dB"]
    mine, rest = missed_share(curves, "baddeley(k=2)"), float(np.mean([missed_share(curves, n) for n in OTHERS]))
    text = f"{100 * mine:.0f} % of the truth is missed at its best; mean of the others {100 * rest:.0f} %"
    return expect(mine > rest, text, "no more is missed than under the other measures")


def fom_canny(study: Abdulrahman2017) -> Finding:
    scores = study.noisy["4 dB"].mean("fom")
    text = ", ".join(f"{d} {scores[d]:.3f}" for d in ("canny", "agk", "hk"))
    return expect(scores["canny"] < min(scores["agk"], scores["hk"]), text, "an anisotropic detector is better")


def sobel_last(study: Abdulrahman2017, level: str) -> Finding:
    last = [name for name in OTHERS if worst(study.noisy[level], name) == "sobel"]
    return expect(len(last) == len(OTHERS), f"last under {len(last)} of {len(OTHERS)}", f"not under {not_named(last)}")


def half_kernels_first(study: Abdulrahman2017, level: str) -> Finding:
    winners = [study.noisy[level].winner(name) for name in OTHERS]
    most = max(set(winners), key=winners.count)
    text = f"H-K first under {winners.count('hk')} of {len(OTHERS)}, {most} under {winners.count(most)}"
    return expect(
        winners.count("hk") == len(OTHERS),
        text,
        f"with {_usual('across', 'σ %g across')}, {_usual('along', '%g along')} and {_usual('step', 'Δθ %g°')}; "
        "for others see the next row",
    )


def half_kernel_grid(study: Abdulrahman2017) -> Finding:
    halves = study.halves
    where, count = halves.best_setting(OTHERS, halves.grid.named)
    share, low, high = halves.share(halves.grid.named)
    won = f"wins {100 * share:.1f} % ({100 * low:.1f}–{100 * high:.1f} %) of all trials"
    text = f"at best {where}: {count} of {len(OTHERS)}; {won}"
    return expect(count == len(OTHERS), text, " ".join(halves.sentences()[1:]))


def stronger(study: Abdulrahman2017) -> Finding:
    halves = study.halves
    if not halves.grid.beyond:
        raise NotRunError("needs noise beyond the paper's levels")
    where, count = halves.best_setting(OTHERS, slice(halves.grid.named.stop, None))
    return incomparable(
        f"at best {where}: {count} of {len(OTHERS)}", "noise stronger than 4 or 3.3 dB by any of three definitions"
    )


def sobel_counts(study: Abdulrahman2017) -> Finding:
    curves = photographs(study)
    winners = {name: curves.winner(name, 1) for name in (*STATISTICAL, "d4")}
    text = ", ".join(f"{measure(name).symbol} {winner}" for name, winner in winners.items())
    return expect(set(winners.values()) == {"sobel"}, text, "not all of them elect Sobel")


def similar(study: Abdulrahman2017, name: str) -> Finding:
    curves = photographs(study)
    spreads = {n: spread(curves, n) for n in TABLE}
    rank = 1 + sum(spread < spreads[name] for spread in spreads.values())
    text = f"largest / smallest − 1 = {100 * spreads[name]:.0f} %, rank {rank} of 16 measures from the most alike"
    return expect(spreads[name] < 0.2, text, "they differ by a fifth or more")


def oriented(study: Abdulrahman2017) -> Finding:
    curves = photographs(study)
    winners = {name: curves.winner(name, 1) for name in DISTANCES}
    text = ", ".join(f"{measure(name).symbol} {winner}" for name, winner in winners.items())
    return expect(all(w in ORIENTED for w in winners.values()), text, "some elect Sobel or Canny")


def quieter(study: Abdulrahman2017) -> Finding:
    curves = photographs(study)
    shares = {d: float(np.mean([stray_share(curves, n, 1, d) for n in DISTANCES])) for d in DETECTORS}
    text = ", ".join(f"{d} {100 * share:.0f} %" for d, share in shares.items())
    ours = f"false pixels of the best maps, weighted by 1 − w(distance): {text}"
    return expect(max(shares[d] for d in ORIENTED) < shares["sobel"], ours, "Sobel's best maps are not the noisiest")


def holes(study: Abdulrahman2017) -> Finding:
    curves = photographs(study)
    rest = [name for name in TABLE if name not in ACCEPTING]
    mine, theirs = (float(np.mean([missed_share(curves, n, 0) for n in names])) for names in (ACCEPTING, rest))
    return expect(
        theirs > mine,
        f"missed: {100 * mine:.0f} % under {symbols(ACCEPTING)}, {100 * theirs:.0f} % under the others",
        "no more",
    )


def undecided(study: Abdulrahman2017) -> Finding:
    curves = photographs(study)
    winners = [curves.winner(name, 0) for name in TABLE]
    counts = {d: winners.count(d) for d in DETECTORS if d in winners}
    text = ", ".join(f"{d} {count}" for d, count in counts.items())
    return expect(
        max(counts.values()) < len(TABLE) * 0.75, f"first under, of 16: {text}", "one detector wins three quarters"
    )


def clear_pictures(study: Abdulrahman2017) -> Finding:
    ranges = []
    for kind, curves in (("clean shapes", study.clean), ("at 4 dB", study.noisy["4 dB"])):
        scores = [curves.mean("sk(k=1)")[d] for d in DETECTORS]
        ranges.append(f"{kind} {min(scores):.2f}–{max(scores):.2f} px")
    return incomparable(f"S¹ of the six: {', '.join(ranges)}", "images 56 and buildings are not at hand")


def noisy(study: Abdulrahman2017) -> Finding:
    winners = [study.noisy["3.3 dB"].winner(name) for name in DISTANCES]
    count = sum(w in ORIENTED for w in winners)
    return incomparable(
        f"shapes at 3.3 dB: {count} of {len(DISTANCES)} distance measures elect one",
        "images 109 and parkingmeter are not at hand",
    )


def image_109(study: Abdulrahman2017) -> Finding:
    winners = {name: study.noisy["3.3 dB"].winner(name) for name in ("baddeley(k=2)", "dp")}
    text = ", ".join(f"{measure(name).symbol} {winner}" for name, winner in winners.items())
    return incomparable(f"shapes at 3.3 dB: {text}", "image 109 is not at hand")


def seven_pictures(study: Abdulrahman2017) -> Finding:
    there = {study.data: study.curves, "bsds300": study.berkeley}
    text = ", ".join(f"{len(curves.pictures)} of {name}" for name, curves in there.items() if curves is not None)
    return incomparable(text, "other pictures: the paper's are in its supplementary material, which is not here")


def adapted(study: Abdulrahman2017) -> Finding:
    names = ("sk(k=1)", "sk(k=2)", "psi")
    kinds = {"clean": study.clean, "4 dB": study.noisy["4 dB"], "3.3 dB": study.noisy["3.3 dB"]}
    winners = {kind: [curves.winner(name, among=DETECTORS) for name in names] for kind, curves in kinds.items()}
    text = "; ".join(f"{kind}: {', '.join(found)}" for kind, found in winners.items())
    fits = set(winners["clean"]) == {"sobel"} and not any("sobel" in winners[kind] for kind in ("4 dB", "3.3 dB"))
    return expect(fits, text, "expected Sobel where nothing is disturbed and detectors that smooth under noise")


def continuous(study: Abdulrahman2017) -> Finding:
    curves = study.noisy["4 dB"]
    names = ("sk(k=1)", "sk(k=2)", "psi")
    found, false = (float(np.mean([share(curves, n) for n in names])) for share in (found_share, false_share))
    return expect(
        found > 0.5 > false,
        f"4 dB: {100 * found:.0f} % of the contour found, {100 * false:.0f} % of the map false",
        "not so",
    )


def chance_wins(study: Abdulrahman2017) -> Finding:
    curves = photographs(study)
    beaten = {
        n: [d for d in DETECTORS if curves.mean(n)[CONTROL] < curves.mean(n)[d]] for n in ("sk(k=1)", "sk(k=2)", "psi")
    }
    text = ", ".join(f"{measure(n).symbol} {len(found)} of 6" for n, found in beaten.items())
    reason = (
        "missed contours far from any detection dominate both, and a few pixels strewn evenly shorten their distances"
    )
    return expect(not any(beaten.values()), f"random pixels beat, hand-made truth: {text}", reason)


def winner_moves(study: Abdulrahman2017) -> Finding:
    curves = photographs(study)
    moved = [name for name in TABLE if curves.winner(name, 0) != curves.winner(name, 1)]
    return expect(
        bool(moved), f"the winner changes under {len(moved)} of 16 measures: {symbols(moved)}", "no winner changes"
    )


def robust(study: Abdulrahman2017) -> Finding:
    still, rough = study.clean.mean("sk(k=1)"), study.noisy["4 dB"].mean("sk(k=1)")
    text = ", ".join(f"{d} {still[d]:.2f} → {rough[d]:.2f}" for d in DETECTORS)
    return incomparable(f"S¹, shapes clean → 4 dB: {text} px", "announced for the future, without numbers")
