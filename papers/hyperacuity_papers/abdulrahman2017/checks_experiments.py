"""Sections 4 and 5 of Abdulrahman et al. (2017): noise, photographs, and the conclusion."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature

import numpy as np

from hyperacuity.detect import hk
from hyperacuity.edges.names import measure
from hyperacuity_papers.abdulrahman2017.edge_sweeps import CONTROL
from hyperacuity_papers.abdulrahman2017.edge_table import DETECTORS, TABLE
from hyperacuity_papers.abdulrahman2017.findings import (
    ACCEPTING,
    OTHERS,
    Check,
    claims_of,
    false_share,
    found_share,
    missed_share,
    not_named,
    photographs,
    printed_spread,
    spread,
    stray_share,
    symbols,
    worst,
)
from hyperacuity_papers.abdulrahman2017.study import Abdulrahman2017
from hyperacuity_papers.common.claims import Claim, Finding, NotRunError, expect, incomparable

HALVES = "hyperacuity study half-kernels --out half-kernels"
STATISTICAL = ("phi", "chi2", "pm", "f_alpha")
DISTANCES = ("hausdorff", "hausdorff(percent=5)", "baddeley(k=2)", "f2d6", "sk(k=1)", "sk(k=2)", "psi")
ORIENTED = ("sf1", "sf5", "agk", "hk")


def _usual(option: str, form: str) -> str:
    """The value that H-K has by default, as text."""
    default: object = signature(hk).parameters[option].default
    return form % default


def noise_claims() -> Iterator[Claim[Abdulrahman2017]]:
    """Section 4, first experiment: shapes at 4 and 3.3 dB."""

    def accepts(name: str) -> Check:
        def check(study: Abdulrahman2017) -> Finding:
            curves = study.noisy["4 dB"]
            mine, rest = false_share(curves, name), float(np.mean([false_share(curves, other) for other in OTHERS]))
            text = f"{100 * mine:.1f} % of its best maps is false; mean of the others {100 * rest:.1f} %"
            return expect(mine > rest, text, "no more than under the other measures")

        return check

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

    def sobel_last(level: str) -> Check:
        def check(study: Abdulrahman2017) -> Finding:
            last = [name for name in OTHERS if worst(study.noisy[level], name) == "sobel"]
            return expect(
                len(last) == len(OTHERS), f"last under {len(last)} of {len(OTHERS)}", f"not under {not_named(last)}"
            )

        return check

    def half_kernels_first(level: str) -> Check:
        def check(study: Abdulrahman2017) -> Finding:
            winners = [study.noisy[level].winner(name) for name in OTHERS]
            most = max(set(winners), key=winners.count)
            text = f"H-K first under {winners.count('hk')} of {len(OTHERS)}, {most} under {winners.count(most)}"
            return expect(
                winners.count("hk") == len(OTHERS),
                text,
                f"with {_usual('across', 'σ %g across')}, {_usual('along', '%g along')} and {_usual('step', 'Δθ %g°')}; "
                "for others see the next row",
            )

        return check

    def grid(study: Abdulrahman2017) -> Finding:
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

    yield from claims_of(
        [
            ("Section 4", "noise: Φ*, d_4 and D_p extract the edges correctly", "", extracts),
            ("Section 4", "noise: Φ* pays for its edges with many false pixels", "", accepts("phi")),
            ("Section 4", "noise: d_4 pays for its edges with many false pixels", "", accepts("d4")),
            ("Section 4", "noise: D_p pays for its edges with many false pixels", "", accepts("dp")),
            (
                "Section 4",
                "noise: Δ^k is the most sensitive to false pixels; its best maps are broken contours",
                "",
                broken,
            ),
            ("Section 4", "4 dB: FoM ranks anisotropic detectors below Canny", "", fom_canny),
            ("Section 4", "4 dB: the other measures put Sobel last", "11 of 11", sobel_last("4 dB")),
            ("Section 4", "3.3 dB: the other measures put Sobel last", "11 of 11", sobel_last("3.3 dB")),
            ("Section 4", "4 dB: the other measures put H-K first", "11 of 11", half_kernels_first("4 dB")),
            ("Section 4", "3.3 dB: the other measures put H-K first", "11 of 11", half_kernels_first("3.3 dB")),
        ]
    )
    yield from claims_of(
        [
            (
                "Section 4",
                "the same for some length, width and Δθ of H-K and some definition of the decibel",
                "11 of 11",
                grid,
            ),
            ("Section 4", "the same in stronger noise", "11 of 11", stronger),
        ],
        HALVES,
    )


def photograph_claims() -> Iterator[Claim[Abdulrahman2017]]:
    """Section 4, real images."""

    def sobel_counts(study: Abdulrahman2017) -> Finding:
        curves = photographs(study)
        winners = {name: curves.winner(name, 1) for name in (*STATISTICAL, "d4")}
        text = ", ".join(f"{measure(name).symbol} {winner}" for name, winner in winners.items())
        return expect(set(winners.values()) == {"sobel"}, text, "not all of them elect Sobel")

    def similar(name: str) -> Check:
        def check(study: Abdulrahman2017) -> Finding:
            curves = photographs(study)
            spreads = {n: spread(curves, n) for n in TABLE}
            rank = 1 + sum(spread < spreads[name] for spread in spreads.values())
            text = (
                f"largest / smallest − 1 = {100 * spreads[name]:.0f} %, rank {rank} of 16 measures from the most alike"
            )
            return expect(spreads[name] < 0.2, text, "they differ by a fifth or more")

        return check

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
        return expect(
            max(shares[d] for d in ORIENTED) < shares["sobel"], ours, "Sobel's best maps are not the noisiest"
        )

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

    def clear(study: Abdulrahman2017) -> Finding:
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

    def seven(study: Abdulrahman2017) -> Finding:
        there = {study.data: study.curves, "bsds300": study.berkeley}
        text = ", ".join(f"{len(curves.pictures)} of {name}" for name, curves in there.items() if curves is not None)
        return incomparable(text, "other pictures: the paper's are in its supplementary material, which is not here")

    yield from claims_of(
        [
            ("Section 4", "real images with a semi-automatic truth", "7", seven),
            ("Section 4", "semi-automatic truth: statistical measures and d_4 elect Sobel", "Sobel", sobel_counts),
            ("Section 4", "FoM is similar for all detectors", f"{100 * printed_spread('fom'):.0f} %", similar("fom")),
            (
                "Section 4",
                "F is similar for all detectors",
                f"{100 * printed_spread('f_pinho'):.0f} %",
                similar("f_pinho"),
            ),
            ("Section 4", "distance measures elect oriented kernels", "SF_1, AGK", oriented),
            ("Section 4", "the best maps of oriented kernels are less noisy than Sobel's", "", quieter),
            ("Section 4", "hand-made truth: but for Φ*, d_4, D_p the best maps have many holes", "", holes),
            ("Section 4", "hand-made truth: no detector can be called the most efficient", "", undecided),
            ("Section 4", "clear pictures: the detectors are equivalent", "", clear),
            ("Section 4", "blur or noise: distance measures prefer oriented and anisotropic filters", "", noisy),
            ("Section 4", "image 109: Δ^k and D_p elect Sobel although it is noisy", "Sobel", image_109),
        ]
    )


def conclusion_claims() -> Iterator[Claim[Abdulrahman2017]]:
    """What the paper ends with."""

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

    def control(study: Abdulrahman2017) -> Finding:
        curves = photographs(study)
        beaten = {
            n: [d for d in DETECTORS if curves.mean(n)[CONTROL] < curves.mean(n)[d]]
            for n in ("sk(k=1)", "sk(k=2)", "psi")
        }
        text = ", ".join(f"{measure(n).symbol} {len(found)} of 6" for n, found in beaten.items())
        reason = "missed contours far from any detection dominate both, and a few pixels strewn evenly shorten their distances"
        return expect(not any(beaten.values()), f"random pixels beat, hand-made truth: {text}", reason)

    def place(study: Abdulrahman2017) -> Finding:
        curves = photographs(study)
        moved = [name for name in TABLE if curves.winner(name, 0) != curves.winner(name, 1)]
        return expect(
            bool(moved), f"the winner changes under {len(moved)} of 16 measures: {symbols(moved)}", "no winner changes"
        )

    def robust(study: Abdulrahman2017) -> Finding:
        still, rough = study.clean.mean("sk(k=1)"), study.noisy["4 dB"].mean("sk(k=1)")
        text = ", ".join(f"{d} {still[d]:.2f} → {rough[d]:.2f}" for d in DETECTORS)
        return incomparable(f"S¹, shapes clean → 4 dB: {text} px", "announced for the future, without numbers")

    yield from claims_of(
        [
            (
                "Section 4, 5",
                "S^k and Ψ elect detectors that suit the picture (blur, noise, small objects)",
                "",
                adapted,
            ),
            (
                "Section 4, 5",
                "their best maps are mostly continuous contours without many undesired points",
                "",
                continuous,
            ),
            ("Section 5", "their minimum is the best edge map: chance should never win", "", control),
            ("Section 5", "the choice of truth decides which detector is first", "", place),
        ]
    )
    future = "future work: how robust detectors are to noise and blur at the best threshold"
    yield from claims_of([("Section 5", future, "", robust)])
