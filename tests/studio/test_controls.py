"""Every control of the studio's pages is used by some test in a browser."""

from __future__ import annotations

import re
from pathlib import Path

import hyperacuity.studio

TEMPLATES = Path(hyperacuity.studio.__file__).parent / "templates"
CONTROL = re.compile(r'<(?:button|input|select|textarea|a)\b[^>]*?\bid="([^"]+)"')

UNUSED: dict[str, str] = {}
"""Controls that no test uses, and why."""


def test_every_control_is_used_in_a_browser():
    ids = {
        name.partition("{{")[0]  # one of several is enough
        for template in TEMPLATES.rglob("*.j2")
        for name in CONTROL.findall(template.read_text(encoding="utf-8"))
    }
    tests = [path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py")]
    driven = "\n".join(text for text in tests if "pytest.mark.browser" in text)
    assert len(ids) > 50, "they are found"
    unused = {name for name in ids if not re.search(rf"#{name}(?![\w-])" if name[-1] != "-" else f"#{name}", driven)}
    assert unused == set(UNUSED)
