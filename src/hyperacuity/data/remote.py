"""Files that lie elsewhere: ``s3://…``, ``gs://…``, ``https://…`` and whatever else fsspec has a driver for.

Such a file is named by a path like any other: ``Path("s3://bucket/maps/church.png")``. (``Path`` writes it with one slash less,
which loses nothing.) It is fetched whole to a temporary file before it is read, so that readers need to know nothing of it.
"""

from __future__ import annotations

import functools
import hashlib
import re
import shutil
import tempfile
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Any, Self

from hyperacuity.data.files import check_bytes
from hyperacuity.errors import InputError, UsageError

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+):/+(?=[^/])")  # two letters at least: one is a drive of Windows
_MARKS_OF_CHANGE = (
    "etag",
    "mtime",
    "created",
    "lastmodified",
    "last_modified",
    "updated",
    "md5",
    "checksum",
    "version",
)


def is_remote(path: Path) -> bool:
    """Whether the path is a URL.

    >>> is_remote(Path("s3://bucket/a.png")), is_remote(Path("/data/a.png")), is_remote(Path("C:/data/a.png"))
    (True, False, False)
    """
    return _SCHEME.match(path.as_posix()) is not None


def url_of(path: Path) -> str:
    """The URL that a remote path stands for.

    >>> url_of(Path("s3://bucket/a.png")), url_of(Path("file:///data/a.png"))
    ('s3://bucket/a.png', 'file:///data/a.png')
    """
    scheme, _, rest = path.as_posix().partition(":/")
    return f"{scheme}://{'/' if scheme == 'file' else ''}{rest.lstrip('/')}"


def shown(path: Path) -> str:
    """The path or URL as people write it."""
    return url_of(path) if is_remote(path) else str(path)


def full(path: Path) -> Path:
    """The absolute path; a URL is one already."""
    return path if is_remote(path) else path.absolute()


def is_folder(path: Path) -> bool:
    """Whether there is a folder at this path or URL."""
    if not is_remote(path):
        return path.is_dir()
    files, name = _open(path)
    return bool(_ask(path, files.isdir, name))


def is_file(path: Path) -> bool:
    """Whether there is a file at this path or URL."""
    if not is_remote(path):
        return path.is_file()
    files, name = _open(path)
    return bool(_ask(path, files.isfile, name))


def files_at(folder: Path) -> list[Path]:
    """The files right below a URL."""
    files, name = _open(folder)
    entries = _ask(folder, files.ls, name, detail=True)
    return [folder / PurePosixPath(entry["name"]).name for entry in entries if entry["type"] == "file"]


def stamp(path: Path) -> tuple[str, bool]:
    """What the server says of a file, as one short string, and whether that would tell of a change of its contents."""
    files, name = _open(path)
    facts = _ask(path, files.info, name)
    known = {str(key).lower(): value for key, value in facts.items()}
    text = repr(sorted((key, str(value)) for key, value in known.items()))
    telling = any(known.get(mark) is not None for mark in _MARKS_OF_CHANGE)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest(), telling


class Nearby:
    """Local copies of remote files for as long as the ``with`` block lasts, each fetched once. Local files are their own copy."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._copies: dict[Path, Path] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def copy_of(self, path: Path) -> Path:
        """Where the file can be read."""
        if not is_remote(path):
            return path
        if path not in self._copies:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="hyperacuity-"))
            place = self._folder / str(len(self._copies))
            place.mkdir()
            _fetch(path, place / path.name)
            self._copies[path] = place / path.name
        return self._copies[path]

    def as_given(self, text: str) -> str:
        """A message with the copies named as the files they are copies of."""
        for path, copy in self._copies.items():
            text = text.replace(str(copy), url_of(path))
        return text


def _fetch(path: Path, target: Path) -> None:
    files, name = _open(path)
    check_bytes(int(_ask(path, files.size, name) or 0), url_of(path))
    _ask(path, files.get_file, name, str(target))


def _ask(path: Path, question: Any, *words: Any, **more: Any) -> Any:
    """Call a method of a file system; whatever its driver raises becomes one sentence about the file."""
    try:
        return question(*words, **more)
    except FileNotFoundError as error:
        raise InputError(f"{url_of(path)}: cannot be read (no such file)") from error
    except Exception as error:  # each driver has its own
        raise InputError(f"{url_of(path)}: cannot be read ({type(error).__name__}: {error})") from error


def _open(path: Path) -> tuple[Any, str]:
    url = url_of(path)
    files = _file_system(url.partition("://")[0])
    return files, files._strip_protocol(url)


@functools.cache
def _file_system(scheme: str) -> Any:
    try:
        import fsspec
    except ImportError as error:
        raise UsageError(f"{scheme}:// needs fsspec: pip install 'hyperacuity[cluster]'") from error
    try:
        # Listings are not cached: a file that changed must be seen to have changed.
        return fsspec.filesystem(scheme, use_listings_cache=False)
    except ImportError as error:
        raise UsageError(f"{scheme}://: {error}") from error
    except ValueError as error:
        raise UsageError(f"{scheme}:// is not a kind of URL that fsspec knows") from error
