"""Bootstrap over tallies: deterministic weights, exact sums, intervals and paired tests that agree with known answers."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hyperacuity import resampling
from hyperacuity.errors import UsageError
from hyperacuity.resampling import (
    Bootstrap,
    bootstrap_weights,
    mean_and_interval,
    paired_bootstrap,
    percentile_interval,
    resample,
    weighted_mean,
)

few = settings(deadline=None, max_examples=40)


def pcg64(seed: int, count: int) -> list[int]:
    """PCG64 (XSL-RR 128/64) written from O'Neill (2014), section 6.3; only the seeding is taken from numpy."""
    start = np.random.PCG64(seed).state["state"]
    state, step, out = start["state"], start["inc"], []
    for _ in range(count):
        state = (state * 0x2360ED051FC65DA44385DF649FCCF645 + step) % 2**128
        word, turn = (state >> 64) ^ (state % 2**64), state >> 122
        out.append((word >> turn | word << (64 - turn)) % 2**64)
    return out


@pytest.mark.parametrize(("images", "seed"), [(1, 0), (7, 0), (200, 3)])
def test_weights_count_draws_of_an_independent_pcg64(images, seed):
    draws = np.array([word % images for word in pcg64(seed, 4 * images)]).reshape(4, images)
    expected = [[int((row == image).sum()) for image in range(images)] for row in draws]
    assert bootstrap_weights(images, 4, seed).tolist() == expected


def test_more_resamples_only_add_rows():
    assert np.array_equal(bootstrap_weights(30, 1000, 5)[:10], bootstrap_weights(30, 10, 5))


def test_every_resample_has_as_many_images_as_the_data():
    weights = bootstrap_weights(100)
    assert weights.shape == (1000, 100)
    assert weights.dtype == np.int64
    assert (weights.sum(axis=1) == 100).all()


def test_weights_are_multinomial():
    """A weight is Binomial(n, 1/n): mean 1, variance 1 − 1/n, and (1 − 1/n)ⁿ of them are zero."""
    weights = bootstrap_weights(50, 4000, seed=2)
    assert weights.mean() == 1
    assert weights.var() == pytest.approx(1 - 1 / 50, rel=0.01)
    assert (weights == 0).mean() == pytest.approx((1 - 1 / 50) ** 50, rel=0.01)
    assert np.abs(np.corrcoef(weights[:, :10].T) - np.eye(10)).max() < 0.08


@pytest.mark.parametrize(("images", "resamples"), [(0, 10), (10, 0), (-1, 1)])
def test_nothing_to_draw_is_refused(images, resamples):
    with pytest.raises(UsageError, match="both must be 1 or more"):
        bootstrap_weights(images, resamples)


@few
@given(
    hnp.arrays(np.int64, hnp.array_shapes(min_dims=1, max_dims=3, max_side=6), elements=st.integers(-1000, 1000)),
    st.integers(0, 99),
)
def test_resampled_tallies_are_sums_over_the_drawn_images(stacked, seed):
    weights = bootstrap_weights(len(stacked), 5, seed)
    for row, sums in zip(weights, resample(weights, stacked), strict=True):
        assert np.array_equal(sums, np.repeat(stacked, row, axis=0).sum(axis=0))


def test_counts_stay_exact_where_float64_would_round():
    stacked = np.array([[2**60 + 1], [1]])
    assert resample(np.array([[1, 1], [2, 0]]), stacked).tolist() == [[2**60 + 2], [2**61 + 2]]


def test_sums_of_fractions_are_added_in_the_order_of_the_images():
    values = np.array([1e16, 1.0, -1e16])
    assert resample(np.ones((1, 3), np.int64), values).tolist() == [0.0]
    assert resample(np.ones((1, 3), np.int64), values[[0, 2, 1]]).tolist() == [1.0]


def test_weights_of_other_images_are_refused():
    with pytest.raises(UsageError, match="weights are for 3 images, but there are 4 tallies"):
        resample(bootstrap_weights(3), np.zeros((4, 2)))


