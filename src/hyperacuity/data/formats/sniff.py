"""What a file is, told by its first bytes. Names and suffixes are not trusted: people rename files."""

from __future__ import annotations

from pathlib import Path

from hyperacuity.data.files import read_head
from hyperacuity.errors import InputError

IMAGE_KINDS = frozenset({"PNG", "JPEG", "BMP", "TIFF", "PNM"})

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"BM", "BMP"),
    (b"II*\x00", "TIFF"),
    (b"MM\x00*", "TIFF"),
    (b"II+\x00", "TIFF"),
    (b"MM\x00+", "TIFF"),
    (b"\x93NUMPY", "NPY"),
    (b"PK\x03\x04", "NPZ"),
    (b"PK\x05\x06", "NPZ"),
    (b"MATLAB 7.3 MAT-file", "MAT 7.3"),
    (b"\x89HDF\r\n\x1a\n", "MAT 7.3"),
    (b"MATLAB 5.0 MAT-file", "MAT 5"),
    (b"MATRIX ARRAY", "FG"),
    (b"format ascii", "SEG"),
    (b"PF", "PFM"),
    (b"Pf", "PFM"),
)

_KNOWN_BUT_NOT_READ: tuple[tuple[bytes, str], ...] = (
    (b"\x80\x02", "a Python pickle, which is never opened"),
    (b"\x80\x03", "a Python pickle, which is never opened"),
    (b"\x80\x04", "a Python pickle, which is never opened"),
    (b"\x80\x05", "a Python pickle, which is never opened"),
    (b"version https://git-lfs", "a Git LFS pointer, not the file itself"),
    (b"<!", "a web page"),
    (b"<html", "a web page"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\xfd7zXZ", "an xz archive"),
)

READABLE = "PNG, JPEG, BMP, TIFF, PGM/PPM/PBM, NPY, NPZ, MAT, SEG, FG or PFM"


def kind_of(path: Path) -> str:
    """The file's format by its content: one of the names in ``_MAGIC`` or ``"PNM"``. An unknown content is refused.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "actually-a-pfm.png"
    >>> _ = path.write_bytes(b"Pf\\n1 1\\n-1\\n" + bytes(4))
    >>> kind_of(path)
    'PFM'
    """
    head = read_head(path, 140)
    kind = kind_of_bytes(head)
    if kind is None:
        raise InputError(f"{path}: {_guess(head)}, expected {READABLE}")
    return kind


def kind_of_bytes(head: bytes) -> str | None:
    """The format that starts with these bytes, or None. 140 bytes are enough."""
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    if len(head) > 2 and head[:1] == b"P" and head[1:2] in b"123456" and head[2:3].isspace():
        return "PNM"
    # A MAT 5 header's text is free; its last four bytes are version 0x0100 and the byte order mark.
    if head[124:128] in (b"\x00\x01IM", b"\x01\x00MI"):
        return "MAT 5"
    return None


def _guess(head: bytes) -> str:
    for magic, what in _KNOWN_BUT_NOT_READ:
        if head.lower().startswith(magic.lower()):
            return f"is {what}"
    return f"starts with {head[:8]!r}, which is no format known here"
