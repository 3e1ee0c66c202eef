"""What has been said about who is in front, and what follows from it: contradictions, layers, and which pairs are known.

People say two things. They **place** regions one after another, from near to far, several at one place if they are equally
far. And they say of a **pair** of regions that one is in front of the other, or that both are equally far. Together these are a
graph: an arrow from every region to what lies behind it, and arrows both ways between equals.

The strongly connected parts of that graph are the depths: regions in one part must be equally far. That is a contradiction
exactly when one of them was said to be in front of another. Counted from the far end along the longest way, the parts have
layers; regions that nothing connects, even through others, form separate groups, whose layers cannot be compared.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

Pair = tuple[int, int]


@dataclass(frozen=True)
class Said:
    """What a person has said about regions 0, 1, …

    ``places`` are 1 for the nearest region that was placed, 2 for the next, without gaps. ``pairs`` have the smaller region
    first: +1 it is in front of the other, −1 the other is in front of it, 0 both are equally far.
    """

    places: Mapping[int, int] = field(default_factory=dict)
    pairs: Mapping[Pair, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """One thing that was said: ``near`` is in front of ``far``, or as far when ``same``; by places or by a pair."""

    near: int
    far: int
    same: bool
    placed: bool


@dataclass(frozen=True)
class Arrangement:
    """What follows from what was said about a number of regions.

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
    def layers(self) -> int:
        """How many layers the deepest group has."""
        return max((layer for layer in self.layer if layer is not None), default=0)

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return max((group for group in self.group if group is not None), default=-1) + 1

    def relation(self, a: int, b: int) -> int | None:
        """Of two regions: +1 the first is in front, −1 the second is, 0 they are equally far, None: not known."""
        one, other = self.part[a], self.part[b]
        if one == other:
            return None if a in self.tangled else 0
        if self.behind[one] >> b & 1:
            return 1
        return -1 if self.behind[other] >> a & 1 else None

    @property
    def known_pairs(self) -> int:
        """How many pairs of regions have a known relation."""
        sizes: dict[int, int] = {}
        for region, part in enumerate(self.part):
            if region not in self.tangled:
                sizes[part] = sizes.get(part, 0) + 1
        equal = sum(size * (size - 1) // 2 for size in sizes.values())
        return equal + sum(self.behind[part].bit_count() for part in self.part)


def place(places: Mapping[int, int], region: int, at: int, *, tie: bool) -> dict[int, int]:
    """Put a region at a place in the list from near to far; with ``tie`` beside what is there, else before it.

    Places count as they stood before. One beyond the last is the end of the list. What was placed already is moved.

    >>> place({4: 1, 7: 2}, 5, 2, tie=False), place({4: 1, 7: 2}, 5, 2, tie=True)
    ({4: 1, 7: 3, 5: 2}, {4: 1, 7: 2, 5: 2})
    """
    before = places.get(region)
    if tie and before == at:
        return dict(places)
    left = take_out(places, region)
    if before is not None and before < at and before not in left_places(places, region):
        at -= 1
    last = max(left.values(), default=0)
    at = max(1, min(at, last + 1))
    if not tie:
        left = {other: there + (there >= at) for other, there in left.items()}
    return left | {region: at}


def take_out(places: Mapping[int, int], region: int) -> dict[int, int]:
    """The list without a region; the others close up.

    >>> take_out({4: 1, 7: 2, 5: 3}, 7)
    {4: 1, 5: 2}
    """
    used = sorted(left_places(places, region))
    number = {there: n for n, there in enumerate(used, start=1)}
    return {other: number[there] for other, there in places.items() if other != region}


def left_places(places: Mapping[int, int], region: int) -> set[int]:
    """The places that are taken without a region."""
    return {there for other, there in places.items() if other != region}


def relate(pairs: Mapping[Pair, int], a: int, b: int, relation: int | None) -> dict[Pair, int]:
    """Say of two regions that the first is in front (+1), behind (−1), as far (0), or nothing any more (None).

    >>> relate({}, 7, 3, 1), relate({(3, 7): -1}, 3, 7, None)
    ({(3, 7): -1}, {})
    """
    pair = (min(a, b), max(a, b))
    others = {other: said for other, said in pairs.items() if other != pair}
    return others if relation is None else others | {pair: relation if a < b else -relation}


def arrange(said: Said, count: int) -> Arrangement:
    """What follows from what was said about ``count`` regions. Contradicting regions come to lie in one part and are tangled.

    Examples
    --------
    >>> found = arrange(Said(pairs={(0, 1): 1, (1, 2): 0}), 4)
    >>> found.layer, found.relation(0, 2), found.relation(0, 3)
    ((2, 1, 1, None), 1, None)
    """
    arrows, known = _arrows(said, count)
    part, members = _parts(arrows)
    ahead = [
        {part[far] for region in regions for far in arrows[region]} - {number} for number, regions in enumerate(members)
    ]
    behind: list[int] = []
    height: list[int] = []
    for parts in ahead:  # parts come from the far end, so what lies behind is done
        bits = 0
        for other in parts:
            bits |= behind[other] | sum(1 << region for region in members[other])
        behind.append(bits)
        height.append(1 + max((height[other] for other in parts), default=0))
    tangled = frozenset(
        region for near, far in _strict(said) if part[near] == part[far] for region in members[part[near]]
    )
    return Arrangement(
        layer=tuple(height[part[region]] if region in known else None for region in range(count)),
        group=_groups(arrows, known),
        part=tuple(part),
        behind=tuple(behind),
        tangled=tangled,
    )


def find_contradiction(said: Said, tangled: frozenset[int]) -> tuple[Step, ...]:
    """A shortest circle of things said that cannot all be true; empty when there is none.

    Each step leads from a region to one that is behind it or as far, the last back to the first, and at least one to one behind.

    Examples
    --------
    >>> said = Said(places={0: 1, 1: 2}, pairs={(0, 1): -1})
    >>> [(step.near, step.far, step.placed) for step in find_contradiction(said, arrange(said, 2).tangled)]
    [(1, 0, False), (0, 1, True)]
    """
    steps: dict[int, list[Step]] = {}
    for step in _pair_steps(said):
        steps.setdefault(step.near, []).append(step)
    at: dict[int, list[int]] = {}
    for region, there in said.places.items():
        at.setdefault(there, []).append(region)
    best: tuple[Step, ...] = ()
    # Places alone contradict nothing: every circle has a region at which a pair begins.
    for start in sorted(tangled & steps.keys()):
        found = _way_back(start, steps, said.places, at, len(best) or None)
        if found and (not best or len(found) < len(best)):
            best = found
        if len(best) == 2:
            break
    return best


def in_words(circle: Sequence[Step], places: Mapping[int, int]) -> str:
    """A circle of steps as a sentence; regions are called by their numbers from 1.

    >>> in_words([Step(0, 1, False, True), Step(1, 0, False, False)], {0: 1, 1: 4})
    'region 1 (place 1) is before region 2 (place 4), but region 2 was drawn in front of region 1'
    """
    parts = []
    for step in circle:
        near, far = f"region {step.near + 1}", f"region {step.far + 1}"
        if step.placed and step.same:
            parts.append(f"{near} and {far} share place {places[step.near]}")
        elif step.placed:
            parts.append(f"{near} (place {places[step.near]}) is before {far} (place {places[step.far]})")
        elif step.same:
            parts.append(f"{near} is as far as {far}")
        else:
            parts.append(f"{near} was drawn in front of {far}")
    return ", ".join(parts[:-1]) + f", but {parts[-1]}" if len(parts) > 1 else "".join(parts)


def _pair_steps(said: Said) -> Iterator[Step]:
    for (a, b), relation in said.pairs.items():
        if relation >= 0:
            yield Step(a, b, relation == 0, False)
        if relation <= 0:
            yield Step(b, a, relation == 0, False)


def _strict(said: Said) -> Iterator[Pair]:
    """Pairs (near, far) that were said, and one of each two places that follow each other."""
    yield from ((step.near, step.far) for step in _pair_steps(said) if not step.same)
    one_of = {there: region for region, there in said.places.items()}
    yield from ((region, one_of[there + 1]) for there, region in one_of.items() if there + 1 in one_of)


def _arrows(said: Said, count: int) -> tuple[list[list[int]], set[int]]:
    """The graph: what lies right behind each region or is as far; and the regions of which anything was said."""
    arrows: list[list[int]] = [[] for _ in range(count)]
    known = set(said.places)
    for step in _pair_steps(said):
        arrows[step.near].append(step.far)
        known |= {step.near, step.far}
    first_at: dict[int, int] = {}
    for region, there in said.places.items():
        first = first_at.setdefault(there, region)
        if first != region:
            arrows[first].append(region)
            arrows[region].append(first)
    for there, region in first_at.items():
        if there + 1 in first_at:
            arrows[region].append(first_at[there + 1])
    return arrows, known


def _parts(arrows: Sequence[Sequence[int]]) -> tuple[list[int], list[list[int]]]:
    """The strongly connected parts, a part after all that its arrows lead to (Tarjan 1972, without recursion)."""
    count = len(arrows)
    part = [-1] * count
    members: list[list[int]] = []
    number = [-1] * count
    lowest = [0] * count
    waiting: list[int] = []
    seen = 0
    for root in range(count):
        if number[root] >= 0:
            continue
        path = [(root, iter(arrows[root]))]
        number[root] = lowest[root] = seen
        seen += 1
        waiting.append(root)
        while path:
            here, rest = path[-1]
            for there in rest:
                if number[there] < 0:
                    number[there] = lowest[there] = seen
                    seen += 1
                    waiting.append(there)
                    path.append((there, iter(arrows[there])))
                    break
                if part[there] < 0:
                    lowest[here] = min(lowest[here], number[there])
            else:
                path.pop()
                if path:
                    above = path[-1][0]
                    lowest[above] = min(lowest[above], lowest[here])
                if lowest[here] == number[here]:
                    members.append([])
                    while part[here] < 0:
                        part[waiting[-1]] = len(members) - 1
                        members[-1].append(waiting.pop())
    return part, members


def _groups(arrows: Sequence[Sequence[int]], known: set[int]) -> tuple[int | None, ...]:
    """Weakly connected groups of the known regions, numbered by their first region."""
    both: list[set[int]] = [set(ends) for ends in arrows]
    for near, ends in enumerate(arrows):
        for far in ends:
            both[far].add(near)
    group: list[int | None] = [None] * len(arrows)
    count = 0
    for first in sorted(known):
        if group[first] is None:
            reached = [first]
            group[first] = count
            while reached:
                for other in both[reached.pop()]:
                    if group[other] is None:
                        group[other] = count
                        reached.append(other)
            count += 1
    return tuple(group)


def _way_back(
    start: int,
    steps: Mapping[int, Sequence[Step]],
    places: Mapping[int, int],
    at: Mapping[int, Sequence[int]],
    shorter_than: int | None,
) -> tuple[Step, ...]:
    """The shortest way from a region back to it that leads to a region behind at least once; breadth first.

    A state is a region and whether the way has led behind yet. From a place every later one is a step away, so that a way never
    needs two such steps in a row; each place is looked at once, which keeps a long list cheap.
    """
    State = tuple[int, bool]
    came: dict[State, tuple[State, Step]] = {}
    length: dict[State, int] = {(start, False): 0}
    states: deque[State] = deque(length)
    beyond = len(at) + 1  # all places from here on have been reached by a step behind

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
            way: list[Step] = []
            while state in came:
                state, step = came[state]
                way.append(step)
            return tuple(reversed(way))
        if shorter_than is not None and length[state] + 1 >= shorter_than:
            continue
        for step in steps.get(region, ()):
            reach(state, step, behind or not step.same)
        here = places.get(region)
        if here is None:
            continue
        for there in range(here + 1, beyond):
            for other in at[there]:
                reach(state, Step(region, other, False, True), True)
        beyond = min(beyond, here + 1)
        for other in at[here]:
            if other != region:
                reach(state, Step(region, other, True, True), behind)
    return ()
