"""Bad input of every kind: one sentence that names the file, what was found and what was expected; never another error."""

from __future__ import annotations

import io
import os
import struct
import warnings

import h5py
import numpy as np
import pytest
import scipy.io
from fuzz_seeds import GREY, npy, npz, picture, png
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from hyperacuity.data import (
    DataWarning,
    read_boundary_truths,
    read_disparity,
    read_edges,
    read_image,
    read_labels,
    read_mask,
    read_order,
    read_segmentations,
    read_soft,
    read_table,
    read_ucm,
    write_edges,
    write_png,
    write_soft,
)
from hyperacuity.errors import InputError


def mat4(name: str) -> bytes:
    """A matrix in MATLAB's version 4, as scipy writes it."""
    file = io.BytesIO()
    scipy.io.savemat(file, {name: np.eye(3)}, format="4")
    return file.getvalue()


READERS = [
    read_soft,
    read_ucm,
    read_edges,
    read_labels,
    read_order,
    read_disparity,
    read_mask,
    read_image,
    read_table,
    lambda path: read_boundary_truths([path]),
    lambda path: read_segmentations([path]),
]


def matlab(**options) -> bytes:
    truth = np.empty((1, 2), dtype=object)
    for i in range(2):
        truth[0, i] = {"Segmentation": np.eye(5, dtype=np.uint16), "Boundaries": np.eye(5, dtype=np.uint8)}
    file = io.BytesIO()
    scipy.io.savemat(file, {"groundTruth": truth, "ucm2": np.eye(7), "note": "text"}, **options)
    return file.getvalue()


def hdf5() -> bytes:
    file = io.BytesIO()
    with h5py.File(file, "w", userblock_size=512) as h5:
        h5.create_dataset("ucm2", data=np.eye(7), compression="gzip").attrs["MATLAB_class"] = np.bytes_("double")
        group = h5.create_group("#refs#/a")
        group.create_dataset("Boundaries", data=np.eye(5, dtype=np.uint8))
        h5.create_dataset("groundTruth", (1, 1), dtype=h5py.ref_dtype)[0, 0] = group.ref
    return b"MATLAB 7.3 MAT-file".ljust(512) + file.getvalue()[512:]


GOOD = {
    "png": picture("PNG"),
    "png palette": picture("PNG", "P"),
    "png colour": picture("PNG", "RGB"),
    "png 1 bit": picture("PNG", "1"),
    "jpeg": picture("JPEG"),
    "bmp": picture("BMP"),
    "tiff": picture("TIFF"),
    "pgm": picture("PPM"),
    "pgm in letters": b"P2\n# by hand\n3 2\n255\n1 2 3 4 5 6\n",
    "npy": npy(np.eye(5)),
    "npy with extremes": npy([[np.inf, -1e300], [np.nan, 5e-324]]),
    "npz": npz(a=np.eye(4)),
    "mat": matlab(),
    "mat compressed": matlab(do_compression=True),
    "mat 7.3": hdf5(),
    "pfm": b"Pf\n3 2\n-1\n" + np.arange(6, dtype="<f4").tobytes(),
    "seg": b"format ascii cr\nwidth 3\nheight 2\nsegments 2\ndata\n0 0 0 2\n1 1 0 1\n",
    "fg": b"MATRIX ARRAY 2\n" + struct.pack("<ii2dii2d", 1, 2, 1, -1, 1, 2, 1, -1),
    "csv": b"# comment\nname,a,b\nx,1,2\ny,,3\n",
}

CHANGE = st.tuples(st.sampled_from(["cut", "set", "insert"]), st.floats(0, 1, exclude_max=True), st.integers(0, 255))


