"""Results of a study that are kept in its folder, and used again as long as neither their input nor the code has changed."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

import hyperacuity
from hyperacuity.console import output_folder
from hyperacuity.data.files import write_bytes
from hyperacuity.run.code import code_of

Made = TypeVar("Made")


@cache
def code_key(*modules: str) -> str:
    """What a result of these modules depends on besides its input: their code, all that they import, and the models shipped."""
    digest = hashlib.blake2b(code_of(*modules).encode(), digest_size=12)
    for path in sorted(Path(hyperacuity.__file__).parent.joinpath("detect").rglob("*")):
        if path.suffix in (".json", ".onnx"):
            digest.update(path.name.encode() + hashlib.blake2b(path.read_bytes()).digest())
    return digest.hexdigest()


def key_of(code: str, *given: object) -> str:
    """The key of a result of this code on this input: arrays by their values, the rest as it prints.

    >>> key_of("v1", np.zeros(3)) == key_of("v1", np.zeros(3)), key_of("v1", np.zeros(3)) == key_of("v1", np.ones(3))
    (True, False)
    """
    digest = hashlib.blake2b(code.encode(), digest_size=12)
    for one in given:
        if isinstance(one, np.ndarray):
            array: NDArray[Any] = np.ascontiguousarray(one)
            digest.update(f"{array.dtype.str}{array.shape}".encode() + array.tobytes())
        else:
            digest.update(repr(one).encode())
    return digest.hexdigest()


def kept(
    path: Path | None, key: str, make: Callable[[], Made], pack: Callable[[Made], Any], unpack: Callable[[Any], Made]
) -> Made:
    """What a JSON file holds under this key; else it is made, and the file written. Without a path nothing is kept.

    ``pack`` and ``unpack`` go to what JSON can say and back. A file that cannot be read is written again.
    """
    if path is None:
        return make()
    found = read_kept(path, key, unpack)
    if found is not None:
        return found
    made = make()
    write_kept(path, key, pack(made))
    return made


def read_kept(path: Path, key: str, unpack: Callable[[Any], Made]) -> Made | None:
    """What a JSON file holds under this key; None where there is none, it is of another key, or damaged."""
    try:
        found = json.loads(path.read_bytes())
        return unpack(found["result"]) if found["key"] == key else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_kept(path: Path, key: str, result: Any) -> None:
    """Write what JSON can say under a key; the folder is created if missing."""
    output_folder(path.parent)
    write_bytes(path, json.dumps({"key": key, "result": result}, ensure_ascii=False).encode())


def kept_files(record: Path, key: str, files: Iterable[Path], make: Callable[[], None]) -> bool:
    """Make files, unless they are there and were made under this key; says whether they were made."""
    try:
        if record.read_text(encoding="utf-8") == key and all(file.exists() for file in files):
            return False
    except (OSError, ValueError):
        pass
    record.unlink(missing_ok=True)
    make()
    write_bytes(record, key.encode())
    return True


def fresh_folder(folder: Path, key: str) -> Path:
    """A folder for files that depend on a key: emptied where it was filled under another one, created if missing."""
    record = folder / ".key"  # hidden, so that it is none of the maps
    try:
        if record.read_text(encoding="utf-8") == key:
            return folder
    except (OSError, ValueError):
        pass
    if folder.is_dir():
        shutil.rmtree(folder)
    output_folder(folder)
    write_bytes(record, key.encode())
    return folder


Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Kept:
    """A folder of arrays, each under the hash of all that it depends on; ``modules`` are those whose code makes them.

    >>> import tempfile
    >>> kept = Kept(Path(tempfile.mkdtemp()), ("hyperacuity.edges",))
    >>> float(kept(["a", np.zeros(3)], lambda: {"total": np.array(7.0)})["total"])
    7.0
    >>> float(kept(["a", np.zeros(3)], lambda: {})["total"])
    7.0
    """

    folder: Path
    modules: tuple[str, ...]

    def __call__(self, depends: Iterable[str | NDArray[Any]], make: Callable[[], Arrays]) -> Arrays:
        """What lies in the folder for these inputs, or what ``make`` gives, which is then kept."""
        path = self._path(depends)
        found = _read(path)
        if found is None:
            found = make()
            packed = io.BytesIO()
            np.savez_compressed(packed, **found)  # type: ignore[arg-type]
            output_folder(self.folder)
            write_bytes(path, packed.getvalue())
        return found

    def found(self, depends: Iterable[str | NDArray[Any]]) -> Arrays | None:
        """What lies in the folder for these inputs; None where nothing does."""
        return _read(self._path(depends))

    def _path(self, depends: Iterable[str | NDArray[Any]]) -> Path:
        return self.folder / f"{key_of(code_key(*self.modules), *depends)}.npz"


def _read(path: Path) -> Arrays | None:
    """The arrays of a file; None where it is missing or was cut short."""
    try:
        with np.load(path) as arrays:
            return dict(arrays)
    except (OSError, EOFError, ValueError, zipfile.BadZipFile):
        return None
