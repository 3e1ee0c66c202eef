"""Connections that ask for nothing do not keep others out.

uvicorn waits for ever for a request that arrives byte by byte, or not at all. Here a request has to be whole within
:data:`REQUEST_SECONDS`; and of more than :data:`MOST_CONNECTIONS`, the one that has kept us waiting longest is closed.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_SECONDS = 20.0
MOST_CONNECTIONS = 500
"""Well below the usual limit of 1024 open files."""

_ARRIVING = (h11.IDLE, h11.SEND_BODY)
"""What a client may be at before its request is whole."""


class ImpatientProtocol(H11Protocol):
    """HTTP for which requests arrive whole in good time, or not at all."""

    _deadline: asyncio.TimerHandle | None = None
    _since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Take a connection, and close another one where there are too many."""
        super().connection_made(transport)
        self._await_request()
        if len(self.connections) > MOST_CONNECTIONS:
            idle: list[Any] = [one for one in self.connections if getattr(one, "_deadline", None) is not None]
            if idle:
                min(idle, key=lambda one: one._since).give_up()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request; once it is whole, nobody is waited for."""
        super().data_received(data)
        if self.conn.their_state in _ARRIVING:
            self._await_request()
        else:
            self._forget_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._forget_deadline()
        super().connection_lost(exc)

    def give_up(self) -> None:
        """Close a connection whose request did not come."""
        self._deadline = None
        if not self.transport.is_closing():
            self.transport.abort()

    def _await_request(self) -> None:
        if self._deadline is None:
            self._since = time.monotonic()
            self._deadline = self.loop.call_later(REQUEST_SECONDS, self.give_up)

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
