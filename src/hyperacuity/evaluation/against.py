"""Systems of cards as rows beside the systems evaluated here.

A card fits where its signature is that of the evaluation and its truths are, image by image, the same. What the signature says
of single systems by name (the suppression of boundary maps) is the card's own affair where the evaluation treats systems each in
its own way; then the signature of the result names the card's too.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hyperacuity.cards import Card, canonical_name, read_card, shipped
from hyperacuity.errors import HyperacuityError, UsageError
from hyperacuity.evaluation.jobs import TaskJob
from hyperacuity.evaluation.truth_digests import TruthDigests, difference_of_truths
from hyperacuity.kinds import kind_of
from hyperacuity.kinds.cells import plural, some
from hyperacuity.tally import BaseProtocol

log = logging.getLogger(__name__)

ALL = "all"
"""Stands for every card that comes with the package."""

CardLike = str | Path | Card
"""A card, its file, or all that come with the package."""

Tallies = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Rival:
    """A card to compare with, what messages call it, and whether it is passed over where it does not fit."""

    card: Card
    name: str
    optional: bool = False


@dataclass(frozen=True, eq=False)
class Rivals:
    """The cards that fit: by the name of their row, with the protocol that all rows stand under."""

    protocol: BaseProtocol
    cards: Mapping[str, Card] = field(default_factory=dict)
    people: Card | None = None

    def job(self, job: TaskJob) -> TaskJob:
        """The job whose signature names the cards too, where it names systems."""
        return job if job.protocol == self.protocol else replace(job, protocol=self.protocol)

    def tallies_of(self, evaluated: Callable[[str], Tallies]) -> Callable[[str], Tallies]:
        """The tallies of every row, all under the one protocol."""

        def found(system: str) -> Tallies:
            tallies = self.cards[system].tallies if system in self.cards else evaluated(system)
            return {image: replace(tally, protocol=self.protocol) for image, tally in tallies.items()}

        return found if self.cards else evaluated


def rivals(given: CardLike | Iterable[CardLike] | None) -> list[Rival]:
    """Read the cards to compare with. ``InputError`` for a file that is none."""
    if given is None:
        return []
    each = [given] if isinstance(given, str | Path | Card) else list(given)
    found: list[Rival] = []
    for one in each:
        if isinstance(one, Card):
            found.append(Rival(one, f"the card of {one.system}"))
        elif str(one) == ALL:
            found += [Rival(read_card(path), path.name, optional=True) for path in shipped()]
        else:
            found.append(Rival(read_card(_file_of(Path(one))), str(one)))
    return list({rival.card.digest or str(id(rival.card)): rival for rival in reversed(found)}.values())[::-1]


def _file_of(given: Path) -> Path:
    """The file, or where there is none, the card of that name that comes with the package; ``UsageError`` names similar ones."""
    if given.exists():
        return given
    known = {path.stem: path for path in shipped()}
    similar = [name for name in known if str(given) in name]
    if similar and str(given) not in known:
        raise UsageError(f"there is no card {given}; with the package come {some(similar)}")
    return known.get(str(given), given)


def fitting(
    given: Sequence[Rival],
    job: TaskJob,
    systems: Collection[str],
    images: Collection[str],
    truths_of: Callable[[list[str]], Mapping[str, TruthDigests]],
    *,
    asked: BaseProtocol | None = None,
) -> Rivals:
    """The cards as rows beside ``systems``, which have these images. ``UsageError`` for one that does not fit, with what differs.

    ``truths_of`` tells the digests of the truths here of some images. ``asked`` is the protocol before it was completed by what
    the predictions look like. One that comes with the package is passed over where it does not fit, with a note.
    """
    known: dict[str, TruthDigests] = {}
    found = Rivals(job.protocol)
    for rival in given:
        if rival.optional and rival.card.task.name != job.task.name:
            continue
        try:
            protocol, name = _protocol_with(found, rival, job, systems, asked or job.protocol)
            shared = _shared(rival, images)
            known |= truths_of([image for image in shared if image not in known])
            _refuse_other_truths(rival, job, shared, known)
            rival.card.check()
        except HyperacuityError as error:
            if not rival.optional:
                raise
            log.info("left out: %s", error)
            continue
        _tell_images(rival, len(shared), len(images))
        if rival.card.people:
            found = replace(found, people=rival.card)
        else:
            found = replace(found, protocol=protocol, cards={**found.cards, name: rival.card})
    return found


def row_name(card: Card, taken: Collection[str]) -> str:
    """What the row of a card is called: as its system, and that it is a card's where the name is taken."""
    names = (card.system, f"{card.system} (card)", f"{card.system} (card {card.digest[:8]})")
    alike = {canonical_name(name) for name in taken}
    return next((name for name in names if canonical_name(name) not in alike), f"{names[-1]}′")


