"""What data are: each check lets the legal through unchanged and names what is wrong with the rest."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hyperacuity.errors import InputError
from hyperacuity.maps import VOID, diagonal, disparity_map, edge_map, label_map, order_map, same_size, size_of, soft_map

few = settings(deadline=None, max_examples=40)
nan, inf = math.nan, math.inf
planes = hnp.array_shapes(min_dims=2, max_dims=2, max_side=6)
CHECKS = [soft_map, edge_map, label_map, order_map, disparity_map]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([0, 1], r"has shape \(2,\), expected two dimensions"),
        (np.zeros((4, 4, 3)), r"has shape \(4, 4, 3\), expected two dimensions"),
        (1.0, r"has shape \(\), expected two dimensions"),
        (np.zeros((0, 5)), r"has no pixels \(shape \(0, 5\)\)"),
        ([["a", "b"]], "holds <U1 values, expected numbers"),
        ([[1j]], "holds complex128 values, expected numbers"),
        ([[None]], "holds object values, expected numbers"),
        ([[1, 2], [3]], "rows have different lengths"),
    ],
)
def test_what_is_not_a_plane_of_numbers_is_refused_by_every_check(check, values, sentence):
    with pytest.raises(InputError, match=f"^starfish.png: {sentence}"):
        check(values, name="starfish.png")


@pytest.mark.parametrize(
    ("check", "values", "sentence"),
    [
        (soft_map, [[0, 255]], r"values run from 0 to 255, expected \[0, 1\]: divide by 255$"),
        (soft_map, [[0, 40000]], r"values run from 0 to 40000, expected \[0, 1\]: divide by 65535$"),
        (soft_map, [[0, 1.01]], r"values run from 0 to 1.01, expected \[0, 1\]: scale or clip them$"),
        (soft_map, [[0, 1e6]], r"values run from 0 to 1e\+06, expected \[0, 1\]: scale them$"),
        (
            soft_map,
            [[-3.5, 4]],
            r"values run from -3.5 to 4, expected \[0, 1\]: apply a sigmoid first if these are logits",
        ),
        (
            soft_map,
            [[-0.1, 1]],
            r"values run from -0.1 to 1, expected \[0, 1\]: apply a sigmoid first if these are logits",
        ),
        (soft_map, [[0, inf]], r"values run from 0 to inf, expected \[0, 1\]"),
        (soft_map, [[nan, 0, nan]], "2 of 3 values are NaN, expected numbers throughout: set them to 0"),
        (edge_map, [[nan, 0]], "1 of 2 values are NaN, expected numbers throughout: set them to 0"),
        (edge_map, [[1, -3]], r"holds negative values \(down to -3\)"),
        (label_map, [[0.5, 1]], "holds fractions"),
        (label_map, [[nan, 1]], "1 of 2 values are NaN, expected numbers throughout: set them to −1"),
        (label_map, [[inf, 1]], "holds infinite values"),
        (label_map, [[-2, 1]], "labels run from -2 to 1"),
        (label_map, [[0, 2**31]], "labels run from 0 to 2147483648"),
        (order_map, [[inf, 1]], "holds infinite values"),
        (order_map, [[1e300, 1]], "holds infinite values"),
        (order_map, [[nan, nan]], "no pixel has a known value"),
        (disparity_map, [[nan, inf]], "no pixel has a known value"),
    ],
)
def test_values_that_cannot_be_right_are_named(check, values, sentence):
    with pytest.raises(InputError, match=f"^x: {sentence}"):
        check(np.array(values), name="x")


@pytest.mark.parametrize(
    ("check", "dtype"),
    [
        (soft_map, np.float32),
        (edge_map, np.bool_),
        (label_map, np.int32),
        (order_map, np.float32),
        (disparity_map, np.float32),
    ],
)
@pytest.mark.parametrize("stored", [np.bool_, np.uint8, ">i2", np.float16, ">f8", np.float64])
def test_every_number_type_comes_out_as_the_canonical_one(check, dtype, stored):
    values = np.asfortranarray(np.array([[0, 1, 0], [1, 1, 0]], dtype=stored))
    result = check(values)
    assert result.dtype == dtype
    assert result.dtype.isnative
    assert result.flags.c_contiguous
    assert result.tolist() == values.tolist()


@given(hnp.arrays(np.float32, planes, elements=st.floats(0, 1, width=32)))
@few
def test_a_soft_map_keeps_its_values_and_is_not_copied(values):
    assert soft_map(values) is values


@given(hnp.arrays(np.int32, planes, elements=st.integers(VOID, 2**31 - 1)))
@few
def test_a_segmentation_keeps_its_labels_through_float64(values):
    assert np.array_equal(label_map(values), values)
    assert np.array_equal(label_map(values.astype(np.float64)), values)


@given(hnp.arrays(np.int64, planes, elements=st.integers(0, 2**40)))
@few
def test_anything_above_zero_is_an_edge(values):
    assert np.array_equal(edge_map(values), values != 0)


@given(hnp.arrays(np.float32, planes))
@few
def test_a_disparity_is_finite_or_nan_and_the_input_is_left_alone(values):
    before = values.copy()
    if np.isfinite(values).any():
        result = disparity_map(values)
        assert np.array_equal(result, np.where(np.isfinite(values), values, np.nan), equal_nan=True)
    else:
        with pytest.raises(InputError):
            disparity_map(values)
    assert np.array_equal(values, before, equal_nan=True)


def test_a_disparity_too_large_for_float32_is_unknown():
    assert disparity_map([[1e300, 2.0]]).tolist() == [[pytest.approx(nan, nan_ok=True), 2.0]]


def test_an_order_map_keeps_nan():
    assert np.array_equal(order_map([[nan, 2.0]]), np.array([[nan, 2.0]], np.float32), equal_nan=True)


def test_sizes_are_told_as_width_by_height():
    assert size_of(np.zeros((321, 481, 3))) == "481×321"
    with pytest.raises(
        InputError, match=r"a\.png is 481×321 but a\.mat is 321×481: turn one of them, width and height are exchanged"
    ):
        same_size(np.zeros((321, 481)), np.zeros((481, 321)), names=("a.png", "a.mat"))
    same_size(np.zeros((321, 481)), np.zeros((321, 481, 3)))


def test_the_diagonal_of_a_bsds_image():
    assert diagonal((321, 481)) == pytest.approx(578.275, abs=1e-3)
