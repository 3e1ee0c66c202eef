"""What a stored tally depends on besides its files: the code that made it and the libraries underneath, and nothing else.

Comments, docstrings, layout and imports for type checkers do not count, nor do modules that only show or compare tallies.
A package that hands on a name (``from hyperacuity.data import read_soft``) is seen through: what counts is the module that
defines it.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import secrets
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import hyperacuity
from hyperacuity.run.job import Job
from hyperacuity.syntax import parsed
from hyperacuity.tally import Tally

LIBRARIES = ("numpy", "scipy", "numba", "pillow", "h5py", "deflate")
"""What files are decoded with and numbers computed: another version may give another tally."""

_CELL = "hyperacuity.run.cell"
"""Whose code every job uses to pick its files, whatever it imports."""

_ABOVE = {"compare", "run", "report", "studies", "studio", "cli"}
"""Rooms that work on tallies already made, or show them: their code cannot change one."""

_MAIN = {"__main__", "__mp_main__"}


@functools.cache
def version(library: str) -> str:
    """The version of a library, ``none`` where it is not installed; looking for it takes a while."""
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return "none"


def code_version(job: Job[Tally]) -> str:
    """Version of the package, and a hash of all that can change a tally of this job besides its files.

    That is the code of the modules that the job names (``sources``; by default its own and its tally's), of every module of
    their packages and of this one that these import, the cell's, and the versions of :data:`LIBRARIES`. A job whose source cannot
    be found (typed into an interpreter) gets a version of its own each time, so that nothing stale is ever reused.
    """
    return code_of(*_sources(job))


def code_elsewhere(job: Job[Tally]) -> str:
    """The part of :func:`code_version` that must be the same in every process that works on the job.

    A class of the main program travels with the job itself, and its source cannot be found elsewhere, so it does not count.
    """
    return _version(_sources(job) - _MAIN) or f"{hyperacuity.__version__}+unknown"


def code_of(*modules: str) -> str:
    """The same of modules by name, for results that are kept outside a run.

    >>> code_of("hyperacuity.ordering.prc") == code_of("hyperacuity.ordering.prc")
    True
    """
    return _version(set(modules)) or f"{hyperacuity.__version__}+unknown-{secrets.token_hex(8)}"


def library_versions() -> dict[str, str]:
    """The versions of :data:`LIBRARIES`."""
    return {name: version(name) for name in LIBRARIES}


def modules_behind(sources: set[str]) -> set[str]:
    """The modules whose code counts: these and all that they import, short of what lies outside their packages."""
    packages = {"hyperacuity", *(name.partition(".")[0] for name in sources)}
    found: set[str] = set()
    waiting = set(sources)
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= set(_imported_by(name, packages)) - found
    return found


def _sources(job: Job[Tally]) -> set[str]:
    return {*getattr(job, "sources", (type(job).__module__, job.tally_type.__module__)), _CELL}


def _version(sources: set[str]) -> str | None:
    if any(_parsed(name) is None for name in sources):
        return None
    digest = hashlib.blake2b(repr(library_versions()).encode(), digest_size=10)
    for name in sorted(modules_behind(sources)):
        source = _parsed(name)
        digest.update(f"{name} {source.digest if source else ''}\n".encode())
    return f"{hyperacuity.__version__}+{digest.hexdigest()}"


def _counts(module: str, packages: set[str]) -> bool:
    package, _, rest = module.partition(".")
    return package in packages and (package != "hyperacuity" or rest.partition(".")[0] not in {"", *_ABOVE})


def _imported_by(module: str, packages: set[str]) -> Iterator[str]:
    source = _parsed(module)
    for _, base, name in source.imports if source else ():
        if base.partition(".")[0] in packages:
            origin = _origin(base, name)
            if _counts(origin, packages):
                yield origin


def _origin(module: str, name: str) -> str:
    """The module that ``from module import name`` takes the name from in the end."""
    if not name:
        return module
    if _file_of(f"{module}.{name}") is not None:
        return f"{module}.{name}"
    source, package = _parsed(module), module.partition(".")[0]
    for bound, base, original in source.imports if source else ():
        if bound == name and base.partition(".")[0] == package:
            return _origin(base, original)
    return module


@dataclass(frozen=True)
class _Source:
    """The digest of a module's code, and what it imports: the name that it is bound to, the module, the name there."""

    digest: str
    imports: tuple[tuple[str, str, str], ...]


@functools.cache
def _parsed(module: str) -> _Source | None:
    file = _file_of(module)
    if file is None:
        return None
    return _understood(file.read_bytes(), module if file.name == "__init__.py" else module.rpartition(".")[0])


@functools.cache
def _understood(text: bytes, package: str) -> _Source:
    words: list[str] = []
    nodes: list[ast.Import | ast.ImportFrom] = []
    _flatten(parsed(text), words, nodes)
    imports: list[tuple[str, str, str]] = []
    for node in nodes:
        if isinstance(node, ast.Import):
            imports += [("", alias.name, "") for alias in node.names]
            continue
        above = package.rsplit(".", node.level - 1)[0] if node.level else ""
        base = ".".join(part for part in (above, node.module) if part)
        imports += [(alias.asname or alias.name, base, alias.name) for alias in node.names]
    return _Source(hashlib.blake2b(" ".join(words).encode(), digest_size=20).hexdigest(), tuple(imports))


@functools.cache
def _file_of(module: str) -> Path | None:
    """The source of a module that is loaded, or lies in a package that is."""
    loaded = getattr(sys.modules.get(module), "__file__", None)
    if loaded is not None:
        return Path(loaded) if loaded.endswith(".py") and Path(loaded).is_file() else None
    package, _, rest = module.partition(".")
    for folder in getattr(sys.modules.get(package), "__path__", ()):
        path = Path(folder, *rest.split("."))
        for file in (path / "__init__.py", path.with_suffix(".py")):
            if file.is_file():
                return file
    return None


def _flatten(node: ast.AST, words: list[str], imports: list[ast.Import | ast.ImportFrom]) -> None:
    """Append the code as words that say the same in any layout, and the imports in it."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        for other in node.orelse:  # what runs
            _flatten(other, words, imports)
        return
    if isinstance(node, ast.Import | ast.ImportFrom):
        imports.append(node)
    words.append(type(node).__name__)
    for name in type(node)._fields:
        value: Any = getattr(node, name, None)
        if isinstance(value, ast.expr_context) or value is None or value == []:
            continue
        words.append(f"{name}=")
        if isinstance(value, ast.AST):
            _flatten(value, words, imports)
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, ast.AST):
                    _flatten(item, words, imports)
                else:
                    words.append(repr(item))
            words.append("]")
        else:
            words.append(repr(value))
