"""Tallies add, compare, and travel as bytes that nobody can turn into anything but numbers."""

from __future__ import annotations

import contextlib
import json
import pickle
import zlib
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hyperacuity.audit.benchmark import AuditProtocol
from hyperacuity.boundary import Protocol as BoundaryProtocol
from hyperacuity.boundary.protocols import Suppression
from hyperacuity.errors import InputError, UsageError
from hyperacuity.tally import (
    BaseProtocol,
    Counts,
    Signature,
    Sums,
    Tally,
    number,
    protocol_of,
    stack,
    total,
    unpacked_arrays,
)
from hyperacuity.tasks import names, task


@dataclass(frozen=True)
class Rules(BaseProtocol):
    task: ClassVar[str] = "pairs"
    step: float = 1.0

    def parts(self) -> dict[str, object]:
        return {"step": number(self.step)}


@dataclass(frozen=True)
class OtherRules(Rules):
    task: ClassVar[str] = "others"


@dataclass(frozen=True, eq=False)
class CountsAndSums(Tally):
    counts: Counts
    sums: Sums


@dataclass(frozen=True, eq=False)
class Other(Tally):
    counts: Counts
    sums: Sums


RULES = Rules()


def pair(counts: Counts, sums: Sums, protocol: BaseProtocol = RULES) -> CountsAndSums:
    return CountsAndSums(counts, sums, protocol=protocol)


def shapes() -> st.SearchStrategy[tuple[int, ...]]:
    return hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5)


def counted(array: np.ndarray) -> np.ndarray:
    """Numbers that counts can be."""
    return np.clip(array, 0, 2**53) if array.dtype == np.int64 else np.where(array < 0, 0, array).astype(array.dtype)


def pairs() -> st.SearchStrategy[CountsAndSums]:
    counts = hnp.arrays(st.sampled_from([np.int64, np.uint8, np.int32, ">i4", np.bool_]), shapes()).map(counted)
    sums = hnp.arrays(st.sampled_from([np.float64, np.float32, ">f8"]), shapes())
    return st.builds(pair, counts, sums)


def test_sum_is_element_wise():
    first = pair(np.array([1, 2]), np.array(0.5))
    second = pair(np.array([10, 20]), np.array(0.25))
    assert first + second == pair(np.array([11, 22]), np.array(0.75))
    assert isinstance((first + second).sums, np.ndarray), "a field stays an array even when it holds one number"
    assert reduce(add, [first, second, first]) == pair(np.array([12, 24]), np.array(1.25))


def test_tallies_of_different_shapes_are_not_broadcast():
    with pytest.raises(UsageError, match=r"tallies of shapes \(1,\) and \(99,\) cannot be added \(counts\)"):
        pair(np.ones(1, np.int64), np.zeros(1)) + pair(np.ones(99, np.int64), np.zeros(1))


def test_tallies_of_different_tasks_do_not_add_and_are_not_equal():
    values = np.array([1]), np.array([1.0])
    with pytest.raises(TypeError):
        pair(*values) + Other(*values, protocol=Rules())
    assert pair(*values) != Other(*values, protocol=Rules())


def test_equality_looks_at_every_value_and_takes_nan_for_itself():
    tally = pair(np.array([1, 2]), np.array([np.nan]))
    assert tally == pair(np.array([1, 2]), np.array([np.nan]))
    assert tally != pair(np.array([1, 3]), np.array([np.nan]))
    assert tally != pair(np.array([[1, 2]]), np.array([np.nan]))


@pytest.mark.parametrize("number", [-1, 2**53 + 1])
def test_counts_that_nobody_can_count_are_not_packed(number):
    pair(np.array([0, 2**53]), np.array([-1.0, np.inf])).pack()
    with pytest.raises(InputError, match=rf"^counts\[1\] is {number}, expected a count from 0 to 2⁵³$"):
        pair(np.array([0, number]), np.array([1.0])).pack()
    with pytest.raises(InputError, match=r"^counts has numbers of type float64, expected whole numbers$"):
        pair(np.array([0.5]), np.array([1.0])).pack()


