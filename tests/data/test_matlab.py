"""MATLAB files: version 5 against scipy, version 7.3 against h5py, and the Berkeley fields in both."""

from __future__ import annotations

import io
import struct
import zlib

import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from hyperacuity.data import (
    read_boundary_truths,
    read_edges,
    read_labels,
    read_segmentations,
    read_soft,
    read_ucm,
    write_mat,
    write_segs,
    write_truths,
)
from hyperacuity.data.formats import mat5, mat73
from hyperacuity.data.formats.berkeley import boundaries_of
from hyperacuity.data.formats.matlab import read_array, read_variable
from hyperacuity.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore::hyperacuity.data.DataWarning")  # maps made of noise

NUMBERS = st.sampled_from(["f8", "f4", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "?"])
MATRICES = NUMBERS.flatmap(
    lambda dtype: arrays(
        np.dtype(dtype),
        array_shapes(min_dims=2, max_dims=3, max_side=6),
        elements={"allow_nan": False} if dtype[0] == "f" else None,
    )
)
LABELS = arrays(np.int32, st.tuples(st.integers(2, 9), st.integers(2, 9)), elements=st.integers(0, 3))


def saved(variables: dict[str, object], *, compressed: bool = True) -> bytes:
    file = io.BytesIO()
    scipy.io.savemat(file, variables, do_compression=compressed)
    return file.getvalue()


def cell(items: list[object]) -> np.ndarray:
    array = np.empty((1, len(items)), dtype=object)
    for i, item in enumerate(items):
        array[0, i] = item
    return array


def truths(count: int = 2) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
    rng = np.random.default_rng(count)
    segmentations = [rng.integers(1, 9, (5, 7), dtype=np.uint16) for _ in range(count)]
    boundaries = [rng.integers(0, 2, (5, 7), dtype=np.uint8) for _ in range(count)]
    structs = [{"Segmentation": s, "Boundaries": b} for s, b in zip(segmentations, boundaries, strict=True)]
    return segmentations, boundaries, cell(structs)


@given(MATRICES, st.booleans())
@settings(max_examples=60, deadline=None)
def test_matrices_that_scipy_saved_are_read_with_their_type(put, matrix, compressed):
    path = put(saved({"before": np.eye(2), "x": matrix, "after": "text"}, compressed=compressed))
    _, back = read_array(path, "x")
    assert back.dtype == scipy.io.loadmat(path)["x"].dtype or matrix.dtype == np.bool_
    assert np.array_equal(back, matrix)


@given(MATRICES)
@settings(max_examples=40, deadline=None)
def test_scipy_reads_what_is_written(scratch, matrix):
    write_mat(scratch / "a.mat", x=matrix, y=np.eye(2))
    loaded = scipy.io.loadmat(scratch / "a.mat")
    assert np.array_equal(loaded["x"], matrix)
    assert loaded["x"].dtype == matrix.dtype or matrix.dtype == np.bool_
    assert np.array_equal(read_array(scratch / "a.mat", "x")[1], matrix)


@given(st.lists(LABELS, min_size=1, max_size=4))
@settings(max_examples=20, deadline=None)
def test_annotators_in_bsds_form_come_back_and_scipy_agrees(scratch, maps):
    maps = [np.resize(labels, maps[0].shape) for labels in maps]
    path = scratch / "truth.mat"
    write_truths(path, maps)
    stored = scipy.io.loadmat(path)["groundTruth"]
    assert stored.shape == (1, len(maps))
    for i, (labels, edges) in enumerate(zip(read_segmentations([path]), read_boundary_truths([path]), strict=True)):
        assert np.array_equal(labels, maps[i])
        assert np.array_equal(stored[0, i][0, 0]["Segmentation"], maps[i])
        assert np.array_equal(edges, boundaries_of(maps[i]))
        assert np.array_equal(stored[0, i][0, 0]["Boundaries"], edges)


def test_the_bytes_written_depend_on_the_values_alone(scratch):
    for name in ("a.mat", "b.mat"):
        write_segs(scratch / name, [np.eye(4, dtype=np.int32)])
    assert (scratch / "a.mat").read_bytes() == (scratch / "b.mat").read_bytes()
    assert read_labels(scratch / "a.mat").tolist() == np.eye(4).tolist()


