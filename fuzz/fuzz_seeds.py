"""Small valid files of every format that is read, made by code: where fuzzing starts from."""

from __future__ import annotations

import contextlib
import io
import lzma
import sqlite3
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import fuzz_cards
import h5py
import numpy as np
from PIL import Image

from hyperacuity import boundary
from hyperacuity.studio import people
from hyperacuity.studio.choose import plan
from hyperacuity.studio.outputs import write_outputs
from hyperacuity.studio.server import Address, store_address
from hyperacuity.studio.state import State, insert

GREY = (np.arange(12 * 17, dtype=np.uint32).reshape(12, 17) * 37 % 256).astype(np.uint8)
SEG = b"format ascii cr\nwidth 3\nheight 2\nsegments 2\ndata\n0 0 0 2\n1 1 0 1\n"
FG = b"MATRIX ARRAY 2\n" + struct.pack("<ii4dii2d", 2, 2, 1, -1, 0, 0, 1, 2, 1, -1)


def picture(format: str, mode: str = "L", **options: object) -> bytes:
    """A picture of 17×12 pixels by Pillow."""
    file = io.BytesIO()
    Image.fromarray(GREY).convert(mode).save(file, format, **options)
    return file.getvalue()


def chunk(kind: bytes, content: bytes) -> bytes:
    """A chunk of a PNG."""
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(header: bytes, rows: bytes, extra: bytes = b"") -> bytes:
    """A PNG of the 13 bytes of its header and its filtered rows, whatever they say."""
    pixels = zlib.compress(rows, 1)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def png_rows(depth: int, colour: int, *, width: int = 5, height: int = 6) -> bytes:
    """The input of :func:`png` in one piece: a header, and rows with every filter in turn."""
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    length = (width * channels * depth + 7) // 8
    rows = b"".join(bytes([y % 5]) + bytes((7 * x + y) % 256 for x in range(length)) for y in range(height))
    return struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0) + rows


def npy(values: object, version: tuple[int, int] = (1, 0)) -> bytes:
    """An array as NumPy writes it."""
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(values), version=version, allow_pickle=False)
    return file.getvalue()


