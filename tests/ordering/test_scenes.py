"""On scenes, whose order is known by construction: the truth is perfect, and a hand that trembles is nearly so."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from hyperacuity.data.scenes import make_scene
from hyperacuity.ordering import Sides, collect, ordering, tally

SEEDS = (1, 2, 3, 4)


@pytest.fixture(scope="module")
def scenes():
    return {seed: make_scene(seed, size=(360, 240), leaves=20) for seed in SEEDS}


def jittered(order, seed, *, most=2.0):
    """The map read at places that wander smoothly, nowhere by more than ``most`` pixels."""
    dice = np.random.default_rng(seed)
    wander = np.stack([gaussian_filter(dice.standard_normal(order.shape), 12) for _ in range(2)])
    wander *= most / np.hypot(*wander).max()
    places = np.indices(order.shape) + wander
    rows, columns = (np.clip(np.rint(p), 0, n - 1).astype(int) for p, n in zip(places, order.shape, strict=True))
    return order[rows, columns]


def test_the_true_order_is_perfect(scenes):
    score = collect({str(n): tally(ordering(s.order), [ordering(s.order)]) for n, s in scenes.items()})
    for found in (score.ldc.best, score.gdc.best):
        assert (found.fmax, found.fmin, found.ori, found.fg) == (1, 1, 1, 1)
    assert set(score.accuracy.values()) == {1.0}


def test_disparity_is_as_good_an_order(scenes):
    score = collect({str(n): tally(ordering(s.disparity), [ordering(s.order)]) for n, s in scenes.items()})
    assert score.ldc.best.fmin == score.gdc.best.fmin == score.accuracy["bacc"] == 1


def test_the_negated_order_is_detected_but_wrong(scenes):
    score = collect({str(n): tally(ordering(-s.order), [ordering(s.order)]) for n, s in scenes.items()})
    assert (score.ldc.best.fmax, score.ldc.best.fmin, score.ldc.best.ori) == (1, 0, 0)
    assert score.accuracy["racc"] == score.accuracy["bacc"] == 0


def test_boundaries_jittered_by_up_to_two_pixels_stay_consistent(scenes):
    score = collect({str(n): tally(ordering(jittered(s.order, n)), [ordering(s.order)]) for n, s in scenes.items()})
    assert score.ldc.best.fmax > 0.99
    assert score.ldc.best.fmin > 0.95
    assert score.accuracy["bacc"] > 0.99


def test_owned_boundaries_and_the_order_agree(scenes):
    tallies = {}
    for n, scene in scenes.items():
        sides = np.where(scene.ownership == 0, np.nan, scene.ownership).astype(np.float32)
        tallies[str(n)] = tally(ordering(scene.order), [Sides(sides, scene.labels)])
    score = collect(tallies)
    assert score.accuracy["racc"] > 0.99
    assert score.ldc.best.fg > 0.98
