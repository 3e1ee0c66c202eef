"""Promises that hold for the tallies of every benchmark."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperacuity as ha
from hyperacuity.boundary import compare_systems
from hyperacuity.compare.criteria import table_of
from hyperacuity.errors import InputError
from hyperacuity.ordering import contours, occlusion_map, ordering
from hyperacuity.resampling import Bootstrap
from hyperacuity.tally import Counts, Tally
from hyperacuity.tasks import BUILT_IN, task

from .conftest import inputs


@cache
def tallied(name: str, seed: int) -> Tally:
    """The tally of an image that depends on the seed."""
    prediction, truths, extras = inputs(name, seed)
    if name in ("disparity", "views"):
        prediction = prediction + np.float32(0.6 * seed)
    elif name == "whdr":
        prediction = np.roll(prediction, 7 * seed, axis=1)
    evaluator = ha.Evaluator(name)
    evaluator.update(prediction, truths, name=str(seed), **extras)
    return evaluator.tallies[str(seed)]


def plain(value):
    """A score as nested lists of numbers, without what follows the order of images."""
    if is_dataclass(value):
        skipped = {"protocol", "images", "per_image", "values", "by_image", "annotators", "alone", "each"}
        return {part.name: plain(getattr(value, part.name)) for part in fields(value) if part.name not in skipped}
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


NAMES = ("b", "10", "a", "9", "c", "Z")


@pytest.mark.parametrize("name", BUILT_IN)
def test_intervals_do_not_depend_on_the_order_of_images(name):
    one = task(name)
    tallies = {image: tallied(name, seed) for seed, image in enumerate(NAMES)}
    by_name = dict(sorted(tallies.items()))
    assert list(by_name) != list(tallies)
    assert repr(plain(one.collect(tallies, resamples=40))) == repr(plain(one.collect(by_name, resamples=40)))


def test_comparisons_do_not_depend_on_the_order_of_images():
    one = {image: tallied("boundary", seed) for seed, image in enumerate(NAMES)}
    other = {image: tallied("boundary", seed + 1) for seed, image in enumerate(NAMES)}
    tables = [table_of({"one": {i: one[i] for i in names}, "other": other}) for names in (NAMES, sorted(NAMES))]
    drawn = [table.resampled(Bootstrap(len(NAMES), 50)) for table in tables]
    assert np.array_equal(*drawn)
    tests = [compare_systems({i: one[i] for i in names}, other, resamples=50) for names in (NAMES, sorted(NAMES))]
    assert tests[0] == tests[1]


@cache
def examples(name: str) -> list[Tally]:
    """Tallies of images, of people, and sums of them."""
    one = task(name)
    alone = [tallied(name, seed) for seed in range(4)]
    people = []
    if one.people is not None:
        people = [one.people(inputs(name, seed)[1], one.protocol()) for seed in range(2)]
    return [*alone, alone[0] + alone[0], *people]


@pytest.mark.parametrize("name", BUILT_IN)
def test_tallies_of_images_and_their_sums_are_valid(name):
    for tally in examples(name):
        tally.validate()


def small(name: str, dice: np.random.Generator, shape: tuple[int, int]):
    """A small random image for a benchmark: prediction, truths, extras."""
    people = [dice.random(shape) < 0.3 for _ in range(dice.integers(1, 4))]
    soft = dice.choice(np.float32([0, 0.2, 0.5, 1]), shape)
    labels = [dice.integers(0, 4, shape) for _ in range(3)]
    order = dice.integers(0, 4, shape).astype(np.float32)
    other = dice.integers(0, 4, shape).astype(np.float32)
    if name in ("boundary", "edges", "audit"):
        return soft, people, {}
    if name == "semantic":
        return np.stack([soft, dice.permutation(soft)]), labels[0] % 3, {}
    if name == "strength":
        return None, people, {}
    if name == "regions":
        return labels[0], labels[1:], {}
    if name == "masks":
        return labels[0], labels[1], {}
    if name == "occlusion":
        directed = contours(ordering(other))
        return occlusion_map(soft, dice.uniform(0, 360, shape).astype(np.float32)), [directed], {}
    if name == "ordering":
        return order, [other], {}
    if name == "dbe":
        return order, people[:1], {}
    height, width = shape
    if name == "whdr":
        places = [dice.integers(0, size, 6) for size in (height, width, height, width)]
        return order, [np.column_stack([*places, dice.integers(-1, 2, 6), dice.random(6)])], {}
    if name == "views":
        return order, [dice.integers(0, 256, shape, dtype=np.uint8) for _ in range(2)], {}
    masks = {region: dice.random(shape) < 0.5 for region in ("nonocc", "all", "disc")}
    return order, other + np.float32(0.5), {"masks": masks}


@pytest.mark.parametrize("name", BUILT_IN)
@given(seed=st.integers(0, 2**32), height=st.integers(3, 12), width=st.integers(3, 12))
@settings(deadline=None, max_examples=12)
def test_tallies_of_any_image_are_valid_and_come_back(name, seed, height, width):
    evaluator = ha.Evaluator(name)
    try:
        prediction, truths, extras = small(name, np.random.default_rng(seed), (height, width))
        evaluator.update(prediction, truths, **extras)
    except InputError:
        return  # such as two points at one place
    (tally,) = evaluator.tallies.values()
    twice = tally + tally
    for one in (tally, twice):
        one.validate()
        assert type(one).unpack(one.pack(), one.protocol) == one


LIMITS = {
    "boundary": "truth_matched truth, detected_matched detected, detected marked, detected detected_shown",
    "edges": "swept images, counted images, threshold swept",
    "semantic": "matched detected, matched truth",
    "regions": "covered truth_area, best_covered truth_area, rand images, stacks images",
    "ordering": "",
    "occlusion": "truth_right truth_matched, truth_matched truth, detected_right detected_matched, detected_matched detected",
    "whdr": "wrong weight",
    "dbe": "near predicted",
    "disparity": "known pixels, outliers known, bad known",
    "masks": "matched truth, matched detected, common area, band_common band_any, missed objects, f objects, j objects",
    "views": "compared pixels",
    "audit": "truth_matched truth, detected_matched detected",
    "strength": "",
}


@pytest.mark.parametrize("name", BUILT_IN)
def test_more_than_all_is_refused(name):
    assert LIMITS.keys() == BUILT_IN.keys()
    for pair in filter(None, LIMITS[name].split(", ")):
        part, whole = pair.split()
        for tally in examples(name):
            most = np.asarray(getattr(tally, whole))
            before = np.asarray(getattr(tally, part))
            most = most[:, None] if most.ndim == 1 and before.ndim == 2 else most
            forged = replace(tally, **{part: (np.zeros_like(before) + most + 1).astype(before.dtype)})
            with pytest.raises(InputError, match="expected"):
                forged.validate()


def changes(name: str, array: np.ndarray):
    """Arrays that none of the kind can be in a tally."""
    yield "another shape", np.concatenate([array.ravel(), array.ravel(), np.zeros(1, array.dtype)])
    if array.dtype.kind == "i":
        yield "below zero", np.where(np.arange(array.size).reshape(array.shape) == array.size - 1, -1, array)
        yield "too many", array + 2**54
        yield "fractions", array + 0.5
    elif name not in ("inconsistent", "signed"):
        yield "below zero", array - 1e9
    if array.dtype.kind == "f" and name != "inconsistent":
        yield "no number", array * np.nan


@pytest.mark.parametrize("name", BUILT_IN)
def test_no_array_may_have_another_shape_or_be_negative_or_undefined(name):
    for tally in examples(name):
        for field, array in tally.arrays.items():
            for what, changed in changes(field, np.asarray(array)):
                if name == "edges" and field in ("scores", "minimum") and what == "below zero":
                    continue  # a measure may be negative
                forged = replace(tally, **{field: changed})
                with pytest.raises(InputError, match="expected" if what == "another shape" else field):
                    forged.validate()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("boundary", lambda t: {"truth": t.truth + (np.arange(len(t.truth)) > 0)}),
        ("boundary", lambda t: {"truth_matched": t.truth_matched * 0}),
        ("ordering", lambda t: {"questions": t.questions[::-1] + np.array([[1], [0]])}),
        ("ordering", lambda t: {"inconsistent": t.inconsistent + 1}),
        ("strength", lambda t: {"agreed": 2 * t.agreed}),
        ("strength", lambda t: {"agreed": np.tril(t.agreed)}),
        ("strength", lambda t: {"pixels": t.pixels[:, ::-1]}),
        ("semantic", lambda t: {"shown": t.shown * 0}),
        ("whdr", lambda t: {"pairs": t.pairs + np.array([0, 0, 9])}),
        ("dbe", lambda t: {"true_distance": t.true * 11.0}),
        ("views", lambda t: {"square": t.added * 65026.0}),
        ("disparity", lambda t: {"signed": -2 * t.absolute}),
        ("edges", lambda t: {"minimum": t.minimum + 10}),
    ],
)
def test_what_contradicts_itself_is_refused(name, change):
    tally = tallied(name, 1)
    with pytest.raises(InputError, match="expected"):
        replace(tally, **change(tally)).validate()


def test_impossible_tallies_are_neither_packed_nor_unpacked():
    tally = tallied("boundary", 0)
    forged = replace(tally, truth_matched=tally.truth + 1)
    with pytest.raises(InputError, match=r"truth_matched\[0\] is \d+, expected 0 to truth, \d+"):
        forged.pack()
    packed = Plain(**forged.arrays, protocol=tally.protocol).pack()
    with pytest.raises(InputError, match="damaged or not a BoundaryTally"):
        type(tally).unpack(packed, tally.protocol)


@dataclass(frozen=True, eq=False)
class Plain(Tally):
    """The arrays of a boundary tally, without its promises."""

    truth_matched: Counts
    truth: Counts
    detected_matched: Counts
    detected: Counts
    detected_shown: Counts
    marked: Counts
