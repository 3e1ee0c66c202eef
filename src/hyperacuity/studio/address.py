"""Addresses of the last session: links that people saved stay good when the studio is started again."""

from __future__ import annotations

from hyperacuity.errors import UsageError
from hyperacuity.studio.server import Address, listen
from hyperacuity.studio.state import State, insert
from hyperacuity.studio.web import log


def read_address(state: State, page: str) -> Address | None:
    """Address at which a page was served last; None if it never was."""
    query = "SELECT base, token, port FROM studio_addresses WHERE page = ?"
    row = state.read_now(lambda file: file.execute(query, (page,)).fetchone())
    return None if row is None else Address(*row)


def write_address(state: State, page: str, address: Address) -> None:
    """Store where a page is served."""
    row = (page, address.base, address.port, address.token)
    state.write_now(lambda file: insert(file, "studio_addresses", *row, conflict="REPLACE"))


def last_or_free(host: str, port: int, last: int | None, what: str = "links") -> int:
    """The port that is asked for, or else (0) that of last time if it is free, or else 0: any. ``what`` names the last one."""
    if port == 0 and last is not None:
        try:
            listen(host, last).close()
        except UsageError:
            log.warning("port %s, which earlier %s name, is taken: their links need another port now", last, what)
        else:
            return last
    return port
