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
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from importlib.metadata import version
from pathlib import Path

import hyperacuity
from hyperacuity.data import remote
from hyperacuity.data.remote import LocalCopies, absolute, display, is_remote
from hyperacuity.errors import InputError
from hyperacuity.run.job import Cell, Job
from hyperacuity.tally import Tally

SETTLED_NS = 2_000_000_000
AT_HAND = 10_000
_SAYS_LITTLE = " (tells of no change)"

_PACKAGE = Path(hyperacuity.__file__).parent
_ABOVE = {"compare", "run", "report", "studies", "studio", "cli"}
"""Rooms that work on tallies already made, or show them: their code cannot change one."""

LIBRARIES = ("numpy", "scipy", "numba", "pillow", "h5py")
"""What files are decoded with and numbers computed: another version may give another tally."""


Recorded = tuple[str, bytes]
"""A file's stamp and digest, as a store remembers them."""


def stamp(path: Path) -> str:
    """Size, times and inode of a file as one string: while it stays the same, so do the contents."""
    if is_remote(path):
        seen, telling = remote.stamp(path)
        return seen if telling else f"{seen}{_SAYS_LITTLE}"
    try:
        facts = path.stat()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    if not stat.S_ISREG(facts.st_mode):
        raise InputError(f"{path}: is not a file")
    return f"{facts.st_size}:{facts.st_mtime_ns}:{facts.st_ctime_ns}:{facts.st_ino}"


