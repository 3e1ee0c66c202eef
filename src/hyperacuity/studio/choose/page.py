"""The page of the two-alternative forced choice: which of two pieces of boundary is stronger?

Participants come by invitation (``/take/TOKEN``) and see their own plan, question by question. The experimenter's pages lie
behind a token of their own. What participants are sent comes from questions and plans, which do not know the key.

References
----------
Hou, Yuille & Koch (2013), section 3 and Fig. 2.
"""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
import time
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hyperacuity.errors import InputError, UsageError
from hyperacuity.studio.cache import Cache
from hyperacuity.studio.choose import long, plan, results
from hyperacuity.studio.choose.plan import Design, Progress
from hyperacuity.studio.choose.session import (
    PLAIN,
    Session,
    give_consent,
    has_answered_about,
    has_consented,
    require_consent,
    store_about,
)
from hyperacuity.studio.choose.trials import PICTURE_ROOM, Study, as_dict, side_of
from hyperacuity.studio.items import Item, png, read_photograph, reason
from hyperacuity.studio.state import State
from hyperacuity.studio.web import Page, Refused, field, read_json, render

TITLE = "Choose the stronger boundary"

IDLE = 10
"""After results were computed, that many times as long passes before they are again: an onlooker must not slow participants
down."""

MAX_INVITATIONS = 1000


