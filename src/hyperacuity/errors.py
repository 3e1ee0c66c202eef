"""The errors a user can act on. Each carries one sentence: what was found, where, and what was expected."""

from __future__ import annotations


class HyperacuityError(Exception):
    """Base of every error this package raises on purpose."""


class InputError(HyperacuityError, ValueError):
    """A file or array that cannot be right. It fails its own item; the rest of the run goes on (exit status 1)."""


class UsageError(HyperacuityError, ValueError):
    """A call that cannot be carried out at all: no such folder, nothing to do, a contradiction (exit status 2)."""
