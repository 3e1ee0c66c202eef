"""Statements about who is in front, and what follows from them: contradictions, layers, and relations of pairs.

People say two things. They **place** regions one after another, from near to far, several at one position if they are
equally far. And they say of a **pair** of regions that one is in front of the other, or that both are equally far. Together
these are a graph: an arrow from every region to what lies behind it, and arrows both ways between equals.

The strongly connected parts of that graph are the depths: regions in one part must be equally far. That is a contradiction
exactly when one of them was said to be in front of another. Counted from the far end along the longest path, the parts have
layers; regions that nothing connects, even through others, form separate groups, whose layers cannot be compared.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

Pair = tuple[int, int]


@dataclass(frozen=True)
class Statements:
    """Statements of a person about regions 0, 1, …

    ``positions`` are 1 for the nearest region that was placed, 2 for the next, without gaps. ``pairs`` have the smaller region
    first: +1 it is in front of the other, −1 the other is in front of it, 0 both are equally far.
    """

    positions: Mapping[int, int] = field(default_factory=dict)
    pairs: Mapping[Pair, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """One thing that was said: ``near`` is in front of ``far``, or as far when ``same``; by positions or by a pair."""

    near: int
    far: int
    same: bool
    placed: bool


@dataclass(frozen=True)
class Arrangement:
    """The order that follows from what was said about a number of regions.

    Attributes
    ----------
    layer
        For each region its layer, 1 the farthest of its group; None where nothing was said.
    group
        For each region the number of its group, 0, 1, …; None where nothing was said.
    part
        For each region its depth: regions of equal number are equally far. A region of which nothing was said has one of its own.
    behind
        For each part the regions behind it, as the bits of a number.
    tangled
        Regions that take part in a contradiction.
    """

    layer: tuple[int | None, ...]
    group: tuple[int | None, ...]
    part: tuple[int, ...]
    behind: tuple[int, ...]
    tangled: frozenset[int]

    @property
    def ordered(self) -> int:
        """Number of regions of which anything was said."""
        return sum(layer is not None for layer in self.layer)

    @property
    def layers(self) -> int:
        """Number of layers of the deepest group."""
        return max((layer for layer in self.layer if layer is not None), default=0)

    @property
    def groups(self) -> int:
        """Number of groups."""
        return max((group for group in self.group if group is not None), default=-1) + 1

    def relation(self, a: int, b: int) -> int | None:
        """Relation of two regions: +1 the first is in front, −1 the second is, 0 they are equally far, None: unknown."""
        one, other = self.part[a], self.part[b]
        if one == other:
            return None if a in self.tangled else 0
        if self.behind[one] >> b & 1:
            return 1
        return -1 if self.behind[other] >> a & 1 else None

    @property
    def known_pairs(self) -> int:
        """Number of pairs of regions whose relation is known."""
        sizes: dict[int, int] = {}
        for region, part in enumerate(self.part):
            if region not in self.tangled:
                sizes[part] = sizes.get(part, 0) + 1
        equal = sum(size * (size - 1) // 2 for size in sizes.values())
        return equal + sum(self.behind[part].bit_count() for part in self.part)


def place(positions: Mapping[int, int], region: int, at: int, *, tie: bool) -> dict[int, int]:
    """Put a region at a position in the list from near to far; with ``tie`` beside what is there, else before it.

    Positions count as they stood before. One beyond the last is the end of the list. A region that is in the list is moved.

    >>> place({4: 1, 7: 2}, 5, 2, tie=False), place({4: 1, 7: 2}, 5, 2, tie=True)
    ({4: 1, 7: 3, 5: 2}, {4: 1, 7: 2, 5: 2})
    """
    before = positions.get(region)
    if tie and before == at:
        return dict(positions)
    others = remove(positions, region)
    if before is not None and before < at and list(positions.values()).count(before) == 1:  # its position closes up
        at -= 1
    at = max(1, min(at, max(others.values(), default=0) + 1))
    if not tie:
        others = {other: position + (position >= at) for other, position in others.items()}
    return others | {region: at}


def remove(positions: Mapping[int, int], region: int) -> dict[int, int]:
    """The list without a region; the others close up.

    >>> remove({4: 1, 7: 2, 5: 3}, 7)
    {4: 1, 5: 2}
    """
    others = {other: position for other, position in positions.items() if other != region}
    number = {position: n for n, position in enumerate(sorted(set(others.values())), start=1)}
    return {other: number[position] for other, position in others.items()}


def relate(pairs: Mapping[Pair, int], a: int, b: int, relation: int | None) -> dict[Pair, int]:
    """Say of two regions that the first is in front (+1), behind (−1), as far (0), or nothing any more (None).

    >>> relate({}, 7, 3, 1), relate({(3, 7): -1}, 3, 7, None)
    ({(3, 7): -1}, {})
    """
    pair = (min(a, b), max(a, b))
    others = {other: old for other, old in pairs.items() if other != pair}
    return others if relation is None else others | {pair: relation if a < b else -relation}


def arrange(statements: Statements, count: int) -> Arrangement:
    """Derive the order of ``count`` regions from what was said. Contradicting regions come to lie in one part and are tangled.

    Examples
    --------
    >>> order = arrange(Statements(pairs={(0, 1): 1, (1, 2): 0}), 4)
    >>> order.layer, order.relation(0, 2), order.relation(0, 3)
    ((2, 1, 1, None), 1, None)
    """
    links, mentioned = arrows(statements)
    near, far = np.array(links, np.int32).reshape(-1, 2).T
    graph = csr_array((np.ones(len(links), np.int8), (near, far)), shape=(count, count))
    part = connected_components(graph, connection="strong")[1].tolist()
    connected = connected_components(graph, directed=False)[1].tolist()
    members: dict[int, list[int]] = {number: [] for number in part}
    for region, number in enumerate(part):
        members[number].append(region)
    ahead: dict[int, set[int]] = {number: set() for number in members}
    for one, other in links:
        if part[one] != part[other]:
            ahead[part[one]].add(part[other])
    behind = [0] * len(members)
    height = [1] * len(members)
    for number in TopologicalSorter(ahead).static_order():  # from the far end, so what lies behind is done
        for other in ahead[number]:
            behind[number] |= behind[other] | sum(1 << region for region in members[other])
            height[number] = max(height[number], 1 + height[other])
    groups: dict[int, int] = {}
    return Arrangement(
        layer=tuple(height[part[r]] if r in mentioned else None for r in range(count)),
        group=tuple(groups.setdefault(connected[r], len(groups)) if r in mentioned else None for r in range(count)),
        part=tuple(part),
        behind=tuple(behind),
        tangled=frozenset(r for a, b in _strict(statements) if part[a] == part[b] for r in members[part[a]]),
    )


def find_contradiction(statements: Statements, tangled: frozenset[int]) -> tuple[Step, ...]:
    """A shortest cycle of statements that cannot all be true; empty when there is none.

    Each step leads from a region to one that is behind it or as far, the last back to the first, and at least one to one behind.

    Examples
    --------
    >>> statements = Statements(positions={0: 1, 1: 2}, pairs={(0, 1): -1})
    >>> [(step.near, step.far, step.placed) for step in find_contradiction(statements, arrange(statements, 2).tangled)]
    [(1, 0, False), (0, 1, True)]
    """
    steps: dict[int, list[Step]] = {}
    for step in _pair_steps(statements):
        steps.setdefault(step.near, []).append(step)
    at: dict[int, list[int]] = {}
    for region, position in statements.positions.items():
        at.setdefault(position, []).append(region)
    best: tuple[Step, ...] = ()
    # Positions alone contradict nothing: every cycle has a region at which a pair begins.
    for start in sorted(tangled & steps.keys()):
        path = _path_back(start, steps, statements.positions, at, len(best) or None)
        if path and (not best or len(path) < len(best)):
            best = path
        if len(best) == 2:
            break
    return best


def as_sentence(cycle: Sequence[Step], positions: Mapping[int, int]) -> str:
    """A cycle of steps as a sentence; regions are called by their numbers from 1.

    >>> as_sentence([Step(0, 1, False, True), Step(1, 0, False, False)], {0: 1, 1: 4})
    'region 1 (position 1) is before region 2 (position 4), but region 2 was drawn in front of region 1'
    """
    parts = []
    for step in cycle:
        near, far = f"region {step.near + 1}", f"region {step.far + 1}"
        if step.placed and step.same:
            parts.append(f"{near} and {far} share position {positions[step.near]}")
        elif step.placed:
            parts.append(f"{near} (position {positions[step.near]}) is before {far} (position {positions[step.far]})")
        elif step.same:
            parts.append(f"{near} is at the same depth as {far}")
        else:
            parts.append(f"{near} was drawn in front of {far}")
    return ", ".join(parts[:-1]) + f", but {parts[-1]}" if len(parts) > 1 else "".join(parts)


def _pair_steps(statements: Statements) -> Iterator[Step]:
    for (a, b), relation in statements.pairs.items():
        if relation >= 0:
            yield Step(a, b, relation == 0, False)
        if relation <= 0:
            yield Step(b, a, relation == 0, False)


def _strict(statements: Statements) -> Iterator[Pair]:
    """Pairs (near, far) that were said, and one of each two positions that follow each other."""
    yield from ((step.near, step.far) for step in _pair_steps(statements) if not step.same)
    one_at = {position: region for region, position in statements.positions.items()}
    yield from ((region, one_at[position + 1]) for position, region in one_at.items() if position + 1 in one_at)


def arrows(statements: Statements) -> tuple[list[Pair], set[int]]:
    """The graph: arrows from regions to what lies right behind them or is as far; and the regions of which anything was said."""
    links = [(step.near, step.far) for step in _pair_steps(statements)]
    mentioned = {region for link in links for region in link} | set(statements.positions)
    first_at: dict[int, int] = {}
    for region, position in statements.positions.items():
        first = first_at.setdefault(position, region)
        if first != region:
            links += [(first, region), (region, first)]
    links += [(region, first_at[position + 1]) for position, region in first_at.items() if position + 1 in first_at]
    return links, mentioned


def _path_back(
    start: int,
    steps: Mapping[int, Sequence[Step]],
    positions: Mapping[int, int],
    at: Mapping[int, Sequence[int]],
    shorter_than: int | None,
) -> tuple[Step, ...]:
    """The shortest path from a region back to it that leads to a region behind at least once; breadth first."""
    # A state is a region and whether the path has led behind yet. From a position every later one is a step away, so that each
    # position is looked at once, which keeps a long list cheap.
    State = tuple[int, bool]
    came: dict[State, tuple[State, Step]] = {}
    length: dict[State, int] = {(start, False): 0}
    states: deque[State] = deque(length)
    beyond = len(at) + 1  # all positions from here on have been reached by a step behind

    def reach(state: State, step: Step, behind: bool) -> None:
        following = (step.far, behind)
        if following not in length:
            length[following] = length[state] + 1
            came[following] = (state, step)
            states.append(following)

    while states:
        state = states.popleft()
        region, behind = state
        if region == start and behind:
            path: list[Step] = []
            while state in came:
                state, step = came[state]
                path.append(step)
            return tuple(reversed(path))
        if shorter_than is not None and length[state] + 1 >= shorter_than:
            continue
        for step in steps.get(region, ()):
            reach(state, step, behind or not step.same)
        here = positions.get(region)
        if here is None:
            continue
        for position in range(here + 1, beyond):
            for other in at[position]:
                reach(state, Step(region, other, False, True), True)
        beyond = min(beyond, here + 1)
        for other in at[here]:
            if other != region:
                reach(state, Step(region, other, True, True), behind)
    return ()
