"""Check cards: their sums, and with maps and truths at hand the counts of some images."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from hyperacuity.cards import Card, read_card
from hyperacuity.cards.against import differences, plain_reading
from hyperacuity.cards.digests import difference_of_truths, digests_of_cell, each
from hyperacuity.errors import HyperacuityError, InputError, UsageError, option
from hyperacuity.kinds import kind_of
from hyperacuity.kinds.finding import named_systems
from hyperacuity.run.jobs import Cell, TaskJob, job_for, sort_options
from hyperacuity.tally import Tally

CLOSE = 1e-9
"""Sums of fractions agree when they differ by no more than this share: machines round the last digit differently."""


@dataclass(frozen=True, eq=False)
class CardCheck:
    """The check of a file: the card or a problem, and the differences of the images that were counted again."""

    path: Path
    card: Card | None = None
    problem: str = ""
    counted: Mapping[str, str] = field(default_factory=dict)

    @property
    def problems(self) -> list[str]:
        """The problems, a sentence each."""
        own = [self.problem] if self.problem else []
        return own + [f"{self.path}: {image}: {reason}" for image, reason in self.counted.items() if reason]


def check_card(
    path: Path,
    *,
    maps: Path | None = None,
    truth: str | None = None,
    sample: int = 10,
    seed: int = 0,
    workers: int | None = None,
    **options: Any,
) -> CardCheck:
    """Read a card, which verifies its digests, score it, and with ``maps`` and ``truth`` count a sample of its images again.

    ``options`` say how files are found and read, as in :func:`hyperacuity.evaluate`. What is wrong is told, not raised.
    """
    try:
        card = read_card(path)
    except HyperacuityError as error:
        return CardCheck(path, problem=str(error))
    try:
        card.check()
        if maps is None or truth is None:
            return CardCheck(path, card)
        how: Any = {"sample": sample, "seed": seed, "workers": workers}
        return CardCheck(path, card, counted=counted_again(card, maps, truth, **how, **options))
    except HyperacuityError as error:
        return CardCheck(path, card, f"{path}: {error}")


def counted_again(
    card: Card, maps: Path, truth: str, *, sample: int, seed: int = 0, workers: int | None = None, **options: Any
) -> dict[str, str]:
    """Count some images of a card again from their files: by image, what does not agree; empty where all does.

    The images are drawn by the seed, the same for the same card and seed. ``UsageError`` where the files would be read in
    another way than the card's signature says.
    """
    kind = kind_of(card.task)
    finding, changes = sort_options(card.task, options)
    if changes:
        raise UsageError(
            f"{', '.join(changes)}: the card has its own protocol, only options of reading files are taken"
        )
    inputs = kind.find(named_systems({card.system: maps}), truth, **finding)
    if list(inputs.sweeps) != inputs.systems:
        raise UsageError(f"{maps} has a folder for each value of a parameter, expected the maps of one value")
    job = job_for(card.task, inputs.agree(replace(card.protocol, reading=())), inputs.kind)
    if apart := differences(plain_reading(job, card.protocol), plain_reading(job, job.protocol)):
        raise UsageError(f"the files here are read in another way than the card says: {apart}")
    cells = {cell.image: cell for cell in inputs.of(card.system)}
    images = sorted(random.Random(seed).sample(sorted(card.images), min(sample, len(card.images))))  # noqa: S311

    def again(image: str) -> str:
        cell = cells.get(image)
        return "there is no map or no truth of it here" if cell is None else _difference(card, job, cell)

    return dict(zip(images, each("maps and truths", again, images, workers), strict=True))


def _difference(card: Card, job: TaskJob, cell: Cell) -> str:
    try:
        other = difference_of_truths(job, cell.image, digests_of_cell(job, cell), tuple(card.truths[cell.image]))
        if other:
            return other
        found = job.people(cell) if card.people else job.evaluate(cell)
    except InputError as error:
        return str(error)
    apart = [] if found is None else differing_arrays(card.tallies[cell.image], found)
    if found is None:
        return "it has one annotator only"
    return f"the tally differs in {', '.join(apart)}" if apart else ""


def differing_arrays(one: Tally, other: Tally) -> list[str]:
    """The arrays of two tallies that do not agree: counts exactly, sums of fractions but for rounding."""
    return [
        name for name, array in one.arrays.items() if not _agree(np.asarray(array), np.asarray(getattr(other, name)))
    ]


def _agree(one: Any, other: Any) -> bool:
    if one.shape != other.shape:
        return False
    if one.dtype.kind == other.dtype.kind == "f":
        return bool(np.allclose(one, other, rtol=CLOSE, atol=CLOSE, equal_nan=True))
    return bool(np.array_equal(one, other))


def as_json(card: Card) -> dict[str, Any]:
    """Everything on a card as plain values, and the numbers counted from it."""
    return {
        "system": card.system,
        "people": card.people,
        "signature": str(card.signature),
        "protocol": card.protocol.to_dict(),
        "about": vars(card.about),
        "made": vars(card.made),
        "data": card.fingerprint,
        "digest": card.digest,
        "expected": card.expected,
        "numbers": card.numbers,
        "images": {
            image: {"truths": card.truths[image], "tally": tally.arrays} for image, tally in card.tallies.items()
        },
    }


def describe_card(card: Card, path: Path) -> list[tuple[str, str]]:
    """Describe a card: a heading and a line each, without empty ones."""
    about, made = card.about, card.made
    of = "" if card.expected in (None, len(card.tallies)) else f" of {card.expected}"
    by = " ".join(filter(None, [", ".join(about.authors), "" if about.year is None else f"({about.year})"]))
    command = f"{made.command}" + (f" (version {made.version})" if made.version else "")
    lines = [
        ("system", card.system + (f", {about.title}" if about.title else "")),
        ("by", by),
        ("link", about.link),
        ("licence", about.licence),
        *(("about", line) for line in about.description.splitlines()),
        ("protocol", str(card.signature)),
        ("data", f"{made.data or 'no name'}, {len(card.tallies)}{of} images, fingerprint {card.fingerprint}"),
        ("made", ", ".join(filter(None, [command.strip(), made.date]))),
        ("file", f"{path}, digest {card.digest[:16]}"),
    ]
    return [(heading, line) for heading, line in lines if line]


def images_of(cards: Sequence[Card], image: str) -> list[tuple[Card, Tally]]:
    """The tallies of an image. ``UsageError`` where a card lacks it."""
    for card in cards:
        if image not in card.tallies:
            raise UsageError(
                f"{option('image', image)}: the card of {card.system} has no such image, but {card.images[0]} …"
            )
    return [(card, card.tallies[image]) for card in cards]
