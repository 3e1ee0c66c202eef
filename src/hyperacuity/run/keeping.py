"""Results that are kept in a folder, and used again as long as neither what they depend on nor their bytes have changed.

What a result depends on is its *key* (:func:`key_of`): the code that computes it, the values of its inputs and the system. Arrays
and JSON carry the key's and their own checksum in their file; maps and figures are listed with their key in the folder's list of
outputs (:mod:`hyperacuity.outputs`). A damaged file is never used: arrays and JSON are computed again, maps are named.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

import hyperacuity
from hyperacuity.outputs import is_current, output_file, output_folder, write_output
from hyperacuity.run.code import code_of

Made = TypeVar("Made")

WRITERS = "hyperacuity.data.writers"
"""The module whose code files of maps depend on too."""

CHECKSUM = 64
"""Number of digits of the checksum of an archive of arrays: they are the comment at its end."""


@cache
def code_key(*modules: str) -> str:
    """The key of these modules' code, of all that they import, and of the models that come with the package."""
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


def system_key(system: object) -> str:
    """The key of a system: its name with its options, and the bytes of the files that these name.

    >>> system_key("canny") == system_key("canny"), system_key("canny") == system_key("sobel")
    (True, False)
    """
    options: Mapping[str, Any] = dict(getattr(system, "options", ()))
    named = [Path(value) for value in options.values() if isinstance(value, str) and value]
    files = [file_digest(path) for path in named if path.is_file()]
    return key_of(str(system), *files)


def file_digest(path: Path) -> str:
    """The digest of a file's bytes."""
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


def kept(
    path: Path | None, key: str, make: Callable[[], Made], pack: Callable[[Made], Any], unpack: Callable[[Any], Made]
) -> Made:
    """The result that a JSON file holds under this key; else it is made, and the file written. Without a path nothing is kept.

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
    """The result that a JSON file holds under this key; None if there is none, or it has another key or is damaged."""
    try:
        found = json.loads(path.read_bytes())
        if found["key"] == key and found["checksum"] == _json_checksum(key, found["result"]):
            return unpack(found["result"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    return None


def write_kept(path: Path, key: str, result: Any) -> None:
    """Write what JSON can say under a key; the folder is created if missing."""
    output_folder(path.parent)
    content = {"key": key, "checksum": _json_checksum(key, result), "result": result}
    write_output(path, json.dumps(content, ensure_ascii=False).encode(), named=True)


def _json_checksum(key: str, result: Any) -> str:
    return hashlib.blake2b(f"{key} {json.dumps(result)}".encode(), digest_size=16).hexdigest()


def keep_file(path: Path, key: str, write: Callable[[Path], object]) -> bool:
    """Write a file, unless it is there as it was written under this key; True if it was written.

    ``write`` is given the path to write to, which then takes the file's place.
    """
    if is_current(path, key):
        return False
    with output_file(path, key=key) as part:
        write(part)
    return True


def keep_files(files: Sequence[Path], key: str, write: Callable[[Sequence[Path]], object]) -> bool:
    """Write several files at once, unless all are there as they were written under this key; True if they were written."""
    if all(is_current(file, key) for file in files):
        return False
    with ExitStack() as stack:
        write([stack.enter_context(output_file(file, key=key)) for file in files])
    return True


Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Kept:
    """A folder of arrays, each under the key of all that it depends on; ``modules`` are those whose code computes them.

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
        """The arrays in the folder for these inputs, or those that ``make`` gives, which are then kept."""
        path = self._path(depends)
        found = _read_arrays(path)
        if found is None:
            found = make()
            output_folder(self.folder)
            write_output(path, _packed(found, path.stem), named=True)
        return found

    def found(self, depends: Iterable[str | NDArray[Any]]) -> Arrays | None:
        """The arrays in the folder for these inputs; None if there are none."""
        return _read_arrays(self._path(depends))

    def _path(self, depends: Iterable[str | NDArray[Any]]) -> Path:
        return self.folder / f"{key_of(code_key(*self.modules), *depends)}.npz"


def _packed(arrays: Arrays, key: str) -> bytes:
    """Arrays as an ``.npz`` file, with the checksum of what comes before as the archive's comment."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.comment = bytes(CHECKSUM)
    body = buffer.getvalue()[:-CHECKSUM]
    return body + _checksum(body, key)


def _read_arrays(path: Path) -> Arrays | None:
    """The arrays of a file; None if it is missing, damaged, or was written under another key than its name says."""
    with suppress(OSError):
        data = path.read_bytes()
        body = data[:-CHECKSUM]
        if data[-CHECKSUM:] == _checksum(body, path.stem):
            with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
                return dict(arrays)
    return None


def _checksum(body: bytes, key: str) -> bytes:
    return hashlib.blake2b(body + key.encode(), digest_size=CHECKSUM // 2).hexdigest().encode()
