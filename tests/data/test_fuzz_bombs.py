"""Small files that ask for much: each is refused, within 1 GiB of memory and a minute of processor time for all of them."""

from __future__ import annotations

import io
import json
import lzma
import resource
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib
from pathlib import Path

import h5py
import numpy as np
import pytest
from fuzz_seeds import SEEDS, chunk, element, mat5, matrix, npy, packed, picture, png, sparse
from PIL import Image

READ_ALL = """
import json, resource, sys, warnings
from pathlib import Path
from hyperacuity import data
from hyperacuity.data.datasets.bsds import figure_ground
from hyperacuity.errors import InputError
warnings.simplefilter("error")
readers = {"table": data.read_table, "image": data.read_image, "labels": data.read_labels, "soft": data.read_soft,
           "segmentations": lambda path: data.read_segmentations([path]), "archive": lambda path: list(figure_ground(path))}
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30), used + (1 << 30)))
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
outcomes = {}
for name in sys.argv[1:]:
    try:
        outcomes[name] = f"read: {readers[Path(name).suffix[1:]](Path(name))!r:.100}"
    except BaseException as error:
        outcomes[name] = f"{type(error).__name__}: {error}"
print(json.dumps(outcomes))
"""


def scans(count: int) -> bytes:
    """A progressive JPEG that goes over its pixels again and again."""
    data = picture("JPEG", progressive=True)
    last = data.rindex(b"\xff\xda")
    return data[:-2] + data[last:-2] * count + b"\xff\xd9"


def text_chunk(kind: bytes) -> bytes:
    row = bytes(18)
    bomb = zlib.compress(bytes(1 << 24), 9)
    return png(struct.pack(">IIBBBBB", 17, 2, 8, 0, 0, 0, 0), row * 2, chunk(kind, b"note\0\0" + bomb) * 100)


def hdf5(**options) -> bytes:
    file = io.BytesIO()
    with h5py.File(file, "w", userblock_size=512) as h5:
        h5.create_dataset("ucm2", **options)
    return b"MATLAB 7.3 MAT-file".ljust(512) + file.getvalue()[512:]


