"""Disparity maps of stereo data sets, their regions, and the pictures of a pair."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from hyperacuity.console import printable
from hyperacuity.data import Sample, load_dataset, pair_truths, read_disparity, read_image, read_mask
from hyperacuity.data.datasets.layouts import LAYOUTS
from hyperacuity.data.datasets.pairing import files_in, folders_in, stem_of
from hyperacuity.data.files import file_at, warn
from hyperacuity.data.formats.sniff import IMAGE_KINDS, kind_of
from hyperacuity.disparity import regions
from hyperacuity.disparity.benchmark import Protocol
from hyperacuity.disparity.masks import picture
from hyperacuity.errors import InputError, UsageError, option
from hyperacuity.kinds import arrays
from hyperacuity.kinds.base import Cell, Found, Given, Inputs, Kind
from hyperacuity.maps import DisparityMap, EdgeMap, disparity_map, edge_map
from hyperacuity.tally import number

MOST_OFF = 4.0
"""A map whose median is this many times that of the truth, or as much smaller, is probably read at a wrong scale."""

STEREO = ("scenes", "middlebury-v2", "middlebury-2014", "kitti-2015", "kitti-2012", "eth3d")
"""The known data sets of stereo pairs, in the order in which a folder is taken for one."""

MASK = "mask "
"""The beginning of the role of a region's mask that the user named; those of the data have the region's name."""


@dataclass(frozen=True)
class DisparityKind(Kind):
    """``scale`` and ``truth_scale`` are grey levels per pixel where they are not the data's own, ``scales``, by scene.

    ``zero`` says whether 0 is a disparity in files that are no pictures.
    """

    prediction_is = truth_is = "disparity map"

    scale: float | None = None
    truth_scale: float | None = None
    scales: tuple[tuple[str, float], ...] = ()
    zero: Literal["known", "unknown"] | None = None

    def find(  # type: ignore[override]  # options of its own
        self,
        systems: Mapping[str, Path],
        truth: str | Path,
        *,
        masks: Mapping[str, Path] | None = None,
        scale: float | None = None,
        truth_scale: float | None = None,
        zero: str | None = None,
        data: Path | None = None,
        glob: str = "*",
    ) -> Inputs:
        """Pair the systems' maps with the scenes that TRUTH stands for and what goes with them."""
        scenes = stereo_samples(str(truth), data)
        named = {name: _masks_in(Path(folder), name, scenes) for name, folder in (masks or {}).items()}

        def pair(system: str, predictions: Path) -> Found:
            maps, strangers = _maps_of(predictions, scenes, glob=glob)
            missing = [scene for scene in scenes if scene not in maps]
            cells = [_cell(system, scenes[scene], maps[scene], named) for scene in scenes if scene in maps]
            return Found(cells, strangers, [scenes[scene].truths[0] for scene in missing], missing)

        scales = tuple((name, sample.scale) for name, sample in scenes.items() if sample.scale is not None)
        if zero not in (None, "known", "unknown"):
            raise UsageError(f"{option('zero', zero)}: expected known or unknown")
        kind = replace(self, scale=scale, truth_scale=truth_scale, scales=scales, zero=zero)  # type: ignore[arg-type]  # one of the three
        found = Inputs(systems, pair, kind)
        found.agree = lambda protocol: _with_origin(protocol, list(found.images()), named)
        return found

    def from_dict(self, options: Mapping[str, Any]) -> Self:
        """The inverse of :meth:`to_dict`."""
        scales = tuple((scene, scale) for scene, scale in options.get("scales", ()))
        return super().from_dict({**options, "scales": scales})

    def reading(self) -> dict[str, object]:
        """Parts for scales that were named, since the files are the same."""
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
        photograph = cell.file_of("image") if "untextured" in wanted else None
        return regions(truth, image=None if photograph is None else read_image(photograph), given=given)

    def from_arrays(self, prediction: Any, truths: Any, extras: Mapping[str, Any], protocol: Any) -> list[Given]:
        """Maps, and masks where the protocol does not derive them."""
        if extras.get("masks") is not None and getattr(protocol, "masks", None) == "derived":
            raise UsageError("the protocol derives the masks, but some were given: leave one of the two out")
        return super().from_arrays(prediction, truths, extras, protocol)

    def checked(self, truth: Any, protocol: Any) -> DisparityMap:
        """A disparity map."""
        return disparity_map(truth)

    def counted_too(self, cell: Cell, truths: list[Any], protocol: Any) -> Any:
        """The regions of the protocol, unless all of them are derived from the truth."""
        if getattr(protocol, "masks", "derived") == "derived":
            return None
        found = self.regions(cell, truths[0], protocol.regions)
        return {name: edge_map(found[name]) for name in protocol.regions if name in found}

    def counted_too_is(self, protocol: Any) -> str:
        """Words for masks that are not derived."""
        return "" if getattr(protocol, "masks", "derived") == "derived" else "the masks that come with it"

    def _read(self, cell: Cell, path: Path, named: float | None, *, otherwise: float | None) -> DisparityMap:
        if kind_of(path) not in IMAGE_KINDS:
            return read_disparity(path, scale=otherwise, zero=self.zero)
        return read_disparity(path, scale=named if named is not None else self._scale_of(cell))

    def _scale_of(self, cell: Cell) -> float | None:
        return dict(self.scales).get(cell.image)


