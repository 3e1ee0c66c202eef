"""Annotators and their organiser. A name says whose work this is; a secret shows that it is theirs.

A newcomer chooses a name that nobody has, and gets a secret: in a cookie, and in a link of their own that their pages show. From
then on the name alone opens nothing. There are no accounts and no passwords; the organiser has everybody's links.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
import sqlite3
import unicodedata
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hyperacuity.studio import web
from hyperacuity.studio.security import PUBLIC, TOKEN, cookie_name, enter, set_cookie
from hyperacuity.studio.server import Address
from hyperacuity.studio.state import Schema, State, insert, now
from hyperacuity.studio.web import Refused, read_json, render, root_of

YEAR = 365 * 86400

_TABLE = "CREATE TABLE people (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, made TEXT NOT NULL) WITHOUT ROWID"
_SECRETS = (
    "CREATE TABLE people_secrets (person TEXT PRIMARY KEY REFERENCES people (id), secret TEXT NOT NULL) WITHOUT ROWID"
)
SCHEMA = Schema("people", 3, (_TABLE, _SECRETS), upgrades={1: (_SECRETS,), 2: ()}, sealed=("people", "people_secrets"))

_EVERYBODY = "SELECT id, name, secret FROM people JOIN people_secrets ON person = id"


@dataclass(frozen=True)
class Person:
    """An annotator: the id under which work is stored, the name as it was first typed, and a secret that only they know."""

    id: str
    name: str
    secret: str = field(default="", repr=False)

    @property
    def key(self) -> str:
        """The key in their cookie and in their link."""
        return f"{self.id}.{self.secret}"

    def link(self, address: Address) -> str:
        """Personal link to a studio at an address."""
        return address.at(f"/me/{self.key}")


class People:
    """The annotators of one page. Its :attr:`routes` belong among the page's; its tables (:data:`SCHEMA`) into the state."""

    def __init__(self, state: State, page: str) -> None:
        self._state = state
        self.cookie = cookie_name(f"annotator-{page}", os.fsencode(state.path.resolve()))
        state.write_now(_give_secrets)

    @property
    def routes(self) -> list[Route]:
        """``POST /people`` with a new name and ``GET /me/KEY`` sign in; where someone else is signed in, the second asks, and
        ``POST /me/KEY`` switches. ``DELETE /people`` signs out. ``GET /me`` shows the personal link."""
        return [
            Route("/people", self._sign_in, methods=["POST"]),
            Route("/people", self._sign_out, methods=["DELETE"]),
            Route("/me", self._own_page),
            Route("/me/{key}", self._come_back),
            Route("/me/{key}", self._switch, methods=["POST"]),
        ]

    def everybody(self) -> list[Person]:
        """All annotators, by name."""
        return self._state.read_now(lambda file: [Person(*row) for row in file.execute(f"{_EVERYBODY} ORDER BY name")])

    async def find(self, request: Request) -> Person | None:
        """Find the person who sent a request; None for someone who has not said so yet."""
        given = request.cookies.get(self.cookie, "")
        return await self._state.read(lambda file: person_of(file, given))

    def link(self, request: Request, person: Person) -> str:
        """Personal link, as seen from where the visitor is."""
        here = f"{request.url.scheme}://{request.url.netloc}"
        return person.link(Address(request.scope.get(PUBLIC) or here, request.scope.get(TOKEN)))

    async def require(self, request: Request) -> Person:
        """The person who sent a request; ``Refused`` (401) for someone who has not said so."""
        person = await self.find(request)
        if person is None:
            raise Refused(401, "say who you are first: reload the page")
        return person

    async def welcome(self, request: Request, *, title: str) -> Response:
        """The page that asks for a name; it comes back to the same address."""
        return render(request, "welcome.html.j2", title=title)

    async def _sign_in(self, request: Request) -> Response:
        name = clean_name(web.field(await read_json(request), "name", str, high=1000))
        known = await self.find(request)

        def join(file: sqlite3.Connection) -> Person:
            new = (secrets.token_urlsafe(12), name, now())
            if not insert(file, "people", *new, conflict="IGNORE"):
                raise Refused(
                    403,
                    f"someone called {name} works here already: if that is you, open your personal link "
                    "(the organiser can look it up); if not, choose another name",
                )
            _give_secrets(file)
            return Person(*file.execute(f"{_EVERYBODY} WHERE id = ?", new[:1]).fetchone())

        person = known if known is not None and known.name == name else await self._state.write(join)
        return self._signed_in(request, person)

    async def _come_back(self, request: Request) -> Response:
        person, known = await self._linked(request), await self.find(request)
        if known is not None and known.id != person.id:
            return render(request, "switch.html.j2", title="Switch user?", person=person.name, known=known.name)
        return enter(request, "Welcome back", "/", self.cookie, person.key, max_age=YEAR)

    async def _switch(self, request: Request) -> Response:
        await read_json(request)  # which no form of another site sends
        return self._signed_in(request, await self._linked(request))

    async def _linked(self, request: Request) -> Person:
        person = await self._state.read(lambda file: person_of(file, request.path_params["key"]))
        if person is None:
            raise Refused(404, "this link is not valid: check it, or ask the organiser for yours")
        return person

    def _signed_in(self, request: Request, person: Person) -> Response:
        response = JSONResponse({"name": person.name})
        set_cookie(request, response, self.cookie, person.key, max_age=YEAR)
        return response

    async def _own_page(self, request: Request) -> Response:
        person = await self.find(request)
        if person is None:
            return await self.welcome(request, title="Your personal link")
        link = self.link(request, person)
        return render(request, "me.html.j2", title="Your personal link", person=person.name, link=link, newcomer=True)

    async def _sign_out(self, request: Request) -> Response:
        response = JSONResponse({})
        response.delete_cookie(self.cookie, path=root_of(request) or "/", httponly=True, samesite="strict")
        return response