class ChoosePage:
    """The experiment on a study: after ``break_every`` trials a break, before each a cross for ``fixation`` seconds.

    ``UsageError`` when the state holds answers to other trials.
    """

    def __init__(
        self,
        study: Study,
        state: State,
        design: Design,
        *,
        break_every: int = 50,
        fixation: float = 0.5,
        session: Session = PLAIN,
    ) -> None:
        self._study = study
        self._state = state
        self._design = design
        self._break_every = break_every
        self._fixation = fixation
        self._session = session
        self._pictures: Cache[bytes] = Cache(len, room=PICTURE_ROOM, values=study.pictures)
        self._summaries: dict[float, tuple[float, float, dict[str, Any] | None]] = {}
        self._inviting = asyncio.Lock()
        self._secret = state.write_now(self._claim)

    @property
    def page(self) -> Page:
        """The page to serve."""
        routes = [
            Route("/", self._experimenter),
            Route("/results", self._results),
            Route("/invitations", self._invite, methods=["POST"]),
            Route("/answers.csv", self._export),
            Route("/everything.csv", self._export),
            Route("/data.csv", self._export),
            Route("/codebook.csv", self._export),
            Route("/take/{token}", self._participant),
            Route("/take/{token}/consent", self._consent, methods=["POST"]),
            Route("/take/{token}/about", self._about, methods=["POST"]),
            Route("/take/{token}/next", self._next),
            Route("/take/{token}/picture/{position}", self._picture),
            Route("/take/{token}/answer", self._answer, methods=["POST"]),
        ]
        return Page(TITLE, routes, guests=("/take/",), max_body=4096)

    def ensure_invitations(self, count: int) -> list[str]:
        """Create invitations until there are at least ``count``; returns the tokens of all, in order."""
        for _ in range(count - len(self._state.read_now(plan.tokens))):
            plan.invite(self._state, self._study, self._design)
        return self._state.read_now(plan.tokens)

    def _claim(self, file: sqlite3.Connection) -> str:
        """Make the file this study's; returns the secret of its completion codes, a new one where there was none."""
        if plan.read_setting(file, "trials") not in (None, self._study.digest):
            raise UsageError(f"{self._state.path} holds answers to other trials: choose another file with `state=`")
        plan.store_setting(file, "trials", self._study.digest)
        secret = plan.read_setting(file, "secret") or secrets.token_hex(32)
        plan.store_setting(file, "secret", secret)
        return secret

    async def _participant(self, request: Request) -> Response:
        token, session = request.path_params["token"], self._session

        def look(file: sqlite3.Connection) -> tuple[Progress, bool, bool]:
            person = self._invited(file, token)
            consented = has_consented(file, person, session)
            return plan.progress(file, self._study, person), consented, has_answered_about(file, person)

        now, consented, answered = await self._state.read(look)
        started = now.done > 0 or (now.current is not None and now.current.position > 0)
        base = f"/take/{token}"
        facts = {"base": base, "total": now.total, "started": started, "fixation": self._fixation}
        facts |= {"consented": consented, "answered": answered or not session.questions, "enlarge": session.enlarge}
        title = "Which boundary is stronger?"
        return render(request, "choose/take.html.j2", title=title, facts=facts, session=session)

    async def _consent(self, request: Request) -> Response:
        token = request.path_params["token"]
        if not field(await read_json(request), "agreed", bool):
            raise Refused(400, "agreed: expected that you agree")
        await self._state.write(lambda file: give_consent(file, self._invited(file, token), self._session))
        return JSONResponse({"consented": True})

    async def _about(self, request: Request) -> Response:
        token = request.path_params["token"]
        answers = field(await read_json(request), "answers", list, high=50)
        await self._state.write(lambda file: store_about(file, self._invited(file, token), self._session, answers))
        return JSONResponse({"answered": True})

    async def _next(self, request: Request) -> Response:
        return JSONResponse(self._question(await self._progress(request), request.path_params["token"]))

    async def _answer(self, request: Request) -> Response:
        token = request.path_params["token"]
        values = await read_json(request)
        position = field(values, "position", int, low=0, high=10**6)
        side = field(values, "side", str)
        if side not in ("left", "right"):
            raise Refused(400, "side: expected left or right")
        seconds = field(values, "seconds", float, low=0, high=86400)
        away = field(values, "away", bool)

        def record(file: sqlite3.Connection) -> dict[str, Any]:
            person = self._invited(file, token)
            require_consent(file, person, self._session)
            entry = plan.entry_at(file, person, position)
            before = plan.progress(file, self._study, person)
            if entry is None or entry.question not in self._study.questions:
                raise Refused(404, "there is no such question")
            if before.current is not None and position > before.current.position:
                raise Refused(409, "this question comes later: reload the page")
            plan.record(file, self._study, person, entry, side=side, seconds=seconds, away=away)
            following = self._question(plan.progress(file, self._study, person), token)
            if entry.kind == "practice":
                question = self._study.questions[entry.question]
                following["right"] = side_of(question, self._study.obvious[entry.question], entry.mirrored) == side
            return following

        return JSONResponse(await self._state.write(record))

    async def _picture(self, request: Request) -> Response:
        now, position = await self._progress(request), request.path_params["position"]
        near = {str(one.position): one for one in (now.current, now.ahead) if one is not None}
        if position not in near:
            raise Refused(404, "there is no such picture")
        image = self._study.questions[near[position].question].image
        path = self._study.photographs[image]
        try:
            content = await self._pictures.fetch(image, lambda: png(read_photograph(path)))
        except InputError as error:
            raise Refused(422, f"this picture: {reason(error, Item('', 'this picture', path))}") from error
        return Response(content, media_type="image/png", headers={"Cache-Control": "private, max-age=600"})

    async def _progress(self, request: Request) -> Progress:
        token = request.path_params["token"]

        def look(file: sqlite3.Connection) -> Progress:
            person = self._invited(file, token)
            require_consent(file, person, self._session)
            return plan.progress(file, self._study, person)

        return await self._state.read(look)

    def _question(self, now: Progress, token: str) -> dict[str, Any]:
        """A participant's next question, or their completion code. Trials and attention checks look alike."""
        if now.current is None:
            code = self._session.code(token, self._secret)
            return {"done": now.done, "total": now.total, "question": None} | ({} if code is None else {"code": code})
        practice = now.current.kind == "practice"
        marks = as_dict(self._study.questions[now.current.question], now.current.mirrored, self._study.size)
        return {
            "done": now.done,
            "total": now.total,
            "question": {"position": now.current.position, "practice": practice, **marks},
            "break": not practice and now.done > 0 and now.done % self._break_every == 0,
            "ahead": None if now.ahead is None else now.ahead.position,
        }

    def _invited(self, file: sqlite3.Connection, token: str) -> int:
        person = plan.person_of(file, token)
        if person is None:
            raise Refused(404, "this invitation is not known here: check the address")
        return person

    async def _experimenter(self, request: Request) -> Response:
        return render(request, "choose/results.html.j2", title=TITLE)

    async def _results(self, request: Request) -> Response:
        try:
            attentive = float(request.query_params.get("attentive", "0"))
        except ValueError:
            attentive = -1.0
        if not 0 <= attentive <= 1:
            raise Refused(400, "attentive: expected a share between 0 and 1")

        def look(file: sqlite3.Connection) -> dict[str, Any]:
            rows = results.all_answers(file)
            people = results.participants(file, self._study, rows, hasty=self._session.hasty)
            summary = results.summary(self._study, rows, people, attentive=attentive)
            for row, one in zip(summary["people"], people, strict=True):
                finished = one.total and one.done == one.total
                row["code"] = self._session.code(one.token, self._secret) if finished else None
            return summary

        began = time.monotonic()
        computed, took, summary = self._summaries.get(attentive, (0.0, 0.0, None))
        if summary is None or began - computed > IDLE * took:
            summary = await self._state.read(look)
            if len(self._summaries) > 8:
                self._summaries.clear()
            self._summaries[attentive] = (time.monotonic(), time.monotonic() - began, summary)
        return JSONResponse(summary)

    async def _invite(self, request: Request) -> Response:
        count = field(await read_json(request), "count", int, low=1, high=100)
        async with self._inviting:
            invited = len(await self._state.read(plan.tokens))
            if invited + count > MAX_INVITATIONS:
                raise Refused(409, f"there are {invited} invitations: {MAX_INVITATIONS} at most")
            # One after the other, so that answers get in between.
            tokens = [
                await asyncio.to_thread(plan.invite, self._state, self._study, self._design) for _ in range(count)
            ]
        return JSONResponse({"links": [f"/take/{token}" for token in tokens]})

    async def _export(self, request: Request) -> Response:
        name = request.url.path.removeprefix("/")

        def look(file: sqlite3.Connection) -> str:
            if name == "data.csv":
                return long.long_table(file, self._study, self._session)
            if name == "codebook.csv":
                return long.codebook(file, self._session)
            rows = results.all_answers(file)
            return results.answer_table(rows) if name == "answers.csv" else results.full_table(self._study, rows)

        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(await self._state.read(look), media_type="text/csv; charset=utf-8", headers=headers)
