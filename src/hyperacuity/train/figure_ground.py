"""Berkeley's figure/ground labels with their photographs, and which of them are learned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data import FigureGround, figure_ground, find_data, load_dataset
from hyperacuity.data.datasets.bsds import without_reserved
from hyperacuity.ordering import Neighbours, Sides, order_of_pairs

SPLIT = "by name, of every three the first two are learned from and the third is held out"

DEVELOPMENT = 5
"""Every fifth training image is for development, so that the images held out stay unseen."""


@dataclass(frozen=True, eq=False)
class LabelledPhotograph:
    """A photograph, and each person's labels of it."""

    name: str
    photograph: Path
    people: tuple[FigureGround, ...]

    def front(self, touching: Neighbours) -> list[NDArray[np.int64]]:
        """Per person, who is in front in each pair (:func:`~hyperacuity.ordering.order_of_pairs`)."""
        return [order_of_pairs(Sides(one.order), touching) for one in self.people]


def read_labelled(
    data: Path | None, *, held_out: bool, step: int = 1, count: int | None = None
) -> list[LabelledPhotograph]:
    """The labelled images that are learned from, or those held out (:data:`SPLIT`).

    Reserved images are not among those learned from. With ``step`` only every ``step``-th, with ``count`` the first of them.
    """
    photographs = {one.name: one.image for one in load_dataset("bsds500", data, split="train").samples if one.image}
    people: dict[str, list[FigureGround]] = {}
    for one in figure_ground(find_data("bsds-fg", data)):
        people.setdefault(one.image, []).append(one)
    wanted = part(sorted(people), held_out=held_out)[::step][:count]
    return [LabelledPhotograph(name, photographs[name], tuple(people[name])) for name in wanted if name in photographs]


def part(names: Sequence[str], *, held_out: bool) -> list[str]:
    """The names of one part; reserved ones are never among those that are learned from.

    >>> part(["a", "b", "c", "d"], held_out=True), part(["a", "b", "c", "d"], held_out=False)
    (['c'], ['a', 'b', 'd'])
    """
    chosen = [name for number, name in enumerate(names) if (number % 3 == 2) == held_out]
    return chosen if held_out else without_reserved(chosen)
