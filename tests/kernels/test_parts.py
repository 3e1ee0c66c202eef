"""Parts of truths swept over the pairs of the whole: the same counts as when each part is a truth of its own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from hyperacuity.kernels.pairs import reach, scale
from hyperacuity.kernels.parts import partners_at_levels, partners_by_level, sweep_parts
from hyperacuity.kernels.sweep import indices_of, sweep, trace

THRESHOLDS = np.array([0.2, 0.4, 0.6, 0.8])


def world(seed, shape=(14, 17), people=2):
    """A soft map and what people drew, as flat indices."""
    generator = np.random.default_rng(seed)
    soft = (generator.random(shape) * (generator.random(shape) < 0.4)).astype(np.float32)
    return soft, [np.flatnonzero(generator.random(shape) < 0.2) for _ in range(people)], generator


def drawn(shape, truth, part):
    """A part of a truth as a map."""
    marks = np.zeros(shape, bool)
    marks.flat[truth[part]] = True
    return marks


def most_pairs(detected, truth, radius):
    """The number of pairs of two maps, by scipy."""
    ones, others = np.argwhere(detected), np.argwhere(truth)
    near = ((ones[:, None] - others[None]) ** 2).sum(axis=2) <= radius**2
    return int(near[linear_sum_assignment(near, maximize=True)].sum())


@settings(deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 1.0, 2.3]), st.booleans())
def test_a_part_counts_as_a_truth_of_its_own(seed, radius, thin):
    soft, truths, generator = world(seed)
    shares = (1.0, 0.7, 0.3, 0.0)
    parts = [[generator.random(truth.size) < share for truth in truths] for share in shares]
    history, within = trace(soft, THRESHOLDS, thin=thin), reach(radius)
    found = sweep_parts(history, truths, parts, soft.shape, within)
    for part, counts in zip(parts, found.counts, strict=True):
        maps = [drawn(soft.shape, truth, kept) for truth, kept in zip(truths, part, strict=True)]
        alone = sweep(soft, maps, THRESHOLDS, within, thin=thin, checked=True)
        for mine, expected in zip(counts, alone, strict=True):
            np.testing.assert_array_equal(mine, expected)


@settings(deadline=None)
@given(st.integers(0, 10**6))
def test_there_are_as_many_pairs_as_there_can_be(seed):
    soft, truths, generator = world(seed)
    part = [generator.random(truth.size) < 0.5 for truth in truths]
    (counts,) = sweep_parts(trace(soft, THRESHOLDS, thin=False), truths, [part], soft.shape, reach(1.5)).counts
    for annotator, (truth, kept) in enumerate(zip(truths, part, strict=True)):
        expected = [most_pairs(soft >= t, drawn(soft.shape, truth, kept), 1.5) for t in THRESHOLDS]
        assert counts.matched[annotator].tolist() == expected


def test_the_partners_of_chosen_steps_are_those_of_the_first_part():
    soft = np.array([[0.9, 0.0, 0.5, 0.0, 0.5]], np.float32)
    truths = [np.array([0, 2]), np.array([2])]
    whole, less = [[np.ones(truth.size, bool) for truth in truths], [np.zeros(truth.size, bool) for truth in truths]]
    history = trace(soft, np.array([0.4, 0.8]), thin=False)
    found = sweep_parts(history, truths, [whole, less], soft.shape, reach(0), chosen=[1, 2])
    assert indices_of(history, soft.shape).tolist() == [0, 2, 4]
    assert found.partners.tolist() == [[1, 0, 0], [1, 2, 0]]
    assert found.counts[1].matched.sum() == 0


@settings(deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_partners_at_levels_are_those_of_a_sweep_over_levels(seed, thin):
    soft, truths, _ = world(seed)
    level, within = np.digitize(soft, THRESHOLDS.astype(np.float32)).astype(np.uint8), reach(1.5)
    history = trace(soft, THRESHOLDS, thin=thin)
    chosen = history.step_of_threshold.tolist()
    whole = [np.ones(truth.size, bool) for truth in truths]
    found = sweep_parts(history, truths, [whole], soft.shape, within, chosen=chosen)
    maps = [drawn(soft.shape, truth, kept) for truth, kept in zip(truths, whole, strict=True)]
    np.testing.assert_array_equal(
        partners_at_levels(history, found.partners, chosen, level, len(truths)),
        partners_by_level(level, maps, 4, within, thin=thin),
    )


@pytest.mark.parametrize("share", [0.9, 0.2])
def test_a_truth_so_large_that_its_parts_have_finer_ties(share):
    generator = np.random.default_rng(1)
    shape, within = (200, 200), reach(3)
    soft, truth = generator.random(shape).astype(np.float32), np.arange(200 * 200)
    part = generator.random(truth.size) < share
    most = int(within.steps[-1])
    finer = scale(int(part.sum()), most).tie_bits != scale(truth.size, most).tie_bits
    assert finer == (share < 0.5)
    thresholds = np.array([0.8, 0.9])
    (counts,) = sweep_parts(trace(soft, thresholds, thin=False), [truth], [[part]], shape, within).counts
    alone = sweep(soft, [drawn(shape, truth, part)], thresholds, within, thin=False)
    np.testing.assert_array_equal(counts.matched, alone.matched)
    np.testing.assert_array_equal(counts.matched_by_any, alone.matched_by_any)
