"""The front door: conventions that hold whatever the format, and round trips of every kind of map."""

from __future__ import annotations

import io

import numpy as np
import pytest
from fuzz_seeds import npy
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from hyperacuity.data import (
    DataWarning,
    read_boundary_truths,
    read_disparity,
    read_edges,
    read_labels,
    read_mask,
    read_order,
    read_segmentations,
    read_soft,
    write_disparity,
    write_edges,
    write_labels,
    write_order,
    write_png,
    write_soft,
)
from hyperacuity.errors import InputError, UsageError

SIZES = st.tuples(st.integers(2, 8), st.integers(2, 8))
quiet = pytest.mark.filterwarnings("ignore::hyperacuity.data.DataWarning")


@quiet
@pytest.mark.parametrize(
    ("suffix", "bits", "step"), [(".png", 8, 255), (".png", 16, 65535), (".npy", 8, 0), (".mat", 8, 0)]
)
@given(strength=SIZES.flatmap(lambda size: arrays(np.float32, size, elements=st.floats(0, 1, width=32))))
@settings(max_examples=20, deadline=None)
def test_soft_maps_come_back_to_the_format_s_step(scratch, suffix, bits, step, strength):
    write_soft(scratch / f"a{suffix}", strength, bits=bits)
    back = read_soft(scratch / f"a{suffix}")
    assert back.dtype == np.float32
    if step == 0:
        assert np.array_equal(back, strength)
    elif strength.max() > 1.5 / step:  # below that all is 0 or 1, which a binary map would be
        assert np.abs(back.astype(float) - strength).max() <= 0.5 / step + 1e-7


@quiet
@pytest.mark.parametrize("suffix", [".png", ".npy", ".mat"])
@given(edges=SIZES.flatmap(lambda size: arrays(np.bool_, size)))
@settings(max_examples=15, deadline=None)
def test_edge_maps_come_back(scratch, suffix, edges):
    write_edges(scratch / f"a{suffix}", edges)
    assert np.array_equal(read_edges(scratch / f"a{suffix}"), edges)
    assert np.array_equal(read_edges(scratch / f"a{suffix}", inverted=True), ~edges)
    assert np.array_equal(read_soft(scratch / f"a{suffix}"), edges.astype(np.float32))
    assert np.array_equal(read_boundary_truths([scratch / f"a{suffix}"])[0], edges)


@pytest.mark.parametrize(("suffix", "lowest"), [(".png", 0), (".npy", -1), (".mat", -1)])
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_label_maps_come_back(scratch, suffix, lowest, data):
    labels = data.draw(SIZES.flatmap(lambda size: arrays(np.int32, size, elements=st.integers(lowest, 65535))))
    write_labels(scratch / f"a{suffix}", labels)
    assert np.array_equal(read_labels(scratch / f"a{suffix}"), labels)
    assert np.array_equal(read_segmentations([scratch / f"a{suffix}"])[0], labels)


KNOWN_SOMEWHERE = SIZES.flatmap(
    lambda size: arrays(np.float32, size, elements=st.one_of(st.floats(0.5, 250, width=16), st.just(np.nan)))
).filter(lambda a: np.isfinite(a).any())


@pytest.mark.parametrize("suffix", [".pfm", ".npy", ".png"])
@given(values=KNOWN_SOMEWHERE)
@settings(max_examples=15, deadline=None)
def test_disparities_and_orders_come_back(scratch, suffix, values):
    write_disparity(scratch / f"a{suffix}", values)
    assert np.allclose(read_disparity(scratch / f"a{suffix}"), values, rtol=0, atol=0.002, equal_nan=True)
    if suffix != ".png":
        write_order(scratch / f"a{suffix}", -values)
        assert np.array_equal(read_order(scratch / f"a{suffix}"), -values, equal_nan=True)


