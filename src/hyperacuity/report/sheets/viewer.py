"""Viewer of images: the pictures of one image, for all systems, in a form that JSON can hold.

A task says what all systems share (:meth:`Viewer.shared`) and what belongs to one (:meth:`Viewer.of_system`). Files are read
by the reader of the run's job, and so in the way in which they were scored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from hyperacuity.data import read_image
from hyperacuity.errors import InputError
from hyperacuity.report import theme
from hyperacuity.report.pictures import layers
from hyperacuity.report.pictures.slider import Budget, text_size
from hyperacuity.run import Cell
from hyperacuity.run.jobs import job_of

if TYPE_CHECKING:
    from hyperacuity.report.sheets.engine import Judged


@dataclass(frozen=True)
class Layer:
    """Something the viewer can show of an image: the photograph, the truth, a prediction, a match."""

    key: str
    title: str
    note: str = ""


PHOTO = Layer("photo", "Photograph")

Legend = tuple[tuple[str, str, str, str], ...]


def legend(hit: str, false: str, miss: str, *, names: Sequence[str] = ("hit", "false alarm", "miss")) -> Legend:
    """The states of the first layer: key, colour, name, and what it means."""
    keys, colours = ("hit", "false", "miss"), (theme.HIT, theme.FALSE, theme.MISS)
    return tuple(zip(keys, colours, names, (hit, false, miss), strict=True))


@dataclass(frozen=True)
class Shared:
    """Parts of an image shared by all systems: its shape, layers by key, the truth as :meth:`Viewer.of_system` takes it."""

    shape: Sequence[int]
    layers: dict[str, Any]
    truth: Any = None


class Viewer:
    """The pictures of the images of a grid; ``systems`` stand in the order of the leaderboard."""

    layers: ClassVar[tuple[Layer, ...]]
    legend: ClassVar[Legend] = ()
    note: ClassVar[str] = ""
    """Remark next to the legend of the first layer."""
    not_run: ClassVar[str] = "this system was not run on this image"

    def __init__(self, judged: Judged) -> None:
        grid = judged.grid
        job = job_of(grid)
        self.protocol: Any = job.protocol
        self.reader: Any = job.kind
        self.judged, self.grid, self.systems = judged, grid, judged.systems
        self.scores: Mapping[str, Any] = judged.scores
        self.reasons = {(failure.system, failure.image): failure.reason for failure in grid.failures}
        self.images = len(grid.done_images())

    def shared(self, cell: Cell) -> Shared:
        """Parts of an image that all systems share; ``cell`` is any of its cells."""
        raise NotImplementedError

    def of_system(self, system: str, cell: Cell, truth: Any, budget: Budget) -> dict[str, Any]:
        """A system's layers by key, with ``numbers`` by name; for a slider also ``steps`` (thresholds), ``of`` how many there
        are, and at which to ``start``. ``without`` says, by key, why a layer is not among them."""
        raise NotImplementedError

    def pictures(self, image: str, cells: Mapping[str, Cell], *, images: int | None = None) -> dict[str, Any]:
        """One image: ``size`` (width, height), ``shared`` layers, and ``systems``, each its layers or the reason why it has none.

        ``cells`` are the image's cells by system, ``images`` how many share the room of the report, by default those of this
        grid. A layer is made by a function of :mod:`hyperacuity.report.pictures.layers`.
        """
        shared = self.shared(next(iter(cells.values())))
        height, width = shared.shape[:2]
        picture = picture_of(cells)
        if picture is not None and PHOTO.key not in shared.layers:
            shared.layers[PHOTO.key] = layers.photograph(read_image(picture))
        budget = Budget(images=images or self.images, systems=len(self.systems), taken=text_size(shared.layers))
        systems = []
        for system in self.systems:
            systems.append(self._system(system, image, cells.get(system), shared.truth, budget))
            budget.take(text_size(systems[-1]))
        return {"size": [width, height], "shared": shared.layers, "systems": systems}

    def _system(self, system: str, image: str, cell: Cell | None, truth: Any, budget: Budget) -> dict[str, Any]:
        if cell is None:
            return {"missing": self.not_run}
        if self.grid.tally(system, image) is None:
            return {"missing": self.reasons.get((system, image), "this image has not been evaluated yet")}
        if (system, image) in self.grid.changed:
            return {"missing": self.grid.changed[system, image]}
        try:
            return self.of_system(system, cell, truth, budget)
        except InputError as error:
            return {"missing": str(error)}


def picture_of(cells: Mapping[str, Cell]) -> Path | None:
    """The photograph of an image: the first that any of its cells names."""
    return next((cell.picture for cell in cells.values() if cell.picture is not None), None)
