"""NumPy's files. They may carry pickled objects, which run code when opened; such files are refused, never unpickled.

NumPy reads a header as a Python literal, with all the nesting and warnings that Python allows, and allocates what it declares;
so the header is parsed here, by three patterns, and its size compared with the file's.
"""

from __future__ import annotations

import io
import re
import zipfile
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from hyperacuity.data.files import check_bytes, check_file, first_line, printable, read_bytes, read_head
from hyperacuity.errors import InputError
from hyperacuity.outputs import write_bytes

_TYPE = re.compile(rb"""['"]descr['"] *: *['"]([<>=|]?[a-zA-Z?]\d{0,2})['"]""")
_ORDER = re.compile(rb"""['"]fortran_order['"] *: *(True|False)""")
_SHAPE = re.compile(rb"""['"]shape['"] *: *\( *((?:\d{1,18}L? *, *)*(?:\d{1,18}L? *)?)\)""")

_MAX_HEADER = 10_000
_RATIO = 1032
"""Deflate turns one byte into at most this many."""


def read_npy(path: Path) -> NDArray[Any]:
    """The array of an ``.npy`` file."""
    return parse_npy(read_bytes(path), str(path))


def read_npz(path: Path, variable: str | None = None) -> NDArray[Any]:
    """One array of an ``.npz`` archive: the one named, or the only one there is."""
    check_file(path)
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            members = {entry.filename.removesuffix(".npy"): entry for entry in entries}
            if variable is None and len(members) == 1:
                variable = next(iter(members))
            if variable not in members:
                wanted = "one array, or a name to choose by" if variable is None else variable
                held = f"the arrays {printable(', '.join(sorted(members)))}" if members else "no array"
                raise InputError(f"{path}: holds {held}, expected {wanted}")
            member = members[variable]
            check_bytes(member.file_size, f"{path}, array {printable(variable)}")
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise InputError(f"{path}: is compressed in a way that NumPy does not use")
            if member.file_size > _RATIO * max(member.compress_size, 1):
                raise InputError(f"{path}, array {printable(variable)}: cannot be as large as declared")
            with archive.open(member) as file:
                data = file.read(member.file_size)
    except InputError:
        raise
    except Exception as error:  # zipfile raises many kinds; all of them mean that the archive is bad
        raise InputError(f"{path}: is damaged or not an NPZ archive ({first_line(error)})") from error
    return parse_npy(data, f"{path}, array {printable(variable)}")


def npy_shape(path: Path) -> tuple[int, ...]:
    """The shape of the array in an ``.npy`` file, from its header alone."""
    sizes = _SHAPE.search(read_head(path, _MAX_HEADER))
    if sizes is None:
        raise InputError(f"{path}: is damaged or not an NPY file")
    return tuple(int(size) for size in re.findall(rb"\d+", sizes[1]))


def write_npy(path: Path, array: NDArray[Any]) -> None:
    """Write an array of numbers as ``.npy``."""
    write_bytes(path, encode_npy(array, str(path)))


def encode_npy(array: NDArray[Any], name: str = "an array") -> bytes:
    """The bytes that :func:`write_npy` writes; ``name`` is for the sentence that refuses other values."""
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name}: cannot write {array.dtype} values, expected numbers")
    file = io.BytesIO()
    npy.write_array(file, np.ascontiguousarray(array), allow_pickle=False)
    return file.getvalue()


def parse_npy(data: bytes, name: str) -> NDArray[Any]:
    """The array in the bytes of an ``.npy`` file.

    >>> file = io.BytesIO()
    >>> np.save(file, np.eye(2))
    >>> parse_npy(file.getvalue(), "tiny")
    array([[1., 0.],
           [0., 1.]])
    """
    damaged = InputError(f"{name}: is damaged or not an NPY file")
    lengths = {1: 2, 2: 4, 3: 4}.get(data[6] if len(data) > 6 else 0)
    if not data.startswith(b"\x93NUMPY") or lengths is None:
        raise damaged
    start = 8 + lengths + int.from_bytes(data[8 : 8 + lengths], "little")
    header = data[8 + lengths : start]
    if len(header) > _MAX_HEADER or b"'descr': [" in header:
        raise InputError(f"{name}: holds records, expected numbers")
    kind, order, sizes = _TYPE.search(header), _ORDER.search(header), _SHAPE.search(header)
    if kind is None or order is None or sizes is None:
        raise damaged
    text = kind[1].decode()
    if "O" in text:
        raise InputError(f"{name}: holds pickled Python objects, which are never opened; save a plain array instead")
    if text.strip("<>=|0123456789") not in tuple("?biuf"):
        raise InputError(f"{name}: holds values of type {text}, expected numbers")
    shape = tuple(int(size) for size in re.findall(rb"\d+", sizes[1]))
    try:
        dtype = np.dtype(text)
    except TypeError as error:
        raise damaged from error
    needed = prod(shape) * dtype.itemsize
    if len(data) - start < needed:
        raise InputError(f"{name}: is truncated: {len(data) - start} bytes of data where shape {shape} needs {needed}")
    try:
        array = np.frombuffer(data, dtype, prod(shape), start) if needed else np.empty(0, dtype)
        array = array.reshape(shape, order="F" if order[1] == b"True" else "C")
    except ValueError as error:  # too many dimensions
        raise damaged from error
    return array.astype(dtype.newbyteorder("="))
