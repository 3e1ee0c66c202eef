"""What ``hyperacuity disparity`` evaluates: stereo data sets in any of their layouts, and the systems' maps of their scenes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hyperacuity.errors import InputError, UsageError

if TYPE_CHECKING:
    from hyperacuity.data import Sample
    from hyperacuity.disparity import DisparityTally, Protocol, ViewProtocol, ViewTally
    from hyperacuity.maps import DisparityMap, EdgeMap
    from hyperacuity.run import Cell

MOST_OFF = 4.0
"""A map whose median is so many times that of the truth, or as much smaller, is probably read at a wrong scale."""

LAYOUTS = ("scenes", "middlebury-v2", "middlebury-2014", "kitti-2015", "kitti-2012", "eth3d")


def stereo_samples(truth: str, data: Path | None = None) -> dict[str, Sample]:
    """The scenes that TRUTH stands for: a data set by name or by folder, a folder of disparity maps, or one map."""
    from hyperacuity.data import Sample, load_dataset
    from hyperacuity.data.datasets.layouts import LAYOUTS as KNOWN
    from hyperacuity.data.datasets.pairing import files_in, stem_of

    path = Path(truth)
    if not path.exists():
        if truth not in LAYOUTS:
            raise UsageError(
                f"there is no file or folder {truth}, nor a stereo data set of that name ({', '.join(LAYOUTS)})"
            )
        return _by_name(load_dataset(truth, data).samples)
    if path.is_file():
        return {stem_of(path): Sample(stem_of(path), None, (path,))}
    for layout in LAYOUTS:
        for load in (
            partial(load_dataset, layout),
            KNOWN[layout].load,
        ):  # a folder that holds the data set, or is (part of) it
            try:
                return _by_name(load(path).samples) if load else {}
            except UsageError:
                continue
    return {stem_of(file): Sample(stem_of(file), None, (file,)) for file in files_in(path)}


def _by_name(samples: Sequence[Sample]) -> dict[str, Sample]:
    """Samples by name; of the scenes this package makes, the disparity among the extras is the truth."""
    found = {
        sample.name: replace(sample, truths=(sample.extras["disparity"],)) if "disparity" in sample.extras else sample
        for sample in samples
    }
    if not found:
        raise UsageError("the data set has no scene with a disparity map")
    return found


def find_maps(folder: Path, scenes: Mapping[str, Sample]) -> tuple[dict[str, Path], list[Path]]:
    """A system's map of each scene, ``SCENE.png`` (pfm, npy …) or the one in the folder ``SCENE``, and files left over."""
    from hyperacuity.data import pair_truths
    from hyperacuity.data.datasets.pairing import stem_of

    if folder.is_file():
        named = [name for name in scenes if name == stem_of(folder) or len(scenes) == 1]
        if not named:
            raise UsageError(f"{folder} is one map, and none of the {len(scenes)} scenes has its name")
        return {named[0]: folder}, []
    folders = {path.name.lower(): path for path in sorted(folder.iterdir()) if path.is_dir()}
    inside = {name: _only_map(folders[name.lower()]) for name in scenes if name.lower() in folders}
    if inside:
        return inside, []
    pairing = pair_truths(folder, {name: sample.truths for name, sample in scenes.items()}, of="the data set")
    return {pair.name: pair.prediction for pair in pairing.pairs}, list(pairing.unpaired_predictions)


