"""What a stored tally depends on: the bytes of its input files, and the source code that computed it.

A file is read once and its digest kept, as long as its size, times and inode stay the same. The digest of a file written
within the last two seconds is used but not kept: file systems with coarse clocks could hide a second change behind the
same times.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import secrets
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import hyperacuity
from hyperacuity.errors import InputError
from hyperacuity.run.job import Cell, Job
from hyperacuity.tally import Tally

SETTLED_NS = 2_000_000_000

_PACKAGE = Path(hyperacuity.__file__).parent
_ALWAYS = ("kernels", "data", "maps.py", "tally.py")
_ABOVE = {"compare", "run", "report", "studio", "cli"}
"""Rooms that work on tallies already made, or show them: their code cannot change one."""


def stamp(path: Path) -> str:
    """Size, times and inode of a file as one string: while it stays the same, so do the contents."""
    try:
        facts = path.stat()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    if not stat.S_ISREG(facts.st_mode):
        raise InputError(f"{path}: is not a file")
    return f"{facts.st_size}:{facts.st_mtime_ns}:{facts.st_ctime_ns}:{facts.st_ino}"


class Digests:
    """Content hashes of files, each file read once however many cells and threads ask for it.

    ``recall(path, stamp)`` looks a digest up in an earlier run's records. :meth:`take_new` hands over what is worth
    recording.
    """

    def __init__(self, recall: Callable[[str, str], bytes | None] = lambda path, stamp: None) -> None:
        self._recall = recall
        self._guard = threading.Lock()
        self._known: dict[tuple[str, str], bytes] = {}
        self._reading: dict[tuple[str, str], Future[bytes]] = {}
        self._new: list[tuple[str, str, bytes]] = []

    def of_cell(self, cell: Cell) -> tuple[bytes, tuple[str, ...]]:
        """The hash of all inputs of a cell in their roles, and the stamp of each file at that moment."""
        stamps = tuple(stamp(path) for path in cell.files)
        parts = hashlib.blake2b(digest_size=20)
        parts.update(f"{len(cell.truths)} truths, {len(cell.extras)} extras\n".encode())
        for path, seen in zip(cell.files, stamps, strict=True):
            # Readers choose the format by content or by suffix, so the suffix is an input like the content.
            parts.update(f"{path.suffix.lower()}\n".encode() + self.of_file(path, seen))
        return parts.digest(), stamps

    def of_file(self, path: Path, seen: str) -> bytes:
        """The hash of one file whose stamp is ``seen``."""
        key = (str(path.absolute()), seen)
        with self._guard:
            if key in self._known:
                return self._known[key]
            promised = self._reading.get(key)
            mine = promised is None
            if promised is None:
                promised = self._reading[key] = Future()
        if mine:
            try:
                digest = self._recall(*key) or self._read(path, key)
                self._known[key] = digest
                promised.set_result(digest)
            except BaseException as error:  # not remembered: the next cell may try again, file servers have bad moments
                promised.set_exception(error)
            finally:
                with self._guard:
                    del self._reading[key]
        return promised.result()

    def take_new(self) -> list[tuple[str, str, bytes]]:
        """(path, stamp, digest) of every file read since the last call."""
        with self._guard:
            new, self._new = self._new, []
        return new

    def _read(self, path: Path, key: tuple[str, str]) -> bytes:
        started = time.time_ns()
        try:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, functools.partial(hashlib.blake2b, digest_size=20)).digest()
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror})") from error
        refuse_changed((path,), (key[1],))
        _, modified, changed, _ = map(int, key[1].split(":"))
        if max(modified, changed) + SETTLED_NS < started:
            with self._guard:
                self._new.append((*key, digest))
        return digest


def refuse_changed(files: tuple[Path, ...], stamps: tuple[str, ...]) -> None:
    """Raise ``InputError`` if a file is no longer what it was: a tally of half-old input must not be kept."""
    for path, seen in zip(files, stamps, strict=True):
        if stamp(path) != seen:
            raise InputError(f"{path}: changed while it was being evaluated; run again when it is complete")


def code_version(job: Job[Tally]) -> str:
    """Version of the package, and a hash of the source files that can change a tally of this job.

    These are the kernels, the maps, the tally, the data room, the module that defines the job, the rooms of its tally, and
    whatever these import of the package, short of the rooms that only work on finished tallies. A job whose source cannot
    be found (typed into an interpreter) gets a version of its own each time, so that nothing stale is ever reused.
    """
    own = tuple(sorted({type(job).__module__, job.tally_type.__module__}))
    digest = _hash_of_sources(own)
    return f"{hyperacuity.__version__}+{digest or 'unknown-' + secrets.token_hex(8)}"


@functools.cache
def _hash_of_sources(modules: tuple[str, ...]) -> str | None:
    files: set[Path] = set()
    for module in modules:
        source = getattr(sys.modules.get(module), "__file__", None)
        if source is None or not Path(source).is_file():
            return None
        files.add(Path(source))
        files.update(_room_of(module))
    waiting = files | {file for name in _ALWAYS for file in _sources_under(name)}
    files = set()
    while waiting:
        file = waiting.pop()
        files.add(file)
        waiting |= {found for name in _imported_rooms(file) for found in _sources_under(name)} - files
    digest = hashlib.blake2b(digest_size=10)
    for name, file in sorted((_name(file), file) for file in files):
        text = file.read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{name}\n{len(text)}\n".encode() + text)
    return digest.hexdigest()


def _room_of(module: str) -> set[Path]:
    """All sources of the room a module of the package lives in; nothing for upper rooms and for modules from elsewhere."""
    package, _, rest = module.partition(".")
    room = rest.partition(".")[0]
    return _sources_under(room) if package == "hyperacuity" and room and room not in _ABOVE else set()


def _sources_under(name: str) -> set[Path]:
    path = _PACKAGE / name
    if path.is_dir():
        return set(path.rglob("*.py"))
    return {file for file in (path, path.with_suffix(".py")) if file.is_file()}


def _imported_rooms(file: Path) -> Iterator[str]:
    """Names directly below the package that a source file imports, at its top or inside functions."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            package, _, rest = name.partition(".")
            room = rest.partition(".")[0]
            if package == "hyperacuity" and room and room not in _ABOVE:
                yield room


def _name(file: Path) -> str:
    """A name that is the same wherever the package is installed."""
    return file.relative_to(_PACKAGE).as_posix() if file.is_relative_to(_PACKAGE) else file.name