@pytest.mark.parametrize("compressed", [True, False])
def test_bsds_ground_truth_that_scipy_saved_is_read(put, compressed):
    segmentations, boundaries, structs = truths()
    path = put(saved({"groundTruth": structs}, compressed=compressed))
    assert [m.tolist() for m in read_segmentations([path])] == [m.tolist() for m in segmentations]
    assert [m.tolist() for m in read_boundary_truths([path])] == [(m > 0).tolist() for m in boundaries]


def test_a_struct_array_will_do_for_a_cell_of_structs(put):
    segmentations, boundaries, _ = truths(1)
    path = put(saved({"groundTruth": {"Segmentation": segmentations[0], "Boundaries": boundaries[0]}}))
    assert np.array_equal(read_boundary_truths([path])[0], boundaries[0] > 0)


def test_annotators_without_boundaries_get_those_of_their_regions(put):
    labels = np.array([[1, 1, 2], [1, 1, 2], [1, 1, 2]], dtype=np.uint16)
    path = put(saved({"groundTruth": cell([{"Segmentation": labels}])}))
    assert read_boundary_truths([path])[0].tolist() == [[False, True, False]] * 3


def test_ucm2_is_read_at_image_size_or_at_double_size(put):
    ucm2 = np.random.default_rng(1).random((2 * 4 + 1, 2 * 6 + 1))
    path = put(saved({"ucm2": ucm2}))
    assert np.array_equal(read_soft(path), ucm2[2::2, 2::2].astype(np.float32))
    assert np.array_equal(read_ucm(path), ucm2.astype(np.float32))
    with pytest.raises(InputError, match=r"ucm2 has shape \(8, 13\), expected double size"):
        read_soft(put(saved({"ucm2": ucm2[1:]})))


def test_segs_is_a_stack_of_segmentations(put):
    levels = [np.full((3, 4), i, dtype=np.uint16) for i in range(3)]
    path = put(saved({"segs": cell(levels)}))
    assert [m.tolist() for m in read_segmentations([path])] == [m.tolist() for m in levels]
    with pytest.raises(InputError, match="holds 3 segmentations, expected one"):
        read_labels(path)


def test_the_only_matrix_needs_no_name(put):
    path = put(saved({"strength": np.full((3, 4), 0.5), "threshold": 0.5, "note": "hello"}))
    assert (read_soft(path) == 0.5).all()
    assert read_boundary_truths([path])[0].all()


def test_a_missing_field_is_reported_with_the_fields_there_are(put):
    path = put(saved({"a": np.eye(3), "b": np.ones((2, 3)), "text": "hello"}))
    with pytest.raises(
        InputError, match=r"holds a \(float64 3×3\), b \(float64 2×3\), text \(char 1×5\); expected ucm2"
    ):
        read_soft(path)
    with pytest.raises(InputError, match="expected groundTruth"):
        read_boundary_truths([path])
    with pytest.raises(InputError, match="expected c"):
        read_soft(path, variable="c")
    with pytest.raises(InputError, match="text is a cell, a struct or text"):
        read_soft(path, variable="text")
    wrong = put(saved({"groundTruth": cell([{"Contours": np.eye(3)}])}))
    with pytest.raises(InputError, match="groundTruth holds the fields Contours; expected Boundaries"):
        read_boundary_truths([wrong])
    with pytest.raises(InputError, match="groundTruth holds the fields Contours; expected Segmentation"):
        read_segmentations([wrong])


@given(
    arrays(np.float64, st.tuples(st.integers(2, 6), st.integers(2, 6)), elements=st.sampled_from([0.0, 0.0, 0.25, 1.0]))
)
@settings(max_examples=20, deadline=None)
def test_sparse_maps_are_read(put, matrix):
    path = put(saved({"edges": scipy.sparse.csc_matrix(matrix)}))
    assert np.array_equal(read_soft(path, variable="edges"), matrix.astype(np.float32))
    assert np.array_equal(read_edges(put(saved({"edges": scipy.sparse.csc_matrix(matrix > 0)}))), matrix > 0)


def element(kind: int, content: bytes, order: str) -> bytes:
    return struct.pack(f"{order}II", kind, len(content)) + content + bytes(-len(content) % 8)