def _only_map(folder: Path) -> Path:
    """The disparity map in a scene's folder: the only file, or the only one whose name starts with ``disp``."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    maps = files if len(files) == 1 else [path for path in files if path.name.lower().startswith("disp")]
    if len(maps) != 1:
        found = ", ".join(path.name for path in files) or "nothing"
        raise UsageError(f"{folder}: holds {found}, expected one disparity map, or one whose name starts with disp")
    return maps[0]


def grid(
    systems: Mapping[str, Path], scenes: Mapping[str, Sample], masks: Mapping[str, Path]
) -> tuple[list[Cell], list[Path]]:
    """The cells to evaluate and what has no partner: maps of no scene, and truths of scenes that a system lacks."""
    from hyperacuity.run import Cell

    cells, unpaired = [], []
    for name, folder in systems.items():
        maps, left = find_maps(folder, scenes)
        unpaired += left
        for scene, sample in scenes.items():
            if scene not in maps:
                unpaired.append(sample.truths[0])
                continue
            info = sample.truths[0].with_name("info.txt")  # the scale of Middlebury v2 stands there
            extras = [*sample.extras.values(), *filter(None, [sample.image]), *([info] if info.is_file() else [])]
            extras += [found for found in (_mask_of(scene, place) for place in masks.values()) if found]
            cells.append(Cell(name, scene, maps[scene], sample.truths, tuple(extras), sample.image))
    return cells, list(dict.fromkeys(unpaired))


def _mask_of(scene: str, folder: Path) -> Path | None:
    from hyperacuity.data.datasets.samples import by_stem

    return by_stem(folder).get(scene)


class Reader:
    """Reads what belongs to a cell. ``scale`` is that of the systems' pictures where it is not the data set's."""

    def __init__(
        self,
        scenes: Mapping[str, Sample],
        masks: Mapping[str, Path],
        scale: float | None = None,
        truth_scale: float | None = None,
    ) -> None:
        self.scenes, self.masks, self.scale, self.truth_scale = scenes, masks, scale, truth_scale

    def estimate(self, cell: Cell) -> DisparityMap:
        """The system's map."""
        from hyperacuity.data import read_disparity

        path = cell.prediction
        scale = self.scale if self.scale is not None else self.scenes[cell.image].scale
        return read_disparity(path, scale=scale if _is_picture(path) else self.scale)

    def truth(self, cell: Cell) -> DisparityMap:
        """The true map."""
        from hyperacuity.data import read_disparity

        path = cell.truths[0]
        scale = self.truth_scale if self.truth_scale is not None else self.scenes[cell.image].scale
        return read_disparity(path, scale=scale if _is_picture(path) else None)

    def regions(self, cell: Cell, truth: DisparityMap, wanted: Sequence[str]) -> dict[str, EdgeMap]:
        """The wanted regions: shipped with the data or given on the command line, else derived."""
        from hyperacuity.data import read_disparity, read_image, read_mask
        from hyperacuity.disparity import regions

        sample = self.scenes[cell.image]
        given = {name: read_mask(sample.extras[name]) for name in ("nonocc", "all", "disc") if name in sample.extras}
        if "noc" in sample.extras:  # KITTI's truth without what only one view shows
            given["nonocc"] = read_disparity(sample.extras["noc"], scale=sample.scale) > 0
        for name, folder in self.masks.items():
            if path := _mask_of(cell.image, folder):
                given[name] = read_mask(path)
        image = read_image(sample.image) if "untextured" in wanted and sample.image is not None else None
        return regions(truth, image=image, given=given)

    def origin(self, wanted: Sequence[str]) -> str:
        """Whether the regions are given, derived or mixed; the region ``all`` is the same either way."""
        judged = [name for name in wanted if name != "all"]
        given = [
            name in sample.extras or (name == "nonocc" and "noc" in sample.extras) or name in self.masks
            for sample in self.scenes.values()
            for name in judged
        ]
        return "given" if all(given) else "mixed" if any(given) else "derived"


def _is_picture(path: Path) -> bool:
    from hyperacuity.data.formats.sniff import IMAGE_KINDS, kind_of

    return kind_of(path) in IMAGE_KINDS


@dataclass(frozen=True)
class DisparityJob:
    """One map read and its errors counted."""

    protocol: Protocol
    reader: Reader

    @property
    def signature(self) -> str:
        """The protocol's; a scale from the command line is told apart, since the files are the same."""
        head, _, version = self.protocol.signature.rpartition("|")
        scales = {"scale": self.reader.scale, "truth-scale": self.reader.truth_scale}
        told = "".join(f"|{name}:{scale:g}" for name, scale in scales.items() if scale is not None)
        return f"{head}{told}|{version}"

    @property
    def tally_type(self) -> type[DisparityTally]:
        """What :meth:`evaluate` returns."""
        from hyperacuity.disparity import DisparityTally

        return DisparityTally

    def evaluate(self, cell: Cell) -> DisparityTally:
        """Count one map's errors."""
        from hyperacuity.disparity import tally

        truth, estimate = self.reader.truth(cell), self.reader.estimate(cell)
        _doubt_scale(cell.prediction, estimate, truth)
        return tally(estimate, truth, self.reader.regions(cell, truth, self.protocol.regions), self.protocol)


def _doubt_scale(path: Path, estimate: DisparityMap, truth: DisparityMap) -> None:
    import numpy as np

    from hyperacuity.data.files import warn

    if np.isnan(estimate).all():
        return
    typical, true = float(np.nanmedian(estimate)), float(np.nanmedian(truth))
    if true > 0 and not true / MOST_OFF < typical < true * MOST_OFF:
        warn(
            f"{path}: half of its disparities exceed {typical:.3g} px, of the truth's {true:.3g} px; is the scale right?"
        )


@dataclass(frozen=True)
class ViewJob:
    """One map read and the pictures it predicts compared with the real ones."""

    protocol: ViewProtocol
    reader: Reader

    @property
    def signature(self) -> str:
        """The protocol's, with a scale from the command line."""
        head, _, version = self.protocol.signature.rpartition("|")
        return f"{head}|scale:{self.reader.scale:g}|{version}" if self.reader.scale is not None else f"{head}|{version}"

    @property
    def tally_type(self) -> type[ViewTally]:
        """What :meth:`evaluate` returns."""
        from hyperacuity.disparity import ViewTally

        return ViewTally

    def evaluate(self, cell: Cell) -> ViewTally:
        """Predict both pictures."""
        from hyperacuity.data import read_image
        from hyperacuity.disparity import tally_views

        sample = self.reader.scenes[cell.image]
        if sample.image is None or "right" not in sample.extras:
            raise InputError(f"the pictures of {cell.image} are not with the data, so no view can be predicted")
        left, right = read_image(sample.image), read_image(sample.extras["right"])
        return tally_views(self.reader.estimate(cell), left, right, self.protocol)
