"""Arrays that a study has computed, kept in its folder: a study that is run again computes only what is missing.

For studies whose pictures are made rather than read, so that a :mod:`run <hyperacuity.run>`, which goes by files, would not do.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data.files import write_bytes
from hyperacuity.run.code import code_of

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
        path = self.folder / f"{self._key(depends)}.npz"
        found = _read(path)
        if found is None:
            found = make()
            packed = io.BytesIO()
            np.savez_compressed(packed, **found)  # type: ignore[arg-type]
            self.folder.mkdir(parents=True, exist_ok=True)
            write_bytes(path, packed.getvalue())
        return found

    def _key(self, depends: Iterable[str | NDArray[Any]]) -> str:
        digest = hashlib.blake2b(code_of(*self.modules).encode(), digest_size=16)
        for part in depends:
            text = part if isinstance(part, str) else f"{part.dtype} {part.shape}"
            digest.update(f"\n{text}\n".encode())
            if not isinstance(part, str):
                digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()


def _read(path: Path) -> Arrays | None:
    """The arrays of a file; None where it is missing or was cut short."""
    try:
        with np.load(path) as arrays:
            return dict(arrays)
    except (OSError, EOFError, ValueError, zipfile.BadZipFile):
        return None