@given(pairs())
@settings(deadline=None, max_examples=60)
def test_bytes_bring_back_values_types_and_shapes(tally):
    back = CountsAndSums.unpack(tally.pack(), Rules())
    for field in ("counts", "sums"):
        before, after = getattr(tally, field), getattr(back, field)
        np.testing.assert_array_equal(before, after)
        assert (after.shape, after.dtype) == (before.shape, before.dtype.newbyteorder("<"))


@given(pairs())
@settings(deadline=None, max_examples=30)
def test_equal_values_have_equal_bytes_whatever_their_memory_looks_like(tally):
    columns_first = pair(tally.counts.copy(order="F"), tally.sums.copy(order="F"))
    swapped = pair(*(a.astype(a.dtype.newbyteorder(">")) for a in (tally.counts, tally.sums)))
    assert columns_first.pack() == swapped.pack() == tally.pack() == CountsAndSums.unpack(tally.pack(), Rules()).pack()


def test_a_tally_of_99_thresholds_takes_less_than_4_kilobytes():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 5000, (4, 99))
    assert len(pair(counts, rng.random(4)).pack()) < 4096


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
        pair(np.arange(2), np.zeros(1)).pack()[:-5],
        pair(np.arange(2), np.zeros(1)).pack() + b"more",
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
        packed({**GOOD, "sums": ["<f8", ["<f8", 10**13]]}, bytes(24)),
        packed({**GOOD, "sums": ["<f7", [1]]}, bytes(24)),
    ],
)
def test_bytes_that_are_no_tally_are_refused(data):
    with pytest.raises(InputError, match="stored tally is damaged"):
        CountsAndSums.unpack(data, Rules())


@given(st.binary(max_size=200), st.integers(0, 60))
@settings(deadline=None, max_examples=100)
def test_damage_is_refused_or_harmless_never_a_crash(noise, start):
    good = pair(np.arange(2), np.zeros(1)).pack()
    with contextlib.suppress(InputError):
        CountsAndSums.unpack(good[:start] + noise + good[start + len(noise) :], Rules())


def test_a_small_record_cannot_ask_for_a_lot_of_memory():
    bomb = packed(GOOD, bytes(200_000_000))
    assert len(bomb) < 300_000
    with pytest.raises(InputError, match="expected 24 bytes of numbers"):
        CountsAndSums.unpack(bomb, Rules())


def test_stacking_puts_images_first():
    tallies = [pair(np.array([k, 2 * k]), np.zeros(1)) for k in range(3)]
    assert stack(tallies, "counts").tolist() == [[0, 0], [1, 2], [2, 4]]


class TestProtocolsDoNotMix:
    def test_when_tallies_are_added(self):
        with pytest.raises(UsageError, match=r"cannot be added: step is 1 in one and 0\.5 in the other"):
            pair(np.ones(1), np.ones(1)) + pair(np.ones(1), np.ones(1), Rules(0.5))

    def test_when_they_differ_by_how_files_were_read_alone(self):
        inverted = Rules().read_as(truth="inverted", scale=None)
        assert str(inverted.signature) == "pairs|step:1|truth:inverted|v:1"
        with pytest.raises(UsageError, match="truth is missing in one and inverted in the other"):
            total([pair(np.ones(1), np.ones(1)), pair(np.ones(1), np.ones(1), inverted)])

    def test_when_they_are_collected(self):
        first, other = pair(np.ones(1), np.ones(1)), pair(np.ones(1), np.ones(1), Rules(2.0))
        assert protocol_of([first, first], Rules) == Rules()
        with pytest.raises(UsageError, match="cannot be collected together: step is 1 in one and 2 in the other"):
            protocol_of([first, first, other], Rules)

    def test_when_they_are_another_tasks(self):
        with pytest.raises(UsageError, match="these tallies are of pairs, expected others"):
            protocol_of([pair(np.ones(1), np.ones(1))], OtherRules)

    def test_and_none_at_all_is_no_protocol(self):
        with pytest.raises(UsageError, match="no image was evaluated"):
            protocol_of([], Rules)

    def test_in_the_collect_of_a_task(self):
        known, truth = task("boundary"), np.eye(8, dtype=bool)
        made = {str(n): known.tally(truth * 0.5, [truth], BoundaryProtocol(thresholds=n)) for n in (3, 5)}
        with pytest.raises(UsageError, match="thr is 3 in one and 5 in the other"):
            known.collect(made)

    def test_and_equal_arrays_of_different_protocols_are_unlike(self):
        assert pair(np.ones(1), np.ones(1)) != pair(np.ones(1), np.ones(1), Rules(2.0))


