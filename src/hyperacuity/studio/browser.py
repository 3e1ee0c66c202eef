"""Open an address in the browser without showing it to other users of the machine.

What a program is called with can be read by every user of a machine (``ps``), and the address holds the token. So the browser is
called with the name of a file that only its owner can read, and that leads to the address.
"""

from __future__ import annotations

import os
import tempfile
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from html import escape
from pathlib import Path

from hyperacuity.studio.web import log

KEPT_SECONDS = 60.0
"""Seconds that a browser may take to read the file."""

_FORWARD = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>hyperacuity</title>
<p><a href="{address}">Open the page</a></p>
"""


@contextmanager
def opened_in_browser(address: str) -> Iterator[None]:
    """Open an address in the browser while the block runs; a slow browser holds nothing up."""
    try:
        handle, name = tempfile.mkstemp(prefix="hyperacuity-", suffix=".html")  # for its owner alone: permissions 0600
        with os.fdopen(handle, "w", encoding="utf-8") as page:
            page.write(_FORWARD.format(address=escape(address)))
    except OSError as error:  # the address stands in the terminal too
        log.warning("the browser is not opened: cannot write a temporary file (%s)", error.strerror)
        yield
        return
    file = Path(name)
    ended = threading.Event()

    def show() -> None:
        webbrowser.open(file.as_uri())
        ended.wait(KEPT_SECONDS)
        _remove(file)

    threading.Thread(target=show, daemon=True).start()
    try:
        yield
    finally:
        ended.set()
        _remove(file)


def _remove(file: Path) -> None:
    with suppress(OSError):
        file.unlink(missing_ok=True)
