r"""BibTeX of systems: what a card brings, where that is one harmless entry, or an entry made of what it says of the system.

A card's entry is taken when it is of a kind that names a publication, its braces balance, and it calls no command that reads or
writes files or changes what TeX takes a letter for. Everything else is made anew, with letters escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from hyperacuity.board.names import web_link
from hyperacuity.cards import Card
from hyperacuity.console import printable

KINDS = [
    "article",
    "book",
    "booklet",
    "inbook",
    "incollection",
    "inproceedings",
    "conference",
    "manual",
    "mastersthesis",
    "misc",
    "online",
    "phdthesis",
    "proceedings",
    "software",
    "dataset",
    "techreport",
    "unpublished",
]

_ENTRY = re.compile(r"@(\w+)\s*\{\s*([^\s,{}\"#%\\~'()=]{1,100})\s*,(.*)\}", re.DOTALL)
_COMMANDS = re.compile(
    r"\\(input|include|openin|openout|read|write|immediate|csname|catcode|x?[ge]?def|let|lua|directlua|special|verbatiminput|"
    r"usepackage|newcommand|renewcommand|url@|href\s*\{\s*(?!https?:))",
    re.IGNORECASE,
)
_LATEX = {
    "\\": r"\textbackslash{}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def entry_of(card: Card, id: str) -> str:
    """One BibTeX entry for a system; ``id`` makes its key unique.

    >>> from hyperacuity.cards import About
    >>> import numpy as np
    >>> from hyperacuity import boundary
    >>> from hyperacuity.cards import Card, digest_of
    >>> truth = np.eye(8, dtype=bool)
    >>> about = About("50 % better", ("Ada Lovelace",), 2011)
    >>> card = Card("mine", {"a": boundary.tally(truth * np.float32(1), [truth])}, {"a": (digest_of(truth),)}, about)
    >>> print(entry_of(card, "12ab"))
    @misc{mine-12ab,
      title = {50 \\% better},
      author = {Ada Lovelace},
      year = {2011},
    }
    """
    return given_entry(card.about.bibtex) or _made(card, id)


def given_entry(text: str) -> str:
    """The text where it is one harmless BibTeX entry, else nothing."""
    lines = "\n".join(printable(line) for line in text.strip().splitlines())
    found = _ENTRY.fullmatch(lines)
    if found is None or found[1].lower() not in KINDS or _COMMANDS.search(lines) or not _balanced(found[3]):
        return ""
    return lines


def library(entries: Iterable[str]) -> str:
    """Several entries as one file, each once; a key that another entry has is told apart by a number."""
    keys: dict[str, int] = {}
    found = []
    for entry in dict.fromkeys(entries):
        parts = _ENTRY.fullmatch(entry)
        assert parts is not None  # noqa: S101  # all are made or taken here
        key = parts[2]
        keys[key.lower()] = keys.get(key.lower(), 0) + 1
        if keys[key.lower()] > 1:
            entry = f"@{parts[1]}{{{key}-{keys[key.lower()]},{parts[3]}}}"
        found.append(entry)
    return "\n\n".join(found) + "\n"


def _balanced(text: str) -> bool:
    """True if braces close what they open and nothing else, so that an entry ends where it seems to."""
    depth = 0
    for letter in re.sub(r"\\[{}]", "", text):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if depth < 0:
            return False
    return depth == 0 and "@" not in re.sub(r"\{[^{}]*\}|\"[^\"]*\"", "", text)


def _made(card: Card, id: str) -> str:
    about = card.about
    plain = re.sub(r"[^a-z0-9]+", "-", card.system.lower()).strip("-")[:40]
    fields = {
        "title": about.title or card.system,
        "author": " and ".join(_latex(author).replace(" and ", " {and} ") for author in about.authors),
        "year": "" if about.year is None else str(about.year),
        "url": web_link(about.link),
    }
    lines = [f"@misc{{{plain or 'system'}-{id},"]
    for name, text in fields.items():
        value = text if name in ("author", "url") else _latex(text)
        lines += [f"  {name} = {{{value}}},"] if value else []
    return "\n".join([*lines, "}"])


def _latex(text: str) -> str:
    """Text in one line that LaTeX prints as it stands."""
    return "".join(_LATEX.get(letter, letter) for letter in printable(" ".join(text.split())))