def words() -> st.SearchStrategy[str]:
    return st.text("abcdefgh0123456789.,-+()=", min_size=1, max_size=12)


@given(words(), st.integers(0, 99), st.lists(st.tuples(words(), words() | st.just("a:b")), max_size=5))
def test_a_signature_parses_back(name, version, parts):
    made = Signature(name, version, tuple(parts))
    assert Signature.parse(str(made)) == made
    assert made.differences(Signature.parse(str(made))) == []


def test_a_signature_is_one_line_in_the_order_given():
    made = Signature.of("edges", 2, measure="psi", thr=255)
    assert str(made) == "edges|measure:psi|thr:255|v:2"
    assert str(made.with_parts(truth="inverted")) == "edges|measure:psi|thr:255|truth:inverted|v:2"


@pytest.mark.parametrize(
    "line", ["", "boundary", "boundary|v:", "boundary|v:x", "|v:1", "boundary|thr|v:1", "boundary|v:1|thr:9"]
)
def test_a_line_that_is_no_signature_is_refused(line):
    with pytest.raises(InputError, match="is no signature, expected task"):
        Signature.parse(line)


def test_differences_name_the_task_the_parts_and_the_version():
    first, second = Signature.parse("boundary|thr:99|nms:none|v:1"), Signature.parse("edges|thr:99|norm:max|v:2")
    assert first.differences(second) == [
        "task is boundary in one and edges in the other",
        "nms is none in one and missing in the other",
        "version is 1 in one and 2 in the other",
        "norm is missing in one and max in the other",
    ]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_in_a_signature_is_exact(value):
    assert float(number(value)) == value


def test_numbers_are_as_short_as_they_may_be():
    assert [number(value) for value in (0.0075, 3.0, 0.6000001, 0.60000045)] == [
        "0.0075",
        "3",
        "0.6000001",
        "0.60000045",
    ]


fractions = st.floats(0.001, 0.999)
boundary_protocols = st.builds(
    BoundaryProtocol,
    tolerance=fractions,
    thin=st.booleans(),
    thresholds=st.integers(1, 255)
    | st.sets(fractions, min_size=1, max_size=4).map(lambda some: tuple(sorted(some)))
    | st.just("levels"),
    nms=st.none(),
    precision=st.sampled_from(["any", "mean"]),
) | st.builds(BoundaryProtocol, nms=st.builds(Suppression, st.integers(0, 3), st.integers(1, 3), st.booleans()))
OPTIONS = {
    "boundary": boundary_protocols,
    "edges": st.builds(
        task("edges").protocol,
        names=st.lists(
            st.sampled_from(["psi", "baddeley(k=2)", "fom", "hausdorff(percent=5)"]), min_size=1, unique=True
        ).map(tuple),
        thresholds=st.integers(2, 255),
        thin=st.sampled_from(["none", "structured"]),
        norm=st.sampled_from(["max", "none"]),
    ),
    "semantic": st.builds(
        task("semantic").protocol,
        tolerance=fractions,
        truth=st.sampled_from(["thin", "raw"]),
        radius=st.floats(1, 9),
        instances=st.booleans(),
        border=st.integers(0, 9),
        classes=st.sampled_from([(), ("cat", "dog"), ("class_001", "class_002")]),
    ),
    "regions": st.builds(task("regions").protocol, levels=st.integers(1, 255)),
    "masks": st.builds(
        task("masks").protocol,
        tolerance=fractions,
        by=st.sampled_from(["binary", "label", "instance"]),
        background=st.integers(0, 9),
        ignore=st.none() | st.integers(0, 255),
        frames=st.sampled_from(["all", "inner"]),
    ),
    "ordering": st.builds(
        task("ordering").protocol,
        radius=st.floats(0, 20),
        angle=st.floats(0, 180),
        cost=st.sampled_from(["distance", "distance+angle"]),
        annotators=st.sampled_from(["bsds", "sum", "best"]),
        question_tie=st.sampled_from(["wrong", "half", "skip"]),
        adjacency=st.sampled_from([4, 8]),
        aggregate=st.sampled_from(["pooled", "mean"]),
    ),
    "occlusion": st.builds(
        task("occlusion").protocol,
        tolerance=fractions,
        angle=st.floats(0, 180),
        thresholds=st.integers(1, 255) | st.just((0.25, 0.5)),
        nms=st.none() | st.builds(Suppression, st.integers(0, 3), st.integers(1, 3), st.booleans()),
        recall=st.sampled_from(["right", "found"]),
    ),
    "whdr": st.builds(
        task("whdr").protocol,
        delta=st.floats(0, 9),
        equality=st.sampled_from(["ratio", "difference"]),
        aggregate=st.sampled_from(["pooled", "mean"]),
    ),
    "dbe": st.builds(task("dbe").protocol, sigma=st.floats(0.5, 9), low=fractions, high=st.just(1.0)),
    "disparity": st.builds(
        task("disparity").protocol,
        deltas=st.sets(st.floats(0.25, 9), min_size=1, max_size=3).map(lambda some: tuple(sorted(some))),
        regions=st.sampled_from([("all",), ("nonocc", "all", "disc"), ("sky",)]),
        invalid=st.sampled_from(["bad", "skip"]),
        masks=st.sampled_from(["given", "derived", "mixed"]),
    ),
    "views": st.builds(task("views").protocol, tolerant=st.booleans()),
    "audit": st.builds(
        AuditProtocol,
        boundary_protocols.filter(lambda made: made.thresholds != "levels"),
        repeats=st.integers(1, 9),
        seed=st.integers(0, 9),
    ),
    "strength": st.builds(task("strength").protocol, tolerance=fractions)
    | st.builds(task("strength").protocol, tolerance_px=st.floats(0.5, 9)),
}
readings = st.sampled_from([{}, {"truth": "inverted"}, {"truth_scale": number(0.1 + 0.2), "scale": None}])


