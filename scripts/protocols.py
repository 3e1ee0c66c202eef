"""Write the tables of options into ``docs/protocols.md``, from the descriptions of protocols' fields."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from hyperacuity.tally import BaseProtocol, number
from hyperacuity.tasks import BUILT_IN, task

PAGE = Path(__file__).parents[1] / "docs" / "protocols.md"
START, END = "<!-- options: python scripts/protocols.py -->", "<!-- end of options -->"


def tables() -> str:
    """A table per benchmark: each option with its default and what it is for, then what each named protocol is for."""
    parts = []
    for name in BUILT_IN:
        known = task(name)
        rows = ["| option | default | meaning |", "|---|---|---|"]
        defaults = {part.name: _default(part) for part in fields(known.protocol)}
        rows += [f"| `{option}` | {defaults[option]} | {_cell(text)} |" for option, text in options(known.protocol)]
        parts.append(f"### {known.title} (`{name}`)\n\n" + "\n".join(rows))
        if known.protocols:
            parts.append("\n".join(f"- `{one}`: {protocol.__doc__}" for one, protocol in known.protocols.items()))
    return "\n\n".join(parts)


def options(protocol: type[BaseProtocol]) -> list[tuple[str, str]]:
    """Options with the first paragraph of their descriptions."""
    return [(name, text.partition("\n\n")[0]) for name, text in protocol.descriptions().items()]


def page() -> str:
    """The page with its tables as they should be."""
    text = PAGE.read_text(encoding="utf-8")
    return re.sub(f"(?<={START}\n).*(?={END})", lambda _: f"\n{tables()}\n\n", text, flags=re.DOTALL)


def _cell(text: str) -> str:
    return " ".join(text.replace("``", "`").replace("|", "&#124;").split())


def _default(part: Any) -> str:
    value = part.default if part.default is not MISSING else part.default_factory()
    if isinstance(value, BaseProtocol):
        return "its default"
    if isinstance(value, tuple):
        return f"{len(value)} of them" if len(value) > 8 else _cell(", ".join(map(str, value))) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else _cell(number(value) if isinstance(value, float) else str(value))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
