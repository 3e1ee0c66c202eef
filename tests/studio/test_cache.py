"""The studio's cache: what many ask for at once is made once."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from hyperacuity.studio.cache import Cache


def test_what_many_ask_for_is_made_once():
    cache, made = Cache(len, room=100), []

    def make():
        made.append(1)
        time.sleep(0.05)
        return "regions"

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: cache.get("key", make), range(8))) == {"regions"}
    assert len(made) == 1


def test_what_cannot_be_made_is_tried_again():
    cache = Cache(abs, room=100)
    with pytest.raises(ZeroDivisionError):
        cache.get("key", lambda: 1 // 0)
    assert cache.get("key", lambda: 3) == 3


def test_what_was_not_used_for_longest_goes_first(run_async):
    cache = Cache(len, room=3, values={"a": "a", "b": "b"})
    assert cache.get("a", lambda: "new") == "a"
    assert run_async(cache.fetch("c", lambda: "cc")) == "cc"
    assert run_async(cache.fetch("a", lambda: "new")) == "a"
    assert cache.get("b", lambda: "new") == "new"
