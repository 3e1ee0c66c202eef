"""Cards as rows of a run's grid, for comparisons and reports of runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hyperacuity.cards import Card
from hyperacuity.cards.against import CardEntry, CompatibleCards, compatible_cards
from hyperacuity.cards.digests import TruthDigests
from hyperacuity.cards.making import evaluated_cells, recorded_truths
from hyperacuity.errors import UsageError
from hyperacuity.run.gather import Grid, Source
from hyperacuity.run.jobs import Cell, job_of
from hyperacuity.tally import BaseProtocol


class CardRow:
    """A card in the role of a run: it has tallies, and no files."""

    def __init__(self, card: Card) -> None:
        self.card = card

    def tallies(self, signature: str, system: str, kind: Any, protocol: BaseProtocol) -> dict[str, Any]:
        """All tallies by image."""
        return {image: replace(tally, protocol=protocol) for image, tally in self.card.tallies.items()}

    def tally(self, signature: str, system: str, image: str, kind: Any, protocol: BaseProtocol) -> Any:
        """The tally of an image; None where there is none."""
        found = self.card.tallies.get(image)
        return None if found is None else replace(found, protocol=protocol)

    def images_of(self, signature: str, system: str, *, done: bool = False) -> list[str]:
        """The images."""
        return self.card.images

    def cells(self, signature: str, system: str | None = None, image: str | None = None) -> list[Cell]:
        """None: the maps are not here."""
        return []

    def inputs(self, signature: str, system: str) -> dict[str, bytes]:
        """None."""
        return {}

    def recorded(self, paths: Iterable[Path]) -> dict[str, tuple[str, bytes]]:
        """None."""
        return {}


def with_cards(grids: Sequence[Grid], given: Sequence[CardEntry], *, workers: int | None = None) -> list[Grid]:
    """The grids, each with the cards of its benchmark as further systems. ``UsageError`` for a card that fits none."""
    tasks = [grid.task.name for grid in grids]
    for entry in given:
        own = entry.card.signature.task
        if own not in tasks and not entry.optional:
            raise UsageError(f"{entry.name}: is a card of {own}, but the runs are of {', '.join(dict.fromkeys(tasks))}")
        if entry.card.people and not entry.optional:
            raise UsageError(f"{entry.name}: is a card of people, which are no system among others")
    systems = [entry for entry in given if not entry.card.people]
    return [
        _joined(grid, [entry for entry in systems if entry.card.signature.task == grid.task.name], workers)
        for grid in grids
    ]


def _joined(grid: Grid, given: Sequence[CardEntry], workers: int | None) -> Grid:
    if not given:
        return grid
    job, cells = job_of(grid), {cell.image: (source, cell) for source, cell in evaluated_cells(grid)}

    def truths_of(images: list[str]) -> Mapping[str, TruthDigests]:
        return recorded_truths(job, [cells[image] for image in images], workers=workers)

    found = compatible_cards(given, job, list(grid.sources), cells, truths_of)
    for name, (_, sentence) in found.contradictions(next(iter(grid.tallies().values()), {})).items():
        raise UsageError(f"the card of {name}: {sentence}")
    rows = {
        name: Source(CardRow(card), (str(card.signature), name), len(card.tallies), card.expected)  # type: ignore[arg-type]
        for name, card in found.cards.items()
    }
    return _under(replace(grid, sources={**grid.sources, **rows}), found)


def _under(grid: Grid, found: CompatibleCards) -> Grid:
    """The grid under the protocol that names the cards, too, if it names systems."""
    if found.protocol.signature == grid.signature:
        return grid
    first, *others = grid.origins
    job = {**grid.options, "protocol": found.protocol.to_dict()}
    origins = (replace(first, about={**first.about, "job": job}), *others)
    return replace(grid, signature=found.protocol.signature, origins=origins)