@dataclass(frozen=True)
class ViewKind(DisparityKind):
    """The map, and in place of a truth the two pictures of the pair."""

    truth_is = "picture"
    people_are = "picture"

    def reading(self) -> dict[str, object]:
        """A part for the scale of the maps; that of the truth has no part in it."""
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

    def people(self, truths: Any, name: str = "truths") -> list[Any]:
        """The left and the right picture."""
        return arrays.pictures(truths, name)

    def truths_of_images(self, truths: Any, count: int) -> list[Any]:
        """The pair of each image."""
        return arrays.split(truths, count, "truths", 4)

    def checked(self, truth: Any, protocol: Any) -> Any:
        """A picture."""
        return picture(truth)

    def counted_too(self, cell: Cell, truths: list[Any], protocol: Any) -> Any:
        """Nothing."""
        return None

    def counted_too_is(self, protocol: Any) -> str:
        """No words, since there is nothing."""
        return ""


def _doubt_scale(path: Path, estimate: DisparityMap, truth: DisparityMap) -> None:
    if np.isnan(estimate).all():
        return
    typical, true = float(np.nanmedian(estimate)), float(np.nanmedian(truth))
    if true > 0 and not true / MOST_OFF < typical < true * MOST_OFF:
        warn(
            f"{path}: half of its disparities exceed {typical:.3g} px, of the truth's {true:.3g} px; is the scale right?"
        )


def stereo_samples(truth: str, data: Path | None = None) -> dict[str, Sample]:
    """The scenes that TRUTH stands for: a data set by name or by folder, a folder of disparity maps, or one map."""
    path = Path(truth)
    if not path.exists():
        if truth not in STEREO:
            raise UsageError(
                f"there is no file or folder {truth}, nor a stereo data set of that name ({', '.join(STEREO)})"
            )
        return _by_name(load_dataset(truth, data).samples)
    if path.is_file():
        return {stem_of(path): Sample(stem_of(path), None, (path,))}
    for layout in STEREO:
        # A folder that holds the data set, or is (part of) it.
        for load in (partial(load_dataset, layout), LAYOUTS[layout].load):
            try:
                return _by_name(load(path).samples) if load else {}
            except UsageError:
                continue
    return {stem_of(file): Sample(stem_of(file), None, (file,)) for file in files_in(path)}


def _by_name(samples: Sequence[Sample]) -> dict[str, Sample]:
    """Samples by name; of the scenes this package makes, the disparity among the extras is the truth.

    ``InputError`` for two scenes of one name, as in MiddEval3, which has each at several sizes.
    """
    found: dict[str, Sample] = {}
    for sample in samples:
        if sample.name in found:
            both = f"{found[sample.name].truths[0]} and {sample.truths[0]}"
            raise InputError(f"{both} are both of {sample.name}, expected one: name the folder that is meant")
        held = sample.extras.get("disparity")
        found[sample.name] = sample if held is None else replace(sample, truths=(held,))
    if not found:
        raise UsageError("the data set has no scene with a disparity map")
    return found


