"""NumPy files: read as NumPy writes them, and never unpickled."""

from __future__ import annotations

import io
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from hyperacuity.data import read_labels, read_segmentations, read_soft
from hyperacuity.data.formats.arrays import read_npy, read_npz, write_npy
from hyperacuity.errors import InputError

DTYPES = st.sampled_from(["?", "u1", "<u2", ">u2", "<i4", ">i8", "<f4", ">f4", "<f8", ">f8"])
ARRAYS = DTYPES.flatmap(lambda dtype: arrays(np.dtype(dtype), array_shapes(min_dims=1, max_dims=4, max_side=5)))


def npz(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


@given(ARRAYS)
@settings(max_examples=40, deadline=None)
def test_npy_gives_back_what_was_written(scratch, array):
    write_npy(scratch / "a.npy", array)
    for back in (read_npy(scratch / "a.npy"), np.load(scratch / "a.npy", allow_pickle=False)):
        assert back.dtype.newbyteorder("=") == array.dtype.newbyteorder("=")
        assert np.array_equal(back, array, equal_nan=array.dtype.kind == "f")


@given(ARRAYS, st.booleans())
@settings(max_examples=30, deadline=None)
def test_arrays_that_numpy_saved_are_read_in_either_order(scratch, array, fortran):
    np.save(scratch / "a.npy", np.asfortranarray(array) if fortran else array)
    assert np.array_equal(read_npy(scratch / "a.npy"), array, equal_nan=array.dtype.kind == "f")


def test_npz_with_one_array_needs_no_name(put):
    assert read_npz(put(npz(edges=np.eye(3)))).tolist() == np.eye(3).tolist()


def test_npz_with_several_arrays_needs_a_name_and_lists_them(put):
    path = put(npz(edges=np.eye(3), depth=np.ones((3, 3))))
    assert np.array_equal(read_soft(path, variable="edges"), np.eye(3))
    with pytest.raises(InputError, match="holds the arrays depth, edges, expected one array"):
        read_soft(path)
    with pytest.raises(InputError, match="holds the arrays depth, edges, expected contours"):
        read_soft(path, variable="contours")


def test_a_pickle_is_refused_and_not_run(put, tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    file = io.BytesIO()
    np.save(file, np.array([Trap()], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="pickled Python objects"):
        read_soft(put(file.getvalue()))
    archive = io.BytesIO()
    np.savez(archive, a=np.array([Trap()], dtype=object))
    with pytest.raises(InputError, match="pickled Python objects"):
        read_soft(put(archive.getvalue()))
    with pytest.raises(InputError, match="is a Python pickle, which is never opened"):
        read_soft(put(pickle.dumps(Trap(), protocol=4)))
    assert not (tmp_path / "sprung").exists()


def test_a_network_s_output_with_batch_and_channel_axes_is_one_plane(put):
    file = io.BytesIO()
    output = np.linspace(0, 1, 24, dtype=np.float32).reshape(1, 1, 4, 6)
    np.save(file, output)
    assert np.array_equal(read_soft(put(file.getvalue())), output[0, 0])


def test_a_stack_of_label_maps_is_many_segmentations(put):
    stack = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    file = io.BytesIO()
    np.save(file, stack)
    assert [labels.tolist() for labels in read_segmentations([put(file.getvalue())])] == stack.tolist()
    with pytest.raises(InputError, match=r"shape \(2, 3, 4\), expected two dimensions"):
        read_labels(put(file.getvalue()))


def test_a_header_that_promises_more_than_the_file_holds_is_refused(put):
    file = io.BytesIO()
    np.save(file, np.zeros((4, 4)))
    for shape in (b"(9999999999, 4), }", b"(4, -4), }        ", b"(4, 5), }         "):
        with pytest.raises(InputError, match=r"truncated|damaged"):
            read_soft(put(file.getvalue().replace(b"(4, 4), }         ", shape)))


def test_a_bomb_in_an_npz_is_refused_by_its_declared_size(put):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", b"\x93NUMPY" + bytes(1000))
    data = file.getvalue()
    at = data.index(b"PK\x01\x02") + 24  # the size in the central directory
    with pytest.raises(InputError, match=r"asks for 4,294,967,280 bytes, more than the limit of 1,073,741,824"):
        read_soft(put(data[:at] + (0xFFFFFFF0).to_bytes(4, "little") + data[at + 4 :]))


def test_a_damaged_archive_is_refused(put):
    data = npz(a=np.eye(9))
    for broken in (data[:-10], data[:60] + b"??" + data[62:], b"PK\x03\x04" + bytes(50)):
        with pytest.raises(InputError):
            read_soft(put(broken))


def test_text_is_no_map(put):
    file = io.BytesIO()
    np.save(file, np.array([["a", "b"]]))
    with pytest.raises(InputError, match="expected numbers"):
        read_soft(put(file.getvalue()))