@pytest.mark.parametrize("block", [1, 100, 3 * 47, 2**22])
@pytest.mark.parametrize("kind", [np.int64, np.float64, np.bool_])
def test_blocks_of_any_size_give_the_same_to_the_last_bit(monkeypatch, block, kind):
    stacked = (np.random.default_rng(2).normal(0.7, 1, (47, 3, 2)) * 10 ** np.arange(2)).astype(kind)
    weights = bootstrap_weights(47, 25, seed=4)
    expected = resample(weights, stacked)
    monkeypatch.setattr(resampling, "BLOCK", block)
    drawn = list(Bootstrap(47, 25, seed=4).blocks())
    assert max(part.size for part in drawn) <= max(block, 47)
    assert np.array_equal(np.concatenate(drawn), weights)
    found = resample(Bootstrap(47, 25, seed=4), stacked)
    assert found.dtype == expected.dtype
    assert found.tobytes() == expected.tobytes()


def test_no_more_than_a_block_of_weights_is_held(monkeypatch):
    """Ten thousand images, whose thousand resamples would take 80 MB."""
    monkeypatch.setattr(resampling, "BLOCK", 2**16)
    counts = np.ones((10_000, 2), np.int64)
    tracemalloc.start()
    found = resample(Bootstrap(10_000), counts)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found == 10_000).all()
    assert most < 5_000_000


@few
@given(
    hnp.arrays(
        np.float64, hnp.array_shapes(min_dims=2, max_dims=3, max_side=6), elements=st.floats(-9, 9) | st.just(math.nan)
    ),
    st.integers(0, 99),
)
def test_a_weighted_mean_is_that_of_the_drawn_images_that_have_a_value(values, seed):
    weights = bootstrap_weights(len(values), 4, seed)
    for row, found in zip(weights, weighted_mean(values, weights), strict=True):
        drawn = np.repeat(values, row, axis=0)
        np.testing.assert_allclose(found, np.nanmean(drawn, axis=0), atol=1e-12)


def test_a_mean_and_its_interval():
    data = np.random.default_rng(4).gamma(2, size=(60, 2))
    data[7, 1] = math.nan
    mean, interval = mean_and_interval(data, 20_000)
    assert mean == pytest.approx(np.nanmean(data, axis=0))
    for column, ends in zip(data.T, interval, strict=True):
        known = column[~np.isnan(column)]
        theirs = scipy.stats.bootstrap(
            (known,), np.mean, n_resamples=20_000, method="percentile", random_state=np.random.default_rng(1)
        ).confidence_interval
        assert ends == pytest.approx((theirs.low, theirs.high), abs=0.03 * (theirs.high - theirs.low))


def test_without_resamples_and_without_values_there_is_no_interval():
    mean, interval = mean_and_interval(np.array([[1.0], [2.0]]), 0)
    assert mean.tolist() == [1.5]
    assert np.isnan(interval).all()
    mean, interval = mean_and_interval(np.full((3, 2), math.nan))
    assert np.isnan(mean).all()
    assert np.isnan(interval).all()


def test_interval_of_a_mean_agrees_with_scipy():
    data = np.random.default_rng(4).gamma(2, size=60)
    ours = percentile_interval(resample(bootstrap_weights(60, 20_000), data) / 60)
    theirs = scipy.stats.bootstrap(
        (data,), np.mean, n_resamples=20_000, method="percentile", random_state=np.random.default_rng(1)
    ).confidence_interval
    width = theirs.high - theirs.low
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.03 * width)


def test_interval_of_a_mean_agrees_with_the_normal_approximation():
    data = np.random.default_rng(5).normal(10, 2, 400)
    low, high = percentile_interval(resample(bootstrap_weights(400, 10_000), data) / 400, 0.9)
    half = 1.645 * data.std() / math.sqrt(400)
    assert (low, high) == pytest.approx((data.mean() - half, data.mean() + half), abs=0.05 * half)


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    samples = resample(bootstrap_weights(80), np.random.default_rng(6).normal(size=(80, 500))) / 80
    covered = sum(low <= 0 <= high for low, high in map(percentile_interval, samples.T))
    assert 0.92 * 500 <= covered <= 0.97 * 500


