"""Predictions against truths: two folders paired by file stem, with one annotator or many.

A truth belongs to the prediction of the same stem. When no stem agrees as it stands, an ending that all truths share is taken
off first (``goat_2_gt_binary`` → ``goat_2``), then numbers at the end are taken for annotators (``goat_2_1``, ``goat_2_2`` →
``goat_2``). In a folder of sub-folders each sub-folder is one annotator. A MAT file may hold all annotators in one.
What finds no partner is listed, not ignored.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from hyperacuity.errors import UsageError

_SUFFIX = re.compile(r"\.[A-Za-z]{1,5}$|\.mat7$")
_ANNOTATOR = re.compile(r"[-_. ]\d+$")


@dataclass(frozen=True)
class Pair:
    """One image: its name, the prediction, and the files of its annotators."""

    name: str
    prediction: Path
    truths: tuple[Path, ...]


@dataclass(frozen=True)
class Pairing:
    """What two folders have in common, by name, and what is left on either side."""

    pairs: tuple[Pair, ...]
    unpaired_predictions: tuple[Path, ...]
    unpaired_truths: tuple[Path, ...]


def pair_folders(predictions: Path, truths: Path) -> Pairing:
    """Pair the files of two folders. An empty folder, or two folders with nothing in common, is a wrong call."""
    predicted = _by_stem(files_in(predictions), predictions)
    folders = [folder for folder in sorted(_entries(truths)) if folder.is_dir()]
    true_files = files_in(truths, required=not folders) or [file for folder in folders for file in files_in(folder)]
    if not true_files:
        raise UsageError(f"{truths}: neither the folder nor its sub-folders hold a file")
    grouped = _grouped(true_files, set(predicted))
    pairs = tuple(Pair(name, predicted[name], tuple(grouped[name])) for name in sorted(predicted) if name in grouped)
    if not pairs:
        raise UsageError(
            f"no file in {predictions} (such as {next(iter(predicted.values())).name}) has the stem of one in {truths} "
            f"(such as {true_files[0].name})"
        )
    return Pairing(
        pairs,
        tuple(path for name, path in sorted(predicted.items()) if name not in grouped),
        tuple(path for name, paths in sorted(grouped.items()) if name not in predicted for path in paths),
    )


def files_in(folder: Path, *, required: bool = True) -> list[Path]:
    """The plain files of a folder, hidden ones left out, in the order of their names."""
    files = sorted(path for path in _entries(folder) if path.is_file() and not path.name.startswith("."))
    if required and not files:
        raise UsageError(f"{folder}: the folder holds no file")
    return files


def stem_of(path: Path) -> str:
    """The name without its suffix, in one Unicode form (file systems differ in how they spell é).

    >>> stem_of(Path("28-img_043.SRF_2.png")), stem_of(Path("100007"))
    ('28-img_043.SRF_2', '100007')
    """
    return unicodedata.normalize("NFC", _SUFFIX.sub("", path.name) or path.name)


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError as error:
        raise UsageError(f"{folder}: cannot be read as a folder ({(error.strerror or str(error)).lower()})") from error


def _by_stem(files: Iterable[Path], folder: Path) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in files:
        other = found.setdefault(stem_of(path), path)
        if other is not path:
            raise UsageError(f"{folder}: {other.name} and {path.name} have the same stem; which one is meant?")
    return found


def _grouped(files: list[Path], names: set[str]) -> dict[str, list[Path]]:
    """The truths of every name, under the first reading of their stems that agrees with any of the names."""
    plain = [stem_of(path) for path in files]
    ending = _common_ending(plain)
    shortened = [stem.removesuffix(ending) for stem in plain]
    readings = [plain, shortened, *([_ANNOTATOR.sub("", stem) for stem in stems] for stems in (plain, shortened))]
    best = next((stems for stems in readings if names.intersection(stems)), plain)
    grouped: dict[str, list[Path]] = {}
    for stem, path in zip(best, files, strict=True):
        grouped.setdefault(stem, []).append(path)
    return grouped


def _common_ending(stems: list[str]) -> str:
    """The longest ending that all stems share and that starts at a ``_``, ``-``, ``.`` or space, leaving something of each."""
    ending = stems[0]
    for stem in stems:
        while not stem.endswith(ending) or stem == ending:
            ending = ending[1:]
    start = re.search(r"[-_. ]", ending)
    return ending[start.start() :] if start else ""
