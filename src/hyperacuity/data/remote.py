"""Remote files: ``https://…`` by the standard library, ``s3://…``, ``gs://…`` and whatever else fsspec has a driver for.

Such a file is named by a path like any other: ``Path("s3://bucket/maps/church.png")`` (``Path`` drops one of the slashes). It is
copied whole to a temporary file before it is read, within :data:`~hyperacuity.data.files.MAX_BYTES` and
:data:`~hyperacuity.data.web.MAX_SECONDS`. universal_pathlib has neither limits nor stamps, and its paths are no ``Path``.
"""

from __future__ import annotations

import functools
import hashlib
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, Self

from hyperacuity.data.files import MAX_BYTES, check_bytes, printable
from hyperacuity.errors import InputError, UsageError, not_installed

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+):/+(?=[^/])")  # two letters at least: one is a drive of Windows
_REVEALS_CHANGE = ("etag", "mtime", "created", "lastmodified", "last_modified", "updated", "md5", "checksum", "version")
_PIECE = 1 << 20


def is_remote(path: Path) -> bool:
    """True for a URL.

    >>> is_remote(Path("s3://bucket/a.png")), is_remote(Path("/data/a.png")), is_remote(Path("C:/data/a.png"))
    (True, False, False)
    """
    return _SCHEME.match(path.as_posix()) is not None


def url_of(path: Path) -> str:
    """The URL that a remote path represents.

    >>> url_of(Path("s3://bucket/a.png")), url_of(Path("file:///data/a.png"))
    ('s3://bucket/a.png', 'file:///data/a.png')
    """
    scheme, _, rest = path.as_posix().partition(":/")
    return f"{scheme}://{'/' if scheme == 'file' else ''}{rest.lstrip('/')}"


def display(path: Path) -> str:
    """The path or URL as people write it."""
    return url_of(path) if is_remote(path) else str(path)


def absolute(path: Path) -> Path:
    """The absolute path; a URL stays as it is."""
    return path if is_remote(path) else path.absolute()


def is_folder(path: Path) -> bool:
    """True if there is a folder at this path or URL."""
    return bool(_ask(path, "isdir")) if is_remote(path) else path.is_dir()


def is_file(path: Path) -> bool:
    """True if there is a file at this path or URL."""
    return bool(_ask(path, "isfile")) if is_remote(path) else path.is_file()


def files_at(folder: Path) -> list[Path]:
    """The files directly below a URL."""
    entries = _ask(folder, "ls", detail=True)
    return [folder / PurePosixPath(entry["name"]).name for entry in entries if entry["type"] == "file"]


def stamp(path: Path) -> tuple[str, bool]:
    """A digest of what the server says about a file, and whether it would reveal a change of the contents."""
    facts = {str(key).lower(): value for key, value in _ask(path, "info").items()}
    text = repr(sorted((key, str(value)) for key, value in facts.items()))
    reliable = any(facts.get(key) is not None for key in _REVEALS_CHANGE)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest(), reliable


class LocalCopies:
    """Local copies of remote files for the length of a ``with`` block, each fetched once. Local files are used as they are."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._copies: dict[Path, Path] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def copy_of(self, path: Path) -> Path:
        """The path at which the file can be read."""
        if not is_remote(path):
            return path
        if path not in self._copies:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="hyperacuity-"))
            copy = self._folder / str(len(self._copies)) / path.name
            copy.parent.mkdir(exist_ok=True)
            _fetch(path, copy)
            self._copies[path] = copy
        return self._copies[path]

    def restore_names(self, text: str) -> str:
        """A message with each copy's path replaced by the URL it was fetched from."""
        for path, copy in self._copies.items():
            text = text.replace(str(copy), url_of(path))
        return text


def _fetch(path: Path, copy: Path) -> None:
    """Copy a remote file; of one that is too large, too slow or broken off, nothing is left."""
    from hyperacuity.data import web  # not above: TLS takes a tenth of the start of a command

    url, ends = url_of(path), time.monotonic() + web.MAX_SECONDS
    try:
        with _files_of(path) as (files, name), files.open(name, "rb") as source, copy.open("wb") as file:
            check_bytes(int(getattr(source, "size", 0) or 0), url)
            count = 0
            while piece := source.read(_PIECE):
                count += len(piece)
                if count > MAX_BYTES:
                    raise InputError(f"{url}: sends more than the limit of {MAX_BYTES:,} bytes")
                if time.monotonic() > ends:
                    raise OSError(f"took more than {web.MAX_SECONDS:g} seconds")
                file.write(piece)
    except BaseException:
        copy.unlink(missing_ok=True)
        raise


def _ask(path: Path, method: str, **options: Any) -> Any:
    """Call a method of the path's file system."""
    with _files_of(path) as (files, name):
        return getattr(files, method)(name, **options)


@contextmanager
def _files_of(path: Path) -> Iterator[tuple[Any, str]]:
    """The path's file system and its name there; whatever the driver raises becomes one sentence about the file."""
    url = url_of(path)
    scheme = url.partition("://")[0]
    try:
        if scheme in ("http", "https"):
            from hyperacuity.data import web

            yield web.WebFiles(), url
        else:
            files = _file_system(scheme)
            yield files, files._strip_protocol(url)
    except (InputError, UsageError):
        raise
    except FileNotFoundError as error:
        raise InputError(f"{url}: cannot be read (no such file)") from error
    except Exception as error:  # each driver raises others
        raise InputError(f"{url}: cannot be read ({printable(f'{type(error).__name__}: {error}')})") from error


@functools.cache
def _file_system(scheme: str) -> Any:
    try:
        import fsspec
    except ImportError as error:
        raise not_installed(f"{scheme}:// needs fsspec", "cluster") from error
    try:
        # Listings are not cached: a file that changed must be seen to have changed.
        return fsspec.filesystem(scheme, use_listings_cache=False)
    except ImportError as error:
        raise UsageError(f"{scheme}://: {error}") from error
    except ValueError as error:
        raise UsageError(f"{scheme}:// is not a kind of URL that fsspec knows") from error
