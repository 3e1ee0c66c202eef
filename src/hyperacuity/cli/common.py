"""What the verbs share: where output goes, how JSON is written, how failures are told."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from hyperacuity.errors import UsageError

messages = Console(stderr=True, highlight=False)
"""Standard error: progress, warnings, what failed."""

results = Console(highlight=False)
"""Standard output: tables for people. Never used together with ``--json``."""


def print_json(value: Mapping[str, Any]) -> None:
    """Write one JSON object to standard output. NaN and infinity, which JSON lacks, become ``null``."""
    json.dump(_plain(value), sys.stdout, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")


def _plain(value: Any) -> Any:
    """Numpy scalars and arrays, paths and tuples as what JSON knows."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Sequence | set | frozenset) and not isinstance(value, str | bytes):
        return [_plain(item) for item in (sorted(value) if isinstance(value, set | frozenset) else value)]
    return value


def warn(sentence: str) -> None:
    """One line about what is legal but probably wrong."""
    messages.print(f"[yellow]warning:[/] {escape(sentence)}")


def tell_failures(failures: Iterable[tuple[str, str]]) -> int:
    """Name what failed, (item, reason) each, on standard error; the exit status that follows from it (0 or 1)."""
    failed = list(failures)
    for item, reason in failed:
        messages.print(f"[red]failed:[/] {escape(item)}: {escape(reason)}")
    return 1 if failed else 0


def named_systems(options: Sequence[str]) -> dict[str, Path]:
    """The ``--system NAME=DIR`` options, in the order given; a plain ``DIR`` is named after its folder."""
    systems: dict[str, Path] = {}
    for option in options:
        name, found, folder = option.partition("=")
        path = Path(folder if found else name)
        name = name if found else path.resolve().name
        if not name or name in systems:
            raise UsageError(
                f"--system {option}: {'the name is empty' if not name else f'the name {name} is taken twice'}"
            )
        if not path.exists():
            raise UsageError(f"--system {option}: there is no folder {path}")
        systems[name] = path
    return systems


def output_folder(path: Path) -> Path:
    """Make the folder if need be, and be sure that it can be written to before hours of work go into it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".hyperacuity-write-test"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise UsageError(f"cannot write to {path}: {error.strerror}") from error
    return path