def by_hand(matrix: np.ndarray, order: str, *, compressed: bool) -> bytes:
    """A double matrix x, stored as bytes where MATLAB would, in either byte order."""
    body = element(6, struct.pack(f"{order}II", 6, 0), order)
    body += element(5, struct.pack(f"{order}ii", *matrix.shape), order) + element(1, b"x", order)
    body = element(14, body + element(4, matrix.astype(f"{order}u2").tobytes(order="F"), order), order)
    if compressed:
        packed = zlib.compress(body)
        body = struct.pack(f"{order}II", 15, len(packed)) + packed
    head = b"MATLAB 5.0 MAT-file".ljust(124) + (b"\x00\x01IM" if order == "<" else b"\x01\x00MI")
    return head + body


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("order", ["<", ">"])
def test_both_byte_orders_and_numbers_stored_small_are_read(put, order, compressed):
    matrix = np.array([[0, 1, 300], [7, 0, 1]], dtype=np.uint16)
    path = put(by_hand(matrix, order, compressed=compressed))
    assert np.array_equal(scipy.io.loadmat(path)["x"], matrix)
    _, back = read_array(path, "x")
    assert back.dtype == np.float64
    assert np.array_equal(back, matrix)


def matlab73(fill) -> bytes:
    file = io.BytesIO()
    with h5py.File(file, "w", userblock_size=512) as h5:
        fill(h5)
    return b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512) + file.getvalue()[512:]


def mark(item, kind: str):
    item.attrs["MATLAB_class"] = np.bytes_(kind)
    return item


def test_version_7_3_is_read_transposed_as_matlab_means_it(put):
    ucm2 = np.random.default_rng(1).random((9, 13))
    path = put(matlab73(lambda h5: mark(h5.create_dataset("ucm2", data=ucm2.T, compression="gzip"), "double")))
    assert np.array_equal(read_soft(path), ucm2[2::2, 2::2].astype(np.float32))


@pytest.mark.parametrize("as_cell", [True, False])
def test_bsds_ground_truth_of_version_7_3_is_read(put, as_cell):
    segmentations, boundaries, _ = truths()

    def fill(h5):
        refs = h5.create_group("#refs#")
        for i, (labels, edges) in enumerate(zip(segmentations, boundaries, strict=True)):
            struct_ = mark(refs.create_group(f"s{i}"), "struct")
            mark(struct_.create_dataset("Segmentation", data=labels.T), "uint16")
            mark(struct_.create_dataset("Boundaries", data=edges.T), "logical")
        if as_cell:
            truth = mark(h5.create_dataset("groundTruth", (2, 1), dtype=h5py.ref_dtype), "cell")
            for i in range(2):
                truth[i, 0] = refs[f"s{i}"].ref
        else:  # a struct array: one array of references per field
            truth = mark(h5.create_group("groundTruth"), "struct")
            for field in ("Segmentation", "Boundaries"):
                column = truth.create_dataset(field, (2, 1), dtype=h5py.ref_dtype)
                for i in range(2):
                    column[i, 0] = refs[f"s{i}/{field}"].ref

    path = put(matlab73(fill))
    assert [m.tolist() for m in read_segmentations([path])] == [m.tolist() for m in segmentations]
    assert [m.tolist() for m in read_boundary_truths([path])] == [(m > 0).tolist() for m in boundaries]


def test_a_missing_field_of_version_7_3_is_reported_with_the_fields_there_are(put):
    path = put(matlab73(lambda h5: [mark(h5.create_dataset(n, data=np.eye(3)), "double") for n in "ab"]))
    with pytest.raises(InputError, match=r"holds a \(float64 3×3\), b \(float64 3×3\); expected ucm2"):
        read_soft(path)


def test_version_7_3_may_not_point_out_of_the_file(put, tmp_path):
    with h5py.File(tmp_path / "secret.h5", "w") as h5:
        h5["ucm2"] = np.eye(5)

    def link(h5):
        h5["ucm2"] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "/ucm2")

    def virtual(h5):
        layout = h5py.VirtualLayout((5, 5), "f8")
        layout[:] = h5py.VirtualSource(str(tmp_path / "secret.h5"), "ucm2", (5, 5))
        h5.create_virtual_dataset("ucm2", layout)

    def external(h5):
        h5.create_dataset("ucm2", (5, 5), "f8", external=[(str(tmp_path / "secret.h5"), 0, 200)])

    for fill in (link, virtual, external):
        with pytest.raises(InputError, match=r"somewhere else|other files"):
            read_soft(put(matlab73(fill)))