class Digests:
    """Content hashes of files, each file read once however many cells and threads ask for it.

    The last ``AT_HAND`` of them are remembered; a store remembers them all.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._known: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._reading: dict[tuple[str, str], Future[bytes]] = {}

    def of_cell(
        self, cell: Cell, recorded: Mapping[str, Recorded], copies: LocalCopies, read: list[tuple[str, str, bytes]]
    ) -> tuple[bytes, tuple[str, ...]]:
        """The hash of all inputs of a cell in their roles, and the stamp of each file at that moment.

        ``recorded`` are digests known from earlier. Those of files that had to be read and are worth recording are added to
        ``read``, as (path, stamp, digest).
        """
        stamps = tuple(stamp(path) for path in cell.files)
        parts = hashlib.blake2b(digest_size=20)
        roles = ", ".join(role for role, _ in cell.extras)
        parts.update(f"{len(cell.truths)} truths, {len(cell.extras)} extras: {roles}\n".encode())
        for path, seen in zip(cell.files, stamps, strict=True):
            earlier, digest = recorded.get(str(absolute(path)), ("", b""))
            if earlier != seen:
                digest, is_new = self.of_file(path, seen, copies)
                if is_new:
                    read.append((str(absolute(path)), seen, digest))
            # Readers choose the format by content or by suffix, so the suffix is an input like the content.
            parts.update(f"{path.suffix.lower()}\n".encode() + digest)
        return parts.digest(), stamps

    def of_file(self, path: Path, seen: str, copies: LocalCopies) -> tuple[bytes, bool]:
        """The hash of one file whose stamp is ``seen``, and whether it was read just now and may be recorded."""
        key = (str(absolute(path)), seen)
        settled = False
        with self._guard:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key], False
            promised = self._reading.get(key)
            mine = promised is None
            if promised is None:
                promised = self._reading[key] = Future()
        if mine:
            try:
                digest, settled = _read(path, seen, copies)
                with self._guard:
                    self._known[key] = digest
                    if len(self._known) > AT_HAND:
                        self._known.popitem(last=False)
                promised.set_result(digest)
            except BaseException as error:  # not remembered: the next cell may try again, file servers have bad moments
                promised.set_exception(error)
            finally:
                with self._guard:
                    del self._reading[key]
        return promised.result(), settled


def _read(path: Path, seen: str, copies: LocalCopies) -> tuple[bytes, bool]:
    """The hash of a file, and whether it may be recorded under its stamp."""
    started = time.time_ns()
    try:
        with copies.copy_of(path).open("rb") as file:
            digest = hashlib.file_digest(file, functools.partial(hashlib.blake2b, digest_size=20)).digest()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    refuse_changed((path,), (seen,))
    if is_remote(path):
        return digest, not seen.endswith(_SAYS_LITTLE)
    _, modified, changed, _ = map(int, seen.split(":"))
    return digest, max(modified, changed) + SETTLED_NS < started


def refuse_changed(files: tuple[Path, ...], stamps: tuple[str, ...]) -> None:
    """Raise ``InputError`` if a file is no longer what it was: a tally of half-old input must not be kept."""
    for path, seen in zip(files, stamps, strict=True):
        if stamp(path) != seen:
            raise InputError(f"{display(path)}: changed while it was being evaluated; run again when it is complete")


def code_version(job: Job[Tally]) -> str:
    """Version of the package, and a hash of all that can change a tally of this job besides its files.

    That is the code of the modules which the job names (``sources``; by default its own and its tally's), of every module of
    the package that these import, and the versions of the libraries that decode files and compute. Comments, docstrings and
    layout do not count. A job whose source cannot be found (typed into an interpreter) gets a version of its own each time, so
    that nothing stale is ever reused.
    """
    digest = _hash_of_code(_sources(job))
    return f"{hyperacuity.__version__}+{digest or 'unknown-' + secrets.token_hex(8)}"


def code_elsewhere(job: Job[Tally]) -> str:
    """The part of :func:`code_version` that must be the same in every process that works on the job.

    A class of the main program travels with the job itself, and its source cannot be found elsewhere, so it does not count.
    """
    own = tuple(name for name in _sources(job) if name not in ("__main__", "__mp_main__"))
    return f"{hyperacuity.__version__}+{_hash_of_code(own) or 'unknown'}"


def _sources(job: Job[Tally]) -> tuple[str, ...]:
    return tuple(sorted(set(getattr(job, "sources", (type(job).__module__, job.tally_type.__module__)))))


@functools.cache
def _hash_of_code(modules: tuple[str, ...]) -> str | None:
    digest = hashlib.blake2b(digest_size=10)
    digest.update(" ".join(f"{name} {version(name)}" for name in LIBRARIES).encode())
    waiting, seen = set(modules), set[str]()
    found: dict[str, str] = {}
    while waiting:
        name = waiting.pop()
        seen.add(name)
        source = _source_of(name)
        if source is None:
            if name in modules:
                return None
            continue  # the name of a function, which its module holds
        tree = ast.parse(source.read_bytes())
        waiting |= set(_imported(tree, name)) - seen
        found[name] = _bare(tree)
    for name, code in sorted(found.items()):
        digest.update(f"{name}\n{len(code)}\n{code}".encode())
    return digest.hexdigest()


def _source_of(module: str) -> Path | None:
    """The file of a module, of the package or from elsewhere."""
    package, _, rest = module.partition(".")
    if package == "hyperacuity":
        path = _PACKAGE / rest.replace(".", "/")
        return next((file for file in (path / "__init__.py", path.with_suffix(".py")) if file.is_file()), None)
    file = getattr(sys.modules.get(module), "__file__", None)
    return Path(file) if file is not None and Path(file).is_file() else None


def _imported(tree: ast.Module, module: str) -> Iterator[str]:
    """The modules of the package that a source imports, at its top or inside functions; not for types alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            modules = [name for name in inside if _source_of(name) is not None]
            names = modules if len(modules) == len(inside) else [node.module, *modules]
        for name in names:
            package, _, rest = name.partition(".")
            if package == "hyperacuity" and rest and rest.partition(".")[0] not in _ABOVE:
                yield name


def _bare(tree: ast.Module) -> str:
    """Code without its docstrings, comments and layout."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if (
            isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
        ):
            del body[0]
    return ast.dump(tree)