def zipped(size: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", npy(np.eye(2)))
    return file.getvalue().replace(struct.pack("<I", len(npy(np.eye(2)))), struct.pack("<I", size))


def lzma_zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.npy", npy(np.eye(2)))
    data = bytearray(file.getvalue())
    at = data.index(b"a.npy") + len("a.npy") + 5
    data[at : at + 4] = b"\xff\xff\xff\xff"  # a dictionary of 4 GiB
    return bytes(data)


def archive(size: int) -> bytes:
    """Long names take any length; this one is zeros without end."""
    member = tarfile.TarInfo("././@LongLink")
    member.type, member.size = tarfile.GNUTYPE_LONGNAME, size
    return lzma.compress(member.tobuf() + bytes(1 << 22), preset=0)


def tiff(width: int, height: int) -> bytes:
    file = io.BytesIO()
    Image.fromarray(np.zeros((4, 4), np.uint8)).save(file, "TIFF", compression="tiff_adobe_deflate")
    data = file.getvalue()
    for tag, value in ((256, width), (257, height)):
        at = data.index(struct.pack("<HHI", tag, 3, 1))
        data = data[:at] + struct.pack("<HHII", tag, 4, 1, value) + data[at + 12 :]
    return data


def header(text: bytes) -> bytes:
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(64)


COLUMNS = np.array([0, 4_000_000_000, 5], dtype="<u4").tobytes()
HUGE = matrix(5, (11_000, 11_000), b"", *[element(5, bytes(4)), element(5, bytes(44_004)), element(9, bytes(8))])


def bombs() -> dict[str, bytes]:
    return {
        "png-declares.image": png(struct.pack(">IIBBBBB", 8900, 8900, 8, 2, 0, 0, 0), bytes(1000)),
        "png-declares-deep.image": png(struct.pack(">IIBBBBB", 8900, 8900, 16, 2, 0, 0, 0), bytes(1000)),
        "png-overflows.image": png(struct.pack(">IIBBBBB", 2**31 - 1, 2**31 - 1, 8, 0, 0, 0, 0), bytes(1000)),
        "png-just-above-pillows-warning.image": png(struct.pack(">IIBBBBB", 9500, 9500, 8, 0, 0, 0, 0), bytes(1000)),
        "jpeg-scans.image": scans(2000),
        "pnm.image": b"P6 8900 8900 255\n" + bytes(1000),
        "bmp.image": SEEDS["bmp"][0][:18] + struct.pack("<ii", 1 << 30, 1 << 30) + SEEDS["bmp"][0][26:],
        "tiff.image": tiff(1 << 30, 1 << 30),
        "tiff-declares.image": tiff(8900, 8900),
        "npy.soft": header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999, 9), }"),
        "npy-nested.soft": header(b"{'descr': " + b"(" * 9000 + b"}"),
        "npy-negations.soft": header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (" + b"-" * 9000 + b"1,), }"),
        "npy-digits.soft": header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (" + b"1" * 9000 + b",), }"),
        "npy-escape.soft": header(b"{'descr': '\\d', 'fortran_order': False, 'shape': (2, 2), }"),
        "npz.soft": zipped(1 << 30),
        "npz-dictionary.soft": lzma_zipped(),
        "mat-dimensions.soft": mat5(
            element(
                14,
                element(6, bytes([6]) + bytes(7)) + element(5, b"\xff\xff\xff\x7f" * 1_000_000) + element(1, b"ucm2"),
            )
        ),
        "mat-sparse-wraps.soft": mat5(
            matrix(5, (5, 2), b"ucm2", element(5, bytes(20)), element(6, COLUMNS), element(9, bytes(40)))
        ),
        "mat-sparse-many.segmentations": packed(matrix(1, (1, 50), b"segs", *[HUGE] * 50)),
        "mat-sparse-fractions.soft": mat5(sparse().replace(struct.pack("<II", 5, 20), struct.pack("<II", 7, 20))),
        "mat-empties.segmentations": packed(matrix(1, (1, 4_200_000), b"segs", element(14, b"") * 4_200_000)),
        "mat-widens.soft": packed(matrix(6, (11_600, 11_600), b"ucm2", element(2, bytes(11_600 * 11_600)))),
        "hdf5.soft": hdf5(shape=(8001, 80_001), dtype="f8", chunks=(1000, 1000), compression="gzip"),
        "hdf5-many-chunks.soft": hdf5(shape=(5001, 5001), dtype="u1", chunks=(1, 1), compression="gzip"),
        "seg.labels": b"format ascii cr\nwidth 80000001\nheight 1\ndata\n0 0 0 0\n",
        "seg-overlapping.labels": b"format ascii cr\nwidth 80000000\nheight 1\ndata\n" + b"0 0 0 79999999\n" * 1000,
        "seg-large-label.labels": b"format ascii cr\nwidth 2\nheight 1\ndata\n4294967297 0 0 1\n",
        "seg-digits.labels": b"format ascii cr\nwidth " + b"9" * 100_000 + b"\nheight 1\ndata\n0 0 0 0\n",
        "fg.soft": b"MATRIX ARRAY 2\n" + struct.pack("<ii", 2**31 - 1, 2**31 - 1) + bytes(100),
        "pfm.soft": b"Pf\n8900 8900\n-1\n" + bytes(100),
        "csv.table": b"name" + b",a" * 300_000 + b"\n" + b"x\n" * 300_000,
        "csv-rows.table": b"name,a\n" + b"x,1\n" * 300_000,
        "tar-name.archive": archive(1 << 40),
    }


def harmless() -> dict[str, bytes]:
    """Nothing in them is wrong: what is not pixels is not looked at."""
    return {"png-text.image": text_chunk(b"zTXt"), "png-profile.image": text_chunk(b"iCCP")}


@pytest.mark.skipif(sys.platform != "linux", reason="limits on memory are Linux's")
def test_files_that_ask_for_much_are_refused_within_limits(tmp_path):
    bad, good = bombs(), harmless()
    for name, data in (bad | good).items():
        (tmp_path / name).write_bytes(data)
    files = [str(tmp_path / name) for name in bad | good]
    done = subprocess.run([sys.executable, "-c", READ_ALL, *files], capture_output=True, text=True, check=True)
    outcomes = {Path(name).name: outcome for name, outcome in json.loads(done.stdout).items()}
    assert {name: outcomes[name] for name in bad if not outcomes[name].startswith("InputError")} == {}
    assert {name: outcomes[name] for name in good if not outcomes[name].startswith("read: array")} == {}
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 4 << 20  # KiB
