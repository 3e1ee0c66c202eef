"""Signatures: a protocol as one line of text, and numbers as signatures print them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Self

from hyperacuity.errors import InputError


@dataclass(frozen=True)
class Signature:
    """A protocol as a value that prints as one line, ``task|key:value|…|v:version``; the line stands beside every score.

    Two scores are comparable when their signatures are equal.

    >>> Signature.of("boundary", 1, tol="0.0075diag", thin="guo-hall", thr=99)
    boundary|tol:0.0075diag|thin:guo-hall|thr:99|v:1
    >>> Signature.parse("boundary|thr:99|v:1").with_parts(truth="inverted")
    boundary|thr:99|truth:inverted|v:1
    """

    task: str
    version: int
    parts: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, task: str, version: int, /, **parts: object) -> Self:
        """The signature with these parts, in this order."""
        return cls(task, version, tuple((key, str(value)) for key, value in parts.items()))

    @classmethod
    def parse(cls, line: str) -> Self:
        """The inverse of ``str``. ``InputError`` for a line that is no signature."""
        task, *parts = line.split("|")
        pairs = [tuple(part.split(":", 1)) for part in parts]
        if not task or not pairs or any(len(pair) != 2 for pair in pairs) or not re.fullmatch(r"v:\d+", parts[-1]):
            raise InputError(f"{line!r} is no signature, expected task|key:value|…|v:version")
        return cls(task, int(pairs[-1][1]), tuple((key, value) for key, value in pairs[:-1]))

    def with_parts(self, **more: object) -> Self:
        """The signature with further parts before the version."""
        return replace(self, parts=(*self.parts, *((key, str(value)) for key, value in more.items())))

    def differences(self, other: Signature) -> list[str]:
        """Differences of two signatures, in words; empty when they are equal.

        >>> Signature.parse("boundary|thr:99|v:1").differences(Signature.parse("boundary|thr:19|nms:none|v:1"))
        ['thr is 99 in one and 19 in the other', 'nms is missing in one and none in the other']
        """
        mine, theirs = ({"task": s.task, **dict(s.parts), "version": str(s.version)} for s in (self, other))
        return [
            f"{key} is {mine.get(key, 'missing')} in one and {theirs.get(key, 'missing')} in the other"
            for key in dict.fromkeys((*mine, *theirs))
            if mine.get(key) != theirs.get(key)
        ]

    def __str__(self) -> str:
        return "|".join([self.task, *(f"{key}:{value}" for key, value in self.parts), f"v:{self.version}"])

    __repr__ = __str__


def number(value: float) -> str:
    """A number as signatures print it: short where that is exact, and never the same for two different numbers.

    >>> number(0.0075), number(3.0), number(0.1 + 0.2), number(1e-9)
    ('0.0075', '3', '0.30000000000000004', '1e-09')
    """
    value = float(value) + 0.0  # of the two zeros, which are equal, the one without a sign
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def count_or_list(value: int | str | tuple[float, ...]) -> str:
    """A count, a word, or a list of numbers as signatures print them; a list of one whole number keeps its point.

    >>> count_or_list(1), count_or_list((1.0,)), count_or_list((0.5,)), count_or_list((0.5, 1.0))
    ('1', '1.0', '0.5', '0.5,1')
    """
    if not isinstance(value, tuple):
        return str(value)
    printed = ",".join(map(number, value))
    return f"{printed}.0" if printed.isdigit() else printed
