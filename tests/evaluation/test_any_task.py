"""Promises that hold for the tallies of every benchmark."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache

import numpy as np
import pytest

import hyperacuity as ha
from hyperacuity.boundary import compare_systems
from hyperacuity.compare.criteria import table_of
from hyperacuity.resampling import Bootstrap
from hyperacuity.tally import Tally
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
