"""Berkeley's files: ``.seg`` segmentations of BSDS300, and ``.fg`` figure/ground labels (Fowlkes, Martin & Malik 2007)."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data.files import check_pixels, read_bytes
from hyperacuity.errors import InputError
from hyperacuity.maps import VOID, EdgeMap, LabelMap, OrderMap, boundary_marks, order_map


def read_seg(path: Path) -> LabelMap:
    """The segmentation of a ``.seg`` file. A pixel that no run covers is void."""
    return parse_seg(read_bytes(path), str(path))


def parse_seg(data: bytes, name: str) -> LabelMap:
    """The segmentation in the bytes of a ``.seg`` file.

    A header of ``key value`` lines ends with ``data``; then each line is ``segment row first last``, counted from 0, the last
    column included.

    >>> parse_seg(b"format ascii cr\\nwidth 3\\nheight 2\\nsegments 2\\ndata\\n0 0 0 2\\n1 1 0 1\\n", "tiny")
    array([[ 0,  0,  0],
           [ 1,  1, -1]], dtype=int32)
    """
    head, result, body = data.partition(b"\ndata")
    keys = dict(line.split(maxsplit=1) for line in head.splitlines() if len(line.split(maxsplit=1)) == 2)
    try:
        width, height = int(keys[b"width"]), int(keys[b"height"])
        if body.translate(None, b"0123456789 \t\r\n"):
            raise ValueError
        runs = np.fromstring(body.strip(), dtype=np.int64, sep=" ")
        if not result or runs.size % 4 or width <= 0 or height <= 0:
            raise ValueError
    except (KeyError, ValueError, OverflowError) as error:
        expected = "width, height, data, then lines of four numbers"
        raise InputError(f"{name}: is not a complete SEG file; expected {expected}") from error
    check_pixels((height, width), name)
    segment, row, first, last = runs.reshape(-1, 4).T
    if runs.size == 0:
        raise InputError(f"{name}: holds no run of pixels")
    if row.max() >= height or last.max() >= width or (first > last).any():
        raise InputError(f"{name}: holds a run outside its {width}×{height} pixels")
    if segment.max() > np.iinfo(np.int32).max:
        raise InputError(f"{name}: holds the label {segment.max()}, expected labels up to {np.iinfo(np.int32).max}")
    # The pixels of all runs at once: each run's start, repeated, plus the position within the run.
    labels = np.full(height * width, VOID, dtype=np.int32)
    lengths = last - first + 1
    if lengths.sum() > labels.size:
        raise InputError(f"{name}: its runs cover {lengths.sum()} pixels, more than the {width}×{height} there are")
    offsets = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    labels[np.repeat(row * width + first, lengths) + offsets] = np.repeat(segment, lengths)
    return labels.reshape(height, width)


def read_fg(path: Path) -> OrderMap:
    """Figure/ground labels of a ``.fg`` file: +1 on the figure side of a boundary, −1 on the ground side, NaN elsewhere."""
    return parse_fg(read_bytes(path), str(path))[0]


def parse_fg(data: bytes, name: str) -> tuple[OrderMap, NDArray[np.float64]]:
    """The two matrices in the bytes of a ``.fg`` file: the order map, and per contour (1, −1), (−1, 1) or (0, 0).

    After the line ``MATRIX ARRAY 2``, each matrix is int32 rows, int32 columns and column-major float64, little-endian.
    """
    line, result, _ = data.partition(b"\n")
    if not result or line.split()[:2] != [b"MATRIX", b"ARRAY"]:
        raise InputError(f"{name}: is not an FG file: expected a first line MATRIX ARRAY, found {data[:20]!r}")
    labels, end = _matrix(data, len(line) + 1, name)
    contours, _ = _matrix(data, end, name)
    if not np.isin(labels, (-1, 0, 1)).all():
        raise InputError(f"{name}: holds labels other than −1 (ground), 0 (none) and 1 (figure)")
    return order_map(np.where(labels == 0, np.nan, labels), name=name), contours


def _matrix(data: bytes, start: int, name: str) -> tuple[NDArray[Any], int]:
    if len(data) < start + 8:
        raise InputError(f"{name}: is truncated: a matrix is missing")
    rows, columns = struct.unpack_from("<ii", data, start)
    end = start + 8 + 8 * rows * columns
    if rows < 0 or columns < 0 or len(data) < end:
        raise InputError(f"{name}: is truncated: a {rows}×{columns} matrix does not fit into its {len(data)} bytes")
    return np.frombuffer(data, "<f8", rows * columns, start + 8).reshape((rows, columns), order="F"), end


def boundaries_of(labels: LabelMap) -> EdgeMap:
    """The boundaries of a segmentation at image size, one pixel wide; equal to BSDS's ``Boundaries`` of its ``Segmentation``.

    They are the thinned :func:`~hyperacuity.maps.boundary_marks`.

    >>> boundaries_of(np.array([[0, 0, 1], [0, 0, 1]], dtype=np.int32)).astype(int)
    array([[0, 1, 0],
           [0, 1, 0]])
    """
    from hyperacuity.kernels.thinning import thin  # numba, needed for segmentations only

    return thin(boundary_marks(labels))
