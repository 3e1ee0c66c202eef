"""What fuzzing found, kept as examples: each of these once gave a foreign error, a stray warning or a message in two lines."""

from __future__ import annotations

import struct
import warnings

import h5py
import numpy as np
import pytest
from fuzz_seeds import element, mat5, mat73, matrix, npy, picture, plane

from hyperacuity.data import read_disparity, read_image, read_segmentations, read_soft, read_table
from hyperacuity.data.datasets.stereo import largest_disparity, scale_of
from hyperacuity.errors import InputError


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("before", [b"", b"\xff\xff\xff"], ids=["at once", "after filling"])
def test_camera_data_in_a_jpeg_are_not_looked_at(put, before):
    segment = b"Exif\0\0MM\0*\0\0\0\x08\xff\xff" + bytes(20)
    plain = picture("JPEG")
    marked = plain[:2] + before + b"\xff\xe1" + struct.pack(">H", len(segment) + 2) + segment + plain[2:]
    assert np.array_equal(read_image(put(marked)), read_image(put(plain)))


def test_a_jpeg_whose_segments_do_not_follow_one_another_is_refused(put):
    plain = picture("JPEG")
    with pytest.raises(InputError, match="segments do not follow"):
        read_image(put(plain[:2] + b"\xff\xf0" + plain[2:]))


def test_odd_tags_in_a_tiff_are_no_matter(put):
    data = picture("TIFF")
    (at,) = struct.unpack_from("<I", data, 4)
    (count,) = struct.unpack_from("<H", data, at)
    entries = data[at + 2 : at + 2 + 12 * count]
    odd = struct.pack("<HHII", 40_000, 3, 1 << 20, 8)  # a tag far larger than the file
    table = struct.pack("<H", count + 1) + entries + odd + bytes(4)
    marked = data[:4] + struct.pack("<I", len(data)) + data[8:] + table
    assert np.array_equal(read_image(put(marked)), read_image(put(data)))


@pytest.mark.parametrize("shape", [(0, 3, 4), (3, 0, 4), (0,), ()])
def test_an_array_of_nothing_is_refused_by_name(put, shape):
    for read in (read_soft, lambda path: read_segmentations([path])):
        with pytest.raises(InputError) as caught:
            read(put(npy(np.zeros(shape, dtype=np.uint8))))
        assert "file: " in str(caught.value)


def test_names_in_a_file_cannot_break_a_message_into_lines(put):
    with pytest.raises(InputError, match="holds depth�map � �, a") as caught:
        read_segmentations([put(mat5(plane(b"depth\nmap \x1b \x07, a"), plane(b"b")))])
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="row x�y, column a, is not a number"):
        read_table(put(b"name,a\nx\x07y,1z\n"))


def test_a_stored_type_in_place_of_a_variable_is_no_matrix(put):
    def change(h5):
        h5["ucm2"] = np.dtype("f8")

    with pytest.raises(InputError, match="ucm2 is a cell, a struct or text"):
        read_soft(put(mat73(change)))


def test_links_to_elsewhere_are_not_followed(put):
    for link in (h5py.ExternalLink("/etc/passwd", "/"), h5py.SoftLink("/elsewhere")):
        with pytest.raises(InputError, match="a link to somewhere else"):
            read_soft(put(mat73(lambda h5, link=link: h5.__setitem__("ucm2", link))))


@pytest.mark.parametrize("text", [b"4.0 inf", b"4.0 1e300", b"4", b"\xff\xfe", b"ndisp=-3", b"ndisp=99999999999"])
def test_a_largest_disparity_that_is_none_is_refused(put, text):
    with pytest.raises(InputError, match="expected the largest disparity"):
        largest_disparity(put(text))


def test_scale_and_largest_disparity_are_read(put):
    assert (scale_of(put(b"16.0 15\n")), largest_disparity(put(b"16.0 15\n"))) == (16.0, 15)
    assert largest_disparity(put(b"cam0=[1 0; 0 1]\nndisp=280\nvmin=31\n")) == 279


@pytest.mark.parametrize("scale", [b"1.0.0", b"-.", b"1..", b".", b"1.01.0"])
def test_a_scale_of_a_pfm_that_is_no_number_is_refused(put, scale):
    with pytest.raises(InputError, match="is not a PFM file"):
        read_disparity(put(b"Pf\n1 1\n" + scale + b"\n" + bytes(4)))


@pytest.mark.parametrize("scale", [b"-1", b"-1.", b"-.5", b"-1.5e0"])
def test_a_scale_of_a_pfm_may_be_written_in_all_the_usual_ways(put, scale):
    assert read_disparity(put(b"Pf\n1 1\n" + scale + b"\n" + np.array([3], "<f4").tobytes())) == [[3]]


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_an_array_of_disparities_without_pixels_is_refused(put, shape):
    with pytest.raises(InputError, match="has no pixels"):
        read_disparity(put(npy(np.zeros(shape))))


def test_numbers_too_large_for_the_class_of_a_variable(put):
    """Stored as double in a variable of class single: an infinity, and no warning."""
    stored = matrix(7, (1, 2), b"soft", element(9, np.array([1e300, 0.5]).tobytes()))
    with pytest.raises(InputError, match=r"inf|finite|expected"):
        read_soft(put(mat5(stored)))
