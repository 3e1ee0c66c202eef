"""The port and the token of last time: links that were sent out stay good when the studio is started again."""

from __future__ import annotations

from hyperacuity.studio.address import last_or_free
from hyperacuity.studio.choose.plan import read_setting, store_setting
from hyperacuity.studio.server import Address
from hyperacuity.studio.state import State


def last_address(state: State, host: str, port: int) -> tuple[str | None, int]:
    """The experimenter's token of last time, and the port: the one that is asked for, or else that of last time if it is free."""
    token, last = state.read_now(lambda file: (read_setting(file, "token"), read_setting(file, "port")))
    return token, last_or_free(host, port, None if last is None else int(last), "invitations")


def store_address(state: State, address: Address) -> None:
    """Store what :func:`last_address` finds."""
    state.write_now(lambda file: store_setting(file, "port", str(address.port)))
    state.write_now(lambda file: store_setting(file, "token", address.token))
