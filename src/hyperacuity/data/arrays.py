"""NumPy's own files. They may carry pickled objects, which run code when opened; such files are refused, never unpickled."""

from __future__ import annotations

import io
import zipfile
import zlib
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from hyperacuity.data.files import check_bytes, check_file, read_bytes, write_bytes
from hyperacuity.errors import InputError


def read_npy(path: Path) -> NDArray[Any]:
    """The array of an ``.npy`` file."""
    data = read_bytes(path)
    return _parse(io.BytesIO(data), len(data), str(path))


def read_npz(path: Path, variable: str | None = None) -> NDArray[Any]:
    """One array of an ``.npz`` archive: the one named, or the only one there is."""
    check_file(path)
    try:
        with zipfile.ZipFile(path) as archive:
            members = {
                member.filename.removesuffix(".npy"): member for member in archive.infolist() if not member.is_dir()
            }
            if variable is None and len(members) == 1:
                variable = next(iter(members))
            if variable not in members:
                wanted = "one array, or a name to choose by" if variable is None else f"{variable}"
                raise InputError(f"{path}: holds {_listed(members)}, expected {wanted}")
            member = members[variable]
            check_bytes(member.file_size, f"{path}, array {variable}")
            with archive.open(member) as file:
                data = file.read(member.file_size)
    except InputError:
        raise
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{path}: is damaged or not an NPZ archive ({error})") from error
    return _parse(io.BytesIO(data), len(data), f"{path}, array {variable}")


def write_npy(path: Path, array: NDArray[Any]) -> None:
    """Write an array of numbers as ``.npy``."""
    if array.dtype.kind not in "biuf":
        raise InputError(f"{path}: cannot write {array.dtype} values, expected numbers")
    file = io.BytesIO()
    npy.write_array(file, np.ascontiguousarray(array), allow_pickle=False)
    write_bytes(path, file.getvalue())


def _parse(file: BinaryIO, size: int, name: str) -> NDArray[Any]:
    try:
        version = npy.read_magic(file)
        header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = header(file)
    except Exception as error:  # the header is a Python literal; a damaged one fails in many ways
        raise InputError(f"{name}: is damaged or not an NPY file") from error
    if dtype.hasobject:
        raise InputError(f"{name}: holds pickled Python objects, which are never opened; save a plain array instead")
    if dtype.kind not in "biuf":
        raise InputError(f"{name}: holds {dtype} values, expected numbers")
    found, expected = size - file.tell(), prod(shape) * dtype.itemsize
    if found < expected or min(shape, default=0) < 0:
        raise InputError(f"{name}: is truncated: {found} bytes of data where shape {shape} needs {expected}")
    array = np.frombuffer(file.read(expected), dtype).reshape(shape, order="F" if fortran else "C")
    return array.astype(dtype.newbyteorder("="))


def _listed(members: dict[str, zipfile.ZipInfo]) -> str:
    return f"the arrays {', '.join(sorted(members))}" if members else "no array"
