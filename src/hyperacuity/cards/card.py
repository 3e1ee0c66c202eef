"""A card: one system's tallies under one protocol, what they were counted against, and who made them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hyperacuity.cards.digests import fingerprint
from hyperacuity.errors import UsageError
from hyperacuity.tally import Signature, Tally, Task, protocol_of
from hyperacuity.tasks import task


@dataclass(frozen=True)
class About:
    """What its makers say of a system; nothing here is checked but its form."""

    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    link: str = ""
    licence: str = ""
    description: str = ""
    bibtex: str = ""


@dataclass(frozen=True)
class Made:
    """How a card came to be: the data set by the name it was given, the command, this package's version, the day (UTC)."""

    data: str = ""
    command: str = ""
    version: str = ""
    date: str = ""


@dataclass(frozen=True, eq=False)
class Card:
    """A result that travels.

    ``tallies`` are by image, all under one protocol, and ``truths`` has the digest of each annotator's truth of every image
    (:func:`~hyperacuity.cards.digests.digest_of`). ``expected`` is how many images the data set has, those without a
    prediction included; None where nobody knows. ``digest`` is that of the file it was read from, empty for a card that was
    never written. ``UsageError`` for tallies of different protocols, for none, and for images without a truth's digest.
    """

    system: str
    tallies: Mapping[str, Tally]
    truths: Mapping[str, tuple[str, ...]]
    about: About = field(default_factory=About)
    made: Made = field(default_factory=Made)
    expected: int | None = None
    digest: str = ""

    def __post_init__(self) -> None:
        if not self.tallies:
            raise UsageError(f"{self.system}: there is no tally to put on a card: no image was evaluated")
        protocol_of(self.tallies.values(), self.task.protocol)
        if apart := sorted(self.tallies.keys() ^ self.truths.keys()):
            raise UsageError(f"{self.system}: {apart[0]} has a tally or a truth, expected both")

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
        """The task's score, counted from the tallies."""
        return self.task.collect(dict(self.tallies))
