"""Suppression of soft maps: whether they should have been suppressed, and whether the order of systems depends on it.

Papers on learned detectors suppress non-maxima before they score. Raw maps score some 0.03 less, which is more than most
papers gain, and two systems treated differently are not compared at all.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from hyperacuity.boundary import BoundaryScore, Protocol
from hyperacuity.boundary.protocols import THICK
from hyperacuity.errors import option

if TYPE_CHECKING:
    from hyperacuity.evaluation.result import Result

OTHER_WAY = "other-way"
"""The folder within a run folder that keeps the tallies of maps treated in the other way."""


def thick_systems(scores: Mapping[str, BoundaryScore]) -> dict[str, float]:
    """The systems whose maps look as though they should have been suppressed, and how many marked pixels a thinned one has."""
    return {
        name: score.thickness
        for name, score in scores.items()
        if score.thickness > THICK and score.protocol.thin and score.protocol.for_system(name).nms is None
    }


def thick_warnings(scores: Mapping[str, BoundaryScore], without: Container[str] = ()) -> list[str]:
    """A sentence on each such system but for those without maps here."""
    return [
        f"{name}: the maps look thick ({ratio:.1f} marked pixels per thinned one); papers suppress first: "
        + (option("nms_of", {name: "structured"}) if len(scores) > 1 else option("nms", "structured"))
        for name, ratio in thick_systems(scores).items()
        if name not in without
    ]


def treatments(protocol: Protocol) -> str:
    """Name the suppression used for each system; empty where it is the same for all.

    >>> treatments(Protocol(nms_of={"pidinet": "structured"}))
    'suppression: pidinet structured-s1-r1, the others none'
    """
    named = ", ".join(f"{name} {kind}" for name, kind in protocol.nms_of)
    return f"suppression: {named}, the others {protocol.nms or 'none'}" if named else ""


def other_way(result: Result) -> dict[str, float]:
    """ODS of the systems whose treatment matters, treated in the other way: thick maps suppressed, suppressed ones as they are.

    Empty where all maps are thin, or all are suppressed by the protocol, or there is one system only, or nothing to read from.
    """
    from hyperacuity.evaluation.front import evaluate_inputs

    scores, protocol = result.scores, result.protocol
    if len(scores) < 2 or result.inputs is None or not isinstance(protocol, Protocol):
        return {}
    mine = {name: score for name, score in scores.items() if name not in result.cards}  # the others have no maps here
    flipped = dict.fromkeys(thick_systems(mine), "structured")
    flipped |= {
        name: "none" for name, kind in protocol.nms_of if kind != "none" and protocol.nms is None and name in mine
    }
    if not flipped:
        return {}
    again = replace(protocol, reading=(), nms_of=flipped)  # type: ignore[arg-type]  # a mapping does as well
    inputs = result.inputs.only(flipped)
    where = None if result.run is None else result.run / OTHER_WAY
    found = evaluate_inputs(result.task, inputs, again, run=where, workers=result.workers, progress=False)
    return {name: score.ods.f for name, score in found.scores.items()}


def order_sentence(ods: Mapping[str, float], other: Mapping[str, float], suppressed: Mapping[str, bool]) -> str:
    """Say how the order of systems changes if some are treated in the other way; empty if it does not.

    ``suppressed`` says which are suppressed now.

    >>> order_sentence({"hed": 0.757, "pidinet": 0.746}, {"pidinet": 0.771}, {"hed": False, "pidinet": False})
    'the order depends on suppression: pidinet would have ODS 0.771 if suppressed, and the order would be pidinet, hed'
    """
    now = sorted(ods, key=lambda name: -ods[name])
    then = sorted(ods, key=lambda name: -other.get(name, ods[name]))
    if now == then or not other:
        return ""
    said = ", ".join(
        f"{name} would have ODS {value:.3f} if {'not ' if suppressed[name] else ''}suppressed"
        for name, value in other.items()
    )
    return f"the order depends on suppression: {said}, and the order would be {', '.join(then)}"


def suppression_notes(result: Result) -> list[str]:
    """Warnings about maps that look thick, and about an order of systems that depends on suppression; of soft maps only."""
    if not isinstance(result.protocol, Protocol):
        return []
    ods = {name: score.ods.f for name, score in result.scores.items()}
    suppressed = {name: score.protocol.for_system(name).nms is not None for name, score in result.scores.items()}
    order = order_sentence(ods, other_way(result), suppressed)
    return [*thick_warnings(result.scores, result.cards), *([order] if order else [])]