def npz(packing: int = zipfile.ZIP_DEFLATED, **arrays: object) -> bytes:
    """Arrays in an archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", packing) as archive:
        for name, values in arrays.items():
            archive.writestr(f"{name}.npy", npy(values))
    return file.getvalue()


def element(kind: int, content: bytes) -> bytes:
    """A data element of a MAT file."""
    return struct.pack("<II", kind, len(content)) + content + bytes(-len(content) % 8)


def matrix(kind: int, shape: tuple[int, ...], name: bytes, *parts: bytes) -> bytes:
    """A matrix of a MAT file of the class ``kind``, possibly with flags."""
    flags = element(6, struct.pack("<II", kind, 0))
    return element(14, flags + element(5, struct.pack(f"<{len(shape)}i", *shape)) + element(1, name) + b"".join(parts))


def mat5(*matrices: bytes, order: bytes = b"IM") -> bytes:
    """A MAT file of version 5 that holds the matrices as they are."""
    return b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01" + order + b"".join(matrices)


def packed(inflated: bytes) -> bytes:
    """A MAT file of version 5 that holds these bytes compressed."""
    stream = zlib.compress(inflated, 1)
    return mat5(struct.pack("<II", 15, len(stream)) + stream)


def plane(name: bytes = b"ucm2", size: int = 5, flags: int = 0) -> bytes:
    """A square matrix of float64, with zeros and ones."""
    return matrix(6 | flags, (size, size), name, element(9, np.eye(size).tobytes()))


def sparse(name: bytes = b"ucm2", size: int = 5) -> bytes:
    """A sparse identity matrix."""
    rows, starts = np.arange(size, dtype="<i4"), np.arange(size + 1, dtype="<i4")
    parts = (element(5, rows.tobytes()), element(5, starts.tobytes()), element(9, np.ones(size).tobytes()))
    return matrix(5, (size, size), name, *parts)


def truths(annotators: int = 2) -> bytes:
    """A ``groundTruth``: a cell of structs with a segmentation and boundaries."""
    names = b"".join(field.ljust(16, b"\0") for field in (b"Segmentation", b"Boundaries"))
    labels = matrix(11, (4, 4), b"", element(4, np.eye(4, dtype="<u2").tobytes()))
    edges = matrix(9 | 0x200, (4, 4), b"", element(2, np.eye(4, dtype="u1").tobytes()))
    width = struct.pack("<HHi", 5, 4, 16)
    one = matrix(2, (1, 1), b"", width, element(1, names), labels, edges)
    return matrix(1, (1, annotators), b"groundTruth", *[one] * annotators)


def segs() -> bytes:
    """A ``segs``: a cell of label maps."""
    labels = matrix(11, (4, 4), b"", element(4, np.eye(4, dtype="<u2").tobytes()))
    return matrix(1, (1, 2), b"segs", labels, labels)


def mat73(change: Callable[[h5py.File], None], libver: str = "earliest") -> bytes:
    """A MAT file of version 7.3."""
    file = io.BytesIO()
    with h5py.File(file, "w", userblock_size=512, libver=libver) as h5:
        change(h5)
    return b"MATLAB 7.3 MAT-file".ljust(512) + file.getvalue()[512:]


def _contours(h5: h5py.File) -> None:
    item = h5.create_dataset("ucm2", data=np.eye(7), compression="gzip", chunks=(4, 3), shuffle=True)
    item.attrs["MATLAB_class"] = np.bytes_("double")


def _truths(h5: h5py.File) -> None:
    group = h5.create_group("#refs#/a")
    group.create_dataset("Boundaries", data=np.eye(5, dtype=np.uint8))
    group.create_dataset("Segmentation", data=np.eye(5, dtype=np.uint16), compression="gzip")
    h5.create_dataset("groundTruth", (1, 1), dtype=h5py.ref_dtype)[0, 0] = group.ref


def archive(**files: bytes) -> bytes:
    """An archive ``.tar.xz`` of figure/ground labels; ``__`` in a name is a slash and ``_`` a dot."""
    file = io.BytesIO()
    with lzma.open(file, "wb", preset=0) as stream, tarfile.open(fileobj=stream, mode="w") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name.replace("__", "/").replace("_", "."))
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return file.getvalue()


def tally() -> bytes:
    """A tally as a store keeps it."""
    rng = np.random.default_rng(0)
    return boundary.tally(rng.random((8, 9)), [rng.random((8, 9)) < 0.2], boundary.Protocol(thresholds=5)).pack()


def store() -> bytes:
    """A small store: rows of tallies, some of which run over into other pages."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("PRAGMA page_size = 512")
        connection.execute(
            "CREATE TABLE tallies (id INTEGER PRIMARY KEY, a TEXT, b TEXT, c TEXT, d BLOB, e TEXT, f BLOB)"
        )
        rows = [("boundary", "canny", str(k), bytes(20), "1", tally() * k) for k in range(4)]
        connection.executemany("INSERT INTO tallies VALUES (NULL, ?, ?, ?, ?, ?, ?)", rows)
        connection.commit()
        return connection.serialize()


