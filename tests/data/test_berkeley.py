"""Berkeley's .seg and .fg files, and the boundaries of a segmentation."""

from __future__ import annotations

import io
import os
import struct
import sys
import tarfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from skimage.morphology import thin

from hyperacuity.data import figure_ground, read_boundary_truths, read_labels, read_order
from hyperacuity.data.datasets.bsds import label_names
from hyperacuity.data.formats.berkeley import boundaries_of, parse_fg, parse_seg
from hyperacuity.errors import InputError, UsageError
from hyperacuity.kinds.finding import known_truths
from hyperacuity.kinds.occlusion import OcclusionKind
from hyperacuity.kinds.orders import OrderKind

LABELS = arrays(np.int32, st.tuples(st.integers(1, 8), st.integers(1, 8)), elements=st.integers(0, 4))


def seg(labels: np.ndarray) -> bytes:
    """A .seg file of single-pixel and longer runs, as the labelling tool wrote them."""
    height, width = labels.shape
    lines = [f"format ascii cr\ndate today\nimage 1\nuser 2\nwidth {width}\nheight {height}\nsegments 9\ngray 0\ndata"]
    for y, row in enumerate(labels):
        start = 0
        for x in range(1, width + 1):
            if x == width or row[x] != row[start]:
                lines.append(f"{row[start]} {y} {start} {x - 1}")
                start = x
    return ("\n".join(lines) + "\n").encode()


def fg(labels: np.ndarray, contours: np.ndarray) -> bytes:
    data = b"MATRIX ARRAY 2\n"
    for matrix in (labels, contours):
        data += struct.pack("<ii", *matrix.shape) + matrix.astype("<f8").tobytes(order="F")
    return data


@given(LABELS)
@settings(max_examples=40, deadline=None)
def test_seg_gives_back_the_labels(put, labels):
    path = put(seg(labels))
    assert np.array_equal(read_labels(path), labels)
    assert np.array_equal(read_boundary_truths([path])[0], boundaries_of(labels))


@given(LABELS)
@settings(max_examples=40, deadline=None)
def test_boundaries_are_the_thinned_corners_where_regions_meet(labels):
    height, width = labels.shape
    corners = [
        [len(set(labels[y : y + 2, x : x + 2].ravel().tolist())) > 1 for x in range(width)] for y in range(height)
    ]
    assert np.array_equal(boundaries_of(labels), thin(np.array(corners)))


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b"0 0 0 2\n", "not a complete SEG file"),
        (b"width 3\nheight 2\ndata\n0 0 0\n", "not a complete SEG file"),
        (b"width 3\nheight 2\ndata\n0 0 0 two\n", "not a complete SEG file"),
        (b"width 3\nheight 2\ndata\n", "holds no run"),
        (b"width 3\nheight 2\ndata\n0 0 0 3\n", "run outside its 3×2 pixels"),
        (b"width 3\nheight 2\ndata\n0 2 0 1\n", "run outside its 3×2 pixels"),
        (b"width 3\nheight 2\ndata\n0 0 2 1\n", "run outside its 3×2 pixels"),
        (b"width 3\nheight 2\ndata\n" + b"0 0 0 2\n" * 5, "runs cover 15 pixels"),
        (b"width 99999\nheight 99999\ndata\n0 0 0 2\n", "declares 99999×99999 pixels"),
        (b"width -3\nheight 2\ndata\n0 0 0 2\n", "not a complete SEG file"),
    ],
)
def test_a_bad_seg_is_refused_with_what_was_found(put, body, complaint):
    with pytest.raises(InputError, match=complaint):
        read_labels(put(b"format ascii cr\n" + body))


def test_fg_is_an_order_map_with_figure_nearer(put):
    labels = np.array([[0, 1, -1], [0, 0, 1]])
    contours = np.array([[1, -1], [0, 0], [-1, 1]])
    order, sides = parse_fg(fg(labels, contours), "tiny")
    assert np.array_equal(order, [[np.nan, 1, -1], [np.nan, np.nan, 1]], equal_nan=True)
    assert np.array_equal(sides, contours)
    assert np.array_equal(read_order(put(fg(labels, contours))), order, equal_nan=True)


