"""KITTI's disparity files: 16-bit grey PNG, disparity = value / 256, 0 = unknown."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hyperacuity.data.formats.images import read_pixels, write_png
from hyperacuity.errors import InputError
from hyperacuity.maps import DisparityMap, disparity_map

SCALE = 256


def read_kitti(path: Path) -> DisparityMap:
    """The disparity in pixels, NaN where unknown."""
    values = read_pixels(path)
    if values.dtype != np.uint16 or values.ndim != 2:
        raise InputError(f"{path}: holds {values.dtype} pixels of shape {values.shape}, expected 16-bit grey")
    return disparity_map(np.where(values == 0, np.nan, values / np.float32(SCALE)), name=str(path))


def write_kitti(path: Path, disparity: DisparityMap) -> None:
    """Write a disparity map to the nearest 1/256 pixel; a known 0 becomes 1/256, since 0 says unknown."""
    known = np.isfinite(disparity)
    if (disparity[known] < 0).any() or (disparity[known] * SCALE > 65535).any():
        raise InputError(f"{path}: KITTI PNG holds disparities from 0 to {65535 / SCALE:.2f}; the map goes beyond")
    values = np.zeros(disparity.shape, dtype=np.uint16)
    values[known] = np.maximum(np.rint(disparity[known] * SCALE), 1)
    write_png(path, values)
