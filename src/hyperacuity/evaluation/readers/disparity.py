"""Disparity maps of stereo data sets, their regions, and the pictures of a pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from hyperacuity.data import read_disparity, read_image, read_mask
from hyperacuity.data.files import warn
from hyperacuity.data.formats.sniff import IMAGE_KINDS, kind_of
from hyperacuity.disparity import regions
from hyperacuity.errors import InputError
from hyperacuity.evaluation.readers import Given, Reader
from hyperacuity.maps import DisparityMap, EdgeMap
from hyperacuity.tally import number

if TYPE_CHECKING:
    from hyperacuity.run.job import Cell

MOST_OFF = 4.0
"""A map whose median is this many times that of the truth, or as much smaller, is probably read at a wrong scale."""

MASK = "mask "
"""What the role of a region's mask starts with that was named by the user; those of the data have the region's name."""


@dataclass(frozen=True)
class DisparityReader(Reader):
    """``scale`` and ``truth_scale`` are grey levels per pixel where they are not the data's own, ``scales``, by scene.

    ``zero`` says whether 0 is a disparity in files that are no pictures.
    """

    scale: float | None = None
    truth_scale: float | None = None
    scales: tuple[tuple[str, float], ...] = ()
    zero: Literal["known", "unknown"] | None = None

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> Self:
        """The inverse of :meth:`to_dict`."""
        scales = tuple((scene, scale) for scene, scale in options.get("scales", ()))
        return super().from_dict({**options, "scales": scales})

    def reading(self) -> dict[str, object]:
        """A scale that was named is told apart, since the files are the same."""
        given = {"scale": self.scale, "truth-scale": self.truth_scale}
        scales = {name: number(scale) for name, scale in given.items() if scale is not None}
        return scales | self._meaning_of_zero()

    def _meaning_of_zero(self) -> dict[str, object]:
        # That 0 is known is what files without a word about it mean; what it waives is a check, so the scores are comparable.
        return {"zero": "unknown"} if self.zero == "unknown" else {}

    def meaning(self, cell: Cell) -> tuple[str, ...]:
        """The data's own scale of a scene, and whether files full of zeros, else refused, are read."""
        scale = self._scale_of(cell)
        own = () if scale is None else (f"scale {number(scale)}",)
        return (*own, "zero known") if self.zero == "known" else own

    def prediction(self, cell: Cell, protocol: Any) -> DisparityMap:
        """The system's map."""
        return self._read(cell, cell.prediction, self.scale, otherwise=self.scale)

    def truths(self, cell: Cell) -> list[Any]:
        """The true map alone."""
        return [self._read(cell, cell.truths[0], self.truth_scale, otherwise=None)]

    def extras(self, cell: Cell, protocol: Any, given: Given) -> dict[str, Any]:
        """The regions; and a word about a scale that looks wrong."""
        (truth,) = given.truths
        _doubt_scale(cell.prediction, given.prediction, truth)
        return {"masks": self.regions(cell, truth, protocol.regions)}

    def regions(self, cell: Cell, truth: DisparityMap, wanted: tuple[str, ...]) -> dict[str, EdgeMap]:
        """The wanted regions: shipped with the data or named by the user, else derived."""
        shipped = {name: cell.file_of(name) for name in ("nonocc", "all", "disc")}
        given = {name: read_mask(path) for name, path in shipped.items() if path is not None}
        if noc := cell.file_of("noc"):  # KITTI's truth without what only one view shows
            given["nonocc"] = read_disparity(noc, scale=self._scale_of(cell)) > 0
        named = {role.removeprefix(MASK): path for role, path in cell.extras if role.startswith(MASK)}
        given |= {name: read_mask(path) for name, path in named.items()}
        picture = cell.file_of("image") if "untextured" in wanted else None
        return regions(truth, image=None if picture is None else read_image(picture), given=given)

    def _read(self, cell: Cell, path: Path, named: float | None, *, otherwise: float | None) -> DisparityMap:
        if kind_of(path) not in IMAGE_KINDS:
            return read_disparity(path, scale=otherwise, zero=self.zero)
        return read_disparity(path, scale=named if named is not None else self._scale_of(cell))

    def _scale_of(self, cell: Cell) -> float | None:
        return dict(self.scales).get(cell.image)


@dataclass(frozen=True)
class ViewReader(DisparityReader):
    """The map, and in place of a truth the two pictures of the pair."""

    def reading(self) -> dict[str, object]:
        """The scale of the maps; that of the truth has no part in it."""
        return ({} if self.scale is None else {"scale": number(self.scale)}) | self._meaning_of_zero()

    def truths(self, cell: Cell) -> list[Any]:
        """The left and the right picture."""
        left, right = cell.file_of("image"), cell.file_of("right")
        if left is None or right is None:
            raise InputError(f"the pictures of {cell.image} are not with the data, so no view can be predicted")
        return [read_image(left), read_image(right)]

    def extras(self, cell: Cell, protocol: Any, given: Given) -> dict[str, Any]:
        """Nothing."""
        return {}


def _doubt_scale(path: Path, estimate: DisparityMap, truth: DisparityMap) -> None:
    if np.isnan(estimate).all():
        return
    typical, true = float(np.nanmedian(estimate)), float(np.nanmedian(truth))
    if true > 0 and not true / MOST_OFF < typical < true * MOST_OFF:
        warn(
            f"{path}: half of its disparities exceed {typical:.3g} px, of the truth's {true:.3g} px; is the scale right?"
        )