def test_version_7_3_cannot_ask_for_more_than_the_limit(put, monkeypatch):
    def huge(h5):
        mark(h5.create_dataset("ucm2", (100_001, 100_001), "f8", chunks=(1000, 1000), compression="gzip"), "double")

    with pytest.raises(InputError, match=r"more than the limit of 1,073,741,824"):
        read_soft(put(matlab73(huge)))

    def many(h5):
        level = mark(h5.create_dataset("#refs#/level", data=np.zeros((100, 100))), "double")
        levels = mark(h5.create_dataset("segs", (50, 1), dtype=h5py.ref_dtype), "cell")
        levels[:, 0] = [level.ref] * 50

    assert len(read_segmentations([put(matlab73(many))])) == 50
    monkeypatch.setattr(mat5, "MAX_BYTES", 49 * 80_000)
    with pytest.raises(ValueError, match="more than the limit"):
        mat73.decode(put(matlab73(many)), "segs")


def promise(size: int, body: bytes = b"") -> bytes:
    """A compressed variable x that says it has ``size`` bytes."""
    head = (
        element(6, struct.pack("<II", 9, 0), "<") + element(5, struct.pack("<ii", size, 1), "<") + element(1, b"x", "<")
    )
    packed = zlib.compress(struct.pack("<II", 14, size) + head + struct.pack("<II", 2, size) + body, 9)
    return b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + struct.pack("<II", 15, len(packed)) + packed


@pytest.mark.parametrize("faster", [True, False])
def test_a_compressed_variable_is_bounded_by_what_it_declares(put, monkeypatch, faster):
    if faster and mat5.libdeflate is None:
        pytest.skip("needs the package deflate")
    if not faster:
        monkeypatch.setattr(mat5, "libdeflate", None)
    with pytest.raises(InputError, match=r"more than the limit of 1,073,741,824"):
        read_soft(put(promise(2_000_000_000)), variable="x")
    with pytest.raises(InputError, match=r"cannot hold the 1,000,000,008 they promise"):
        read_soft(put(promise(1_000_000_000)), variable="x")
    with pytest.raises(InputError, match=r"cannot be unpacked|holds \d+ bytes where"):
        read_soft(put(promise(100, bytes(5_000_000))), variable="x")
    monkeypatch.setattr(mat5, "MAX_BYTES", 100_000)  # the stream is now too long to be inflated in one go
    with pytest.raises(InputError, match=r"cannot be unpacked|longer than declared|holds \d+ bytes where"):
        read_soft(put(promise(1000, bytes(5_000_000))), variable="x")
    values = np.linspace(0, 1, 5000).reshape(50, 100)
    assert np.array_equal(read_soft(put(saved({"x": values}))), values.astype(np.float32))


def test_the_checksum_of_a_compressed_variable_is_checked(put, monkeypatch):
    data = bytearray(saved({"x": np.random.default_rng(0).random((20, 20))}))
    data[-3] ^= 1
    for library in (mat5.libdeflate, None):
        monkeypatch.setattr(mat5, "libdeflate", library)
        with pytest.raises(InputError, match="damaged MAT file"):
            read_soft(put(bytes(data)))


def test_a_truncated_file_is_refused(put):
    for compressed in (True, False):
        data = saved({"groundTruth": truths()[2]}, compressed=compressed)
        for length in (100, 127, 130, 136, 140, 200, len(data) // 2, len(data) - 8, len(data) - 1):
            with pytest.raises(InputError):
                read_boundary_truths([put(data[:length])])


def test_deep_nesting_and_complex_numbers_are_refused(put):
    nested: object = np.eye(2)
    for _ in range(12):
        nested = cell([nested])
    with pytest.raises(InputError, match="nested more than 8 deep"):
        read_variable(put(saved({"x": nested})), ["x"])
    with pytest.raises(InputError, match="complex"):
        read_soft(put(saved({"x": np.eye(2) * 1j})))


def test_bsds_labels_go_from_0_to_65535(scratch):
    with pytest.raises(InputError, match="0 to 65535, found -1 to 0"):
        write_segs(scratch / "a.mat", [np.array([[-1, 0]], dtype=np.int32)])


@pytest.mark.parametrize(
    "values", [np.zeros(3), np.zeros((2, 2), np.float16), np.zeros((2, 2), np.complex64), np.array([["a", "b"]])]
)
def test_what_a_mat_file_cannot_hold_is_refused(scratch, values):
    with pytest.raises(InputError, match=r"a\.mat: a MAT file cannot hold"):
        write_mat(scratch / "a.mat", x=values)
