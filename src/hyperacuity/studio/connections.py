"""Close idle and stalled connections, so that they keep nobody out.

uvicorn waits for ever for a request that arrives byte by byte, or not at all, and for a visitor who takes nothing of an answer.
Here a request has to be whole within :data:`REQUEST_SECONDS`; of an answer something has to be taken every
:data:`ANSWER_SECONDS`; and of more than :data:`MOST_CONNECTIONS`, the one that has kept us waiting longest for a request is
closed (the newest, where all others are busy).
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_SECONDS = 20.0
ANSWER_SECONDS = 30.0
MOST_CONNECTIONS = 500
"""Well below the usual limit of 1024 open files."""

_ARRIVING = (h11.IDLE, h11.SEND_BODY)
"""States of a client whose request is not whole yet."""


class ImpatientProtocol(H11Protocol):
    """HTTP with time limits for requests and answers."""

    _deadline: asyncio.TimerHandle | None = None
    _since = 0.0
    _next_look: asyncio.TimerHandle | None = None
    _unsent = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Take a connection, and close another one where there are too many."""
        super().connection_made(transport)
        self._await_request()
        self._look()
        if len(self.connections) > MOST_CONNECTIONS:
            idle: list[Any] = [one for one in self.connections if getattr(one, "_deadline", None) is not None]
            if idle:
                min(idle, key=lambda one: one._since).give_up()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request; once it is whole, its deadline ends."""
        super().data_received(data)
        if self.conn.their_state in _ARRIVING:
            self._await_request()
        else:
            self._forget_deadline()

    def on_response_complete(self) -> None:
        """Wait for the next request; while none comes, others have precedence."""
        super().on_response_complete()
        if self.conn.their_state in _ARRIVING and not self.transport.is_closing():
            self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._forget_deadline()
        if self._next_look is not None:
            self._next_look.cancel()
        super().connection_lost(exc)

    def give_up(self) -> None:
        """Close a connection whose request did not come."""
        self._deadline = None
        if not self.transport.is_closing():
            self.transport.abort()

    def _look(self) -> None:
        """Close a connection that has taken nothing of what waits for it since the last look."""
        unsent = self.transport.get_write_buffer_size()
        if unsent and unsent == self._unsent:
            self.transport.abort()
            return
        self._unsent = unsent
        self._next_look = self.loop.call_later(ANSWER_SECONDS, self._look)

    def _await_request(self) -> None:
        if self._deadline is None:
            self._since = time.monotonic()
            self._deadline = self.loop.call_later(REQUEST_SECONDS, self.give_up)

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
