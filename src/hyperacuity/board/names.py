"""Texts of cards, fit to be shown: short, in one line, and nothing in them that a browser or a terminal would obey.

Markup is no concern here: templates escape everything. Names of files are never made of what a card says, only of digests.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

from hyperacuity.cards import canonical_name
from hyperacuity.console import printable

LONGEST_LABEL = 60
"""Names are cut to this many characters, except on the page of their own."""

ID_LETTERS = 12
"""Letters of a card's digest in addresses."""


def short(text: str, most: int = LONGEST_LABEL) -> str:
    r"""Text in one line, what turns the direction of writing and the like written out, cut where it is too long.

    >>> short("a\n b\x07"), short("long " * 9, most=8), short("  ")
    ('a b\\x07', 'long lo…', '(no name)')
    """
    line = printable(" ".join(text.split())) or "(no name)"
    return line if len(line) <= most else line[: most - 1] + "…"


def paragraphs(text: str) -> list[str]:
    r"""The lines of a text that are not empty, each fit to be shown.

    >>> paragraphs("one\r\n\r\ntwo\x1b")
    ['one', 'two\\x1b']
    """
    return [printable(line.strip()) for line in re.split(r"[\r\n]+", text) if line.strip()]


def labels_of(names: Sequence[str], ids: Sequence[str]) -> list[str]:
    """Names of systems on a leaderboard, with the start of the card's digest where two would look alike.

    >>> labels_of(["a", "b", "a"], ["12ab34cd", "56", "78ef90ab"])
    ['a · 12ab34', 'b', 'a · 78ef90']
    """
    shown = [short(canonical_name(name)) for name in names]
    often = Counter(shown)
    found = [name if often[name] == 1 else f"{name} · {id[:6]}" for name, id in zip(shown, ids, strict=True)]
    if len(set(found)) < len(found):  # somebody calls a system by another one's name and digest
        return [f"{name} · {id}" for name, id in zip(shown, ids, strict=True)]
    return found


def web_link(link: str) -> str:
    """The link where it leads to the web, else nothing: scripts and files are no links.

    >>> web_link("https://example.org/a?b=1"), web_link("javascript:alert(1)")
    ('https://example.org/a?b=1', '')
    """
    return link if re.fullmatch(r"https?://[!-~]{1,2000}", link) and not re.search(r"[\"'<>\\^`{|}]", link) else ""


def hashed(*parts: str, size: int = 6) -> str:
    """A short name for texts that may say anything: letters and digits, the same whenever the texts are.

    >>> len(hashed("../../etc/passwd"))
    12
    """
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()


def ordinal(number: int) -> str:
    """A place in words.

    >>> [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 22, 113)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '22nd', '113th']
    """
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def counted(number: int, noun: str) -> str:
    """
    >>> counted(1, "image"), counted(200, "image")
    ('1 image', '200 images')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
