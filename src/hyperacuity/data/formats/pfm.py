"""Portable float maps: a three-line header (``Pf`` or ``PF``, width and height, scale), then float32 rows, bottom row first.

The sign of the scale gives the byte order: negative little-endian, positive big-endian. Its size is not applied; the stereo
data sets write 1 and mean the values as they are. Pillow knows maps of one channel only, and OpenCV, which also reads three,
is too large a dependency for so small a format.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data.files import check_pixels, read_bytes
from hyperacuity.errors import InputError
from hyperacuity.outputs import write_bytes

_NUMBER = rb"[-+]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][-+]?\d{1,3})?"
_HEADER = re.compile(rb"(P[Ff])\s+(\d{1,9})\s+(\d{1,9})\s+(" + _NUMBER + rb")\s")


def read_pfm(path: Path) -> NDArray[np.float32]:
    """The map, top row first: H×W, or H×W×3 for ``PF``. Infinities and NaN stay as they are."""
    data = read_bytes(path)
    header = _HEADER.match(data[:200])
    if header is None:
        raise InputError(f"{path}: is not a PFM file: expected Pf or PF, width, height and scale, found {data[:20]!r}")
    width, height, scale = int(header[2]), int(header[3]), float(header[4])
    channels = 3 if header[1] == b"PF" else 1
    if width == 0 or height == 0 or scale == 0:
        raise InputError(f"{path}: declares {width}×{height} pixels and scale {scale:g}, expected none of them to be 0")
    check_pixels((height, width), str(path))
    count = width * height * channels
    if (result := len(data) - header.end()) < 4 * count:
        raise InputError(f"{path}: is truncated: {result} bytes of pixels where {width}×{height} needs {4 * count}")
    values = np.frombuffer(data, "<f4" if scale < 0 else ">f4", count, header.end())
    rows = values.reshape((height, width) if channels == 1 else (height, width, 3))
    return np.ascontiguousarray(rows[::-1], dtype=np.float32)


def write_pfm(path: Path, values: NDArray[Any], *, byte_order: Literal["little", "big"] = "little") -> None:
    """Write H×W or H×W×3 values; the unknown (NaN) is written as infinity, as the stereo data sets do."""
    if values.ndim != 2 and values.shape[2:] != (3,):
        raise InputError(f"{path}: cannot write shape {values.shape} as PFM, expected H×W or H×W×3")
    rows = np.where(np.isnan(values), np.inf, values)[::-1].astype("<f4" if byte_order == "little" else ">f4")
    head = f"{'Pf' if values.ndim == 2 else 'PF'}\n{values.shape[1]} {values.shape[0]}\n"
    scale = "-1" if byte_order == "little" else "1"
    write_bytes(path, f"{head}{scale}\n".encode() + rows.tobytes())
