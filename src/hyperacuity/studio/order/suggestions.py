"""A starting order that a person corrects: what the network suggests of neighbours, and how far the person has answered.

A suggestion is no statement. It is shown, and it is left out as soon as it contradicts what the person has said; only what the
person says, confirms or accepts on purpose is theirs, and is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hyperacuity.studio.order.history import Snapshot
from hyperacuity.studio.order.regions import Regions
from hyperacuity.studio.order.relations import Arrangement, Pair, Statements, arrange, arrows

Suggestions = Mapping[Pair, int]
"""Relations of neighbouring regions, the smaller first: +1 it is in front, −1 the other is. The surest come first."""


@dataclass(frozen=True)
class AnswerCounts:
    """Counts of a person's answers to suggestions.

    Attributes
    ----------
    total : how many there are.
    kept : the person says the same, or it follows from what they say; ``together`` of them only because of *accept the rest*.
    changed : the person says otherwise.
    dismissed : the person turned it down and says nothing.
    added : pairs the person related that were not suggested.
    contradicted : of those not answered, left out because they contradict what the person says.
    open : not answered.
    """

    total: int
    kept: int
    together: int
    changed: int
    dismissed: int
    added: int
    contradicted: int
    open: int


def suggest(regions: Regions) -> dict[Pair, int]:
    """Suggestions for regions with depths: of two neighbours, the one with the larger depth is in front."""
    if regions.depths is None:
        return {}
    steps = regions.depths[regions.pairs[:, 0]] - regions.depths[regions.pairs[:, 1]]
    surest = np.argsort(-np.abs(steps), kind="stable")
    return {
        (int(a), int(b)): int(np.sign(step))
        for (a, b), step in zip(regions.pairs[surest].tolist(), steps[surest].tolist(), strict=True)
        if step
    }


def open_suggestions(suggested: Suggestions, current: Snapshot, arrangement: Arrangement) -> dict[Pair, int]:
    """The suggestions that a person has not answered, those left out that would contradict them, surest first.

    Examples
    --------
    >>> current = Snapshot(0, Statements(pairs={(0, 1): 1, (1, 2): 1}))
    >>> open_suggestions({(0, 2): -1, (2, 3): 1, (0, 3): -1}, current, arrange(current.statements, 4))
    {(2, 3): 1}
    """
    waiting = {
        pair: relation
        for pair, relation in suggested.items()
        if pair not in current.dismissed
        and arrangement.relation(*pair) is None
        and not arrangement.tangled.intersection(pair)
    }
    count = len(arrangement.layer)
    if not waiting or not arrange(_with(current.statements, waiting), count).tangled - arrangement.tangled:
        return waiting
    return _consistent(waiting, current.statements, count)


def longest_first(regions: Regions) -> list[Pair]:
    """Neighbours by the length of their boundary, so that a few answers settle most of it."""
    order = np.argsort(-regions.lengths, kind="stable")
    return [(a, b) for a, b in regions.pairs[order].tolist()]


def preview(statements: Statements, waiting: Suggestions, count: int) -> Arrangement:
    """The order that would follow if what is suggested were true."""
    return arrange(_with(statements, waiting), count)


def answers(suggested: Suggestions, current: Snapshot, arrangement: Arrangement) -> AnswerCounts:
    """Count answers to suggestions; each is in one of kept, changed, dismissed, contradicted and open."""
    kept = together = changed = dismissed = 0
    for pair, relation in suggested.items():
        stated = arrangement.relation(*pair)
        if stated is None:
            dismissed += pair in current.dismissed
        elif stated == relation:
            kept += 1
            together += pair in current.together
        else:
            changed += 1
    waiting = len(open_suggestions(suggested, current, arrangement))
    return AnswerCounts(
        total=len(suggested),
        kept=kept,
        together=together,
        changed=changed,
        dismissed=dismissed,
        added=sum(pair not in suggested for pair in current.statements.pairs),
        contradicted=len(suggested) - kept - changed - dismissed - waiting,
        open=waiting,
    )


def _with(statements: Statements, more: Suggestions) -> Statements:
    return Statements(statements.positions, {**more, **statements.pairs})


def _consistent(waiting: Suggestions, statements: Statements, count: int) -> dict[Pair, int]:
    """Take suggestions one by one, surest first, unless what stands already leads the other way."""
    behind: list[set[int]] = [set() for _ in range(count)]
    for near, far in arrows(statements)[0]:
        behind[near].add(far)
    taken: dict[Pair, int] = {}
    for (a, b), relation in waiting.items():
        near, far = (a, b) if relation > 0 else (b, a)
        if not _leads(behind, far, near):
            behind[near].add(far)
            taken[(a, b)] = relation
    return taken


def _leads(behind: list[set[int]], start: int, end: int) -> bool:
    """True if a chain of steps leads from a region to another."""
    seen, waiting = {start}, [start]
    while waiting:
        region = waiting.pop()
        if region == end:
            return True
        fresh = behind[region] - seen
        seen |= fresh
        waiting.extend(fresh)
    return False
