"""Where text for people goes."""

from __future__ import annotations

import os
import sys
from typing import IO

from rich.console import Console


def wide_console(file: IO[str] | None = None, *, stderr: bool = False, columns: int = 200) -> Console:
    """A console that wraps at the width of a terminal, but not at rich's 80 columns when writing to a file."""
    stream = file or (sys.stderr if stderr else sys.stdout)
    terminal = stream.isatty() or ("COLUMNS" in os.environ and file is None)
    # emoji=False: ":x:" in a file name is not a cross.
    return Console(file=file, stderr=stderr, highlight=False, emoji=False, width=None if terminal else columns)
