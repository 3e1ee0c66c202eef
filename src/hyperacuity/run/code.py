"""Versions of the code behind a tally: the modules that make it and the libraries underneath, and nothing else.

Of this package and of modules that lie anywhere but among installed packages (a plug-in and its helpers, editable installs), the
contents count; of other installed packages, the version; of Python's standard library, nothing. Comments, docstrings, layout and
imports for type checkers do not count, nor do modules that only show or compare tallies. A package that passes on a name
(``from hyperacuity.data import read_soft``) is seen through: what counts is the module that defines it.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import secrets
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path
from typing import Any

import hyperacuity
from hyperacuity.run.jobs import Job
from hyperacuity.syntax import parsed
from hyperacuity.tally import Tally

LIBRARIES = ("numpy", "scipy", "numba", "pillow", "h5py", "deflate")
"""Libraries that decode files and compute numbers: another version may give another tally."""

_IMPORTED_AS = {"PIL", *LIBRARIES}
"""Modules of these libraries, whose versions count for every job."""

_CELL = "hyperacuity.kinds.base"
"""The module by which every job picks its files, whatever it imports."""

_ABOVE = {"compare", "run", "report", "studio", "cli"}
"""Rooms that work on tallies already made, or show them: their code cannot change one."""

_FINDING = "hyperacuity.kinds.finding"
"""The module that pairs files: what it decides stands in the cells and in the options of a kind."""

_MAIN = {"__main__", "__mp_main__"}

_INSTALLED = {"site-packages", "dist-packages"}
"""Folders of installed packages."""


@functools.cache
def version(library: str) -> str:
    """The version of a library, ``none`` where it is not installed; looking for it takes a while."""
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return "none"


def code_version(job: Job[Tally]) -> str:
    """Version of the package, and a hash of all that can change a tally of this job besides its files.

    That is the code of the modules that the job names (``sources``; by default those of its class and its tally's) and of the
    cell, all that they import (:func:`modules_behind`), and the versions of libraries. A job whose source cannot be read (typed
    into an interpreter) gets another version each time, so that nothing stale is ever reused.
    """
    return code_of(*_sources(job))


def code_elsewhere(job: Job[Tally]) -> str:
    """The part of :func:`code_version` that must be the same in every process that works on the job.

    A class of the main program travels with the job itself, and its source cannot be read elsewhere, so it does not count.
    """
    return _version(_sources(job) - _MAIN) or f"{hyperacuity.__version__}+unknown"


def code_of(*modules: str) -> str:
    """The :func:`code_version` of modules by name, for results that are kept outside a run.

    >>> code_of("hyperacuity.ordering.prc") == code_of("hyperacuity.ordering.prc")
    True
    """
    return _version(set(modules)) or f"{hyperacuity.__version__}+unknown-{secrets.token_hex(8)}"


def library_versions() -> dict[str, str]:
    """The versions of :data:`LIBRARIES`."""
    return {name: version(name) for name in LIBRARIES}


def modules_behind(sources: set[str]) -> set[str]:
    """Modules whose contents count: these, and all that they import of this package and from outside installed packages."""
    return {name for name in _reached(sources) if not _is_installed(name, sources)}


def _sources(job: Job[Tally]) -> set[str]:
    return {*getattr(job, "sources", (type(job).__module__, job.tally_type.__module__)), _CELL}


def _version(sources: set[str]) -> str | None:
    if any(_parsed(name) is None for name in sources):
        return None
    reached = _reached(sources)
    contents = {name for name in reached if not _is_installed(name, sources)}
    installed = {_top(name) for name in reached - contents} - _IMPORTED_AS
    versions = library_versions() | {name: _installed_version(name) for name in sorted(installed)}
    digest = hashlib.blake2b(repr(versions).encode(), digest_size=10)
    for name in sorted(contents):
        source = _parsed(name)
        digest.update(f"{name} {source.digest if source else ''}\n".encode())
    return f"{hyperacuity.__version__}+{digest.hexdigest()}"


def _reached(sources: set[str]) -> set[str]:
    """The sources and what they import, followed as far as contents count."""
    reached: set[str] = set()
    waiting = set(sources)
    while waiting:
        name = waiting.pop()
        reached.add(name)
        if not _is_installed(name, sources):
            waiting |= set(_imported_by(name, sources)) - reached
    return reached


def _top(module: str) -> str:
    return module.partition(".")[0]


def _is_installed(module: str, sources: set[str]) -> bool:
    """True for a module of an installed package, whose version says what is in it; sources and their packages are read."""
    top = _top(module)
    return top not in {"hyperacuity", *map(_top, sources)} and _installed_version(top) is not None


def _imported_by(module: str, sources: set[str]) -> Iterator[str]:
    source = _parsed(module)
    for _, base, name in source.imports if source else ():
        # What this package imports from outside are LIBRARIES, of which only the version counts, and harmless ones.
        if _top(module) == "hyperacuity" != _top(base):
            continue
        origins = (_top(base),) if _is_installed(base, sources) else _origins(base, name)
        yield from (origin for origin in origins if _counts(origin))


def _counts(module: str) -> bool:
    package, _, rest = module.partition(".")
    if package == "hyperacuity":
        return _top(rest) not in {"", *_ABOVE} and module != _FINDING
    return not _is_standard(package)


def _origins(module: str, name: str, on_the_way: frozenset[str] = frozenset()) -> Iterator[str]:
    """The modules that an import takes something from in the end: ``from module import name``, or ``import module``."""
    if not name:  # the packages above can be reached by this name, too
        yield from (module[:end] for end, sign in enumerate(f"{module}.") if sign == ".")
        return
    if _file_of(f"{module}.{name}") is not None:
        yield f"{module}.{name}"
        return
    source = _parsed(module)
    passed_on = [
        (base, original)
        for bound, base, original in (source.imports if source else ())
        if bound == name and _top(base) == _top(module) and base not in on_the_way
    ]
    if source is None or not passed_on or name in source.defined or name == "*":
        yield module
        return
    for base, original in passed_on:
        yield from _origins(base, original, on_the_way | {module})


@dataclass(frozen=True)
class _Source:
    """The digest of a module's code, and its imports: the name that each is bound to, the module, the name there.

    ``defined`` are names that get a value at its top level otherwise, so that what they stand for is this module's business.
    """

    digest: str
    imports: tuple[tuple[str, str, str], ...] = ()
    defined: frozenset[str] = frozenset()


@functools.cache
def _parsed(module: str) -> _Source | None:
    file = _file_of(module)
    if file is None:
        return None
    return _understood(file.read_bytes(), module if file.stem == "__init__" else module.rpartition(".")[0], file.suffix)


@functools.cache
def _understood(text: bytes, package: str, suffix: str) -> _Source:
    words: list[str] = []
    nodes: list[ast.Import | ast.ImportFrom] = []
    try:
        tree = parsed(text if suffix == ".py" else b"\0")
    except (SyntaxError, ValueError):  # compiled, or of another Python
        return _Source(hashlib.blake2b(text, digest_size=20).hexdigest())
    _flatten(tree, words, nodes)
    defined = frozenset(_defined(tree))
    if "__getattr__" in defined and package != "hyperacuity":  # what is imported for type checkers is loaded on demand
        nodes += [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node not in nodes]
    imports: list[tuple[str, str, str]] = []
    for node in nodes:
        if isinstance(node, ast.Import):
            imports += [("", alias.name, "") for alias in node.names]
            continue
        above = package.rsplit(".", node.level - 1)[0] if node.level else ""
        base = ".".join(part for part in (above, node.module) if part)
        imports += [(alias.asname or alias.name, base, alias.name) for alias in node.names]
    digest = hashlib.blake2b(" ".join(words).encode(), digest_size=20).hexdigest()
    return _Source(digest, tuple(imports), defined)


def _defined(tree: ast.AST) -> Iterator[str]:
    for statement in ast.iter_child_nodes(tree):
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield statement.name
        elif not isinstance(statement, ast.Expr):
            yield from (
                node.id
                for node in ast.walk(statement)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            )


@functools.cache
def _file_of(module: str) -> Path | None:
    """The file of a module, loaded or not; nothing is imported to find it."""
    loaded = getattr(sys.modules.get(module), "__file__", None)
    if loaded is not None:
        return Path(loaded) if Path(loaded).is_file() else None
    package, _, rest = module.partition(".")
    origin, folders = _place_of(package)
    if not rest:
        return origin
    for folder in folders:
        path = Path(folder, *rest.split("."))
        for file in (path / "__init__.py", path.with_suffix(".py"), *path.parent.glob(f"{path.name}.*.so")):
            if file.is_file():
                return file
    return None


def _place_of(package: str) -> tuple[Path | None, list[str]]:
    """The file of a package's or module's code, and the folders of its parts."""
    spec = None
    with contextlib.suppress(ImportError, ValueError):
        spec = sys.modules[package].__spec__ if package in sys.modules else util.find_spec(package)
    if spec is None:
        return None, []
    file = Path(spec.origin) if spec.has_location and spec.origin else None
    return file, list(spec.submodule_search_locations or ())


@functools.cache
def _installed_version(package: str) -> str | None:
    """Versions of what holds a package, or None where its contents have to tell."""
    if package in _IMPORTED_AS:
        return version("pillow" if package == "PIL" else package)
    file, folders = _place_of(package)
    places = [str(file)] if file else folders
    if not any(_INSTALLED & set(Path(place).parts) for place in places):
        return None
    names = metadata.packages_distributions().get(package, [])
    return " ".join(f"{name} {version(name)}" for name in sorted(set(names))) or None


def _is_standard(package: str) -> bool:
    """True for a module of the standard library, which another one of the same name may hide."""
    file = _file_of(package)
    return package in sys.stdlib_module_names and (file is None or file.is_relative_to(sysconfig.get_path("stdlib")))


def _flatten(node: ast.AST, words: list[str], imports: list[ast.Import | ast.ImportFrom]) -> None:
    """Append the code as words that say the same in any layout, and the imports in it."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        for other in node.orelse:  # what runs
            _flatten(other, words, imports)
        if "__getattr__" in set(_defined(ast.Module(node.orelse, []))):  # these names are loaded on demand
            imports += [one for one in node.body if isinstance(one, ast.ImportFrom)]
        return
    if isinstance(node, ast.Import | ast.ImportFrom):
        imports.append(node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "described":
        _flatten(node.args[0], words, imports)  # without the description
        return
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
