"""Python's parser in several threads."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from hyperacuity.syntax import parsed


def test_one_thread_waits_for_the_other(monkeypatch):
    inside: list[int] = []

    def slow(text: str, mode: str) -> Any:
        inside.append(len(inside))
        time.sleep(0.02)
        assert len(inside) == 1, "two at once"
        inside.pop()
        return text

    monkeypatch.setattr("hyperacuity.syntax.ast.parse", slow)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(parsed, "abcdefgh")) == list("abcdefgh")