def _protocol_with(
    found: Rivals, rival: Rival, job: TaskJob, systems: Collection[str], asked: BaseProtocol
) -> tuple[BaseProtocol, str]:
    from hyperacuity.evaluation.suppression import treats_by_name, with_treatment

    card, name = rival.card, row_name(rival.card, {*systems, *found.cards})
    mine, theirs = plain_reading(job, found.protocol.for_system(name)), plain_reading(job, card.protocol)
    if mine.signature == theirs.signature:
        return found.protocol, name
    if card.task.name == job.task.name and treats_by_name(asked):
        joined = with_treatment(found.protocol, name, plain_reading(job, card.protocol, like=found.protocol))
        if joined is not None:
            return joined, name
    raise UsageError(
        f"{rival.name}: was scored under another protocol, so nothing can be compared: {differences(theirs, mine)}"
    )


def differences(card: BaseProtocol, here: BaseProtocol) -> str:
    """What a card's protocol and the one here do not agree on, part by part; empty where they agree."""
    if card.task != here.task:
        return f"task is {card.task} on the card and {here.task} here"
    apart = "; ".join(card.signature.differences(here.signature))
    return apart.replace(" in one and ", " on the card and ").replace(" in the other", " here")


def plain_reading(job: TaskJob, protocol: BaseProtocol, *, like: BaseProtocol | None = None) -> BaseProtocol:
    """The protocol without saying that files are read as they are, which arrays do not say; or saying it ``like`` another."""
    usual = usual_reading(job)
    kept = tuple((key, value) for key, value in protocol.reading if usual.get(key) != value)
    if like is not None and plain_reading(job, like).reading == kept:
        kept = like.reading
    return replace(protocol, reading=kept)


def usual_reading(job: TaskJob) -> dict[str, str]:
    """What a signature says of files that are read as they are."""
    said = kind_of(job.task).reading()
    return {key.replace("_", "-"): str(value) for key, value in said.items() if value is not None}


def _shared(rival: Rival, images: Collection[str]) -> list[str]:
    shared = [image for image in rival.card.images if image in images]
    if not shared:
        raise UsageError(
            f"{rival.name}: has no image in common with what is evaluated: {some(rival.card.images)} on the card, "
            f"{some(list(images))} here"
        )
    return shared


def _refuse_other_truths(rival: Rival, job: TaskJob, shared: Sequence[str], known: Mapping[str, TruthDigests]) -> None:
    apart = [
        sentence
        for image in shared
        if image in known
        and (sentence := difference_of_truths(job, image, known[image], tuple(rival.card.truths[image])))
    ]
    if apart:
        more = f", and {plural(len(apart) - 1, 'more image', 'more images')}" if len(apart) > 1 else ""
        raise UsageError(f"{rival.name}: was scored against other truths: {apart[0]}{more}")


def _tell_images(rival: Rival, shared: int, images: int) -> None:
    if shared < len(rival.card.tallies) or shared < images:
        log.info(
            "%s: has %d images, here are %d: tests are over the %d that both have",
            *(rival.name, len(rival.card.tallies), images, shared),
        )


def as_json(cards: Mapping[str, Card]) -> dict[str, Any]:
    """Which rows are of cards, for programs."""
    return {
        name: {"system": card.system, "digest": card.digest, "data": card.fingerprint, "images": len(card.tallies)}
        for name, card in cards.items()
    }
