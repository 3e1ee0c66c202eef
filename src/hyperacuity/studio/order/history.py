"""One person's work on one image: actions, each validated, undone and redone at will."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hyperacuity.studio.actions import in_effect
from hyperacuity.studio.order.edits import Edit, RegionMerge, RegionSplit, merged_pairs, merged_statements
from hyperacuity.studio.order.regions import Level
from hyperacuity.studio.order.relations import Pair, Statements, place, relate, remove
from hyperacuity.studio.web import Refused, field

NOTHING = Statements()

MOST_PAIRS = 5000
"""Most pairs that one action may accept; a planar map of a thousand regions has fewer than 3000 neighbours."""

LONGEST_LINE = 4000
"""Most numbers in a line along which a region is split."""

RELATIONS = {"front": 1, "same": 0, "none": None}


@dataclass(frozen=True)
class Snapshot:
    """The level of detail that was chosen (its index), and what has been said of the regions there.

    Of what was suggested, ``together`` are the pairs that were accepted all at once, ``dismissed`` those that were turned down.
    ``edits`` are regions that were merged or split, and ``regions`` is how many there are then (None: as many as at the level).
    """

    level: int
    statements: Statements = NOTHING
    together: frozenset[Pair] = frozenset()
    dismissed: frozenset[Pair] = frozenset()
    edits: tuple[Edit, ...] = ()
    regions: int | None = None

    @property
    def started(self) -> bool:
        """True if anything has been said."""
        return bool(self.statements.positions or self.statements.pairs or self.dismissed or self.edits)


@dataclass(frozen=True)
class EditHistory:
    """Every snapshot from the first on; the one that ``head`` points at counts, those after it can be redone."""

    snapshots: tuple[Snapshot, ...]
    head: int = 0

    @property
    def current(self) -> Snapshot:
        """The snapshot that counts."""
        return self.snapshots[self.head]


def validate(values: Mapping[str, Any]) -> dict[str, Any]:
    """Validate an action: its parts and no others; ``Refused`` for anything else.

    >>> validate({"kind": "remove", "region": 3, "colour": "red"})
    {'kind': 'remove', 'region': 3}
    """
    kind = field(values, "kind", str, high=20)
    if kind not in PARTS:
        raise Refused(400, "kind: there is no such action")
    given = {name: default for name, default in DEFAULTS.get(kind, {}).items() if name not in values}
    return {
        "kind": kind,
        **{name: field({**given, **values}, name, what, **bounds) for name, what, bounds in PARTS[kind]},
    }


_INDEX: dict[str, int] = {"low": 0, "high": 1 << 20}

PARTS: dict[str, tuple[tuple[str, type[Any], dict[str, int]], ...]] = {
    "place": (("region", int, _INDEX), ("at", int, {"low": 1, "high": 1 << 20}), ("tie", bool, {})),
    "remove": (("region", int, _INDEX),),
    "relate": (("a", int, _INDEX), ("b", int, _INDEX), ("relation", str, {"high": 10})),
    "accept": (("pairs", list, {"low": 1, "high": MOST_PAIRS}),),
    "dismiss": (("a", int, _INDEX), ("b", int, _INDEX)),
    "merge": (("a", int, _INDEX), ("b", int, _INDEX)),
    "split": (("region", int, _INDEX), ("line", list, {"low": 4, "high": LONGEST_LINE})),
    "level": (("level", int, _INDEX), ("start_over", bool, {})),
    "clear": (),
    "undo": (),
    "redo": (),
    "done": (("anyway", bool, {}),),
}
"""The actions and their parts. ``place``: put a region at a position in the list, with ``tie`` beside what is there.
``remove``: out of the list again. ``relate``: a in front of b, as far as b, or nothing. ``accept``: suggested pairs [near, far]
all at once. ``dismiss``: a suggested pair is not to be suggested any more. ``merge``: two regions become one. ``split``: a
region is cut along a line x, y, x, y, …; stored with it is into how many ``parts``. ``level``: choose the level of detail;
``start_over`` gives up what was said. ``done``: the files are written, ``anyway`` even if something is missing."""

DEFAULTS: dict[str, dict[str, Any]] = {"done": {"anyway": False}}
"""Parts of actions that need not be given."""


def act(history: EditHistory, action: Mapping[str, Any], levels: Sequence[Level]) -> EditHistory:
    """The history after a validated action, the same object if nothing changes; ``Refused`` if the action does not fit.

    >>> history = act(EditHistory((Snapshot(0),)), {"kind": "place", "region": 3, "at": 1, "tie": False}, [Level(None, 5)])
    >>> history.current.statements.positions, act(history, {"kind": "undo"}, []).current.statements.positions
    ({3: 1}, {})
    """
    current, kind = history.current, action["kind"]
    if kind == "done":
        return history
    if kind in ("undo", "redo"):
        head = history.head + (1 if kind == "redo" else -1)
        if not 0 <= head < len(history.snapshots):
            raise Refused(422, f"there is nothing to {kind}")
        return replace(history, head=head)
    new = _step(current, action, levels)
    if new == current:
        return history
    return EditHistory((*history.snapshots[: history.head + 1], new), history.head + 1)


def _step(current: Snapshot, action: Mapping[str, Any], levels: Sequence[Level]) -> Snapshot:
    kind = action["kind"]
    if kind == "level":
        if action["level"] >= len(levels):
            raise Refused(422, "level: there is no such level")
        if current.started and not action["start_over"]:
            raise Refused(422, "regions have been ordered at this level: another one means starting over")
        return Snapshot(action["level"])
    if kind == "clear":
        return Snapshot(current.level)
    count = current.regions or levels[current.level].regions
    for name in ("region", "a", "b"):
        if name in action and action[name] >= count:
            raise Refused(422, f"{name}: there is no such region")
    if kind in ("merge", "split"):
        return _edit(current, action, count)
    return _accept(current, action["pairs"], count) if kind == "accept" else _say(current, action)


def _accept(current: Snapshot, listed: Sequence[Any], count: int) -> Snapshot:
    """Accept suggestions [near, far]; what was said of a pair before stays."""
    pairs, together = dict(current.statements.pairs), set(current.together)
    for one in listed:
        if not (isinstance(one, list) and len(one) == 2 and all(type(r) is int and 0 <= r < count for r in one)):
            raise Refused(400, "pairs: expected two regions each, the nearer first")
        near, far = one
        pair = (min(near, far), max(near, far))
        if near == far:
            raise Refused(422, "a region is neither in front of itself nor behind")
        if pair not in pairs:
            pairs[pair] = 1 if near < far else -1
            together.add(pair)
    statements = Statements(current.statements.positions, pairs)
    return replace(current, statements=statements, together=frozenset(together))


def _say(current: Snapshot, action: Mapping[str, Any]) -> Snapshot:
    """Snapshot after something was said of a region or of a pair; what is said of a pair replaces what was said before."""
    if "a" not in action:
        return replace(current, statements=_state(current.statements, action))
    pair = (min(action["a"], action["b"]), max(action["a"], action["b"]))
    if action["kind"] == "dismiss":
        return replace(current, dismissed=current.dismissed | {pair})
    return replace(
        current,
        statements=_state(current.statements, action),
        together=current.together - {pair},
        dismissed=current.dismissed - {pair},
    )


def _edit(current: Snapshot, action: Mapping[str, Any], count: int) -> Snapshot:
    """Snapshot after two of ``count`` regions were merged, or one was split."""
    if action["kind"] == "split":
        split = RegionSplit(action["region"], tuple(action["line"]))
        return replace(current, edits=(*current.edits, split), regions=count + action["parts"] - 1)
    merge = RegionMerge(action["a"], action["b"])
    if merge.a == merge.b:
        raise Refused(422, "a region cannot be merged with itself")
    statements = merged_statements(current.statements, merge, count - 1)
    return Snapshot(
        current.level,
        statements,
        merged_pairs(current.together, merge, count - 1) & statements.pairs.keys(),
        merged_pairs(current.dismissed, merge, count - 1) - statements.pairs.keys(),
        (*current.edits, merge),
        count - 1,
    )


def _state(statements: Statements, action: Mapping[str, Any]) -> Statements:
    positions, pairs = statements.positions, statements.pairs
    if action["kind"] == "place":
        return Statements(place(positions, action["region"], action["at"], tie=action["tie"]), pairs)
    if action["kind"] == "remove":
        return Statements(remove(positions, action["region"]), pairs)
    if action["a"] == action["b"]:
        raise Refused(422, "a region is neither in front of itself nor behind")
    if action["relation"] not in RELATIONS:
        raise Refused(400, "relation: expected front, same or none")
    return Statements(positions, relate(pairs, action["a"], action["b"], RELATIONS[action["relation"]]))


def replay(actions: Sequence[Mapping[str, Any]], first: int, levels: Sequence[Level]) -> EditHistory:
    """The history that stored actions lead to, beginning at the level ``first``."""
    done, undone = in_effect([action["kind"] for action in actions])
    snapshots = [Snapshot(first)]
    for index in (*done, *reversed(undone)):
        snapshots.append(_step(snapshots[-1], actions[index], levels))
    return EditHistory(tuple(snapshots), len(done))
