"""A strip of eight pixels, three people and a system, on which Hou, Yuille & Koch (2013) can be worked out by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hyperacuity.audit.benchmark import AuditProtocol
from hyperacuity.audit.partial import partial_labels
from hyperacuity.audit.risk import Answer, risk
from hyperacuity.audit.strength import Strengths, strengths
from hyperacuity.audit.trials import Segment, Trial
from hyperacuity.boundary import Protocol, collect, match, tally
from hyperacuity_papers.common.claims import Finding, number
from hyperacuity_papers.common.claims import worked as by_hand_same
from hyperacuity_papers.hou2013.study import Hou2013

STRIP = ([[1, 1, 0, 1, 0, 0, 0, 0]], [[1, 0, 0, 1, 0, 1, 0, 0]], [[1, 0, 0, 0, 0, 0, 0, 0]])

DETECTED = [[1, 1, 1, 1, 0, 0, 1, 0]]

"""Three people and a system on eight pixels, matched only where they coincide: everything can be counted by hand."""


def strip() -> Strengths:
    return strengths(STRIP, tolerance_px=0)


def on_strip(strength: float, precision: str = "any") -> tuple[float, float, float]:
    """Precision, recall and F of the strip at a strength."""
    benchmark = Protocol(thresholds=(0.5,), thin=False, tolerance=0.0, precision=precision)  # type: ignore[arg-type]
    kept = [np.asarray(one, np.bool_) for one in strip().at_least(strength)]
    ods = collect({"strip": tally(np.array(DETECTED, np.float32), kept, benchmark)}, resamples=0).ods
    return ods.precision, ods.recall, ods.f


def risk_of(votes: list[int]) -> float:
    """The risk of hard trials with so many of five votes for the false alarm."""
    piece = Segment((0, 0), ((0, 0),))
    trials = [Trial("a", "system", "hard", piece, piece, "first", str(n)) for n in range(len(votes))]
    answers = [
        Answer(f"person {p}", str(n), "first" if p < count else "second")
        for n, count in enumerate(votes)
        for p in range(5)
    ]
    return risk(trials, answers).mean["hard"].risk


def partial_counts() -> float:
    """The largest difference of pixels between consensus and partial labels of the strip's people."""
    found = strip()
    keep = [int(one.sum()) for one in found.consensus]
    parts = partial_labels(found.at_least(0), keep)
    return float(max(abs(int(part.sum()) - count) for part, count in zip(parts, keep, strict=True)))


EXAMPLES: dict[str, Callable[[], float]] = {
    "strength": lambda: float(strip().maps[0][0, 3]),
    "matched": lambda: match([[1, 1, 0, 0]], [[0, 1, 0, 0]], tolerance_px=1).count,
    "orphan": lambda: strip().boundaries.orphan,
    "consensus": lambda: strip().boundaries.consensus,
    "strengths": lambda: len(AuditProtocol().strengths),
    "difference of partial labels": partial_counts,
}
"""Numbers that can be counted by hand."""


def worked(_: Hou2013, of: str, by_hand: float | str) -> Finding:
    """Compare one of :data:`EXAMPLES` with its value by hand."""
    return by_hand_same(EXAMPLES[of](), by_hand)


def on_the_strip(
    _: Hou2013, of: str, by_hand: float | str, strength: float | str = 0, precision: str = "any"
) -> Finding:
    """Compare precision, recall or F of the strip at a strength with its value by hand."""
    return by_hand_same(on_strip(number(strength), precision)[("precision", "recall", "F").index(of)], by_hand)


def risk_of_votes(_: Hou2013, votes: Sequence[int], by_hand: float | str) -> Finding:
    """Compare the risk of trials, with so many of five votes each, with its value by hand."""
    return by_hand_same(risk_of(list(votes)), by_hand)
