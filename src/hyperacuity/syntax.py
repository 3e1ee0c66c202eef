"""Python's parser, used by one thread at a time.

In Python 3.11 the parser counts how deep it is in one place for all threads, and of two that parse at once either may fail with
``SystemError: AST constructor recursion depth mismatch`` (https://github.com/python/cpython/issues/106905).
"""

from __future__ import annotations

import ast
import threading
from typing import Literal

_ONE_AT_A_TIME = threading.Lock()


def parsed(text: str | bytes, mode: Literal["exec", "eval"] = "exec") -> ast.AST:
    """The syntax tree of a module or an expression; ``SyntaxError`` where it is none.

    >>> ast.unparse(parsed("f(a = 1)", "eval"))
    'f(a=1)'
    """
    with _ONE_AT_A_TIME:
        return ast.parse(text, mode=mode)
