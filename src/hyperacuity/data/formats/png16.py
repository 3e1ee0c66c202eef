"""PNG with 16 bits per colour channel, which Pillow cuts down to 8.

A PNG is a signature and chunks (length, type, data, checksum). The IDAT chunks together are one zlib stream of rows, each led
by the number of the filter that made it: a byte is stored as the difference from its neighbours to the left, above, their
mean, or whichever of left, above and upper left is nearest to left + above − upper left (Paeth).
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data.files import check_pixels
from hyperacuity.errors import InputError

_CHANNELS = {2: 3, 4: 2, 6: 4}
"""Colour type → channels: RGB, grey with alpha, RGB with alpha."""


def is_deep_colour(head: bytes) -> bool:
    """Whether the file's first bytes are those of such a PNG, stored row by row (interlaced ones are left to Pillow)."""
    return head.startswith(b"\x89PNG") and len(head) > 28 and head[24] == 16 and head[25] in _CHANNELS and head[28] == 0


def parse_deep_colour(data: bytes, name: str) -> NDArray[np.uint16]:
    """The picture in a file's bytes as uint16: H×W×3, or H×W for grey with alpha. Alpha is dropped."""
    width, height = struct.unpack_from(">II", data, 16)
    channels = _CHANNELS[data[25]]
    check_pixels((height, width), name)
    size = height * (1 + 2 * channels * width)
    try:
        stream = zlib.decompressobj()
        rows = stream.decompress(b"".join(_image_chunks(data)), size)
    except (zlib.error, struct.error) as error:
        raise InputError(f"{name}: is a damaged PNG") from error
    if len(rows) != size or size == 0:
        raise InputError(f"{name}: is a truncated PNG: {len(rows)} of {size} bytes of pixels")
    lines = np.frombuffer(rows, np.uint8).reshape(height, -1)
    if lines[:, 0].max() > 4:
        raise InputError(f"{name}: is a damaged PNG (filter {lines[:, 0].max()})")
    pixels = _unfiltered(lines[:, 0], lines[:, 1:], 2 * channels).view(">u2").reshape(height, width, channels)
    kept: NDArray[Any] = pixels[..., 0] if channels == 2 else pixels[..., :3]
    return kept.astype(np.uint16)


def _image_chunks(data: bytes) -> list[bytes]:
    found, at = [], 8
    while at + 8 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        if data[at + 4 : at + 8] == b"IDAT":
            found.append(data[at + 8 : at + 8 + length])
        at += length + 12
    return found


def _unfiltered(filters: NDArray[np.uint8], lines: NDArray[np.uint8], step: int) -> NDArray[np.uint8]:
    """Undo the row filters; ``step`` is the number of bytes of a pixel."""
    from hyperacuity.kernels.png import unfilter  # numba, needed for these files only

    result: NDArray[np.uint8] = unfilter(filters, lines, step)
    return result
