"""What ``disparity`` evaluates: stereo data sets in any of their layouts, and the systems' maps of their scenes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from hyperacuity.console import printable
from hyperacuity.data import Sample, load_dataset, pair_truths
from hyperacuity.data.datasets.layouts import LAYOUTS as KNOWN
from hyperacuity.data.datasets.pairing import files_in, folders_in, stem_of
from hyperacuity.data.files import file_at
from hyperacuity.disparity.benchmark import Protocol
from hyperacuity.errors import InputError, UsageError, option
from hyperacuity.evaluation.inputs import Found, Inputs
from hyperacuity.evaluation.readers.disparity import MASK, DisparityReader
from hyperacuity.run.job import Cell

LAYOUTS = ("scenes", "middlebury-v2", "middlebury-2014", "kitti-2015", "kitti-2012", "eth3d")


def stereo_samples(truth: str, data: Path | None = None) -> dict[str, Sample]:
    """The scenes that TRUTH stands for: a data set by name or by folder, a folder of disparity maps, or one map."""
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
        # A folder that holds the data set, or is (part of) it.
        for load in (partial(load_dataset, layout), KNOWN[layout].load):
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


def find_maps(folder: Path, scenes: Mapping[str, Sample], *, glob: str = "*") -> tuple[dict[str, Path], list[Path]]:
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


def find(
    kind: type[DisparityReader],
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
    """The maps of the systems, with the scenes that TRUTH stands for and what goes with them."""
    scenes = stereo_samples(str(truth), data)
    named = {name: _masks_in(Path(folder), name, scenes) for name, folder in (masks or {}).items()}

    def pair(system: str, predictions: Path) -> Found:
        maps, strangers = find_maps(predictions, scenes, glob=glob)
        missing = [scene for scene in scenes if scene not in maps]
        cells = [_cell(system, scenes[scene], maps[scene], named) for scene in scenes if scene in maps]
        return Found(cells, strangers, [scenes[scene].truths[0] for scene in missing], missing)

    scales = tuple((name, sample.scale) for name, sample in scenes.items() if sample.scale is not None)
    if zero not in (None, "known", "unknown"):
        raise UsageError(f"{option('zero', zero)}: expected known or unknown")
    found = Inputs(systems, pair, kind(scale, truth_scale, scales, zero))  # type: ignore[arg-type]  # one of the three
    found.agree = lambda protocol: with_origin(protocol, list(found.images()), named)
    return found


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


def with_origin(protocol: Any, cells: Sequence[Cell], masks: Collection[str]) -> Any:
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
