"""Where results go: text for people, and folders that can be written to."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO

from rich.console import Console

from hyperacuity.errors import UsageError


def wide_console(file: IO[str] | None = None, *, stderr: bool = False, columns: int = 200) -> Console:
    """A console that wraps at the width of a terminal, but not at rich's 80 columns when writing to a file."""
    stream = file or (sys.stderr if stderr else sys.stdout)
    terminal = stream.isatty() or ("COLUMNS" in os.environ and file is None)
    # emoji=False: ":x:" in a file name is not a cross.
    return Console(file=file, stderr=stderr, highlight=False, emoji=False, width=None if terminal else columns)


def output_folder(path: Path) -> Path:
    """Create the folder if missing, and make sure that it can be written to before hours of work go into it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".hyperacuity-write-test"
        probe.touch()
        probe.unlink(missing_ok=True)
    except FileExistsError as error:
        raise UsageError(f"cannot write to {path}: it is a file, expected a folder") from error
    except OSError as error:
        raise UsageError(f"cannot write to {path}: {error.strerror}") from error
    return path
