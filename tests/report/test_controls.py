"""Every control of the report's and the watch page's templates is driven in a browser by some test."""

from __future__ import annotations

import re
from pathlib import Path

import hyperacuity.report

TEMPLATES = Path(hyperacuity.report.__file__).parent / "templates"
TESTS = Path(__file__).parents[1]

UNDRIVEN: dict[str, str] = {}
"""Controls that no test drives, and why."""


def controls() -> set[str]:
    """Ids and names of fields and buttons, and what the watch page calls its own."""
    found: set[str] = set()
    for path in TEMPLATES.glob("*.j2"):
        for tag in re.findall(r"<(?:button|input|select)\b[^>]*>", path.read_text(encoding="utf-8")):
            found |= set(re.findall(r'\b(?:id|name)="([\w-]+)"', tag))
    for path in TEMPLATES.glob("watch*.js"):
        found |= set(re.findall(r'"data-focus": "(\w+)"', path.read_text(encoding="utf-8")))
    return found


def test_every_control_is_driven():
    browsers = [TESTS / "studio" / "test_watch.py", *(TESTS / "report").glob("test_browser*.py")]
    driven = "\n".join(path.read_text(encoding="utf-8") for path in browsers)
    found = controls()
    assert {"pair", "ground", "previous", "order", "query", "clear", "theme"} <= found
    ways = r'#{0}\b|\[name={0}\]|data-focus={0}\b|\("{0}", "'  # the last: a list of buttons with what each does
    assert {name for name in found if not re.search(ways.format(name), driven)} == UNDRIVEN.keys()
