"""A card: one system's tallies under one protocol, what they were counted against, and who made them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np

from hyperacuity.cards.digests import fingerprint
from hyperacuity.console import printable
from hyperacuity.errors import HyperacuityError, InputError, UsageError
from hyperacuity.tally import Signature, Tally, protocol_of
from hyperacuity.tasks import Task, task

PEOPLE = "people"
"""System name of a card whose tallies are of annotators, each held against the others."""

LONGEST_TEXT = 10_000
"""No name, link or description has more characters."""

MOST_NUMBERS = 250_000
"""No tally on a card has more numbers; the largest that benchmarks make have some tens of thousands."""

MOST_DIMENSIONS = 8

MOST_COUNTED = 2**53
"""No count is larger, so that sums of counts are exact."""

LONG = {"description", "bibtex"}
"""Texts that may have several lines."""

V = TypeVar("V")


def canonical_name(name: str) -> str:
    """A name as others are compared with it: composed letters (NFC), one space where there are several, none at the ends.

    >>> canonical_name(" cafe\u0301  net ") == canonical_name("caf\u00e9 net")
    True
    """
    return " ".join(unicodedata.normalize("NFC", name).split())


@dataclass(frozen=True)
class About:
    """Description of a system by its makers; only its form is checked (``UsageError``)."""

    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    link: str = ""
    licence: str = ""
    description: str = ""
    bibtex: str = ""

    def __post_init__(self) -> None:
        given: Any = self.authors
        if isinstance(given, str) or not all(isinstance(author, str) for author in given):
            raise UsageError("authors is not a list of names")
        object.__setattr__(self, "authors", tuple(_text(author, "authors") for author in given))
        if not (self.year is None or (type(self.year) is int and 0 < self.year < 10_000)):
            raise UsageError(f"year is {self.year!r:.40}, expected a year such as 2011")
        for name, value in asdict(self).items():
            if name not in ("authors", "year"):
                _text(value, name)
        if self.link and not re.match(r"https?://[^\s<>\"'\\]+\Z", self.link):
            raise UsageError(f"link is {self.link!r:.80}, expected one that starts with https:// or http://")


@dataclass(frozen=True)
class Made:
    """Provenance of a card: the name of the data set, the command, this package's version, the day (UTC)."""

    data: str = ""
    command: str = ""
    version: str = ""
    date: str = ""

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            _text(value, name)


