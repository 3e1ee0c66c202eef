"""Cards as rows next to the systems evaluated here.

A card is compatible if its signature is that of the evaluation and its truths are, image by image, the same. The treatment of
single systems (the suppression of boundary maps) may differ if the evaluation names it by system; then the signature of the
result names the card's, too.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hyperacuity.cards import Card, canonical_name, read_card, shipped
from hyperacuity.cards.digests import TruthDigests, difference_of_counts, difference_of_truths
from hyperacuity.errors import HyperacuityError, UsageError
from hyperacuity.kinds import kind_of
from hyperacuity.kinds.base import plural, some
from hyperacuity.run.jobs import TaskJob
from hyperacuity.tally import BaseProtocol

log = logging.getLogger(__name__)

ALL = "all"
"""The name of all cards that come with the package."""

CardLike = str | Path | Card
"""A card, its file, or all that come with the package."""

Tallies = dict[str, Any]


@dataclass(frozen=True, eq=False)
class CardEntry:
    """A card to compare with, its name in messages, and whether it is skipped if it is not compatible."""

    card: Card
    name: str
    optional: bool = False


@dataclass(frozen=True, eq=False)
class CompatibleCards:
    """Cards by the name of their row, with the protocol of all rows."""

    protocol: BaseProtocol
    cards: Mapping[str, Card] = field(default_factory=dict)
    people: Card | None = None

    def job(self, job: TaskJob) -> TaskJob:
        """The job whose signature names the cards, too, if it names systems."""
        return job if job.protocol == self.protocol else replace(job, protocol=self.protocol)

    def contradictions(self, tallies: Tallies) -> dict[str, tuple[str, str]]:
        """The cards whose counts of a truth are not those of a system evaluated here: the first such image, and a sentence."""
        found = {}
        for name, card in self.cards.items():
            differences = (
                (image, sentence)
                for image, tally in tallies.items()
                if image in card.tallies and (sentence := difference_of_counts(image, tally, card.tallies[image]))
            )
            if first := next(differences, None):
                found[name] = first
        return found

    def without(self, names: Collection[str]) -> CompatibleCards:
        """The other cards."""
        return replace(self, cards={name: card for name, card in self.cards.items() if name not in names})

    def tallies_of(self, evaluated: Callable[[str], Tallies]) -> Callable[[str], Tallies]:
        """The tallies of every row, all under the one protocol."""

        def found(system: str) -> Tallies:
            tallies = self.cards[system].tallies if system in self.cards else evaluated(system)
            return {image: replace(tally, protocol=self.protocol) for image, tally in tallies.items()}

        return found if self.cards else evaluated


def card_entries(given: CardLike | Iterable[CardLike] | None) -> list[CardEntry]:
    """Read the cards to compare with. ``InputError`` for a file that is not a card."""
    if given is None:
        return []
    each = [given] if isinstance(given, str | Path | Card) else list(given)
    found: list[CardEntry] = []
    for one in each:
        if isinstance(one, Card):
            found.append(CardEntry(one, f"the card of {one.system}"))
        elif str(one) == ALL:
            found += [CardEntry(read_card(path), path.name, optional=True) for path in shipped()]
        else:
            found.append(CardEntry(read_card(_file_of(Path(one))), str(one)))
    return list({entry.card.digest or str(id(entry.card)): entry for entry in reversed(found)}.values())[::-1]


def _file_of(given: Path) -> Path:
    """The file, or else the shipped card of that name; ``UsageError`` names similar ones."""
    if given.exists():
        return given
    known = {path.stem: path for path in shipped()}
    similar = [name for name in known if str(given) in name]
    if similar and str(given) not in known:
        raise UsageError(f"there is no card {given}; with the package come {some(similar)}")
    return known.get(str(given), given)


def compatible_cards(
    given: Sequence[CardEntry],
    job: TaskJob,
    systems: Collection[str],
    images: Collection[str],
    truths_of: Callable[[list[str]], Mapping[str, TruthDigests]],
    *,
    asked: BaseProtocol | None = None,
) -> CompatibleCards:
    """Select the cards that can stand next to ``systems``. ``UsageError`` for one that cannot, with what differs.

    ``truths_of`` gives the digests of the truths of some images. ``asked`` is the protocol before it was completed from the
    predictions. A shipped card that is not compatible is skipped, with a note.
    """
    known: dict[str, TruthDigests] = {}
    found = CompatibleCards(job.protocol)
    for entry in given:
        if entry.optional and entry.card.task.name != job.task.name:
            continue
        try:
            protocol, name = _protocol_with(found, entry, job, systems, asked or job.protocol)
            shared = _shared(entry, images)
            known |= truths_of([image for image in shared if image not in known])
            _refuse_other_truths(entry, job, shared, known)
            entry.card.check()
        except HyperacuityError as error:
            if not entry.optional:
                raise
            log.info("left out: %s", error)
            continue
        _tell_images(entry, len(shared), len(images))
        if entry.card.people:
            found = replace(found, people=entry.card)
        else:
            found = replace(found, protocol=protocol, cards={**found.cards, name: entry.card})
    return found


def row_name(card: Card, taken: Collection[str]) -> str:
    """The name of a card's row: its system, marked as a card's if the name is taken."""
    names = (card.system, f"{card.system} (card)", f"{card.system} (card {card.digest[:8]})")
    alike = {canonical_name(name) for name in taken}
    return next((name for name in names if canonical_name(name) not in alike), f"{names[-1]}′")


def _protocol_with(
    found: CompatibleCards, entry: CardEntry, job: TaskJob, systems: Collection[str], asked: BaseProtocol
) -> tuple[BaseProtocol, str]:
    card, name = entry.card, row_name(entry.card, {*systems, *found.cards})
    mine, theirs = plain_reading(job, found.protocol.for_system(name)), plain_reading(job, card.protocol)
    if mine.signature == theirs.signature:
        return found.protocol, name
    if card.task.name == job.task.name and asked.by_system:
        joined = found.protocol.with_system(name, plain_reading(job, card.protocol, like=found.protocol))
        if joined is not None:
            return joined, name
    raise UsageError(
        f"{entry.name}: was scored under another protocol, so nothing can be compared: {differences(theirs, mine)}"
    )


def differences(card: BaseProtocol, here: BaseProtocol) -> str:
    """List the parts in which a card's protocol differs from the one here; empty if none does."""
    if card.task != here.task:
        return f"task is {card.task} on the card and {here.task} here"
    apart = "; ".join(card.signature.differences(here.signature))
    return apart.replace(" in one and ", " on the card and ").replace(" in the other", " here")


