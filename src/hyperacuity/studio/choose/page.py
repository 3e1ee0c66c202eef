"""The page of the two-alternative forced choice: which of two pieces of boundary is stronger?

Participants come by invitation (``/take/TOKEN``) and see their own plan, place by place. The experimenter's pages lie behind a
token of their own. What participants are sent is made from questions and plans, which do not know the key.

References
----------
Hou, Yuille & Koch (2013), section 3 and Fig. 2.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections import OrderedDict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hyperacuity.errors import InputError, UsageError
from hyperacuity.studio.choose import results
from hyperacuity.studio.choose.plan import (
    LAYOUT,
    Design,
    Progress,
    invite,
    person_of,
    place_of,
    progress,
    record,
    remember,
    setting,
)
from hyperacuity.studio.choose.trials import KEPT_PICTURES, Study, shown, side_of
from hyperacuity.studio.items import photograph, png, reason
from hyperacuity.studio.state import State
from hyperacuity.studio.web import Page, Refused, answer, field, read_json, render

__all__ = ["LAYOUT", "Choose"]

LOOKING_ON = 10
"""Results are worked out anew after so many times as long as that takes: an onlooker must not slow participants down."""

MOST_INVITATIONS = 1000


class Choose:
    """The experiment on a study: after ``break_every`` trials a break, before each a cross for ``fixation`` seconds.

    ``UsageError`` when the state holds answers to other trials.
    """

    def __init__(
        self, study: Study, state: State, design: Design, *, break_every: int = 50, fixation: float = 0.5
    ) -> None:
        self._study = study
        self._state = state
        self._design = design
        self._break_every = break_every
        self._fixation = fixation
        self._pictures = OrderedDict(study.pictures)
        self._coming: dict[str, asyncio.Future[bytes]] = {}
        self._summaries: dict[float, tuple[float, float, dict[str, Any] | None]] = {}
        state.write_now(self._claim)

    @property
    def page(self) -> Page:
        """What is served."""
        routes = [
            Route("/", self._experimenter),
            Route("/results", self._results),
            Route("/invitations", self._invite, methods=["POST"]),
            Route("/answers.csv", self._export),
            Route("/everything.csv", self._export),
            Route("/take/{token}", self._participant),
            Route("/take/{token}/next", self._next),
            Route("/take/{token}/picture/{place}", self._picture),
            Route("/take/{token}/answer", self._answer, methods=["POST"]),
        ]
        return Page("choose", "Choose the stronger boundary", routes, guests=("/take/",), largest_body=4096)

    def ensure_invitations(self, count: int) -> list[str]:
        """Make invitations until there are at least ``count``; returns the tokens of all, in order."""

        def make(file: sqlite3.Connection) -> list[str]:
            (there,) = file.execute("SELECT count(*) FROM choose_people").fetchone()
            for _ in range(count - there):
                invite(file, self._study, self._design)
            return [token for (token,) in file.execute("SELECT token FROM choose_people ORDER BY id")]

        return self._state.write_now(make)

    def _claim(self, file: sqlite3.Connection) -> None:
        if setting(file, "trials") not in (None, self._study.digest):
            raise UsageError(f"{self._state.path} holds answers to other trials: choose another file with --state")
        remember(file, "trials", self._study.digest)

    async def _participant(self, request: Request) -> Response:
        token = request.path_params["token"]

        def look(file: sqlite3.Connection) -> Progress:
            return progress(file, self._study, self._invited(file, token))

        now = await self._state.read(look)
        begun = now.done > 0 or (now.current is not None and now.current.place > 0)
        facts = {"base": f"/take/{token}", "total": now.total, "begun": begun, "fixation": self._fixation}
        return render(request, "choose/take.html.j2", title="Which boundary is stronger?", facts=facts)

    async def _next(self, request: Request) -> Response:
        token = request.path_params["token"]

        def look(file: sqlite3.Connection) -> Progress:
            return progress(file, self._study, self._invited(file, token))

        return answer(self._told(await self._state.read(look)))

    async def _answer(self, request: Request) -> Response:
        token = request.path_params["token"]
        values = await read_json(request)
        number = field(values, "place", int, low=0, high=10**6)
        side = field(values, "side", str)
        if side not in ("left", "right"):
            raise Refused(400, "side: expected left or right")
        seconds = field(values, "seconds", float, low=0, high=86400)
        away = field(values, "away", bool)

        def keep(file: sqlite3.Connection) -> tuple[Progress, bool | None]:
            person = self._invited(file, token)
            place = place_of(file, person, number)
            before = progress(file, self._study, person)
            if place is None or place.question not in self._study.questions:
                raise Refused(404, "there is no such question")
            if before.current is not None and number > before.current.place:
                raise Refused(409, "this question comes later: reload the page")
            record(file, self._study, person, place, side=side, seconds=seconds, away=away)
            right = None
            if place.kind == "practice":
                question = self._study.questions[place.question]
                right = side_of(question, self._study.obvious[place.question], place.mirrored) == side
            return progress(file, self._study, person), right

        now, right = await self._state.write(keep)
        told = self._told(now)
        return answer(told if right is None else {**told, "right": right})

    async def _picture(self, request: Request) -> Response:
        token, number = request.path_params["token"], request.path_params["place"]
        if not number.isascii() or not number.isdecimal() or len(number) > 6:
            raise Refused(404, "there is no such picture")

        def look(file: sqlite3.Connection) -> str | None:
            person = self._invited(file, token)
            place, now = place_of(file, person, int(number)), progress(file, self._study, person)
            coming = {one.place for one in (now.current, now.ahead) if one is not None}
            if place is None or place.place not in coming:
                return None
            return self._study.questions[place.question].image

        image = await self._state.read(look)
        if image is None:
            raise Refused(404, "there is no such picture")
        try:
            content = await self._photograph(image)
        except InputError as error:
            raise Refused(422, reason(error, {self._study.photographs[image]: "this picture"})) from error
        return Response(content, media_type="image/png", headers={"Cache-Control": "private, max-age=600"})

    async def _photograph(self, image: str) -> bytes:
        """A photograph as PNG without metadata. The latest are kept; those who ask for one at the same time share the work."""
        kept = self._pictures.get(image)
        if kept is None:
            coming = self._coming.get(image)
            if coming is None:
                work = asyncio.to_thread(lambda: png(photograph(self._study.photographs[image])))
                coming = self._coming[image] = asyncio.ensure_future(work)
                coming.add_done_callback(lambda _: self._coming.pop(image))
            kept = self._pictures[image] = await asyncio.shield(coming)
            while sum(map(len, self._pictures.values())) > KEPT_PICTURES:
                self._pictures.popitem(last=False)
        return kept

    def _told(self, now: Progress) -> dict[str, Any]:
        """A participant's next question. Trials and attention checks look alike."""
        told: dict[str, Any] = {"done": now.done, "total": now.total, "question": None}
        if now.current is not None:
            practice = now.current.kind == "practice"
            told["question"] = {
                "place": now.current.place,
                "practice": practice,
                **shown(self._study.questions[now.current.question], now.current.mirrored),
            }
            told["break"] = not practice and now.done > 0 and now.done % self._break_every == 0
            told["ahead"] = None if now.ahead is None else now.ahead.place
        return told

    def _invited(self, file: sqlite3.Connection, token: str) -> int:
        person = person_of(file, token)
        if person is None:
            raise Refused(404, "this invitation is not known here: check the address")
        return person

    async def _experimenter(self, request: Request) -> Response:
        return render(request, "choose/results.html.j2", title="Choose the stronger boundary")

    async def _results(self, request: Request) -> Response:
        try:
            attentive = float(request.query_params.get("attentive", "0"))
        except ValueError:
            attentive = -1.0
        if not 0 <= attentive <= 1:
            raise Refused(400, "attentive: expected a share between 0 and 1")

        def look(file: sqlite3.Connection) -> dict[str, Any]:
            rows = results.all_answers(file)
            people = results.participants(file, self._study, rows)
            return results.summary(self._study, rows, people, attentive=attentive)

        began = time.monotonic()
        made, took, found = self._summaries.get(attentive, (0.0, 0.0, None))
        if found is None or began - made > LOOKING_ON * took:
            found = await self._state.read(look)
            if len(self._summaries) > 8:
                self._summaries.clear()
            self._summaries[attentive] = (time.monotonic(), time.monotonic() - began, found)
        return answer(found)

    async def _invite(self, request: Request) -> Response:
        count = field(await read_json(request), "count", int, low=1, high=100)

        def make(file: sqlite3.Connection) -> list[str]:
            (there,) = file.execute("SELECT count(*) FROM choose_people").fetchone()
            if there + count > MOST_INVITATIONS:
                raise Refused(409, f"there are {there} invitations: {MOST_INVITATIONS} at most")
            return [invite(file, self._study, self._design) for _ in range(count)]

        return answer({"links": [f"/take/{token}" for token in await self._state.write(make)]})

    async def _export(self, request: Request) -> Response:
        name = request.url.path.removeprefix("/")

        def look(file: sqlite3.Connection) -> str:
            rows = results.all_answers(file)
            return results.answer_table(rows) if name == "answers.csv" else results.full_table(self._study, rows)

        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(await self._state.read(look), media_type="text/csv; charset=utf-8", headers=headers)
