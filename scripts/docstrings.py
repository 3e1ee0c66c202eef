"""Docstrings for the web pages: the few marks of reStructuredText that ours use become what Markdown and browsers know.

``:func:`name``` becomes a link, ``:math:`` and ``.. math::`` become formulas as pages write them, tables drawn with ``====``
become tables, and examples outside a section of their own become code.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:func|class|meth|mod|attr|data|exc):`(~?)([\w.]+)`")
_INLINE_MATH = re.compile(r":math:`([^`]+)`")
_DISPLAY_MATH = re.compile(r"^( *)\.\. math::(.*(?:\n(?:\1 +\S.*|\s*(?=\n\1 +\S)))*)", re.MULTILINE)
_EXAMPLE = re.compile(r"^( *)>>> .*(?:\n\1\S.*)*", re.MULTILINE)
_EXAMPLES = re.compile(r"^ *Examples\n *-+$", re.MULTILINE)
_TABLE = re.compile(r"^ *=+(?: +=+)+ *$", re.MULTILINE)


class ReadableDocstrings(griffe.Extension):
    """Rewrites each docstring as it is loaded."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Called for each module, class, function and attribute."""
        if obj.docstring:
            module = obj.path if obj.is_module else obj.module.path
            obj.docstring.value = markdown(obj.docstring.value, module)
        if obj.is_function and obj.name.startswith("__"):
            obj.public = False


def markdown(text: str, module: str) -> str:
    """A docstring of a module as Markdown."""
    text = _DISPLAY_MATH.sub(_display, text)
    text = _INLINE_MATH.sub(lambda found: rf"\({found[1]}\)", text)
    text = _ROLE.sub(lambda found: _link(found, module), text)
    found = _EXAMPLES.search(text)
    end = found.start() if found else len(text)
    return _tables(_EXAMPLE.sub(_fenced, text[:end]) + text[end:])


def _fenced(found: re.Match[str]) -> str:
    return f"{found[1]}```pycon\n{found[0]}\n{found[1]}```"


def _display(found: re.Match[str]) -> str:
    formula = " ".join(found[2].split())
    return f"{found[1]}$$ {formula} $$"


def _link(found: re.Match[str], module: str) -> str:
    """A cross-reference that falls back to plain code where the target has no page."""
    name = found[2].lstrip(".")
    target = name if name.startswith("hyperacuity") else f"{module}.{name}"
    shown = name.rpartition(".")[2] if found[1] else name
    return f'<autoref identifier="{target}" optional><code>{shown}</code></autoref>'


def _tables(text: str) -> str:
    """Simple tables: columns are where the rules have ``=``; without a second rule there is no heading."""
    rules = list(_TABLE.finditer(text))
    if len(rules) < 2:
        return text
    first, last = rules[0], rules[-1]
    columns = [(part.start(), part.end()) for part in re.finditer("=+", first[0])]
    last_column = columns[-1][0]
    lines = text[first.end() + 1 : last.start()].splitlines()
    rows = [[line[start:end].strip() for start, end in columns[:-1]] + [line[last_column:].strip()] for line in lines]
    head, body = (rows[:1], rows[2:]) if len(rules) > 2 else ([[""] * len(columns)], rows)
    table = [*head, ["---"] * len(columns), *body]
    drawn = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in table)
    return text[: first.start()] + drawn + text[last.end() :]