def _maps_of(folder: Path, scenes: Mapping[str, Sample], *, glob: str = "*") -> tuple[dict[str, Path], list[Path]]:
    """A system's map of each scene, ``SCENE.png`` (pfm, npy …) or the one in the folder ``SCENE``, and files left over."""
    if folder.is_file():
        named = [name for name in scenes if name == stem_of(folder) or len(scenes) == 1]
        if not named:
            raise UsageError(f"{folder} is one map, and none of the {len(scenes)} scenes has its name")
        return {named[0]: folder}, []
    folders = {printable(path.name).lower(): path for path in folders_in(folder)}
    inside = {name: _only_map(folders[name.lower()]) for name in scenes if name.lower() in folders}
    if inside:
        return inside, []
    pairing = pair_truths(
        folder, {name: sample.truths for name, sample in scenes.items()}, of="the data set", glob=glob
    )
    return {pair.name: pair.prediction for pair in pairing.pairs}, list(pairing.unpaired_predictions)


def _only_map(folder: Path) -> Path:
    """The disparity map in a scene's folder: the only file, or the only one whose name starts with ``disp``."""
    files = files_in(folder, required=False)
    maps = files if len(files) == 1 else [path for path in files if path.name.lower().startswith("disp")]
    if len(maps) != 1:
        found = ", ".join(path.name for path in files) or "nothing"
        raise UsageError(f"{folder}: holds {found}, expected one disparity map, or one whose name starts with disp")
    return maps[0]


def _masks_in(folder: Path, name: str, scenes: Mapping[str, Sample]) -> dict[str, Path]:
    """The masks of a region by scene. ``UsageError`` for a folder that has none of any scene."""
    found = {stem_of(path): path for path in files_in(folder)}
    if not found.keys() & scenes.keys():
        first, scene = next(iter(found.values())), next(iter(scenes), "SCENE")
        raise UsageError(
            f"{option('masks', {name: str(folder)})}: holds a mask of no scene ({first.name}), expected {scene}.png"
        )
    return found


def _cell(system: str, sample: Sample, prediction: Path, masks: Mapping[str, Mapping[str, Path]]) -> Cell:
    info = file_at(sample.truths[0].with_name("info.txt"))  # the scale of Middlebury v2 stands there
    extras = list(sample.extras.items())
    if sample.image is not None:
        extras.append(("image", sample.image))
    if info:
        extras.append(("info", info))
    for name, files in masks.items():
        if path := files.get(sample.name):
            extras.append((f"{MASK}{name}", path))
    return Cell(system, sample.name, prediction, sample.truths, tuple(extras), sample.image)


def _with_origin(protocol: Any, cells: Sequence[Cell], masks: Collection[str]) -> Any:
    """The protocol, saying whether the regions are given, derived or mixed; the region ``all`` is the same either way.

    A protocol of predicted views, which has no regions, stays as it is. ``UsageError`` for a region that can neither be derived
    nor is among the ``masks``.
    """
    if not isinstance(protocol, Protocol):
        return protocol
    for name in protocol.regions:
        if name not in ("nonocc", "all", "disc", "untextured") and name not in masks:
            raise UsageError(f"there is no region {name}; give its masks by `masks={{{name!r}: DIR}}`")
    judged = [name for name in protocol.regions if name != "all"]
    roles = [{role for role, _ in cell.extras} for cell in cells]
    given = [
        name in has or f"{MASK}{name}" in has or (name == "nonocc" and "noc" in has) for has in roles for name in judged
    ]
    origin = "given" if all(given) else "mixed" if any(given) else "derived"
    return replace(protocol, masks=origin)  # type: ignore[arg-type]  # one of the three
