"""Truths of semantic boundaries: SBD and Cityscapes as they are distributed, and plain folders.

============  ==================================================================================================
layout        files
============  ==================================================================================================
SBD           ``cls/NAME.mat`` and ``inst/NAME.mat``, photographs in ``img``, lists ``train.txt`` and ``val.txt``
Cityscapes    ``gtFine/SPLIT/CITY/NAME_gtFine_labelIds.png`` (``instanceIds``, ``labelTrainIds``), ``leftImg8bit``
class folders ``class_001/NAME.png`` …: the boundaries of each class
labels        ``labels/NAME.png``, ``instances/NAME.png``, ``images/NAME.jpg``
plain         ``NAME.png`` (label maps), ``NAME.npy`` (boundaries, H×W×C), ``NAME.mat`` (SBD's)
============  ==================================================================================================

A sample's extras name files by role: ``inst`` (SBD's objects), ``instances``, ``truth_003`` (the boundaries of class 3).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from hyperacuity.data.datasets.pairing import files_in, folders_in, stem_of
from hyperacuity.data.datasets.samples import Sample, by_stem
from hyperacuity.data.files import entry_kind, file_at, folder_at, read_bytes
from hyperacuity.errors import UsageError, option

GTFINE = re.compile(r"_gtFine_(labelIds|labelTrainIds|instanceIds)$")
_CLASS = re.compile(r"class[_-]?0*(\d{1,5})", re.IGNORECASE)
_PHOTOGRAPH = re.compile(r"(_leftImg8bit|_gtFine(_\w+)?)$")


def image_of(path: Path) -> str:
    """The image that a file is of: its stem, without what Cityscapes adds to it.

    >>> image_of(Path("ulm_000000_000019_leftImg8bit.png")), image_of(Path("2008_000051.bmp"))
    ('ulm_000000_000019', '2008_000051')
    """
    stem = stem_of(path)
    return _PHOTOGRAPH.sub("", stem) or stem


def class_folders(folder: Path) -> dict[int, Path]:
    """The folders ``class_001``, ``class_002`` … inside a folder, by number; none where it has no such."""
    result = {int(m[1]): path for path in folders_in(folder) if (m := _CLASS.fullmatch(path.name))}
    if 0 in result:
        raise UsageError(f"{result[0]}: classes are numbered from 1, expected class_001 and so on")
    return result


def class_files(folders: dict[int, Path], glob: str = "*") -> dict[str, dict[int, Path]]:
    """The files of each image in folders of classes, by image and number of the class; folders of cities are looked into."""
    result: dict[str, dict[int, Path]] = {}
    for number, folder in folders.items():
        for path in _files_below(folder):
            if fnmatchcase(path.name, glob):
                other = result.setdefault(image_of(path), {}).setdefault(number, path)
                if other is not path:
                    raise UsageError(
                        f"{folder}: {other.name} and {path.name} are both of {image_of(path)}, expected one"
                    )
    return result


def semantic_samples(truth: Path, *, split: str | None = None) -> list[Sample]:
    """The images that a folder of truths has, or the one of a file, in the order of their names.

    ``split`` is a part of SBD or Cityscapes: ``train`` or ``val``; by default ``val``, where the data have it, and ``all`` is
    everything.
    """
    kind = entry_kind(truth)
    if kind == "file":
        return [Sample(image_of(truth), None, (truth,))]
    if kind is None:
        raise UsageError(f"there is no file or folder {truth}")
    for layout in (_sbd, _cityscapes):
        if samples := layout(truth, split):
            return samples
    if split is not None:
        raise UsageError(f"{option('split', split)}: {truth} has no parts; SBD and Cityscapes have train and val")
    return _drawn(truth) or _labelled(truth)


def _sbd(root: Path, split: str | None) -> list[Sample]:
    classes, objects = (by_stem(root / name) for name in ("cls", "inst"))
    if not any(path.suffix.lower() == ".mat" for path in (*classes.values(), *objects.values())):
        return []
    names: Iterable[str] = dict.fromkeys((*classes, *objects))
    if split != "all" and (split is not None or file_at(root / "val.txt")):
        names = _listed(root / f"{split or 'val'}.txt")
    photographs = by_stem(root / "img")
    samples = []
    for name in sorted(names):
        files = [held[name] for held in (classes, objects) if name in held]
        if not files:
            raise UsageError(f"{root}: {split or 'val'}.txt lists {name}, of which there is no truth in cls or inst")
        extras = {"inst": objects[name]} if name in objects and name in classes else {}
        samples.append(Sample(name, photographs.get(name), (files[0],), extras))
    return samples


def _listed(path: Path) -> list[str]:
    try:
        names = read_bytes(path).decode().split()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: cannot be read as a list of images") from error
    if not names:
        raise UsageError(f"{path}: lists no image")
    return names


def _cityscapes(root: Path, split: str | None) -> list[Sample]:
    """Truths of Cityscapes below a folder: its root, ``gtFine``, a part of it, or a city."""
    fine = folder_at(root / "gtFine") or root
    parts = {path.name for path in folders_in(fine)} & {"train", "val", "test", "train_extra"}
    if split not in (None, "all") and split not in parts:
        if not parts:
            return []
        raise UsageError(f"{option('split', split)}: {fine} has {', '.join(sorted(parts))}")
    where = fine / (split or "val") if parts and split != "all" and (split or "val") in parts else fine
    files: dict[str, dict[str, Path]] = {}
    for path in sorted(_files_below(where, 2)):
        if path.suffix == ".png" and (m := GTFINE.search(path.stem)):
            files.setdefault(image_of(path), {})[m[1]] = path
    samples = []
    for name, of in sorted(files.items()):
        first = next(of[kind] for kind in ("labelIds", "instanceIds", "labelTrainIds") if kind in of)
        extras = {"instances": of["instanceIds"]} if "instanceIds" in of else {}
        samples.append(Sample(name, _left_image(first, name), (first,), extras))
    return samples


def _left_image(truth: Path, name: str) -> Path | None:
    """The photograph of a truth of Cityscapes: the same path below ``leftImg8bit``."""
    parts = list(truth.parent.parts)
    if "gtFine" not in parts:
        return None
    parts[len(parts) - 1 - parts[::-1].index("gtFine")] = "leftImg8bit"
    photograph = Path(*parts) / f"{name}_leftImg8bit.png"
    return file_at(photograph)


def _drawn(root: Path) -> list[Sample]:
    """Boundaries in folders of classes."""
    samples = []
    for name, of in sorted(class_files(class_folders(root)).items()):
        extras = {f"truth_{number:03d}": path for number, path in sorted(of.items())}
        samples.append(Sample(name, None, (next(iter(extras.values())),), extras))
    return samples


def _labelled(root: Path) -> list[Sample]:
    """Label maps: in ``labels`` with ``instances`` next to it, or in the folder itself."""
    labels = folder_at(root / "labels") or root
    beside = labels.parent if labels.name == "labels" else root
    objects = {image_of(path): path for path in by_stem(beside / "instances").values()}
    photographs = {image_of(path): path for path in by_stem(beside / "images").values()}
    samples = []
    for path in files_in(labels):
        name = image_of(path)
        extras = {"instances": objects[name]} if name in objects else {}
        samples.append(Sample(name, photographs.get(name), (path,), extras))
    return samples


def _files_below(folder: Path, depth: int = 1) -> list[Path]:
    """The files of a folder and of the folders in it, down to a depth."""
    inner = folders_in(folder) if depth else []
    return [*files_in(folder, required=False), *(path for one in inner for path in _files_below(one, depth - 1))]