@pytest.mark.parametrize("name", GOOD)
@given(changes=st.lists(CHANGE, max_size=5))
@settings(max_examples=25, deadline=None)
def test_a_damaged_file_is_read_or_refused_but_nothing_else(put, name, changes):
    data = bytearray(GOOD[name])
    for what, where, value in changes:
        at = int(where * len(data))
        if what == "cut":
            data = data[: at + 1]
        elif what == "set" and data:
            data[at] = value
        else:
            data[at:at] = bytes([value]) * 4
    path = put(bytes(data))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # numpy's complaints would be our own mistakes
        warnings.simplefilter("ignore", DataWarning)
        for read in READERS:
            complaint = str(path)
            try:
                read(path)
            except InputError as error:
                complaint = str(error)
            assert str(path) in complaint
            assert "\n" not in complaint


@pytest.mark.parametrize("read", READERS)
def test_what_is_no_readable_file_is_named(tmp_path, read):
    (tmp_path / "empty.png").touch()
    if hasattr(os, "mkfifo"):  # Windows has none in folders
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(InputError, match=r"pipe: is not a plain file"):
            read(tmp_path / "pipe")
    for name, complaint in (
        ("missing.png", "no such file"),
        ("empty.png", r"is empty \(0 bytes\)"),
        (".", "is a folder, expected a file"),
        ("x" * 300, "cannot be read"),
        ("zero\0byte", "cannot be read"),
    ):
        with pytest.raises(InputError, match=complaint) as caught:
            read(tmp_path / name)
        assert str(tmp_path) in str(caught.value)


def test_a_file_without_permission_is_named(tmp_path):
    path = tmp_path / "locked.png"
    path.write_bytes(GOOD["png"])
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(InputError, match=r"locked\.png: cannot be read \(permission denied\)"):
        read_soft(path)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"<!DOCTYPE html><html>not found</html>", "is a web page, expected PNG"),
        (mat4("edges"), "is a MATLAB file of version 4; save it again with -v7, expected PNG"),
        (b"version https://git-lfs.github.com/spec/v1\n", "is a Git LFS pointer"),
        (b"GIF89a" + bytes(20), "is a GIF image, expected PNG"),
        (b"\x1f\x8b" + bytes(20), "is a gzip archive"),
        (b"hello world, this is text", "starts with b'hello wo', which is no known format"),
        (bytes(200), "no known format"),
    ],
)
def test_a_file_of_another_kind_is_refused_by_what_it_is(put, data, complaint):
    with pytest.raises(InputError, match=complaint):
        read_soft(put(data))


@pytest.mark.parametrize("suffix", ["", ".png", ".mat", ".npy", ".jpg", ".txt", ".pfm"])
@pytest.mark.parametrize("name", ["png", "npy", "mat", "mat 7.3", "pfm", "pgm"])
def test_the_content_decides_not_the_suffix(tmp_path, name, suffix):
    path = tmp_path / f"renamed{suffix}"
    path.write_bytes(GOOD[name])
    known = {"png": GREY, "pgm": GREY, "npy": np.eye(5), "pfm": [[3, 4, 5], [0, 1, 2]]}
    expected = known.get(name, np.eye(7)[2::2, 2::2])  # of ucm2, the map at image size
    assert np.array_equal(read_order(path, variable="ucm2" if name.startswith("mat") else None), expected)


@pytest.mark.parametrize(
    "name", ["with space.png", "Straße.png", "見本 – ñ.png", "quote'\".png", "-dash.png", "100%{0}.png"]
)
def test_names_with_spaces_and_other_letters_are_just_names(tmp_path, name):
    write_soft(tmp_path / name, np.eye(4, dtype=np.float32))
    assert np.array_equal(read_soft(tmp_path / name), np.eye(4))
    (tmp_path / name).write_bytes(b"\x89PNG\r\n\x1a\nbroken")
    with pytest.raises(InputError, match="damaged") as caught:
        read_soft(tmp_path / name)
    assert name in str(caught.value)


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ([[0.5, np.nan]], "NaN"),
        ([[0.0, 1.5]], r"values run from 0 to 1.5, expected \[0, 1\]"),
        ([[-0.5, 1.0]], r"values run from -0.5 to 1, expected \[0, 1\]"),
        ([[0, 255]], r"values run from 0 to 255, expected \[0, 1\]"),
        ([0.5, 0.5], r"has shape \(2,\), expected two dimensions"),
        (np.zeros((2, 3, 4)), r"has shape \(2, 3, 4\), expected two dimensions"),
        (np.zeros((0, 3)), "has no pixels"),
    ],
)
def test_a_soft_map_that_cannot_be_right_is_refused(put, values, complaint):
    with pytest.raises(InputError, match=complaint):
        read_soft(put(npy(values)))


