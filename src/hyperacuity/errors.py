"""The errors a user can act on. Each carries one sentence: what was found, where, and what was expected.

Sentences name options as Python writes them, between backticks: "use `force=True`"; :func:`option` writes one with its value.
The command line prints them as its own options, wherever a sentence went in between: an error, a warning, a reason in a run.
"""

from __future__ import annotations

import ast
import re
import shlex
from os import PathLike, fspath
from typing import Any

OPTION = re.compile(r"`([a-z_]+)=([^`]*)`")
"""An option in a sentence, by its name and its value as Python writes it."""


def option(name: str, value: Any) -> str:
    """An option with its value, for a sentence.

    >>> option("split", "test"), option("mask", {"sky": "masks/sky"})
    ("`split='test'`", "`mask={'sky': 'masks/sky'}`")
    """
    return f"`{name}={(fspath(value) if isinstance(value, PathLike) else value)!r}`"


class HyperacuityError(Exception):
    """Base of every error this package raises on purpose."""

    @property
    def options(self) -> dict[str, Any]:
        """The options that the sentence names, with their values; a value that is only a placeholder is a text.

        >>> UsageError("`split='test'` is for known data sets").options
        {'split': 'test'}
        """
        return {name: value_of(text) for name, text in OPTION.findall(str(self))}


class InputError(HyperacuityError, ValueError):
    """A file or array that cannot be right. It fails its own item; the rest of the run goes on (exit status 1)."""


class UsageError(HyperacuityError, ValueError):
    """A call that cannot be carried out at all: no such folder, nothing to do, a contradiction (exit status 2)."""


def not_installed(what: str, extra: str) -> UsageError:
    """The error for a package that an extra would have brought, with a call of pip that works wherever this package came from."""
    from importlib.metadata import requires

    def packages(extra: str) -> list[str]:
        found: list[str] = []
        for line in requires("hyperacuity") or []:
            name, _, condition = (part.strip() for part in line.partition(";"))
            if re.fullmatch(rf"extra == ['\"]{extra}['\"]", condition):
                inner = re.fullmatch(r"hyperacuity\[(.*)\]", name)
                found += packages(inner[1]) if inner else [name]
        return found

    # An installation that is older than the extra knows nothing of its packages.
    return UsageError(f"{what}: pip install {shlex.join(packages(extra) or [f'hyperacuity[{extra}]'])}")


def value_of(text: str) -> Any:
    """The value that an option has in a sentence; a text that is no literal stands for itself."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