def test_every_task_is_among_those_below():
    assert OPTIONS.keys() == set(names())


@pytest.mark.parametrize("name", OPTIONS)
@given(data=st.data())
@settings(deadline=None, max_examples=30)
def test_a_protocol_comes_back_from_a_dictionary_and_from_json(name, data):
    known = task(name)
    made = data.draw(OPTIONS[name]).read_as(**data.draw(readings))
    assert isinstance(made, known.protocol)
    assert made.task == known.name == Signature.parse(str(made.signature)).task
    for back in (
        known.protocol.from_dict(made.to_dict()),
        known.protocol.from_dict(json.loads(json.dumps(made.to_dict()))),
    ):
        assert back == made
        assert hash(back) == hash(made)
        assert back.signature == made.signature == Signature.parse(str(made.signature))


@pytest.mark.parametrize("name", OPTIONS)
@given(data=st.data())
@settings(deadline=None, max_examples=30)
def test_different_protocols_have_different_signatures(name, data):
    first, second = data.draw(OPTIONS[name]), data.draw(OPTIONS[name])
    assert (first == second) == (first.signature == second.signature)
    assert bool(first.signature.differences(second.signature)) == (first != second)


@pytest.mark.parametrize("name", OPTIONS)
def test_named_protocols_come_back_too_and_unknown_options_are_refused(name):
    known = task(name)
    for made in (known.protocol(), *known.protocols.values()):
        assert known.protocol.from_dict(json.loads(json.dumps(made.to_dict()))) == made
    with pytest.raises(InputError, match=f"these options of {name} were written by another version"):
        known.protocol.from_dict({"no such option": 1})


def test_every_changed_byte_of_a_packed_tally_is_noticed():
    whole = pair(np.arange(7), np.linspace(0, 1, 5)).pack()
    for place in range(len(whole)):
        for change in (0x01, 0x0F, 0x80):
            damaged = bytearray(whole)
            damaged[place] ^= change
            with pytest.raises(InputError):
                unpacked_arrays(bytes(damaged))


def test_a_tally_deflated_without_a_dictionary_is_read():
    tally = pair(np.arange(7), np.linspace(0, 1, 5))
    line, _, _ = tally.pack().partition(b"\n")
    body = b"".join(array.tobytes() for array in tally.arrays.values())
    assert type(tally).unpack(line + b"\n" + zlib.compress(body, 6), tally.protocol) == tally
