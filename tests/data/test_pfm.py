"""Portable float maps and KITTI's pictures, against OpenCV."""

from __future__ import annotations

import warnings

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from hyperacuity.data import read_disparity, read_order, write_disparity
from hyperacuity.data.formats.pfm import read_pfm, write_pfm
from hyperacuity.errors import InputError

FINITE = st.floats(-1e6, 1e6, width=32)
MAPS = arrays(np.float32, array_shapes(min_dims=2, max_dims=2, max_side=7), elements=FINITE)


@given(MAPS, st.sampled_from(["little", "big"]))
@settings(max_examples=30, deadline=None)
def test_pfm_gives_back_what_was_written_in_either_byte_order(scratch, values, byte_order):
    write_pfm(scratch / "a.pfm", values, byte_order=byte_order)
    assert np.array_equal(read_pfm(scratch / "a.pfm"), values)
    # OpenCV applies the scale's size, which is 1 here, and so must agree.
    assert np.array_equal(cv2.imread(str(scratch / "a.pfm"), cv2.IMREAD_UNCHANGED), values)


@given(MAPS)
@settings(max_examples=10, deadline=None)
def test_pfm_of_opencv_is_read(scratch, values):
    cv2.imwrite(str(scratch / "a.pfm"), values)
    assert np.array_equal(read_pfm(scratch / "a.pfm"), values)


def test_rows_stand_bottom_up_in_the_file(put):
    data = b"Pf\n1 2\n-1.0\n" + np.array([1, 2], "<f4").tobytes()
    assert read_pfm(put(data)).tolist() == [[2], [1]]
    assert read_pfm(put(b"Pf\n1 2\n1.0\n" + np.array([1, 2], ">f4").tobytes())).tolist() == [[2], [1]]


def test_colour_pfm_has_three_channels(put):
    data = b"PF 1 1 -1\n" + np.array([1, 2, 3], "<f4").tobytes()
    assert read_pfm(put(data)).tolist() == [[[1, 2, 3]]]


def test_the_unknown_is_infinite_in_pfm_and_nan_in_memory(scratch):
    disparity = np.array([[1.5, np.nan]], dtype=np.float32)
    write_disparity(scratch / "a.pfm", disparity)
    assert np.isinf(read_pfm(scratch / "a.pfm")[0, 1])
    assert np.array_equal(read_disparity(scratch / "a.pfm"), disparity, equal_nan=True)
    assert np.array_equal(read_order(scratch / "a.pfm"), disparity, equal_nan=True)


def test_a_signalling_nan_is_just_unknown(put):
    path = put(b"Pf\n2 1\n-1\n" + b"\x01\x00\xa0\x7f" + np.float32(2).tobytes())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for read in (read_disparity, read_order):
            assert np.array_equal(read(path), [[np.nan, 2]], equal_nan=True)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"Pf\n2 2\n-1\n" + bytes(12), "truncated: 12 bytes of pixels where 2×2 needs 16"),
        (b"Pf\n0 2\n-1\n", "expected none of them to be 0"),
        (b"Pf\n2 2\n0\n" + bytes(16), "expected none of them to be 0"),
        (b"Pf\ntwo 2\n-1\n" + bytes(16), "not a PFM file"),
        (b"Pf\n90000 90000\n-1\n" + bytes(16), "declares 90000×90000 pixels, more than the limit"),
    ],
)
def test_a_bad_pfm_is_refused_with_what_was_found(put, data, complaint):
    with pytest.raises(InputError, match=complaint):
        read_disparity(put(data))


@given(arrays(np.uint16, array_shapes(min_dims=2, max_dims=2, max_side=7)).filter(lambda a: a.any()))
@settings(max_examples=30, deadline=None)
def test_kitti_png_gives_back_what_was_written(scratch, levels):
    disparity = np.where(levels == 0, np.nan, levels / 256).astype(np.float32)
    write_disparity(scratch / "a.png", disparity)
    assert np.array_equal(cv2.imread(str(scratch / "a.png"), cv2.IMREAD_UNCHANGED), levels)
    assert np.array_equal(read_disparity(scratch / "a.png"), disparity, equal_nan=True)


def test_a_known_zero_stays_known_in_kitti_png(scratch):
    write_disparity(scratch / "a.png", np.array([[0, np.nan]], dtype=np.float32))
    assert np.array_equal(read_disparity(scratch / "a.png"), [[1 / 256, np.nan]], equal_nan=True)


@pytest.mark.parametrize("value", [-0.5, 256])
def test_what_kitti_png_cannot_hold_is_refused(scratch, value):
    with pytest.raises(InputError, match="the map goes beyond"):
        write_disparity(scratch / "a.png", np.array([[value]], dtype=np.float32))