@few
@given(hnp.arrays(np.float64, st.integers(1, 200), elements=st.floats(allow_nan=False)), st.floats(0.01, 0.99))
def test_at_least_the_level_lies_within_and_both_ends_are_samples(samples, level):
    low, high = percentile_interval(samples, level)
    assert low in samples
    assert high in samples
    assert ((low <= samples) & (samples <= high)).mean() >= level - 1e-9


def test_interval_by_hand():
    assert percentile_interval(np.arange(1000.0)[::-1], 0.95) == (24.0, 975.0)  # 0.025 · 999 = 24.975, outwards
    assert percentile_interval([3.0]) == (3.0, 3.0)


def test_unknown_scores_are_left_out_until_they_are_the_majority():
    nan = math.nan
    assert percentile_interval([nan, 1, nan, 2], 0.5) == (1.0, 2.0)
    assert np.isnan(percentile_interval([nan, 1, nan])).all()
    assert np.isnan(percentile_interval([])).all()


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, math.nan])
def test_a_level_is_a_fraction(level):
    with pytest.raises(UsageError, match="between 0 and 1"):
        percentile_interval([1, 2], level)


def test_p_value_by_hand():
    differences = np.concatenate([np.full(9, -1.0), np.full(990, 2.0)])
    result = paired_bootstrap(differences + 5, np.full(999, 5.0))
    assert result.p_value == 2 * (9 + 1) / (999 + 1)
    assert result.difference == pytest.approx((990 * 2 - 9) / 999)
    assert (result.low, result.high) == (2.0, 2.0)


def test_the_least_p_value_counts_the_data_as_one_more_resample():
    assert paired_bootstrap(np.ones(999), np.zeros(999)).p_value == 2 / 1000


def test_equal_systems_cannot_be_told_apart():
    scores = np.random.default_rng(0).random(1000)
    result = paired_bootstrap(scores, scores)
    assert (result.difference, result.low, result.high, result.p_value) == (0, 0, 0, 1)


@few
@given(hnp.arrays(np.float64, (2, 50), elements=st.floats(-1, 1)))
def test_changing_sides_changes_the_sign_and_nothing_else(scores):
    there, back = paired_bootstrap(*scores), paired_bootstrap(*scores[::-1])
    assert there.p_value == back.p_value
    assert (there.low, there.high) == (-back.high, -back.low)
    assert there.difference == pytest.approx(-back.difference)


def test_p_value_agrees_with_the_paired_t_test():
    rng = np.random.default_rng(8)
    a = rng.normal(0.7, 0.1, 300)
    b = a - rng.normal(0.004, 0.03, 300)
    weights = bootstrap_weights(300, 20_000)
    result = paired_bootstrap(resample(weights, a) / 300, resample(weights, b) / 300, observed=(a - b).mean())
    expected = scipy.stats.ttest_rel(a, b).pvalue
    assert 0.001 < expected < 0.1
    assert result.p_value == pytest.approx(expected, rel=0.25)
    assert result.difference == (a - b).mean()


def test_pairing_sees_a_difference_that_separate_intervals_hide():
    rng = np.random.default_rng(9)
    hardness = rng.normal(0.5, 0.2, 200)
    a, b = hardness + 0.01 + rng.normal(0, 0.01, 200), hardness
    weights = bootstrap_weights(200)
    first, second = resample(weights, a) / 200, resample(weights, b) / 200
    assert percentile_interval(first)[0] < percentile_interval(second)[1], "the intervals overlap"
    assert paired_bootstrap(first, second).p_value == 2 / 1001


def test_unknown_pairs_are_left_out():
    result = paired_bootstrap([1, math.nan, 3, math.inf], [0, 0, math.nan, math.inf])
    assert np.isnan([result.difference, result.low, result.high, result.p_value]).all()
    assert paired_bootstrap([1, math.nan, 3], [0, 0, 0]).difference == 2


@pytest.mark.parametrize("second", [[1.0, 2.0], [[1.0, 2.0, 3.0]]])
def test_samples_that_are_not_pairs_are_refused(second):
    with pytest.raises(UsageError, match="vectors of one length"):
        paired_bootstrap([1.0, 2.0, 3.0], second)
