"""A page that follows runs while a job writes to them: it refreshes by itself, and only reads what has changed.

One thread reads the runs, while somebody has the page open. The page asks every few seconds whether there is anything new.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from hyperacuity.errors import HyperacuityError
from hyperacuity.report.over_time.facts import state_of, verdict_facts
from hyperacuity.report.over_time.pages import assets, page_html, small_picture, title_of
from hyperacuity.report.over_time.timelines import Timeline, WatchedRuns
from hyperacuity.studio.cache import Cache
from hyperacuity.studio.web import Page, Refused, log
from hyperacuity.tally import plain

PATIENCE = 15.0
"""Seconds after which a page that has not asked is taken for closed."""

SHARE = 0.2
"""The part of a processor that looking may take: runs that take long to read are read less often."""

KINDS = {"js": "text/javascript", "css": "text/css"}


class WatchPage:
    """Serve runs that :meth:`WatchedRuns.refresh` has read once; ``every`` is how many seconds the page waits to ask again."""

    def __init__(self, runs: WatchedRuns, *, title: str = "", every: float = 2.0) -> None:
        self._runs, self._title, self._every = runs, title or title_of(runs), every
        self._session = secrets.token_hex(4)  # versions of another server mean nothing here
        self._changed = time.time()
        self._asked = time.monotonic()
        self._wanted, self._ended = threading.Event(), threading.Event()
        self._small = Cache[bytes](len, room=64 << 20)

    def __enter__(self) -> WatchPage:
        threading.Thread(target=self._look_again, daemon=True).start()
        threading.Thread(target=assets, daemon=True).start()  # the charts' library takes a second to put together
        if self._runs.human:
            threading.Thread(target=self._score_people, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._wanted.set()

    @property
    def page(self) -> Page:
        """The page with its routes."""
        routes = [
            Route("/", self.front),
            Route("/assets/{name}", self.asset),
            Route("/state", self.state),
            Route("/test", self.test),
            Route("/picture/{timeline}/{image}", self.picture),
        ]
        return Page(f"{self._title} over time", routes)

    def _look_again(self) -> None:
        """Look for changes while somebody has the page open."""
        while not self._ended.is_set():
            if time.monotonic() - self._asked > PATIENCE:
                self._wanted.wait()
                self._wanted.clear()
            began = time.thread_time()
            try:
                if self._runs.refresh():
                    self._changed = time.time()
            except Exception:  # one look that fails does not end the page
                log.exception("the runs could not be looked at")
            took = time.thread_time() - began
            self._ended.wait(max(self._every / 2, took * (1 - SHARE) / SHARE))

    def _score_people(self) -> None:
        while not self._ended.is_set():
            try:
                if self._runs.score_people():
                    self._changed = time.time()
            except HyperacuityError as error:
                log.warning("people are not scored: %s", error)
            self._ended.wait(5)

    def _facts(self, since: int) -> dict[str, Any]:
        mark = f"{self._session}-{self._runs.version}"
        return {**state_of(self._runs, since), "mark": mark, "every": self._every, "changed": self._changed}

    async def front(self, request: Request) -> Response:
        """The page as it stands."""
        self._ask()
        return HTMLResponse(await asyncio.to_thread(lambda: page_html(self._title, self._facts(-1), served=True)))

    async def asset(self, request: Request) -> Response:
        """Script, style or charts library."""
        name = request.path_params["name"]
        content = (await asyncio.to_thread(assets)).get(name)
        if content is None:
            raise Refused(404, "there is no such file")
        return Response(content, media_type=KINDS[name.rpartition(".")[2]])

    async def state(self, request: Request) -> Response:
        """Changes since the version that the page has; nothing (204) where there are none."""
        self._ask()
        session, _, version = request.query_params.get("since", "").partition("-")
        since = _number(version) if session == self._session else -1
        if since == self._runs.version:
            return Response(status_code=204)
        return JSONResponse(plain(await asyncio.to_thread(self._facts, since)))

    async def test(self, request: Request) -> Response:
        """Significance of the difference between two points."""
        asked = request.query_params
        timeline = self._timeline(asked.get("timeline", ""))
        first, second = asked.get("first", ""), asked.get("second", "")
        if not {first, second} <= timeline.points.keys():
            raise Refused(404, "there is no such point")
        verdict = await asyncio.to_thread(self._runs.test, timeline, first, second)
        return JSONResponse({"test": plain(verdict_facts(verdict))})

    async def picture(self, request: Request) -> Response:
        """A small picture of an image; nothing (204) where it cannot be read."""
        timeline, place = self._timeline(request.path_params["timeline"]), _number(request.path_params["image"])
        if not 0 <= place < len(timeline.images):
            raise Refused(404, "there is no such image")
        small = await asyncio.to_thread(self._picture, timeline, timeline.images[place])
        headers = {"Cache-Control": "private, max-age=3600"}
        return Response(small, media_type="image/webp", headers=headers) if small else Response(status_code=204)

    def _picture(self, timeline: Timeline, image: str) -> bytes:
        path = self._runs.picture(timeline, image)
        return b"" if path is None else self._small.get(str(path), lambda: small_picture(path))

    def _timeline(self, number: str) -> Timeline:
        timelines, place = self._runs.timelines, _number(number)
        if not (0 <= place < len(timelines) and timelines[place].columns):
            raise Refused(404, "there is no such timeline")
        return timelines[place]

    def _ask(self) -> None:
        self._asked = time.monotonic()
        self._wanted.set()


def _number(text: str) -> int:
    """A number from a request; -1 for other texts, and for numbers out of range."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
