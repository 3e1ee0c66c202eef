"""Pictures stripped of metadata before a decoder sees them.

Profiles, texts and thumbnails can hold anything, such as streams that unpack to gigabytes, and change no pixel. Of what they say,
people are warned of two things: that a picture is to be turned, and that its file holds more of them.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from typing import NamedTuple

_PIXEL_CHUNKS = frozenset({b"IHDR", b"PLTE", b"IDAT", b"IEND"})
_DESCRIBING = frozenset({*range(0xE0, 0xF0), 0xFE}) - {0xE0, 0xEE}
"""APP segments and comments, except JFIF's and Adobe's, which say how colours are stored."""
_SEGMENTS = frozenset({*range(0xC0, 0xD0), *range(0xDB, 0xDE), *range(0xE0, 0xF0), 0xFE}) - {0xC8}
"""Segments that may come before the pixels, each with its length."""


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


def turned(data: bytes, kind: str) -> int:
    """The orientation that a picture's metadata ask for, 1 (as stored) to 8; 1 where they ask for none or cannot be read."""
    blocks = [data] if kind == "TIFF" else _jpeg_exif(data) if kind == "JPEG" else []
    if kind == "PNG":
        blocks = [content for name, content in _png_chunks(data) if name == b"eXIf"]
    for block in blocks:
        directory = _directory(block)
        if directory is not None and (asked := directory.get(_ORIENTATION, 1)) in range(2, 9):
            return asked
    return 1


def further_pictures(data: bytes, kind: str) -> bool:
    """True if a file holds more than the picture that is read: a TIFF with further pages, a PNG that is animated."""
    if kind == "TIFF":
        directory = _directory(data)
        return directory is not None and directory.get(_NEXT, 0) != 0
    if kind == "PNG":
        return any(name == b"acTL" and int.from_bytes(content[:4], "big") > 1 for name, content in _png_chunks(data))
    return False


class TiffFloats(NamedTuple):
    """A TIFF of floats as one of integers: its bytes, how many bits a float has, and whether its words must be swapped."""

    data: bytes
    bits: int
    swapped: bool


def tiff_floats(data: bytes) -> TiffFloats | None:
    """A TIFF of 16- or 64-bit floats with tags that say integers of 16 bits, or twice as many of 32; None for any other file.

    Pillow reads such integers, but not the floats. ``ValueError`` for a file of which it would make other numbers.
    """
    directory = _entries(data)
    if directory is None:
        return None
    order, entries, _ = directory
    facts = {tag: _value(data, order, entry) for tag, entry in entries.items()}
    bits = facts.get(_BITS, 1)
    if order == ">" and bits in (32, 64) and facts.get(_COMPRESSION, 1) != 1:
        raise ValueError(
            f"big-endian numbers of {bits} bits, compressed, which Pillow mixes up; save them little-endian"
        )
    if facts.get(_SAMPLE_FORMAT) != 3 or facts.get(_SAMPLES, 1) != 1 or bits not in (16, 64):
        return None
    if facts.get(_PREDICTOR, 1) != 1 or (bits == 64 and facts.get(_ORIENTATION, 1) != 1):
        raise ValueError(f"floats of {bits} bits with a predictor, or turned; save them as 32 bits")
    wide = bits == 64
    changes = {_SAMPLE_FORMAT: 2 if wide else 1}
    if wide:
        changes |= {_BITS: 32} | {tag: 2 * (facts[tag] or 0) for tag in (_WIDTH, _TILE_WIDTH) if tag in facts}
    changed = bytearray(data)
    for tag, value in changes.items():
        at = entries[tag].at
        struct.pack_into(f"{order}H", changed, entries[tag].start + 2, 4)  # a number of 32 bits has room in every entry
        struct.pack_into(f"{order}I", changed, at, value)
    return TiffFloats(bytes(changed), bits, wide and (order == "<") != (sys.byteorder == "little"))


_NEXT = -1
_WIDTH, _BITS, _COMPRESSION, _ORIENTATION, _SAMPLES, _PREDICTOR = 256, 258, 259, 274, 277, 317
_TILE_WIDTH, _SAMPLE_FORMAT = 322, 339
_MOST_ENTRIES = 4096


class _Entry(NamedTuple):
    """An entry of a TIFF directory: where it and its value begin, the type of its numbers, and how many there are."""

    start: int
    at: int
    kind: int
    numbers: int


def _directory(block: bytes) -> dict[int, int] | None:
    """The short numbers of a TIFF block's first directory by tag, under ``_NEXT`` where the next one lies; None if damaged."""
    result = _entries(block)
    if result is None:
        return None
    order, entries, following = result
    shorts = {
        tag: struct.unpack_from(f"{order}H", block, e.at)[0]
        for tag, e in entries.items()
        if e.kind == 3 and e.numbers == 1
    }
    return shorts | {_NEXT: following}


def _value(block: bytes, order: str, entry: _Entry) -> int | None:
    """The number in an entry; None if it has several, or another type."""
    code = {3: "H", 4: "I"}.get(entry.kind)
    return int(struct.unpack_from(order + code, block, entry.at)[0]) if code and entry.numbers == 1 else None


def _entries(block: bytes) -> tuple[str, dict[int, _Entry], int] | None:
    """The byte order of a TIFF or BigTIFF block, its first directory's entries by tag, where the next lies; None if damaged."""
    order = {b"II": "<", b"MM": ">"}.get(block[:2])
    try:
        if order is None:
            return None
        (version,) = struct.unpack_from(f"{order}H", block, 2)
        at, offset, number = (8, "Q", "Q") if version == 43 else (4, "I", "H")
        (start,) = struct.unpack_from(f"{order}{offset}", block, at)
        (count,) = struct.unpack_from(f"{order}{number}", block, start)
        if count > _MOST_ENTRIES:
            return None
        first, step = start + struct.calcsize(f"{order}{number}"), 4 + 2 * struct.calcsize(offset)
        entries = {}
        for begin in range(first, first + step * count, step):
            tag, kind, length, _ = struct.unpack_from(f"{order}HH{offset}{offset}", block, begin)
            entries[tag] = _Entry(begin, begin + step - struct.calcsize(offset), kind, length)
        (following,) = struct.unpack_from(f"{order}{offset}", block, first + step * count)
    except (struct.error, OverflowError):  # beyond the end of the block, or of any
        return None
    return order, entries, following


def _png_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 8
    while at + 8 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        yield data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        at += 12 + length


def _jpeg_exif(data: bytes) -> list[bytes]:
    result, at = [], 2
    while at + 4 <= len(data) and data[at] == 0xFF and data[at + 1] in _SEGMENTS:
        length = int.from_bytes(data[at + 2 : at + 4], "big")
        if data[at + 1] == 0xE1 and data[at + 4 : at + 10] == b"Exif\0\0":
            result.append(data[at + 10 : at + 2 + length])
        at += 2 + max(length, 2)
    return result