def studio() -> bytes:
    """The studio's file: two people, an address, the digest of a file that was written."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "studio.sqlite"
        with State(path, [people.SCHEMA, plan.SCHEMA]) as state:
            store_address(state, "label", Address("http://127.0.0.1:1", "a-token-nobody-guesses", 1))
            for person in (("1", "Ada", "now"), ("2", "Bea", "now")):
                state.write_now(lambda file, person=person: insert(file, "people", *person))
            people.People(state, "label")
            state.write_now(lambda file: insert(file, "choose_people", 1, "token", "seed", "now"))
            write_outputs(state, Path(folder), {Path(folder) / "one.txt": b"one"})
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
            for statement in ("journal_mode = DELETE", "page_size = 512"):
                connection.execute(f"PRAGMA {statement}")
            connection.execute("VACUUM")
        return path.read_bytes()


TEXT = chunk(b"zTXt", b"note\0\0" + zlib.compress(bytes(1000))) + chunk(b"iCCP", b"p\0\0" + zlib.compress(bytes(500)))

SEEDS: dict[str, list[bytes]] = {
    "png": [
        *(picture("PNG", mode) for mode in ("L", "1", "P", "RGB", "RGBA", "LA", "I;16")),
        png(png_rows(16, 2)[:13], png_rows(16, 2)[13:], TEXT),
    ],
    "png-pixels": [png_rows(depth, colour) for depth, colour in ((16, 2), (16, 4), (16, 6), (16, 0), (8, 2), (1, 0))],
    "jpeg": [picture("JPEG"), picture("JPEG", "RGB", progressive=True), picture("JPEG", "CMYK", exif=b"Exif\0\0MM\0*")],
    "bmp": [picture("BMP"), picture("BMP", "1"), picture("BMP", "P"), picture("BMP", "RGB")],
    "tiff": [
        picture("TIFF"),
        picture("TIFF", "RGB", compression="tiff_lzw"),
        picture("TIFF", "1", compression="group4"),
        picture("TIFF", "F"),
        picture("TIFF", "I;16", compression="tiff_adobe_deflate"),
    ],
    "pnm": [
        picture("PPM"),
        picture("PPM", "RGB"),
        picture("PPM", "1"),
        b"P2\n# by hand\n3 2\n255\n1 2 3 4 5 6\n",
        b"P1\n3 2\n101010\n",
        b"P5 2 2 65535\n" + bytes(8),
    ],
    "npy": [
        npy(np.eye(5)),
        npy(np.eye(4, dtype=np.uint8), (2, 0)),
        npy(np.asfortranarray(np.arange(6.0).reshape(2, 3)), (3, 0)),
        npy(np.zeros((2, 3, 4), dtype=">i2")),
        npy([[np.inf, -1e300], [np.nan, 5e-324]]),
        npy(np.eye(3, dtype=bool)),
        npy(np.eye(3, dtype=np.float16)),
    ],
    "npz": [npz(a=np.eye(4)), npz(zipfile.ZIP_STORED, a=np.eye(3), b=np.eye(2)), npz(zipfile.ZIP_LZMA, a=np.eye(3))],
    "mat5": [
        mat5(plane()),
        mat5(plane(b"a", 3), truths(), segs(), sparse()),
        mat5(truths()),
        mat5(segs()),
        packed(plane()),
        mat5(sparse()),
    ],
    "mat5-packed": [plane(), truths(), segs(), sparse(), plane(flags=0x200)],
    "mat73": [mat73(_contours), mat73(_truths), mat73(_contours, "latest"), mat73(_truths, "latest")],
    "pfm": [
        b"Pf\n3 2\n-1\n" + np.arange(6, dtype="<f4").tobytes(),
        b"PF\n1 2\n1.0\n" + np.arange(6, dtype=">f4").tobytes(),
        b"Pf 2 1 -1 " + np.array([np.nan, np.inf], dtype="<f4").tobytes(),
    ],
    "seg": [SEG, SEG.replace(b"\n", b"\r\n")],
    "fg": [FG],
    "csv": [b"# comment\nname,a,b\nx,1,2\ny,,3\n", b"name;a\nx;1e3\n", b'\xef\xbb\xbfname\t"a,b"\nx\tnan\n'],
    "info": [b"4.0 59\n", b"ndisp=280\nvmin=0\n", b"cam0=[1 0; 0 1]\nndisp=64\n"],
    "archive": [
        archive(fg__s__1_2_fg=FG, seg__s__1_seg=SEG),
        archive(seg__s__1_seg=b"width 2\nheight 2\ndata\n0 0 0 1\n0 1 0 1\n"),
    ],
    "tally": [tally()],
    "store": [store()],
    "studio": [studio()],
    "card": fuzz_cards.cards(),
    "card-sealed": fuzz_cards.cards(),
    "card-hostile": [bytes([n]) * 8 for n in range(8)],
    "signature": [str(boundary.Protocol().signature).encode(), b"a|b:1|c:x|v:1"],
    "any": [b"MATRIX", b"\x80\x04", b"GIF89a", b"BM", b"PK\x05\x06" + bytes(18), b"Pf", b"\x93NUMPY"],
}