@dataclass(frozen=True, eq=False)
class Card:
    """A result that travels.

    ``tallies`` are by image, all under one protocol, and ``truths`` has the digest of each annotator's truth of every image
    (:func:`~hyperacuity.cards.digests.digest_of`). ``expected`` is how many images the data set has, those without a
    prediction included; None where nobody knows. ``digest`` is that of the file it was read from, empty for a card that was
    never written. ``people``: the tallies are of annotators, each held against the others, and are no row among systems.
    ``UsageError`` for tallies of different protocols, for none, for images without a truth's digest, and for names that a
    terminal would not print as they are.
    """

    system: str
    tallies: Mapping[str, Tally]
    truths: Mapping[str, tuple[str, ...]]
    about: About = field(default_factory=About)
    made: Made = field(default_factory=Made)
    expected: int | None = None
    digest: str = ""
    people: bool = False

    def __post_init__(self) -> None:
        for name in (self.system, *self.tallies):
            if not 0 < len(name) <= LONGEST_TEXT or name != printable(name):
                raise UsageError(f"the name '{printable(name[:80])}' is empty or has marks that do not print")
        if not self.tallies:
            raise UsageError(f"{self.system}: there is no tally to put on a card: no image was evaluated")
        protocol_of(self.tallies.values(), self.task.protocol)
        for name in _texts(self.protocol.to_dict()):
            if name != printable(name):
                raise UsageError(f"its protocol names '{printable(name[:80])}', which has marks that do not print")
        if apart := sorted(self.tallies.keys() ^ self.truths.keys()):
            raise UsageError(f"{self.system}: {apart[0]} has a tally or a truth, expected both")
        for image, tally in self.tallies.items():
            _refuse_impossible(image, tally)
        if self.people and self.task.people is None:
            raise UsageError(f"{self.task.name} does not hold annotators against each other, so people have no card")

    @property
    def protocol(self) -> Any:
        """The protocol of all its tallies."""
        return next(iter(self.tallies.values())).protocol

    @property
    def signature(self) -> Signature:
        """The protocol as a line."""
        signature: Signature = self.protocol.signature
        return signature

    @property
    def task(self) -> Task[Any, Any, Any]:
        """The benchmark. ``UsageError`` for one that this package does not know."""
        return task(self.signature.task)

    @property
    def images(self) -> list[str]:
        """The images, in the card's order."""
        return list(self.tallies)

    @cached_property
    def fingerprint(self) -> str:
        """One short name for the images and truths: cards of equal fingerprints were scored against the same."""
        return fingerprint(self.truths)

    @cached_property
    def score(self) -> Any:
        """The task's score, counted from the tallies; of people, as the task counts them. ``InputError`` where they give none."""
        if self.people and self.task.collect_people is not None:
            return self.guarded(self.task.collect_people, list(self.tallies.values()))
        return self.guarded(self.task.collect, dict(self.tallies))

    @cached_property
    def numbers(self) -> dict[str, float]:
        """The numbers that the benchmark compares systems by, by name. ``InputError`` as for the score."""
        return self.guarded(self._numbers)

    def _numbers(self) -> dict[str, float]:
        judged = self.task.criteria(self.protocol)
        values = np.asarray(judged.overall(list(self.tallies.values())), np.float64)
        return dict(zip(judged.names, values.tolist(), strict=True))

    def check(self) -> None:
        """See that the tallies can be scored, without intervals, which take longer. ``InputError`` where they cannot."""
        if self.people and self.task.collect_people is not None:
            self.guarded(self.task.collect_people, list(self.tallies.values()))
        else:
            self.guarded(partial(self.task.collect, resamples=0), dict(self.tallies))
            _ = self.numbers

    def guarded(self, count: Callable[..., V], *given: Any) -> V:
        """Call what counts tallies. A card may come from anybody: what odd tallies do to it becomes an ``InputError``."""
        try:
            with np.errstate(all="ignore"):
                return count(*given)
        except HyperacuityError as error:
            raise InputError(f"the tallies of {self.system} cannot be scored: {error}") from error
        except (
            ArithmeticError,
            AttributeError,
            LookupError,
            MemoryError,
            RuntimeError,
            TypeError,
            ValueError,
        ) as error:
            reason = printable(f"{type(error).__name__}: {error}"[:200])
            raise InputError(f"the tallies of {self.system} cannot be scored ({reason})") from error


def _text(value: Any, name: str) -> str:
    """Text that is no longer than it may be, and of one line where it has to be."""
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise UsageError(f"{name} is not a text of at most {LONGEST_TEXT} characters")
    lines = value.replace("\n", " ").replace("\t", " ") if name in LONG else value
    if re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", lines):
        raise UsageError(f"{name} holds line ends or marks that do not print: {printable(value[:80])}")
    return value


def _texts(value: Any) -> Iterator[str]:
    """All texts in a value: those of a protocol are printed, as names of classes for example."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in (*value, *value.values()):
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)


def _refuse_impossible(image: str, tally: Tally) -> None:
    """No benchmark makes tallies so large, nor counts below zero."""
    arrays = {name: np.asarray(array) for name, array in tally.arrays.items()}
    size = sum(array.size for array in arrays.values())
    if size > MOST_NUMBERS:
        raise UsageError(f"the tally of {image} has {size} numbers, expected at most {MOST_NUMBERS}")
    for name, array in arrays.items():
        if array.ndim > MOST_DIMENSIONS:
            raise UsageError(f"the tally of {image} has an array of {array.ndim} dimensions ({name})")
        if array.dtype.kind in "iu" and array.size and (array.min() < 0 or array.max() > MOST_COUNTED):
            raise UsageError(f"the tally of {image} has a count below 0 or above 2⁵³ ({name})")