def plain_reading(job: TaskJob, protocol: BaseProtocol, *, like: BaseProtocol | None = None) -> BaseProtocol:
    """The protocol without the parts that say files are read as they are; or with them ``like`` another."""
    usual = usual_reading(job)
    kept = tuple((key, value) for key, value in protocol.reading if usual.get(key) != value)
    if like is not None and plain_reading(job, like).reading == kept:
        kept = like.reading
    return replace(protocol, reading=kept)


def usual_reading(job: TaskJob) -> dict[str, str]:
    """The parts of a signature that say files are read as they are."""
    said = kind_of(job.task).reading()
    return {key.replace("_", "-"): str(value) for key, value in said.items() if value is not None}


def _shared(entry: CardEntry, images: Collection[str]) -> list[str]:
    shared = [image for image in entry.card.images if image in images]
    if not shared:
        raise UsageError(
            f"{entry.name}: has no image in common with what is evaluated: {some(entry.card.images)} on the card, "
            f"{some(list(images))} here"
        )
    return shared


def _refuse_other_truths(
    entry: CardEntry, job: TaskJob, shared: Sequence[str], known: Mapping[str, TruthDigests]
) -> None:
    apart = [
        sentence
        for image in shared
        if image in known
        and (sentence := difference_of_truths(job, image, known[image], tuple(entry.card.truths[image])))
    ]
    if apart:
        more = f", and {plural(len(apart) - 1, 'more image', 'more images')}" if len(apart) > 1 else ""
        raise UsageError(f"{entry.name}: was scored against other truths: {apart[0]}{more}")


def _tell_images(entry: CardEntry, shared: int, images: int) -> None:
    if shared < len(entry.card.tallies) or shared < images:
        log.info(
            "%s: has %d images, here are %d: tests are over the %d that both have",
            *(entry.name, len(entry.card.tallies), images, shared),
        )


def as_json(cards: Mapping[str, Card]) -> dict[str, Any]:
    """Describe the rows that are cards, for JSON."""
    return {
        name: {"system": card.system, "digest": card.digest, "data": card.fingerprint, "images": len(card.tallies)}
        for name, card in cards.items()
    }