def test_an_order_or_disparity_known_nowhere_is_refused(put):
    for read in (read_order, read_disparity):
        with pytest.raises(InputError, match="no pixel has a known value"):
            read(put(npy([[np.nan, np.inf]])))


def test_labels_that_cannot_be_right_are_refused(put):
    for values, complaint in (
        ([[0.5, 1]], "fractions"),
        ([[-2, 1]], "from -2 to 1"),
        ([[1, np.inf]], "infinite|labels run"),
    ):
        with pytest.raises(InputError, match=complaint):
            read_labels(put(npy(values)))


@pytest.mark.parametrize(("depth", "colour"), [(8, 0), (1, 0), (16, 0), (16, 2)])
@pytest.mark.parametrize(
    ("width", "height"), [(50_000, 50_000), (10_000, 9_000), (2**31 - 1, 2**31 - 1), (2**31 - 1, 1)]
)
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_a_picture_that_declares_too_much_is_refused_before_it_is_unpacked(put, width, height, depth, colour):
    with pytest.raises(InputError, match=r"more than the limit of 80,000,000|exceeds limit"):
        read_soft(put(png(struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0), bytes(1_000_000))))


def test_other_formats_that_declare_too_much_are_refused(put):
    wide = struct.pack("<IiiHHIIiiII", 40, 60_000, 60_000, 1, 8, 0, 0, 0, 0, 0, 0)
    for data in (b"P5 60000 60000 255\n" + bytes(100), b"BM" + struct.pack("<IHHI", 54, 0, 0, 54) + wide):
        with pytest.raises(InputError, match=r"more than the limit of 80,000,000|exceeds limit"):
            read_soft(put(data))


def test_a_file_larger_than_the_limit_is_refused_unread(tmp_path):
    with (tmp_path / "sparse.npy").open("wb") as file:
        file.write(b"\x93NUMPY")
        file.truncate(3 << 30)  # takes no space on disk
    with pytest.raises(InputError, match=r"asks for 3,221,225,472 bytes, more than the limit of 1,073,741,824"):
        read_soft(tmp_path / "sparse.npy")


