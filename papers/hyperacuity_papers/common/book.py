"""Cached rows of the ledger in a study's folder, so that a finished paper is not run again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import hyperacuity
import hyperacuity_papers
from hyperacuity.data import find_data
from hyperacuity.errors import UsageError, option
from hyperacuity.run.code import library_versions
from hyperacuity.run.keeping import file_digest, read_kept, write_kept
from hyperacuity_papers.common.claims import LedgerRow

DATA = ("bsds500", "bsds-fg", "rug", "middlebury-v2")
"""The data sets of the papers."""

NAME = "ledger.json"


def data_at_hand(explicit: Path | None = None) -> dict[str, Path | None]:
    """Find the folder of each data set of the papers; None for those that are missing."""

    def where(name: str) -> Path | None:
        try:
            return find_data(name, explicit)
        except UsageError:
            return None

    if explicit is not None and not explicit.exists():
        raise UsageError(f"{option('data', explicit)}: there is no folder of that name")
    return {name: where(name) for name in DATA}


def ledger_key(data: Path | None, **options: object) -> str:
    """Compute the key of a paper's rows: all code and models of the packages, the libraries, the data at hand and the options."""
    digest = hashlib.blake2b(repr(sorted(options.items())).encode(), digest_size=16)
    digest.update(repr(library_versions()).encode())
    for package in (Path(str(module.__file__)).parent for module in (hyperacuity, hyperacuity_papers)):
        for file in sorted(_files(package)):
            if file.suffix in (".py", ".json", ".onnx", ".txt", ".toml"):
                digest.update(f"{file.relative_to(package.parent).as_posix()}\n".encode() + file.read_bytes())
    for name, where in data_at_hand(data).items():
        files = [] if where is None else [(file.as_posix(), file_digest(file)) for file in sorted(_files(where))]
        digest.update(f"{name} {[(path.removeprefix(str(where)), content) for path, content in files]}".encode())
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[Path]:
    """The file itself, or all files below a folder."""
    return iter([folder]) if folder.is_file() else (path for path in folder.rglob("*") if path.is_file())


class KeptRows(NamedTuple):
    """A paper's rows, what its study said of the run, and the seconds it took."""

    rows: list[LedgerRow]
    notes: list[str]
    seconds: float


def keep(folder: Path, key: str, kept: KeptRows) -> None:
    """Write a paper's rows to its folder."""
    told = {"seconds": kept.seconds, "notes": kept.notes, "rows": [vars(row) for row in kept.rows]}
    write_kept(folder / NAME, key, told)


def kept_rows(folder: Path, key: str) -> KeptRows | None:
    """Read the rows cached in a paper's folder; None if there are none, or those of another key."""

    def unpacked(stored: Mapping[str, Any]) -> KeptRows:
        return KeptRows([LedgerRow(**row) for row in stored["rows"]], list(stored["notes"]), stored["seconds"])

    return read_kept(folder / NAME, key, unpacked)
