"""The data sets that this package reads, and where it looks for them.

Nothing is downloaded. A data set is looked for in the folder that is given, else in those of ``HYPERACUITY_DATA`` and the user's
cache: each may be the data set's folder or one that holds it. ``docs/datasets.md`` says where each comes from.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

from hyperacuity.data.datasets.bsds import bsds300, bsds500
from hyperacuity.data.datasets.samples import Dataset, by_stem, samples_of
from hyperacuity.data.datasets.stereo import eth3d, kitti_2012, kitti_2015, middlebury_2014, middlebury_v2
from hyperacuity.data.files import entry_kind
from hyperacuity.errors import UsageError

ENVIRONMENT = "HYPERACUITY_DATA"


@dataclass(frozen=True)
class DatasetLayout:
    """Marks of a data set: the usual names of its folder, and patterns of which one must match inside it."""

    folders: tuple[str, ...]
    patterns: tuple[str, ...]
    load: Callable[..., Dataset] | None
    splits: tuple[str, ...] = ()


_SCENE_PARTS = ("right", "labels", "boundaries", "order", "ownership", "disparity")
_SCENE_MASKS = ("nonocc", "all", "disc")


def rug(folder: Path) -> Dataset:
    """RUG: ``*.pgm`` and ``gt/*_gt_binary.pgm``, in which 0 is the contour."""
    truths = {name.removesuffix("_gt_binary"): path for name, path in by_stem(folder / "gt").items()}
    return Dataset("rug", folder, samples_of(by_stem(folder / "images") or by_stem(folder), truths), inverted=True)


def uded(folder: Path) -> Dataset:
    """UDED: ``imgs/*.png`` and ``gt/*.png``, in which 255 is the edge."""
    return Dataset("uded", folder, samples_of(by_stem(folder / "imgs"), by_stem(folder / "gt")))


def scenes(folder: Path) -> Dataset:
    """A folder that ``hyperacuity scenes`` wrote: ``images``, annotators in ``groundTruth``, other truths as extras."""
    extras = {part: by_stem(folder / part) for part in _SCENE_PARTS}
    extras |= {mask: by_stem(folder / "masks" / mask) for mask in _SCENE_MASKS}
    return Dataset("scenes", folder, samples_of(by_stem(folder / "images"), by_stem(folder / "groundTruth"), extras))


_BSDS500 = ("bsds500", "BSDS500", "BSR/BSDS500/data")

LAYOUTS = {
    "bsds500": DatasetLayout((*_BSDS500, "BSDS500/data"), ("groundTruth/*",), bsds500, ("test", "train", "val")),
    "bsds300": DatasetLayout(
        ("bsds300", "BSDS300", *_BSDS500), ("human/color", "groundTruth/*"), bsds300, ("test", "train")
    ),
    "bsds-fg": DatasetLayout(("bsds-fg", "bsds-fg-dev", "bsds-fg-dev.tar.xz"), ("fg/*/*.fg",), None),
    "middlebury-v2": DatasetLayout(
        ("middlebury-v2", "middlebury"),
        ("*/groundtruth.png", "*/disp2.png", "*/disp2.pgm", "*/truedisp.row3.col3.pgm"),
        middlebury_v2,
    ),
    "middlebury-2014": DatasetLayout(
        ("middlebury-2014", "MiddEval3", "middlebury"),
        ("*/disp0.pfm", "*/disp0GT.pfm", "*/*/disp0GT.pfm"),
        middlebury_2014,
    ),
    "kitti-2012": DatasetLayout(
        ("kitti-2012", "kitti2012", "data_stereo_flow", "kitti"),
        ("training/disp_occ", "disp_occ", "disp_gt.png"),
        kitti_2012,
    ),
    "kitti-2015": DatasetLayout(
        ("kitti-2015", "kitti2015", "data_scene_flow", "kitti"),
        ("training/disp_occ_0", "disp_occ_0", "disp_gt.png"),
        kitti_2015,
    ),
    "eth3d": DatasetLayout(
        ("eth3d", "two_view_training"),
        ("disp0.pfm", "disp0GT.pfm", "*/disp0*.pfm", "*/*/disp0*.pfm", "*/im0.png"),
        eth3d,
    ),
    "rug": DatasetLayout(("rug", "RUG"), ("gt/*_gt_binary.pgm",), rug),
    "uded": DatasetLayout(("uded", "UDED"), ("imgs/*",), uded),
    "scenes": DatasetLayout(("scenes",), ("scenes.json",), scenes),
}
"""The data sets by name."""


def find_data(name: str, explicit: Path | None = None) -> Path:
    """The folder (or archive) of a data set. If there is none, the message says where it was looked for."""
    layout = _layout(name)
    folders = search_folders(explicit)
    for parent in folders:
        candidates = [parent / folder for folder in layout.folders]
        if not any((parent / folder).exists() for other in LAYOUTS.values() for folder in other.folders):
            candidates.append(parent)  # holds no known data set, so it may be one itself
        for candidate in candidates:
            if entry_kind(candidate) == "file" or any(any(candidate.glob(pattern)) for pattern in layout.patterns):
                return candidate
    looked = " and ".join(map(str, folders))
    hint = "" if explicit else f" (`data=DIR` or the variable {ENVIRONMENT} can name another folder)"
    raise UsageError(f"the data set {name} is not in {looked}{hint}; docs/datasets.md says how to get and lay it out")


def search_folders(explicit: Path | None = None) -> list[Path]:
    """Folders to look for data in: only the explicit one if there is one, else the environment's, then the cache."""
    if explicit is not None:
        if not explicit.exists():
            raise UsageError(f"there is no folder {explicit}")
        return [explicit]
    named = os.environ.get(ENVIRONMENT)
    return [*([Path(named)] if named else []), user_cache_path("hyperacuity")]


def load_dataset(name: str, explicit: Path | None = None, *, split: str | None = None) -> Dataset:
    """The samples of a data set. ``split`` is one of its parts where it has any; ``test`` by default."""
    layout = _layout(name)
    if layout.load is None:
        raise UsageError(f"{name} is read with hyperacuity.data.figure_ground: it labels segmentations, not pictures")
    if split is not None and split not in layout.splits:
        parts = f"the parts {', '.join(layout.splits)}" if layout.splits else "no parts"
        raise UsageError(f"{name} has {parts}, not {split}")
    folder = find_data(name, explicit)
    return layout.load(folder, split or layout.splits[0]) if layout.splits else layout.load(folder)


def _layout(name: str) -> DatasetLayout:
    if name not in LAYOUTS:
        raise UsageError(f"there is no data set {name}, expected one of {', '.join(LAYOUTS)}")
    return LAYOUTS[name]
