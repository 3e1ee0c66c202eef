"""Maps out: the file's suffix chooses the format. What is written here reads back to the same map, up to rounding.

Soft maps go to PNG (8 or 16 bit), NPY or MAT; edges to PNG (0 and 255), NPY or MAT; labels to PNG (16 bit), NPY or MAT;
disparities and order maps to PFM or NPY, disparities also to KITTI's 16-bit PNG.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data.formats.arrays import write_npy
from hyperacuity.data.formats.images import KITTI_SCALE, write_png
from hyperacuity.data.formats.matlab import unsigned, write_mat
from hyperacuity.data.formats.pfm import write_pfm
from hyperacuity.errors import InputError, UsageError
from hyperacuity.maps import DisparityMap, EdgeMap, LabelMap, OrderMap, SoftMap


def write_soft(path: Path | str, strength: SoftMap, *, bits: Literal[8, 16] = 8) -> None:
    """Write edge strength; PNG rounds to the nearest of 256 or, with ``bits=16``, 65536 levels."""
    if _suffix(path, "png", "npy", "mat") == ".png":
        dtype = np.uint8 if bits == 8 else np.uint16
        write_png(path, np.rint(np.asarray(strength, dtype=np.float64) * np.iinfo(dtype).max).astype(dtype))
    else:
        _write_array(path, np.asarray(strength, dtype=np.float32), "strength")


def write_edges(path: Path | str, edges: EdgeMap) -> None:
    """Write an edge map; in PNG an edge is 255."""
    if _suffix(path, "png", "npy", "mat") == ".png":
        write_png(path, edges.astype(np.uint8) * np.uint8(255))
    else:
        _write_array(path, edges.astype(np.bool_), "edges")


def write_labels(path: Path | str, labels: LabelMap) -> None:
    """Write region labels; PNG holds 0 to 65535 and no void."""
    if _suffix(path, "png", "npy", "mat") == ".png":
        write_png(path, unsigned(labels, path, "PNG holds"))
    else:
        _write_array(path, labels.astype(np.int32), "labels")


def write_order(path: Path | str, order: OrderMap) -> None:
    """Write an order map, larger = nearer; the unknown is infinite in PFM and NaN in NPY."""
    _suffix(path, "pfm", "npy")
    _write_array(path, order.astype(np.float32))


def write_disparity(path: Path | str, disparity: DisparityMap) -> None:
    """Write disparity in pixels: PFM and NPY as it is, PNG in KITTI's steps of 1/256.

    In PNG 0 means unknown, so a known 0 is written as 1/256.
    """
    if _suffix(path, "pfm", "npy", "png") != ".png":
        return _write_array(path, disparity.astype(np.float32))
    known = np.isfinite(disparity)
    if (disparity[known] < 0).any() or (disparity[known] * KITTI_SCALE > 65535).any():
        raise InputError(f"{path}: KITTI PNG holds disparities of 0 to {65535 / KITTI_SCALE:.2f}; the map goes beyond")
    values = np.zeros(disparity.shape, dtype=np.uint16)
    values[known] = np.maximum(np.rint(disparity[known] * KITTI_SCALE), 1)
    return write_png(path, values)


def _write_array(path: Path | str, array: NDArray[Any], name: str = "") -> None:
    path = Path(path)
    if path.suffix.lower() == ".mat":
        write_mat(path, **{name: array})
    elif path.suffix.lower() == ".pfm":
        write_pfm(path, array)
    else:
        write_npy(path, array)


def _suffix(path: Path | str, *allowed: str) -> str:
    suffix = Path(path).suffix.lower()
    if suffix.removeprefix(".") not in allowed:
        what = suffix or "a file without suffix"
        raise UsageError(f"{path}: cannot be written as {what}, expected .{', .'.join(allowed)}")
    return suffix
