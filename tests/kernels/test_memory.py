"""The memory of matchings: counted before it is taken, shared between threads, given back, and never waited for in vain."""

from __future__ import annotations

import gc
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from hyperacuity.boundary import match, tally
from hyperacuity.errors import InputError
from hyperacuity.kernels import memory, pairs
from hyperacuity.kernels.memory import MemoryBudget


@pytest.fixture
def small_budget(monkeypatch):
    """2 MB for the pairs of all threads, and every pair counts."""
    own = MemoryBudget(2 << 20)
    monkeypatch.setattr(pairs, "budget", own)
    monkeypatch.setattr(pairs, "SMALL", 0)
    return own


def test_maps_with_too_many_pairs_are_refused_before_memory_is_taken(small_budget):
    full = np.ones((200, 200), bool)
    with pytest.raises(
        InputError, match=r"matching \S+ pairs of pixels within 10 px of each other takes 0\.3 GiB, more than"
    ):
        match(full, full, tolerance_px=10)
    assert small_budget.taken == 0


def test_what_was_taken_is_given_back(small_budget):
    ones = np.ones((40, 40), bool)
    match(ones, ones, tolerance_px=2)
    tally(ones.astype(np.float32), [ones, ones])
    gc.collect()
    assert small_budget.taken == 0


def test_threads_wait_for_each_other_and_all_end(small_budget):
    ones = np.ones((60, 60), bool)  # 21 pairs of each pixel with 24 bytes: 1.7 MB, so one at a time
    highest = []

    def work(_):
        found = match(ones, ones, tolerance_px=2.3)
        highest.append(small_budget.taken)
        return found.count

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(12))) == [3600] * 12
    assert max(highest) <= small_budget.limit
    gc.collect()
    assert small_budget.taken == 0


def test_nobody_waits_for_ever(monkeypatch):
    monkeypatch.setattr(memory, "PATIENCE", 0.1)
    own = MemoryBudget(10)
    own.lend(8, "one")
    began = time.monotonic()
    own.lend(8, "another")
    assert 0.05 < time.monotonic() - began < 5
    assert own.taken == 16


def test_a_thread_goes_on_when_there_is_room():
    own = MemoryBudget(10)
    own.lend(8, "one")
    thread = threading.Thread(target=own.lend, args=(8, "another"))
    thread.start()
    time.sleep(0.05)
    assert own.taken == 8
    own.give_back(8)
    thread.join(5)
    assert own.taken == 8


def test_the_environment_says_how_much(monkeypatch):
    monkeypatch.setenv("HYPERACUITY_MEMORY", "1.5")
    assert memory.allowed() == 3 << 29
    monkeypatch.setenv("HYPERACUITY_MEMORY", "much")
    with pytest.raises(InputError, match="expected a number of GiB"):
        memory.allowed()
    monkeypatch.delenv("HYPERACUITY_MEMORY")
    if hasattr(os, "sysconf"):
        assert 0 < memory.allowed() <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2
