"""Tallies add, compare, and travel as bytes that nobody can turn into anything but numbers."""

from __future__ import annotations

import contextlib
import json
import pickle
import zlib
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hyperacuity.errors import InputError, UsageError
from hyperacuity.tally import Counts, Sums, Tally, signature, stack


@dataclass(frozen=True, eq=False)
class Pair(Tally):
    counts: Counts
    sums: Sums


@dataclass(frozen=True, eq=False)
class Other(Tally):
    counts: Counts
    sums: Sums


def shapes() -> st.SearchStrategy[tuple[int, ...]]:
    return hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5)


def pairs() -> st.SearchStrategy[Pair]:
    counts = hnp.arrays(st.sampled_from([np.int64, np.uint8, np.int32, ">i4", np.bool_]), shapes())
    sums = hnp.arrays(st.sampled_from([np.float64, np.float32, ">f8"]), shapes())
    return st.builds(Pair, counts, sums)


def test_sum_is_element_wise():
    first = Pair(np.array([1, 2]), np.array(0.5))
    second = Pair(np.array([10, 20]), np.array(0.25))
    assert first + second == Pair(np.array([11, 22]), np.array(0.75))
    assert isinstance((first + second).sums, np.ndarray), "a field stays an array even when it holds one number"
    assert reduce(add, [first, second, first]) == Pair(np.array([12, 24]), np.array(1.25))


def test_tallies_of_different_shapes_are_not_broadcast():
    with pytest.raises(UsageError, match=r"counts has shape \(1,\) in one and \(99,\) in the other"):
        Pair(np.ones(1, np.int64), np.zeros(1)) + Pair(np.ones(99, np.int64), np.zeros(1))


def test_tallies_of_different_tasks_do_not_add_and_are_not_equal():
    values = np.array([1]), np.array([1.0])
    with pytest.raises(TypeError):
        Pair(*values) + Other(*values)
    assert Pair(*values) != Other(*values)


def test_equality_looks_at_every_value_and_takes_nan_for_itself():
    tally = Pair(np.array([1, 2]), np.array([np.nan]))
    assert tally == Pair(np.array([1, 2]), np.array([np.nan]))
    assert tally != Pair(np.array([1, 3]), np.array([np.nan]))
    assert tally != Pair(np.array([[1, 2]]), np.array([np.nan]))


@given(pairs())
@settings(deadline=None, max_examples=60)
def test_bytes_bring_back_values_types_and_shapes(tally):
    back = Pair.unpack(tally.pack())
    for field in ("counts", "sums"):
        before, after = getattr(tally, field), getattr(back, field)
        np.testing.assert_array_equal(before, after)
        assert (after.shape, after.dtype) == (before.shape, before.dtype.newbyteorder("<"))


@given(pairs())
@settings(deadline=None, max_examples=30)
def test_equal_values_have_equal_bytes_whatever_their_memory_looks_like(tally):
    columns_first = Pair(tally.counts.copy(order="F"), tally.sums.copy(order="F"))
    swapped = Pair(*(a.astype(a.dtype.newbyteorder(">")) for a in (tally.counts, tally.sums)))
    assert columns_first.pack() == swapped.pack() == tally.pack() == Pair.unpack(tally.pack()).pack()


def test_a_tally_of_99_thresholds_takes_less_than_4_kilobytes():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 5000, (4, 99))
    assert len(Pair(counts, rng.random(4)).pack()) < 4096


def packed(header: object, body: bytes) -> bytes:
    return json.dumps(header).encode() + b"\n" + zlib.compress(body)


GOOD = {"counts": ["<i8", [2]], "sums": ["<f8", [1]]}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no newline",
        b"[]\n" + zlib.compress(b""),
        b"[" * 100_000,
        pickle.dumps([1, 2, 3]),
        Pair(np.arange(2), np.zeros(1)).pack()[:-5],
        Pair(np.arange(2), np.zeros(1)).pack() + b"more",
        packed({"counts": ["<i8", [2]]}, bytes(16)),
        packed({**GOOD, "else": ["<i8", [0]]}, bytes(24)),
        packed(GOOD, bytes(23)),
        packed(GOOD, bytes(25)),
        packed({**GOOD, "sums": ["|O", [1]]}, bytes(24)),
        packed({**GOOD, "sums": ["<f8,<f8", [1]]}, bytes(24)),
        packed({**GOOD, "sums": ["<f8", [-1]]}, bytes(24)),
        packed({**GOOD, "sums": ["|b1", [-17]]}, bytes(24)),
        packed({**GOOD, "sums": ["<f8", ["1"]]}, bytes(24)),
        packed({**GOOD, "sums": ["<f8", [10**30]]}, bytes(24)),
        packed({**GOOD, "sums": ["<f7", [1]]}, bytes(24)),
    ],
)
def test_bytes_that_are_no_tally_are_refused(data):
    with pytest.raises(InputError, match="stored tally is damaged or not a Pair"):
        Pair.unpack(data)


@given(st.binary(max_size=200), st.integers(0, 60))
@settings(deadline=None, max_examples=100)
def test_damage_is_refused_or_harmless_never_a_crash(noise, start):
    good = Pair(np.arange(2), np.zeros(1)).pack()
    with contextlib.suppress(InputError):
        Pair.unpack(good[:start] + noise + good[start + len(noise) :])


def test_a_small_record_cannot_ask_for_a_lot_of_memory():
    bomb = packed(GOOD, bytes(200_000_000))
    assert len(bomb) < 300_000
    with pytest.raises(InputError, match="expected 24 bytes of numbers"):
        Pair.unpack(bomb)


def test_stacking_puts_images_first():
    tallies = [Pair(np.array([k, 2 * k]), np.zeros(1)) for k in range(3)]
    assert stack(tallies, "counts").tolist() == [[0, 0], [1, 2], [2, 4]]


def test_a_signature_is_one_line_in_the_order_given():
    assert signature("edges", 2, measure="psi", thr=255) == "edges|measure:psi|thr:255|v:2"
