"""The memory of matchings: counted before it is taken, shared between threads, given back, and never waited for in vain."""

from __future__ import annotations

import gc
import os
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from hyperacuity import machine
from hyperacuity.boundary import match, tally
from hyperacuity.errors import InputError
from hyperacuity.kernels import pairs, sweep_pairs
from hyperacuity.kernels.pairs import reach
from hyperacuity.kernels.sweep import match_maps
from hyperacuity.kernels.sweep_pairs import sweep_judged, sweep_states
from hyperacuity.machine import MemoryBudget, allowed_memory

THRESHOLDS = np.linspace(0.01, 0.99, 99)


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
        InputError, match=r"matching \S+ pairs of pixels within 10 px of each other takes 0\.2 GiB, more than"
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
    ones = np.ones((60, 60), bool)  # 21 pairs of each pixel with 16 bytes: 1.2 MB, so one at a time
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


def pixel_by_pixel(soft, truths):
    return sweep_states(soft, truths, THRESHOLDS, reach(1.0), thin=False)


def judged(soft, truths):
    return sweep_judged(soft, truths, THRESHOLDS, reach(1.0), lambda number, found, true: found == true, thin=False)


@pytest.mark.parametrize(
    ("sweeping", "sentence"),
    [
        (pixel_by_pixel, r"showing 300×300 pixels at 99 thresholds takes 0\.0 GiB, more than"),
        (judged, r"judging 89\d\d\d detected pixels at 99 thresholds takes 0\.0 GiB, more than"),
    ],
    ids=["states", "judged"],
)
def test_the_largest_arrays_are_counted_and_are_as_large_as_was_said(monkeypatch, sweeping, sentence):
    lent = []

    class Budget(MemoryBudget):
        def lend(self, count, what):
            lent.append(count)
            super().lend(count, what)

    own = Budget(5_000_000)
    monkeypatch.setattr(sweep_pairs, "budget", own)
    monkeypatch.setattr(machine, "SMALL", 0)
    soft = np.random.default_rng(0).random((300, 300), np.float32)
    truths = [soft > 0.98, soft > 0.99]
    with pytest.raises(InputError, match=sentence):
        sweeping(soft, truths)
    small, fewer = np.ascontiguousarray(soft[:100, :80]), [truth[:100, :80] for truth in truths]
    sweeping(small, fewer)  # what compiling a kernel, or fetching it, takes is not of the arrays
    peaks, most = [], 1.2 * lent[-1] + 30 * small.size  # some arrays are of the size of the map
    while len(peaks) < 30 and min(peaks, default=np.inf) >= most:  # a thread of another test may still be at work
        found = None
        time.sleep(0.01 * len(peaks))
        gc.collect()
        tracemalloc.start()
        found = sweeping(small, fewer)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    highest = min(peaks)
    assert 0.8 * lent[-1] < highest < most
    assert own.taken == (2 * found.state.nbytes if sweeping is pixel_by_pixel else 0)
    del found
    gc.collect()
    assert own.taken == 0


def test_extra_costs_of_pairs_are_the_same_in_small_blocks(monkeypatch):
    rng = np.random.default_rng(1)
    detected, truth = rng.random((2, 20, 20)) < 0.3
    extra = {"extra": lambda true, found: (true * 7 + found * 3) % 11 / 10, "extra_most": 1.0}
    whole = match_maps(detected, truth, reach(3.0), **extra)
    monkeypatch.setattr(pairs, "EXTRA_BLOCK", 7)
    np.testing.assert_array_equal(match_maps(detected, truth, reach(3.0), **extra), whole)


def test_nobody_waits_for_ever(monkeypatch):
    monkeypatch.setattr(machine, "PATIENCE", 0.1)
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
    assert allowed_memory() == 3 << 29
    monkeypatch.setenv("HYPERACUITY_MEMORY", "much")
    with pytest.raises(InputError, match="expected a number of GiB"):
        allowed_memory()
    monkeypatch.delenv("HYPERACUITY_MEMORY")
    if hasattr(os, "sysconf"):
        assert 0 < allowed_memory() <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2
