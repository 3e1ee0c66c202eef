"""Flags on images: a note for the organiser; a flagged image may be skipped until all others are done."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hyperacuity.studio.items import Item
from hyperacuity.studio.people import People
from hyperacuity.studio.state import State, insert, now
from hyperacuity.studio.web import field, read_json

LONGEST = 500
"""Letters that a note may have."""


@dataclass(frozen=True)
class Flag:
    """A person's note on an image, and whether they skip it."""

    note: str
    skipped: bool


@dataclass(frozen=True)
class Flags:
    """The flags of one page. ``item_of`` finds the image of a request; ``address`` is that of an image."""

    state: State
    page: str
    people: People
    address: str
    item_of: Callable[[Request], Item]

    @property
    def routes(self) -> list[Route]:
        """``POST ADDRESS/flag`` with a note, and whether the image is skipped; ``DELETE ADDRESS/flag`` takes the flag away."""
        return [
            Route(f"{self.address}/flag", self._set, methods=["POST"]),
            Route(f"{self.address}/flag", self._remove, methods=["DELETE"]),
        ]

    def of(self, file: sqlite3.Connection, person: str) -> dict[str, Flag]:
        """A person's flags, by image."""
        query = "SELECT item, note, skipped FROM studio_flags WHERE page = ? AND person = ?"
        return {item: Flag(note, bool(skipped)) for item, note, skipped in file.execute(query, (self.page, person))}

    async def _set(self, request: Request) -> Response:
        person, item = await self.people.require(request), self.item_of(request)
        values = await read_json(request)
        note, skipped = field(values, "note", str, high=LONGEST), field(values, "skipped", bool)
        row = (self.page, person.id, item.id, note.strip(), skipped, now())
        await self.state.write(lambda file: insert(file, "studio_flags", *row, conflict="REPLACE"))
        return JSONResponse({"note": note.strip(), "skipped": skipped})

    async def _remove(self, request: Request) -> Response:
        person, item = await self.people.require(request), self.item_of(request)
        query = "DELETE FROM studio_flags WHERE page = ? AND person = ? AND item = ?"
        await self.state.write(lambda file: file.execute(query, (self.page, person.id, item.id)).rowcount)
        return JSONResponse({"note": None, "skipped": False})


def flags_on(file: sqlite3.Connection, page: str) -> dict[str, list[tuple[str, Flag]]]:
    """Everyone's flags on a page: by image, names and flags."""
    flags: dict[str, list[tuple[str, Flag]]] = {}
    query = "SELECT item, name, note, skipped FROM studio_flags JOIN people ON id = person WHERE page = ? ORDER BY name"
    for item, name, note, skipped in file.execute(query, (page,)):
        flags.setdefault(item, []).append((name, Flag(note, bool(skipped))))
    return flags