class Supervisor:
    """The organiser of a page: whoever has opened the link that only the terminal shows. Annotators do not have it."""

    def __init__(self, state: State, page: str) -> None:
        self._cookie = cookie_name(f"supervisor-{page}", os.fsencode(state.path.resolve()))

        def secret_of(file: sqlite3.Connection) -> str:
            insert(file, "studio_supervisors", page, secrets.token_urlsafe(24), conflict="IGNORE")
            query = "SELECT secret FROM studio_supervisors WHERE page = ?"
            return str(file.execute(query, (page,)).fetchone()[0])

        self._secret = state.write_now(secret_of)

    @property
    def routes(self) -> list[Route]:
        """``GET /supervise/SECRET``: sign this browser in as the organiser."""
        return [Route("/supervise/{secret}", self._come_in)]

    def link(self, address: Address) -> str:
        """The link to the overview, for the organiser."""
        return address.at(f"/supervise/{self._secret}")

    def require(self, request: Request) -> None:
        """``Refused`` (403) for anyone else."""
        if not self._is_secret(request.cookies.get(self._cookie, "")):
            raise Refused(403, "this page is for the organiser: open the link that its terminal shows")

    async def _come_in(self, request: Request) -> Response:
        if not self._is_secret(request.path_params["secret"]):
            raise Refused(404, "this link is not valid: open the one that the terminal of the studio shows")
        return enter(request, "Overview", "/overview", self._cookie, self._secret)

    def _is_secret(self, given: str) -> bool:
        return hmac.compare_digest(self._secret.encode(), given.encode(errors="replace"))


def person_of(file: sqlite3.Connection, key: str) -> Person | None:
    """The person whose key this is; None for nobody's."""
    name, _, secret = key.partition(".")
    if not name.isascii():
        return None
    row = file.execute(f"{_EVERYBODY} WHERE id = ?", (name,)).fetchone()
    theirs = row is not None and hmac.compare_digest(row[2].encode(), secret.encode(errors="replace"))
    return Person(*row) if theirs else None


def _give_secrets(file: sqlite3.Connection) -> None:
    """Give a secret to those who have none: newcomers, and everyone in a file of a version without secrets."""
    rows = file.execute("SELECT id FROM people WHERE id NOT IN (SELECT person FROM people_secrets)").fetchall()
    for (person,) in rows:
        insert(file, "people_secrets", person, secrets.token_urlsafe(24))


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
    """Folders for files, by person's id: the name as far as file systems take it, with a number where it is taken.

    Whoever came first has the name without a number, so folders stay the same as more people come.
    """
    names: dict[str, str] = {}
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
        names[person] = folder
    return names
