"""What one person does with one image: actions, each checked, each undone and done again at will."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hyperacuity.studio.order.regions import Cut
from hyperacuity.studio.order.relations import Said, place, relate, take_out
from hyperacuity.studio.web import Refused, field

NOTHING = Said()

RELATIONS = {"front": 1, "same": 0, "none": None}


@dataclass(frozen=True)
class OrderState:
    """Where the hierarchy is cut, and what has been said of the regions there."""

    cut: int
    said: Said = NOTHING

    @property
    def begun(self) -> bool:
        """Whether anything has been said."""
        return bool(self.said.places or self.said.pairs)


@dataclass(frozen=True)
class History:
    """Every sheet from the first on; the one that ``head`` points at counts, those after it can be brought back."""

    sheets: tuple[OrderState, ...]
    head: int = 0

    @property
    def sheet(self) -> OrderState:
        """The sheet as it is."""
        return self.sheets[self.head]


def checked(values: Mapping[str, Any]) -> dict[str, Any]:
    """An action with the parts that belong to it and no others; ``Refused`` for what is none.

    >>> checked({"kind": "take", "region": 3, "colour": "red"})
    {'kind': 'take', 'region': 3}
    """
    kind = field(values, "kind", str, high=20)
    if kind not in PARTS:
        raise Refused(400, "kind: there is no such action")
    return {"kind": kind, **{name: field(values, name, what, **bounds) for name, what, bounds in PARTS[kind]}}


_REGION: dict[str, int] = {"low": 0, "high": 1 << 20}

PARTS: dict[str, tuple[tuple[str, type[Any], dict[str, int]], ...]] = {
    "place": (("region", int, _REGION), ("at", int, {"low": 1, "high": 1 << 20}), ("tie", bool, {})),
    "take": (("region", int, _REGION),),
    "relate": (("a", int, _REGION), ("b", int, _REGION), ("relation", str, {"high": 10})),
    "cut": (("cut", int, _REGION), ("anew", bool, {})),
    "clear": (),
    "undo": (),
    "redo": (),
    "done": (),
}
"""The actions and their parts. ``place``: put a region at a place, with ``tie`` beside what is there. ``take``: out of the list
again. ``relate``: a in front of b, as far as b, or nothing. ``cut``: choose the level; ``anew`` gives up what was said.
``done``: the files are written."""


def act(history: History, action: Mapping[str, Any], cuts: Sequence[Cut]) -> History:
    """The history after a checked action, the same one if it changes nothing; ``Refused`` for one that does not fit it.

    >>> history = act(History((OrderState(0),)), {"kind": "place", "region": 3, "at": 1, "tie": False}, [Cut(None, 5)])
    >>> history.sheet.said.places, act(history, {"kind": "undo"}, []).sheet.said.places
    ({3: 1}, {})
    """
    sheet, said, kind = history.sheet, history.sheet.said, action["kind"]
    if kind == "done":
        return history
    if kind == "undo":
        if history.head == 0:
            raise Refused(422, "there is nothing to undo")
        return replace(history, head=history.head - 1)
    if kind == "redo":
        if history.head + 1 == len(history.sheets):
            raise Refused(422, "there is nothing to redo")
        return replace(history, head=history.head + 1)
    if kind == "cut":
        if action["cut"] >= len(cuts):
            raise Refused(422, "cut: there is no such level")
        if sheet.begun and not action["anew"]:
            raise Refused(422, "regions have been ordered at this level: another one begins anew")
        new = OrderState(action["cut"])
    elif kind == "clear":
        new = OrderState(sheet.cut)
    else:
        for name in ("region", "a", "b"):
            if name in action and action[name] >= cuts[sheet.cut].regions:
                raise Refused(422, f"{name}: there is no such region")
        new = replace(sheet, said=_say(said, action))
    if new == sheet:
        return history
    return History((*history.sheets[: history.head + 1], new), history.head + 1)


def _say(said: Said, action: Mapping[str, Any]) -> Said:
    if action["kind"] == "place":
        return replace(said, places=place(said.places, action["region"], action["at"], tie=action["tie"]))
    if action["kind"] == "take":
        return replace(said, places=take_out(said.places, action["region"]))
    if action["a"] == action["b"]:
        raise Refused(422, "a region is neither in front of itself nor behind")
    if action["relation"] not in RELATIONS:
        raise Refused(400, "relation: expected front, same or none")
    return replace(said, pairs=relate(said.pairs, action["a"], action["b"], RELATIONS[action["relation"]]))


def replay(actions: Sequence[str], first: int, cuts: Sequence[Cut]) -> History:
    """The history that kept actions (JSON) lead to, from a sheet at the cut ``first``."""
    history = History((OrderState(first),))
    for action in actions:
        history = act(history, json.loads(action), cuts)
    return history
