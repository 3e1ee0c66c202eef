"""The port and the token of last time: links that were sent out stay good when the studio is started again."""

from __future__ import annotations

from hyperacuity.errors import UsageError
from hyperacuity.studio.choose.plan import read_setting, store_setting
from hyperacuity.studio.server import Address, listen
from hyperacuity.studio.state import State
from hyperacuity.studio.web import log


def last_address(state: State, host: str, port: int) -> tuple[str | None, int]:
    """The experimenter's token of last time, and the port: the one that is asked for, or else that of last time if it is free."""
    token, last = state.read_now(lambda file: (read_setting(file, "token"), read_setting(file, "port")))
    if port == 0 and last is not None:
        try:
            listen(host, int(last)).close()
            port = int(last)
        except UsageError:
            log.warning("port %s, which earlier invitations name, is taken: their links need another port now", last)
    return token, port


def store_address(state: State, address: Address) -> None:
    """Store what :func:`last_address` finds."""
    state.write_now(lambda file: store_setting(file, "port", str(address.port)))
    state.write_now(lambda file: store_setting(file, "token", address.token))
