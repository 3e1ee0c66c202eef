"""Python's parser in several threads."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from hyperacuity.syntax import parsed


@pytest.fixture
def restless():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def parsed_from(depth: int, text: str) -> Any:
    """As many calls down as that: Python 3.11 takes another thread's depth for its own."""
    return parsed(text) if depth == 0 else parsed_from(depth - 1, text)


def test_threads_that_parse_at_once_do_not_fail(restless):
    text = "\n".join(f"x{n} = [f(a, b[{n}]) for a in (1, 2) if -a < {n}]" for n in range(60))
    with ThreadPoolExecutor(6) as pool:
        trees = list(pool.map(lambda n: parsed_from(n % 6 * 9, text), range(60)))
    assert {len(tree.body) for tree in trees} == {60}


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
