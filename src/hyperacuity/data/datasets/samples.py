"""Data sets as the rest of the package sees them: named samples, each a picture, its truths and what goes with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hyperacuity.data.datasets.pairing import MAPS, files_in, stem_of
from hyperacuity.data.files import file_at, folder_at
from hyperacuity.errors import InputError, UsageError


@dataclass(frozen=True)
class Sample:
    """One picture. Its files are named, not read.

    ``extras`` holds what only some tasks need, by role: ``right`` (the other picture of a stereo pair), ``nonocc``, ``all``
    and ``disc`` (region masks), and so on. ``scale`` is what a disparity picture's grey levels are divided by.
    """

    name: str
    image: Path | None
    truths: tuple[Path, ...]
    extras: Mapping[str, Path] = field(default_factory=dict)
    scale: float | None = None


@dataclass(frozen=True)
class Dataset:
    """The samples of a data set, in the order of their names. ``inverted``: in its edge truths, 0 is the edge."""

    name: str
    folder: Path
    samples: tuple[Sample, ...]
    inverted: bool = False

    def __post_init__(self) -> None:
        if not self.samples:
            raise UsageError(f"{self.folder}: holds no sample of {self.name} with its truth")


def by_stem(folder: Path) -> dict[str, Path]:
    """The files of a folder by stem; none when there is no such folder. Of files with the same stem, a map or picture is taken.

    ``InputError`` for what stands there and is no folder, and for two maps with the same stem.
    """
    result: dict[str, Path] = {}
    for path in files_in(folder, required=False) if folder_at(folder) else []:
        other = result.get(stem_of(path))
        if other is None or other.suffix.lower() not in MAPS:
            result[stem_of(path)] = path
        elif path.suffix.lower() in MAPS:
            raise InputError(
                f"{folder}: {other.name} and {path.name} share a stem, and only one is meant: move the other"
            )
    return result


def samples_of(
    images: Mapping[str, Path],
    truths: Mapping[str, Path],
    extras: Mapping[str, Mapping[str, Path]] | None = None,
    *,
    scale: float | None = None,
) -> tuple[Sample, ...]:
    """One sample per truth, in the order of names, with the image and the extras (by role) of the same name."""
    roles = (extras or {}).items()
    return tuple(
        Sample(name, images.get(name), (truth,), {role: files[name] for role, files in roles if name in files}, scale)
        for name, truth in sorted(truths.items())
    )


def first_of(folder: Path, *names: str) -> Path | None:
    """The first of the named files that the folder has. ``InputError`` for what has such a name and is no file."""
    return next((result for name in names if (result := file_at(folder / name))), None)


def present(**files: Path | None) -> dict[str, Path]:
    """The files that exist, by role. ``InputError`` for what stands where a file belongs and is none."""
    return {role: path for role, path in files.items() if path is not None and file_at(path)}
