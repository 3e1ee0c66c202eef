"""The errors a user can act on. Each carries one sentence: what was found, where, and what was expected."""

from __future__ import annotations

import re
import shlex


class HyperacuityError(Exception):
    """Base of every error this package raises on purpose."""


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

    return UsageError(f"{what}: pip install {shlex.join(packages(extra) or [f'hyperacuity[{extra}]'])}")
