"""Predictions against truths: two folders paired by file stem, with one annotator or many.

A truth belongs to the prediction of the same stem. If no stems agree, an ending that all files of a folder share is removed
(``goat_2_gt_binary`` → ``goat_2``), then numbers at the end of the truths' stems are taken for annotators (``goat_2_1`` →
``goat_2``). In a folder of sub-folders each sub-folder is one annotator. Files without a partner are listed, not ignored.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePath

from hyperacuity.console import printable
from hyperacuity.data.files import entry_kind
from hyperacuity.data.remote import files_at, is_remote
from hyperacuity.errors import InputError, UsageError, option

PICTURES = frozenset({".bmp", ".jpeg", ".jpg", ".pbm", ".pgm", ".png", ".pnm", ".ppm", ".tif", ".tiff"})
MAPS = PICTURES | {".fg", ".mat", ".npy", ".npz", ".pfm", ".seg"}
"""Endings of files that are predictions or truths; a folder with such a name stands where a file belongs."""

NOTES = frozenset({".csv", ".json", ".md", ".txt"})
"""Endings of files that say something about a data set."""

_SUFFIX = re.compile(r"\.[A-Za-z]{1,5}$|\.mat7$")
_ANNOTATOR = re.compile(r"[-_. ]\d+$")


@dataclass(frozen=True)
class PairedFiles:
    """One image: its name, the prediction, and the files of its annotators."""

    name: str
    prediction: Path
    truths: tuple[Path, ...]


@dataclass(frozen=True)
class Pairing:
    """Pairs of files in two folders, by name, and the rest on either side. ``missing``: images without a prediction."""

    pairs: tuple[PairedFiles, ...]
    unpaired_predictions: tuple[Path, ...] = ()
    unpaired_truths: tuple[Path, ...] = ()
    missing: tuple[str, ...] = ()


def pair_folders(predictions: Path, truths: Path, *, glob: str = "*") -> Pairing:
    """Pair the files of two folders, of the predictions' those that match ``glob``.

    An empty folder, or two folders with nothing in common, is a ``UsageError``.
    """
    files = truths_in(truths)
    plain = _readings([stem_of(path) for path in files])
    readings = [*plain, *([_ANNOTATOR.sub("", stem) or stem for stem in stems] for stems in plain)]
    groups: list[dict[str, list[Path]]] = []
    for stems in readings:
        groups.append({})
        for name, path in sorted(zip(stems, files, strict=True)):
            groups[-1].setdefault(name, []).append(path)
    return _paired(predictions, groups, str(truths), glob)


def pair_truths(
    predictions: Path, truths: Mapping[str, Sequence[Path]], *, of: str = "the data set", glob: str = "*"
) -> Pairing:
    """Pair the files of a folder with truths that have names, those of a data set for example."""
    named = {unicodedata.normalize("NFC", name): list(paths) for name, paths in truths.items()}
    return _paired(predictions, [named], of, glob)


def _paired(predictions: Path, readings: Sequence[dict[str, list[Path]]], of: str, glob: str) -> Pairing:
    """Pair under the first reading of the predictions' and the truths' stems in which any two agree."""
    files = [path for path in files_in(predictions) if fnmatchcase(path.name, glob)]
    if not files:
        raise UsageError(f"{predictions}: no file matches {glob}")
    for names in _readings([stem_of(path) for path in files]):
        result = _unique(names, files, predictions)
        for truths in readings:
            if result.keys() & truths.keys():
                pairs = [
                    PairedFiles(name, path, tuple(truths[name])) for name, path in result.items() if name in truths
                ]
                lone_predictions = [path for name, path in result.items() if name not in truths]
                lone_truths = [path for name, paths in truths.items() if name not in result for path in paths]
                missing = tuple(name for name in truths if name not in result)
                return Pairing(tuple(pairs), tuple(lone_predictions), tuple(lone_truths), missing)
    example = next((path.name for paths in readings[0].values() for path in paths), "nothing")
    sentence = f"no file in {predictions} (like {files[0].name}) has the stem of one in {of} (like {example})"
    raise UsageError(f"{sentence}; are these the same images?")


def truths_in(folder: Path) -> list[Path]:
    """The files of a folder of truths: those in it, or those of its sub-folders, of which each is one annotator.

    ``UsageError`` for a folder without a file, for an annotator's folder without one, and for maps on both levels.
    """
    folders = [] if is_remote(folder) else folders_in(folder)
    own = files_in(folder, required=not folders)
    truths = [path for path in own if path.suffix.lower() not in NOTES]
    inside = any(path.suffix.lower() in MAPS for inner in folders for path in files_in(inner, required=False))
    if truths and inside:
        raise UsageError(
            f"{folder}: holds {truths[0].name} beside folders with maps ({folders[0].name}): "
            "expected all truths in it, or a folder for each annotator and nothing else"
        )
    return [path for inner in folders for path in files_in(inner)] if inside or not own else own


def folders_in(folder: Path) -> list[Path]:
    """The folders in a folder, hidden ones left out, in the order of their names.

    A folder that has the name of a file is none. ``InputError`` for what is neither a file nor a folder and has no such name.
    """
    shown = sorted(path for path in _entries(folder) if not _is_hidden(path))
    return [path for path in shown if path.suffix.lower() not in MAPS | NOTES and entry_kind(path) == "folder"]


def files_in(folder: Path, *, required: bool = True) -> list[Path]:
    """The files of a folder, hidden ones left out, in the order of their names.

    Links to nothing and folders with the name of a file (``bear.png``) are among them: they fail where they are read.
    """
    if is_remote(folder):
        plain = files_at(folder)
    else:  # a folder with the name of a file stands where a file belongs
        plain = [path for path in _entries(folder) if not path.is_dir() or path.suffix.lower() in MAPS]
    files = sorted(path for path in plain if not _is_hidden(path))
    if required and not files:
        raise UsageError(f"{folder}: the folder holds no file")
    return files


def pictures_of(paths: Iterable[Path]) -> list[Path]:
    """The picture files that were named and those in folders that were named, in that order."""
    result: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = [file for file in files_in(path, required=False) if file.suffix.lower() in PICTURES]
            if not inside:
                raise UsageError(f"{path} holds no picture (PNG, JPEG, BMP, TIFF, PGM or PPM)")
            result += inside
        elif path.exists():
            result.append(path)
        else:
            raise UsageError(f"there is no file or folder {path}")
    return result


def stem_of(path: PurePath) -> str:
    """The name without its suffix, in one Unicode form (file systems differ in how they spell é), :func:`printable`.

    >>> stem_of(Path("28-img_043.SRF_2.png")), stem_of(Path("100007"))
    ('28-img_043.SRF_2', '100007')
    """
    return printable(unicodedata.normalize("NFC", _SUFFIX.sub("", path.name) or path.name))


def _is_hidden(path: Path) -> bool:
    """True for an entry that nobody is meant to look at; ``lost+found``, at the root of a volume, may not even be."""
    return path.name.startswith(".") or path.name == "lost+found"


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError as error:
        sentence = f"{folder}: cannot be read as a folder ({(error.strerror or str(error)).lower()})"
        missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        raise (UsageError if missing else InputError)(sentence) from error


def _unique(names: Sequence[str], files: Sequence[Path], folder: Path) -> dict[str, Path]:
    result: dict[str, Path] = {}
    for name, path in sorted(zip(names, files, strict=True)):
        other = result.setdefault(name, path)
        if other is not path:
            raise UsageError(
                f"{folder}: {other.name} and {path.name} share a stem: choose by {option('glob', f'*{path.suffix}')}"
            )
    return result


def _readings(stems: list[str]) -> list[list[str]]:
    """The stems as they are, then less every ending that all share and that starts at a separator, the shortest first."""
    first = stems[0]
    endings = [first[match.start() :] for match in re.finditer(r"[-_. ]", first) if match.start() > 0]
    shared = [end for end in reversed(endings) if all(stem.endswith(end) and stem != end for stem in stems)]
    return [stems, *([stem.removesuffix(ending) for stem in stems] for ending in shared)]