def test_an_inverted_truth_is_warned_about(scratch):
    write_edges(scratch / "a.png", ~np.eye(20, dtype=bool))
    with pytest.warns(DataWarning, match=r"a\.png: 95% of the pixels are edges; inverted\?"):
        read_edges(scratch / "a.png")
    with pytest.warns(DataWarning, match="inverted"):
        read_boundary_truths([scratch / "a.png"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(read_edges(scratch / "a.png", inverted=True), np.eye(20))


def test_an_empty_map_is_warned_about(scratch):
    write_soft(scratch / "a.png", np.zeros((4, 4), dtype=np.float32))
    with pytest.warns(DataWarning, match=r"a\.png: is zero everywhere"):
        read_soft(scratch / "a.png")
    with pytest.warns(DataWarning, match=r"a\.png: has no edge pixel"):
        read_edges(scratch / "a.png")


def test_an_inverted_prediction_is_warned_about_and_can_be_turned_round(scratch):
    write_soft(scratch / "a.png", 1 - np.eye(8, dtype=np.float32))
    with pytest.warns(DataWarning, match="stronger than 0.9; inverted\\? Use `invert_prediction=True`"):
        read_soft(scratch / "a.png")
    assert np.array_equal(read_soft(scratch / "a.png", inverted=True), np.eye(8))


def test_a_map_of_0_and_1_of_255_is_refused_with_its_cure(scratch):
    write_png(scratch / "a.png", np.eye(8, dtype=np.uint8))
    with pytest.raises(
        InputError, match="holds only 0 and 1 of 255, a binary map\\? Use `value_range=\\(0, 1\\)`, or `force=True`"
    ):
        read_soft(scratch / "a.png")
    assert np.array_equal(read_soft(scratch / "a.png", value_range=(0, 1)), np.eye(8))
    assert read_soft(scratch / "a.png", force=True).max() == np.float32(1 / 255)


@pytest.mark.parametrize(
    ("values", "cure"),
    [
        (np.eye(8) * 200.0, "from 0 to 200, expected \\[0, 1\\]: use `value_range=\\(0, 255\\)`$"),
        (np.eye(8) * 3000.0, "from 0 to 3000, expected \\[0, 1\\]: use `value_range=\\(0, 65535\\)`$"),
        (
            np.eye(8) * 9 - 4,
            "from -4 to 5, expected \\[0, 1\\]: apply a sigmoid if these are logits, else use `value_range=\\(LOW, HIGH\\)`$",
        ),
    ],
)
def test_values_of_another_range_are_refused_with_their_cure(scratch, values, cure):
    np.save(scratch / "a.npy", values)
    with pytest.raises(InputError, match=cure):
        read_soft(scratch / "a.npy")
    low, high = float(values.min()), float(values.max())
    assert np.array_equal(read_soft(scratch / "a.npy", value_range=(low, high)), np.eye(8))
    with pytest.raises(
        InputError, match="expected 0 to 1: give `value_range=\\(LOW, HIGH\\)` the least and the greatest"
    ):
        read_soft(scratch / "a.npy", value_range=(0, 1))


def test_a_truth_in_jpeg_is_refused_with_its_cure(scratch):
    truth = np.zeros((40, 40), np.uint8)
    truth[20] = 255
    Image.fromarray(truth).save(scratch / "a.jpg", quality=75)
    with pytest.raises(
        InputError, match=r"a\.jpg: is a JPEG, whose compression widens edges: save it as PNG, or use `force=True`"
    ):
        read_edges(scratch / "a.jpg")
    with pytest.warns(DataWarning, match="grey levels"):
        assert np.count_nonzero(read_edges(scratch / "a.jpg", force=True)) > 40


def test_grey_levels_in_a_truth_are_warned_about(scratch):
    write_png(scratch / "a.png", np.diag(np.array([255, 255, 40, 0, 255, 0], dtype=np.uint8)))
    with pytest.warns(DataWarning, match="grey levels"):
        assert read_edges(scratch / "a.png").sum() == 4


def test_an_array_full_of_zeros_has_to_say_what_they_are(scratch):
    """A KITTI map saved as NPY had an error of 1.91 px where the picture had 0.70: its holes were read as disparities."""
    plane = np.tile(np.linspace(4, 40, 40, dtype=np.float32), (30, 1))
    plane[:, ::8] = 0
    np.save(scratch / "a.npy", plane)
    with pytest.raises(
        InputError,
        match="12% of the pixels are exactly 0, holes\\? Use `zero='unknown'`, or known if they are estimates",
    ):
        read_disparity(scratch / "a.npy")
    write_png(scratch / "a.png", np.rint(plane * 256).astype(np.uint16))
    picture, array = read_disparity(scratch / "a.png"), read_disparity(scratch / "a.npy", zero="unknown")
    assert np.array_equal(np.isnan(picture), np.isnan(array))
    assert np.allclose(picture, array, atol=1 / 512, equal_nan=True)
    assert np.array_equal(read_disparity(scratch / "a.npy", zero="known"), plane)
