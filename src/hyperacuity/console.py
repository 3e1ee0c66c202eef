"""Text for people: printable names, and consoles."""

from __future__ import annotations

import os
import sys
import unicodedata
from typing import IO

from rich.console import Console

JOINERS = "\u200c\u200d"
"""Marks without width that belong to words of some scripts."""


def wide_console(
    file: IO[str] | None = None, *, stderr: bool = False, columns: int = 200, kind: type[Console] = Console
) -> Console:
    """A console that wraps at the width of a terminal, but not at rich's 80 columns when writing to a file."""
    stream = file or (sys.stderr if stderr else sys.stdout)
    terminal = stream.isatty() or ("COLUMNS" in os.environ and file is None)
    # emoji=False: ":x:" in a file name is not a cross.
    return kind(file=file, stderr=stderr, highlight=False, emoji=False, width=None if terminal else columns)


def printable(text: str) -> str:
    """The text with what a terminal would obey, and bytes of a name that are no UTF-8, written out.

    Names of files may hold anything. Line ends and escape codes become ``\\n`` and ``\\x1b``, a byte that could not be decoded
    ``\\xff``; marks that turn the direction of writing are written out too.

    >>> printable("bear\\x1b[31m\\n.png"), printable(os.fsdecode(b"b\\xffr.png")), printable("größer 図")
    ('bear\\\\x1b[31m\\\\n.png', 'b\\\\xffr.png', 'größer 図')
    """
    return "".join(_written_out(letter) for letter in text)


def _written_out(letter: str) -> str:
    if "\udc80" <= letter <= "\udcff":  # what os.fsdecode makes of a byte that is no UTF-8
        return f"\\x{ord(letter) - 0xDC00:02x}"
    if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") and letter not in JOINERS:
        return letter.encode("unicode_escape").decode()
    return letter


def folder_name(name: str) -> str:
    """A name as one for a folder inside another: without separators, and never the folder itself or the one above.

    >>> folder_name("a/b"), folder_name(".."), folder_name("canny")
    ('a_b', '__', 'canny')
    """
    plain = printable(name).replace("/", "_").replace("\\", "_")
    return plain if plain.strip(".") else "_" * len(plain)