def test_a_bad_fg_is_refused_with_what_was_found(put):
    good = fg(np.array([[0, 1], [-1, 0]]), np.array([[1, -1]]))
    for length in (14, 16, 22, 40, 55, len(good) - 1):
        with pytest.raises(InputError, match=r"truncated|not an FG file"):
            read_order(put(good[:length]))
    with pytest.raises(InputError, match="labels other than"):
        read_order(put(fg(np.array([[0, 2]]), np.array([[1, -1]]))))
    with pytest.raises(InputError, match="no pixel has a known value"):
        read_order(put(fg(np.array([[0, 0]]), np.array([[1, -1]]))))


def labelled(folder, *, with_seg: bool = True, image: str = "65132") -> None:
    labels = np.array([[0, 0, 1], [0, 0, 1]])
    for subject, sign in (("100", 1), ("107", -1)):
        path = folder / "fg" / "1103" / f"{image}-{subject}.fg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(fg(sign * np.array([[0, 1, -1], [0, 1, -1]]), np.array([[1, -1]])))
    if with_seg:
        path = folder / "seg" / "1103" / f"{image}.seg"
        path.parent.mkdir(parents=True)
        path.write_bytes(seg(labels))


def test_figure_ground_is_read_from_a_folder_and_from_an_archive_alike(tmp_path):
    labelled(tmp_path / "data")
    with tarfile.open(tmp_path / "data.tar.xz", "w:xz") as archive:
        archive.add(tmp_path / "data", arcname="")
    for source in (tmp_path / "data", tmp_path / "data.tar.xz"):
        first, second = figure_ground(source)
        assert (first.image, first.segmenter, first.subject, second.subject) == ("65132", "1103", "100", "107")
        assert np.array_equal(first.order, -second.order, equal_nan=True)
        assert first.order[0, 1] == 1
        assert first.segmentation.tolist() == [[0, 0, 1], [0, 0, 1]]
        with pytest.raises(UsageError, match="holds no fg"):
            list(figure_ground(source, images=["nothing"]))


def test_annotators_are_those_who_labelled_an_image(tmp_path):
    labelled(tmp_path / "data")
    with tarfile.open(tmp_path / "data.tar.xz", "w:xz") as archive:
        archive.add(tmp_path / "data", arcname="")
    (tmp_path / "maps").mkdir()
    (tmp_path / "maps" / "65132.png").touch()
    for source in (tmp_path / "data", tmp_path / "data.tar.xz"):
        for kind in (OrderKind(), OcclusionKind()):
            found = kind.find({"a": tmp_path / "maps"}, source)
            assert found.annotators() == {"65132": 2}
            assert len(found.kind.truths(next(iter(found)))) == 2


def test_figure_ground_without_its_segmentation_is_refused(tmp_path):
    labelled(tmp_path, with_seg=False)
    with pytest.raises(InputError, match=r"its segmentation seg/1103/65132.seg is missing"):
        list(figure_ground(tmp_path))


def test_a_damaged_or_boundless_archive_is_refused(tmp_path):
    labelled(tmp_path / "data")
    with tarfile.open(tmp_path / "data.tar.xz", "w:xz") as archive:
        archive.add(tmp_path / "data", arcname="")
    whole = (tmp_path / "data.tar.xz").read_bytes()
    (tmp_path / "cut.tar.xz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.tar.xz").write_bytes(b"not an archive at all")
    bomb = io.BytesIO()
    with tarfile.open(fileobj=bomb, mode="w") as archive:
        member = tarfile.TarInfo("fg/1/2-3.fg")
        member.size = 1 << 40
        archive.addfile(member)
    (tmp_path / "bomb.tar").write_bytes(bomb.getvalue())
    for name, complaint in (("cut.tar.xz", "damaged"), ("text.tar.xz", "damaged"), ("bomb.tar", "more than the limit")):
        for read in (figure_ground, label_names, lambda source: known_truths("", None, source)):
            with pytest.raises(InputError, match=complaint):
                list(read(tmp_path / name))


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names there are text")
def test_labels_whose_names_are_no_utf8_are_found_by_the_name_that_a_map_has(tmp_path):
    labelled(tmp_path, image=os.fsdecode(b"b\xffar"))
    assert list(known_truths("", None, tmp_path)[0]) == ["b\\xffar"]
    assert [found.image for found in figure_ground(tmp_path, ["b\\xffar"])] == ["b\\xffar"] * 2


def test_an_uncovered_pixel_is_void():
    data = b"format ascii cr\nwidth 2\nheight 1\ndata\n7 0 1 1\n"
    assert parse_seg(data, "tiny").tolist() == [[-1, 7]]