def test_a_suffix_that_cannot_hold_the_map_is_a_wrong_call(scratch):
    for write, suffix in ((write_soft, ".pfm"), (write_order, ".png"), (write_disparity, ".mat"), (write_edges, "")):
        with pytest.raises(UsageError, match=r"expected \.(png|pfm)"):
            write(scratch / f"a{suffix}", np.ones((2, 2), dtype=np.float32))
    with pytest.raises(InputError, match="0 to 65535, found -1 to 0"):
        write_labels(scratch / "a.png", np.array([[-1, 0]], dtype=np.int32))


def test_depth_is_turned_so_that_larger_is_nearer(put):
    path = put(npy([[0.0, 1.0], [4.0, np.nan]]))
    order = read_order(path, larger="farther", unknown=0)
    assert np.array_equal(order, [[np.nan, -1], [-4, np.nan]], equal_nan=True)
    assert np.array_equal(read_order(path), [[0, 1], [4, np.nan]], equal_nan=True)


def test_disparity_pictures_are_divided_by_their_scale_and_0_is_unknown(scratch):
    write_png(scratch / "a.png", np.array([[0, 16], [64, 255]], dtype=np.uint8))
    assert np.array_equal(read_disparity(scratch / "a.png", scale=16), [[np.nan, 1], [4, 255 / 16]], equal_nan=True)
    with pytest.warns(DataWarning, match="without a scale"):
        assert read_disparity(scratch / "a.png")[0, 1] == 16
    write_png(scratch / "a.png", np.array([[0, 256]], dtype=np.uint16))
    assert read_disparity(scratch / "a.png")[0, 1] == 1
    assert read_disparity(scratch / "a.png", scale=2)[0, 1] == 128
    for scale in (0, -1, float("nan"), float("inf")):
        with pytest.raises(InputError, match="expected a positive number"):
            read_disparity(scratch / "a.png", scale=scale)


def test_in_a_mask_only_the_full_value_counts(scratch):
    write_png(scratch / "a.png", np.array([[0, 128, 255]], dtype=np.uint8))
    assert read_mask(scratch / "a.png").tolist() == [[False, False, True]]
    write_png(scratch / "a.png", np.array([[False, True]]))
    assert read_mask(scratch / "a.png").tolist() == [[False, True]]
    write_png(scratch / "a.png", np.array([[0, 128]], dtype=np.uint8))
    with pytest.raises(InputError, match="the mask is empty"):
        read_mask(scratch / "a.png")


def test_regions_painted_in_colours_get_a_label_per_colour(scratch):
    pixels = np.zeros((2, 3, 3), dtype=np.uint8)
    pixels[0, :2] = (255, 0, 0)
    pixels[1] = (0, 0, 255)
    write_png(scratch / "a.png", pixels)
    labels = read_labels(scratch / "a.png")
    assert len(np.unique(labels)) == 3
    assert labels[0, 0] == labels[0, 1] != labels[0, 2] != labels[1, 0] == labels[1, 2]


def test_a_palette_image_s_indices_are_its_labels(put):
    image = Image.fromarray(np.array([[0, 1], [2, 255]], dtype=np.uint8), "P")
    image.putpalette([7, 7, 7] * 256)
    file = io.BytesIO()
    image.save(file, "PNG")
    assert read_labels(put(file.getvalue())).tolist() == [[0, 1], [2, 255]]


def test_annotators_of_several_files_come_in_their_order_and_must_have_one_size(scratch):
    write_edges(scratch / "1.png", np.eye(3, dtype=bool))
    write_edges(scratch / "2.npy", ~np.tri(3, dtype=bool))
    first, second = read_boundary_truths([scratch / "1.png", scratch / "2.npy"])
    assert np.array_equal(first, np.eye(3))
    assert np.array_equal(second, ~np.tri(3, dtype=bool))
    write_edges(scratch / "3.png", np.eye(4, 3, dtype=bool))
    with pytest.raises(InputError, match=r"3\.png is 3×4 but the annotator before is 3×3"):
        read_boundary_truths([scratch / "1.png", scratch / "3.png"])
    with pytest.raises(InputError, match="no truth was given"):
        read_boundary_truths([])
