"""Pictures stripped of metadata before a decoder sees them.

Profiles, texts, thumbnails and camera data can hold anything: streams that unpack to gigabytes, tables that point in circles,
warnings that say nothing about the picture. None of it changes a pixel, so none of it reaches the decoder.
"""

from __future__ import annotations

import struct

_PIXEL_CHUNKS = frozenset({b"IHDR", b"PLTE", b"IDAT", b"IEND"})
_DESCRIBING = frozenset({*range(0xE0, 0xF0), 0xFE}) - {0xE0, 0xEE}
"""APP segments and comments, except JFIF's and Adobe's, which say how colours are stored."""
_SEGMENTS = frozenset({*range(0xC0, 0xD0), *range(0xDB, 0xDE), *range(0xE0, 0xF0), 0xFE}) - {0xC8}
"""What may come before the pixels, each with its length."""


def strip_png(data: bytes) -> bytes:
    """The PNG with its header, palette and pixels only. A truncated chunk stays, for the decoder to complain about.

    >>> def chunk(kind, content=b""):
    ...     return struct.pack(">I", len(content)) + kind + content + bytes(4)
    >>> head, pixels = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", bytes(13)), chunk(b"IDAT", b"pixels")
    >>> strip_png(head + chunk(b"zTXt", bytes(1000)) + pixels) == head + pixels
    True
    """
    kept, at = [data[:8]], 8
    while at < len(data):
        length = struct.unpack_from(">I", data, at)[0] if at + 8 <= len(data) else len(data)
        end = at + 12 + length
        if end > len(data) or data[at + 4 : at + 8] in _PIXEL_CHUNKS:
            kept.append(data[at:end])
        at = end
    return b"".join(kept)


def strip_jpeg(data: bytes) -> bytes:
    """The JPEG without comments and APP segments, except those that say how colours are stored. ``ValueError`` if damaged.

    >>> pixels = b"\\xff\\xda\\x00\\x02 pixels"
    >>> strip_jpeg(b"\\xff\\xd8" + b"\\xff\\xe1\\x00\\x06Exif" + pixels) == b"\\xff\\xd8" + pixels
    True
    """
    kept, at = [data[:2]], 2
    while (marker := data[at : at + 2]) != b"\xff\xda":
        length = int.from_bytes(data[at + 2 : at + 4], "big")
        if marker == b"\xff\xff":  # padding
            at += 1
            continue
        if len(data) < at + 4 or marker[0] != 0xFF or marker[1] not in _SEGMENTS or length < 2:
            raise ValueError("its segments do not follow one another")
        if marker[1] not in _DESCRIBING:
            kept.append(data[at : at + 2 + length])
        at += 2 + length
    return b"".join([*kept, data[at:]])
