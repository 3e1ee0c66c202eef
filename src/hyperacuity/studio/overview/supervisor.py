"""The organiser: one secret per page, in a link that only the terminal shows."""

from __future__ import annotations

import hmac
import os
import secrets
import sqlite3

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hyperacuity.studio.security import cookie_name, enter
from hyperacuity.studio.server import Address
from hyperacuity.studio.state import State, insert
from hyperacuity.studio.web import Refused


class Supervisor:
    """Lets in whoever has opened the link that the terminal shows. Annotators, who have the studio's token, do not have it."""

    def __init__(self, state: State, page: str) -> None:
        self._cookie = cookie_name(f"supervisor-{page}", os.fsencode(state.path.resolve()))
        self._secret = state.write_now(lambda file: _secret_of(file, page))

    @property
    def routes(self) -> list[Route]:
        """``GET /supervise/SECRET``: sign this browser in as the organiser."""
        return [Route("/supervise/{secret}", self._come_in)]

    def link(self, address: Address) -> str:
        """The link to the overview, for the organiser."""
        return f"{address.base}/supervise/{self._secret}" + (f"?token={address.token}" if address.token else "")

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


def _secret_of(file: sqlite3.Connection, page: str) -> str:
    insert(file, "studio_supervisors", page, secrets.token_urlsafe(24), conflict="IGNORE")
    secret: str = file.execute("SELECT secret FROM studio_supervisors WHERE page = ?", (page,)).fetchone()[0]
    return secret
