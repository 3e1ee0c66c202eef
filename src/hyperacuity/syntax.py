"""Python's parser, used by one thread at a time, and descriptions of fields, which it reads without importing anything.

In Python 3.11 the parser counts how deep it is in one place for all threads, and of two that parse at once either may fail with
``SystemError: AST constructor recursion depth mismatch`` (https://github.com/python/cpython/issues/106905).
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import sys
import threading
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

_ONE_AT_A_TIME = threading.Lock()


def parsed(text: str | bytes, mode: Literal["exec", "eval"] = "exec") -> ast.AST:
    """The syntax tree of a module or an expression; ``SyntaxError`` where it is none.

    >>> ast.unparse(parsed("f(a = 1)", "eval"))
    'f(a=1)'
    """
    with _ONE_AT_A_TIME:
        return ast.parse(text, mode=mode)


@cache
def field_texts(file: Path, kind: str) -> dict[str, str]:
    """Descriptions of a dataclass's fields in a source file: of each, the string that stands after it.

    >>> texts = field_texts(Path(__file__).parent / "boundary/protocols.py", "Protocol")
    >>> texts["tolerance"]
    'Largest distance of partners, as a fraction of the image diagonal.'
    """
    text = file.read_text(encoding="utf-8")
    block = re.search(rf"^class {kind}\b.*?(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)  # parsed alone, which is quick
    tree = parsed(block[0]) if block else ast.Module([], [])
    body = next((node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef)), [])
    return {
        field.target.id: inspect.cleandoc(after.value.value)
        for field, after in itertools.pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str)
    }


def on_demand(package: str, file: str) -> Callable[[str], Any]:
    """Make the ``__getattr__`` of a package, which loads its modules, and names that it imports ``if TYPE_CHECKING``.

    So one list of imports serves type checkers, readers and the program::

        if TYPE_CHECKING:
            from hyperacuity.boundary.tallies import BoundaryTally, tally
        else:
            __getattr__ = on_demand(__name__, __file__)
    """

    @cache
    def places() -> dict[str, tuple[str, str]]:
        guarded = (node for node in ast.iter_child_nodes(parsed(Path(file).read_bytes())) if isinstance(node, ast.If))
        imports = (one for node in guarded for one in node.body if isinstance(one, ast.ImportFrom))
        return {alias.asname or alias.name: (str(one.module), alias.name) for one in imports for alias in one.names}

    def load(name: str) -> Any:
        if not name.startswith("_") and name not in places() and find_spec(f"{package}.{name}"):
            return import_module(f"{package}.{name}")
        if name.startswith("__") or name not in places():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, member = places()[name]
        value = getattr(import_module(module), member)
        setattr(sys.modules[package], name, value)
        return value

    return load
