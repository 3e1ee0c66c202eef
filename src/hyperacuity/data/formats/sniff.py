"""The format of a file by its first bytes. Names and suffixes are not trusted: people rename files."""

from __future__ import annotations

import struct
from pathlib import Path

from hyperacuity.data.files import read_head
from hyperacuity.errors import InputError

IMAGE_KINDS = frozenset({"PNG", "JPEG", "BMP", "TIFF", "PNM"})

_MAGIC: dict[str, tuple[bytes, ...]] = {
    "PNG": (b"\x89PNG\r\n\x1a\n",),
    "JPEG": (b"\xff\xd8\xff",),
    "BMP": (b"BM",),
    "TIFF": (b"II*\x00", b"MM\x00*", b"II+\x00", b"MM\x00+"),
    "NPY": (b"\x93NUMPY",),
    "NPZ": (b"PK\x03\x04", b"PK\x05\x06"),
    "MAT 7.3": (b"MATLAB 7.3 MAT-file", b"\x89HDF\r\n\x1a\n"),
    "MAT 5": (b"MATLAB 5.0 MAT-file",),
    "FG": (b"MATRIX ARRAY",),
    "SEG": (b"format ascii",),
    "PFM": (b"PF", b"Pf"),
}
_NOT_READ: dict[str, tuple[bytes, ...]] = {
    "a Python pickle, which is never opened": (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"),
    "a Git LFS pointer, not the file itself": (b"version https://git-lfs",),
    "a web page": (b"<!", b"<html"),
    "a GIF image": (b"gif8",),
    "a PDF document": (b"%pdf",),
    "a gzip archive": (b"\x1f\x8b",),
    "an xz archive": (b"\xfd7zxz",),
}
"""Formats that are recognised for the message only; compared in lower case."""

READABLE = "PNG, JPEG, BMP, TIFF, PGM/PPM/PBM, NPY, NPZ, MAT, SEG, FG or PFM"


def kind_of(path: Path) -> str:
    """The file's format by its content: one of the names in ``_MAGIC`` or ``"PNM"``. Unknown content is refused.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "actually-a-pfm.png"
    >>> _ = path.write_bytes(b"Pf\\n1 1\\n-1\\n" + bytes(4))
    >>> kind_of(path)
    'PFM'
    """
    head = read_head(path, 140)
    kind = kind_of_bytes(head)
    if kind is None:
        raise InputError(f"{path}: {guess(head)}, expected {READABLE}")
    return kind


def kind_of_bytes(head: bytes) -> str | None:
    """The format that starts with these bytes, or None. 140 bytes are enough."""
    for kind, magic in _MAGIC.items():
        if head.startswith(magic):
            return kind
    if len(head) > 2 and head[:1] == b"P" and head[1:2] in b"123456" and head[2:3].isspace():
        return "PNM"
    # A MAT 5 header's text is free; its last four bytes are version 0x0100 and the byte order mark.
    if head[124:128] in (b"\x00\x01IM", b"\x01\x00MI"):
        return "MAT 5"
    return None


def _is_mat4(head: bytes) -> bool:
    """True for a variable in MATLAB's version 4: five numbers (type, rows, columns, imaginary, length of the name) and a name."""
    for order in "<>":
        if len(head) > 21:
            kind, rows, columns, imaginary, length = struct.unpack_from(f"{order}5i", head)
            name = head[20 : 20 + length]
            typed = kind // 1000 == (0 if order == "<" else 1) and kind % 1000 // 10 <= 5 and kind % 10 <= 2
            if typed and min(rows, columns) >= 0 and imaginary in (0, 1) and 2 <= length <= 64 and name[:1].isalpha():
                return name.rstrip(b"\0").decode("latin-1").isidentifier()
    return False


def guess(head: bytes) -> str:
    """The probable kind of a file that is not read, for messages."""
    for what, magic in _NOT_READ.items():
        if head.lower().startswith(magic):
            return f"is {what}"
    if _is_mat4(head):
        return "is a MATLAB file of version 4; save it again with -v7"
    return f"starts with {head[:8]!r}, which is no known format"
