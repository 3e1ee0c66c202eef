"""Automatic thresholds against scikit-image and against histograms done by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skimage.filters import threshold_otsu

from hyperacuity.detect import otsu, rosin
from hyperacuity.errors import InputError, UsageError


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 400), st.sampled_from([16, 256]))
def test_otsu_is_scikit_images(seed: int, count: int, bins: int) -> None:
    values = np.random.default_rng(seed).gamma(1.5, 0.1, count)
    assert otsu(values, bins=bins) == pytest.approx(threshold_otsu(values, nbins=bins), rel=1e-12)


def test_otsu_separates_two_groups() -> None:
    values = np.concatenate([np.linspace(0.1, 0.2, 50), np.linspace(0.7, 0.9, 30)])
    assert 0.19 < otsu(values) < 0.7


def test_rosin_finds_the_corner_of_a_histogram_drawn_by_hand() -> None:
    """Bins of 1 from 0 to 8 with 80, 10, 6, 5, 4, 3, 2, 1 values; the line from 80 at bin 0 to 0 at bin 8 falls by 10.

    Below the line by 0, 60, 54, 45, 36, 27, 18, 9: bin 1 is the corner, its middle 1.5.
    """
    values = np.repeat(np.arange(8) + 0.5, [80, 10, 6, 5, 4, 3, 2, 1])
    values[0], values[-1] = 0, 8  # so that the bins are those above
    assert rosin(values, bins=8) == pytest.approx(1.5)


def test_rosin_ignores_what_lies_left_of_the_peak() -> None:
    """Peak of 40 at bin 2, line to 0 at bin 8: 40, 33⅓, 26⅔, 20, …; counts 40, 30, 4, 2, 2, 1: bin 4 is the corner."""
    values = np.repeat(np.arange(8) + 0.5, [1, 2, 40, 30, 4, 2, 2, 1])
    values[0], values[-1] = 0, 8
    assert rosin(values, bins=8) == pytest.approx(4.5)


@pytest.mark.parametrize("choose", [otsu, rosin])
def test_nothing_and_sameness(choose) -> None:
    assert math.isnan(choose([]))
    assert choose([0.3, 0.3]) == 0.3


@pytest.mark.parametrize("choose", [otsu, rosin])
def test_refusals(choose) -> None:
    with pytest.raises(InputError, match="NaN"):
        choose([0.1, np.nan])
    with pytest.raises(UsageError, match="bins"):
        choose([0.1], bins=1)
