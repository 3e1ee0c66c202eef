"""Small files that users give: models, notes, texts. Every way to be unreadable is one error that names the file."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

from hyperacuity.errors import InputError

MOST = 64_000_000
"""Most bytes of a small file, unless a reader says another number."""


def read_small(path: Path, expected: str, *, most: int = MOST) -> bytes:
    """Read a file whole. ``InputError`` for one that is missing, too large, or no plain file: a pipe would keep us waiting.

    ``expected`` says what it should be: "a few lines of TOML".
    """
    try:
        plain = stat.S_ISREG(path.stat().st_mode)
        if plain:
            with path.open("rb") as file:
                data = file.read(most + 1)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        raise InputError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from error
    if not plain:
        raise InputError(f"{path}: is not a plain file, expected {expected}")
    if len(data) > most:
        raise InputError(f"{path}: is larger than {most:,} bytes, expected {expected}")
    return data


def read_text(path: Path, expected: str, *, most: int = MOST) -> str:
    """Read a file of UTF-8 text."""
    try:
        return read_small(path, expected, most=most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text, expected {expected}") from error


def read_json(path: Path, what: str, *, most: int = MOST) -> dict[str, Any]:
    """Read a file with a JSON object. ``InputError`` says that it holds no ``what``: "model of pb"."""
    data = read_small(path, f"a {what}", most=most)
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: holds no {what} (not valid JSON: {_first_line(error)})") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}: holds no {what} (a {type(found).__name__}, not a JSON object)")
    return found


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
