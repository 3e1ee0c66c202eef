"""Annotators by name: people who type who they are. A name is no secret and no account; it says whose work this is."""

from __future__ import annotations

import re
import secrets
import sqlite3
import unicodedata
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hyperacuity.studio.state import Schema, State, now
from hyperacuity.studio.web import Refused, field, read_json, render

_TABLE = "CREATE TABLE people (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, made TEXT NOT NULL) WITHOUT ROWID"
SCHEMA = Schema("people", 1, (_TABLE,))


@dataclass(frozen=True)
class Person:
    """An annotator: the id that work is kept under, and the name as it was first typed."""

    id: str
    name: str


class People:
    """The annotators of one page. Its :attr:`routes` belong among the page's; its tables (:data:`SCHEMA`) into the state."""

    def __init__(self, state: State, page: str) -> None:
        self._state = state
        self._cookie = f"annotator-{page}"

    @property
    def routes(self) -> list[Route]:
        """``POST /people`` with a name: from now on this browser is theirs. ``DELETE /people``: it is nobody's again."""
        return [Route("/people", self._sign_in, methods=["POST"]), Route("/people", self._sign_out, methods=["DELETE"])]

    async def find(self, request: Request) -> Person | None:
        """Who sent the request; None for someone who has not said so yet."""
        given = request.cookies.get(self._cookie, "")

        def look(file: sqlite3.Connection) -> Person | None:
            row = file.execute("SELECT id, name FROM people WHERE id = ?", (given,)).fetchone()
            return None if row is None else Person(*row)

        return await self._state.read(look)

    async def require(self, request: Request) -> Person:
        """Who sent the request; ``Refused`` (401) for someone who has not said so."""
        person = await self.find(request)
        if person is None:
            raise Refused(401, "say who you are first: reload the page")
        return person

    async def welcome(self, request: Request, *, title: str) -> Response:
        """The page that asks for a name, with the names known so far; it comes back to the same address."""

        def look(file: sqlite3.Connection) -> list[str]:
            return [name for (name,) in file.execute("SELECT name FROM people ORDER BY name")]

        return render(request, "welcome.html.j2", title=title, names=await self._state.read(look))

    async def _sign_in(self, request: Request) -> Response:
        name = clean_name(field(await read_json(request), "name", str, high=1000))

        def join(file: sqlite3.Connection) -> Person:
            new = (secrets.token_urlsafe(12), name, now())
            file.execute("INSERT INTO people VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING", new)
            return Person(*file.execute("SELECT id, name FROM people WHERE name = ?", (name,)).fetchone())

        person = await self._state.write(join)
        response = JSONResponse({"name": person.name})
        secure = request.url.scheme == "https"
        age = 365 * 86400
        response.set_cookie(self._cookie, person.id, max_age=age, httponly=True, samesite="strict", secure=secure)
        return response

    async def _sign_out(self, request: Request) -> Response:
        response = JSONResponse({})
        response.delete_cookie(self._cookie, httponly=True, samesite="strict")
        return response


def clean_name(name: str) -> str:
    """A name in one spelling: composed letters, single spaces. ``Refused`` for one that is empty or too long.

    >>> clean_name("  Ada   Lovelace ")
    'Ada Lovelace'
    """
    cleaned = " ".join(unicodedata.normalize("NFC", name).split())
    if not cleaned:
        raise Refused(400, "the name is empty")
    if len(cleaned) > 80:
        raise Refused(400, "the name is too long: 80 letters at most")
    return cleaned


def folders(file: sqlite3.Connection) -> dict[str, str]:
    """By person's id, the folder for their files: the name as far as file systems take it, with a number where it is taken.

    Whoever came first has the name without a number, so folders stay the same as more people come.
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for person, name in file.execute("SELECT id, name FROM people ORDER BY made, id"):
        plain = re.sub(r"[^\w -]", "_", name)[:60].strip() or "_"
        if re.fullmatch(r"(?i)con|prn|aux|nul|com\d|lpt\d", plain):  # devices of Windows
            plain += "_"
        folder, number = plain, 1
        while folder.casefold() in taken:  # some disks ignore case
            number += 1
            folder = f"{plain} {number}"
        taken.add(folder.casefold())
        found[person] = folder
    return found
