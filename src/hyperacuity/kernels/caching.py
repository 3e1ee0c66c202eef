"""Compiled kernels on disk: keyed by their sources, checked before anything is loaded, in folders that nobody else can write.

**Key.** The compiled kernels of a module lie in a folder whose name is a digest of its source and of those of the kernel modules
it imports, which are compiled into it, and of the versions of Python, numba, llvmlite and numpy, and the processor. A change of
one is a new folder, so stale machine code can never answer for new source. Where the sources lie and when they were written does
not matter: another checkout or environment uses the same kernels. Sources are read when they are imported, so that an edit
while a process runs changes nothing there.

**Checks.** Files begin with a digest of their key and contents, which is compared before anything is unpickled. A damaged file,
or one that belongs to another function, is a miss, and is replaced. Folders are made with mode 0700. One that is a link, belongs
to another user or can be written by others is not used. Then, and where nothing can be written, kernels are compiled in memory,
which is said once. There is no other place to fall back on.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import stat
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import NullCache

from hyperacuity.errors import UsageError
from hyperacuity.kernels import numba_internals
from hyperacuity.machine import cache_base

_log = logging.getLogger(__name__)

_PACKAGE = __name__.rpartition(".")[0]

_IMPORTS = re.compile(rf"^from {re.escape(_PACKAGE)}(?:\.(\w+))? import (\([^)]*\)|.+)", re.MULTILINE)

_DIGEST_SIZE = 32


@cache
def _source(module: str) -> str:
    """Source of a kernel module, as it is when this is first called; empty for other names."""
    path = Path(__file__).with_name(f"{module}.py")
    return path.read_text(encoding="utf-8") if path.exists() else ""


def sources(module: str) -> dict[str, str]:
    """Sources of a kernel module and of all kernel modules that it imports, directly or not."""
    collected: dict[str, str] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in collected or not (text := _source(name)):
            continue
        collected[name] = text
        for one, several in _IMPORTS.findall(text):
            waiting += [one] if one else re.findall(r"\w+", several)
    return collected


@cache
def _folder_name(module: str) -> str:
    texts = sources(module) | sources("__init__")
    if module not in texts:
        raise FileNotFoundError(f"the source of {_PACKAGE}.{module} is not here")
    key = repr((sorted(texts.items()), numba_internals.compiler_settings()))
    return f"{module}-{hashlib.blake2b(key.encode(), digest_size=16).hexdigest()}"


def cache_folder(module: str) -> Path:
    """Folder of the compiled kernels of a module, such as ``hyperacuity.kernels.sweep``."""
    return cache_base() / _folder_name(module.rpartition(".")[2])


@cache
def _announce() -> None:
    """Log, once in a process, that kernels have to be compiled."""
    _log.info("compiling kernels for this machine; this is done once and takes some seconds")


_problems: list[str] = []


def _warn(problem: Exception) -> None:
    """Log, once in a process, why compiled kernels are not kept."""
    if not _problems:
        _problems.append(_reason(problem))
        _log.warning("compiled kernels are not kept, which costs some seconds in each process: %s", _problems[0])


def _reason(problem: Exception) -> str:
    named = isinstance(problem, OSError) and problem.filename
    return f"{problem.filename}: {problem.strerror}" if named else str(problem)  # type: ignore[attr-defined]


def _require_private(path: Path, status: os.stat_result) -> None:
    """``PermissionError`` unless a folder or file belongs to this user and nobody else can write to it."""
    if not hasattr(os, "geteuid"):
        return  # Windows: the user's folders are private
    if status.st_uid != os.geteuid():
        raise PermissionError(f"{path} belongs to another user; set NUMBA_CACHE_DIR to a folder of yours")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(
            f"{path} can be written by other users; delete it, or set NUMBA_CACHE_DIR to another folder"
        )


def _private_folder(folder: Path) -> Path:
    """A folder within :func:`cache_base`, created if missing. ``OSError`` if it cannot be, or is not safe."""
    if not folder.exists():
        folder.parent.parent.mkdir(parents=True, exist_ok=True)
        for one in (folder.parent, folder):
            one.mkdir(mode=0o700, exist_ok=True)
    for one in (folder.parent, folder):
        status = one.lstat()
        if not stat.S_ISDIR(status.st_mode):
            raise PermissionError(f"{one} is a link")
        _require_private(one, status)
    return folder


def require_private_folder() -> None:
    """``UsageError`` where compiled kernels cannot be kept."""
    try:
        _private_folder(cache_folder(_PACKAGE + ".bits"))
    except OSError as problem:
        raise UsageError(f"compiled kernels cannot be kept: {_reason(problem)}") from None


def _digest(key: str, data: bytes) -> bytes:
    return hashlib.blake2b(data, key=hashlib.blake2b(key.encode()).digest(), digest_size=_DIGEST_SIZE).digest()


class DiskCache(NullCache):
    """Compiled variants of one function, for numba, which asks before it compiles one and hands over what it has compiled."""

    def __init__(self, function: Callable[..., Any], *, counts_references: bool) -> None:
        self._counts_references = counts_references
        self._module = function.__module__
        self._name = f"{function.__qualname__}-{function.__code__.co_firstlineno}"
        _source(self._module.rpartition(".")[2])

    def _file(self, signature: Any) -> tuple[Path, str]:
        """File of a variant, and the key that it has to carry. ``OSError`` if there is no safe folder for it."""
        folder = _private_folder(cache_folder(self._module))
        key = f"{folder.name} {self._name} {signature}"
        return folder / f"{self._name}-{hashlib.blake2b(key.encode(), digest_size=8).hexdigest()}.kernel", key

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load a variant; ``None`` if there is none that can be trusted."""
        try:
            file, key = self._file(sig)
        except Exception as problem:
            _warn(problem)
            return None
        try:
            content = _read(file)
            digest, data = content[:_DIGEST_SIZE], content[_DIGEST_SIZE:]
            if digest == _digest(key, data):
                return numba_internals.from_bytes(data, target_context, counts_references=self._counts_references)
            _log.debug("%s is damaged and will be replaced", file)
        except FileNotFoundError:
            pass
        except Exception as problem:
            _log.debug("%s is not used: %s", file, problem)
        _announce()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a variant, if that is possible."""
        try:
            file, key = self._file(sig)
            content = numba_internals.to_bytes(data)
            _write(file, _digest(key, content) + content)
        except Exception as problem:
            _warn(problem)


def _write(file: Path, content: bytes) -> None:
    """Write a file, whole or not at all, whatever other processes do."""
    handle, name = tempfile.mkstemp(prefix=f".{file.stem}-", dir=file.parent)
    try:
        with open(handle, "wb") as stream:
            stream.write(content)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _read(file: Path) -> bytes:
    """Contents of a file of this user's. It is opened before it is looked at, so that nobody can put another one in its place."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(file, flags), "rb") as stream:
        _require_private(file, os.fstat(stream.fileno()))
        return stream.read()
