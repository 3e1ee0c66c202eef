"""MATLAB's MAT-file format, version 5 (``save -v6`` and ``-v7``): numbers, logicals, sparse matrices, cells and structs.

A file is a 128-byte header and one data element per variable. An element is a tag (type, number of bytes) and its bytes,
padded to 8; up to four bytes fit into the tag itself. A variable is an element of type *matrix*: flags, dimensions, name,
then its numbers, or for cells and structs one matrix after another. A *compressed* element is a zlib stream of one matrix.

scipy.io.loadmat reads these files too. This reader unpacks only the variable and the fields asked for, three times as fast on
BSDS's truths, lets threads run side by side (zlib and NumPy release the interpreter lock), and checks every size before
anything is inflated. ``ValueError`` means a damaged file; :mod:`hyperacuity.data.formats.matlab` adds the file's name.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data.files import MAX_BYTES

libdeflate: Any = None
_unpack_errors: tuple[type[Exception], ...] = (zlib.error,)
with suppress(ImportError):
    import deflate as libdeflate  # type: ignore[import-not-found, import-untyped, no-redef, unused-ignore]

    _unpack_errors = (zlib.error, libdeflate.DeflateError)

Value: TypeAlias = "NDArray[Any] | Sequence[Value] | Mapping[str, Value] | None"
"""An array; the values of a cell, column by column; the structs of a struct array; one struct; None where not decoded."""

_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_MATRIX, _COMPRESSED = 14, 15
_CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
_CELL, _STRUCT, _SPARSE = 1, 2, 5
_CLASS_NAMES = {1: "cell", 2: "struct", 3: "object", 4: "char", 16: "function", 17: "opaque"}
_LOGICAL, _COMPLEX = 0x200, 0x800
_MAX_DEPTH = 8
_MAX_DIMENSIONS = 32
MAX_VARIABLES = 10_000
COST_OF_A_NODE = 256
"""What a value costs besides its numbers, so that a million empty ones are bounded too."""
_MAX_RATIO = 1032
"""Deflate turns one byte into at most this many."""


@dataclass(frozen=True)
class Variable:
    """One variable of a file, as its header describes it."""

    name: str
    kind: str
    shape: tuple[int, ...]

    @property
    def is_plane(self) -> bool:
        """Whether it is a two-dimensional array of numbers with more than one row and column."""
        return self.kind not in _CLASS_NAMES.values() and len(self.shape) == 2 and min(self.shape) > 1

    def __str__(self) -> str:
        return f"{self.name} ({self.kind} {'×'.join(map(str, self.shape))})"


@dataclass(frozen=True)
class StoredVariable(Variable):
    """A variable of a version 5 file, with its bytes and how they are stored."""

    order: str
    packed: memoryview
    size: int
    compressed: bool


def variables(data: bytes) -> list[StoredVariable]:
    """The variables of a file, from their headers alone."""
    if len(data) < 128:
        raise ValueError("the header is cut off")
    order = {b"IM": "<", b"MI": ">"}.get(data[126:128])
    if order is None:
        raise ValueError("the byte order mark is missing")
    found, view, at = [], memoryview(data), 128
    while at < len(data):
        kind, content, end = _element(view, at, order)
        compressed = kind == _COMPRESSED
        if compressed:
            # A variable's name and size stand in the first few bytes of its stream.
            head = memoryview(zlib.decompressobj().decompress(content[:4096], 1024))
            end = at + 8 + len(content)  # the only kind of element that is not padded
        else:
            head, content = view[at : at + 1024], view[at:end]
        at = end
        kind, size = struct.unpack_from(f"{order}II", head)
        if kind == _MATRIX:
            flags, shape, name, _ = _header(head[8:], order)
            found.append(StoredVariable(name, _kind(flags), shape, order, content, size + 8, compressed))
        if len(found) > MAX_VARIABLES:
            raise ValueError(f"it holds more than {MAX_VARIABLES:,} variables")
    return found


def decode(variable: StoredVariable, fields: Collection[str] | None = None) -> Value:
    """The variable's value. With ``fields`` only these fields of structs are decoded; the others are None."""
    if variable.size > MAX_BYTES:
        raise ValueError(f"{variable.name} unpacks to {variable.size:,} bytes, more than the limit of {MAX_BYTES:,}")
    data = memoryview(inflate(variable.packed, variable.size)) if variable.compressed else variable.packed
    _, content, _ = _element(data, 0, variable.order)
    return _Mat5Decoder(variable.order, fields).matrix(content, 0)


def inflate(packed: memoryview, size: int) -> bytes:
    """Exactly ``size`` bytes of a zlib stream; a stream that holds fewer or more, or fails its checksum, is damaged.

    No more than ``size`` bytes, or for short streams ``MAX_BYTES``, are ever written. libdeflate, where the package
    ``deflate`` is installed, does it several times faster than zlib.
    """
    if size > len(packed) * _MAX_RATIO:
        raise ValueError(f"{len(packed)} compressed bytes cannot hold the {size:,} they promise")
    try:
        if libdeflate is not None:
            data: bytes = libdeflate.zlib_decompress(packed, size)
        elif len(packed) * _MAX_RATIO <= MAX_BYTES:
            data = zlib.decompress(packed, bufsize=size)
        else:
            stream = zlib.decompressobj()
            data = stream.decompress(packed, size)
            if not stream.eof and stream.decompress(stream.unconsumed_tail, 1):
                raise ValueError("a compressed variable is longer than it says")
    except _unpack_errors as error:
        raise ValueError("a compressed variable cannot be unpacked") from error
    if len(data) != size:
        raise ValueError(f"a compressed variable holds {len(data)} bytes where it says {size}")
    return data


def _element(view: memoryview, at: int, order: str) -> tuple[int, memoryview, int]:
    """Type and content of the element at ``at``, and where the next one starts."""
    if at + 8 > len(view):
        raise ValueError("it ends inside a tag")
    kind, size = struct.unpack_from(f"{order}II", view, at)
    if kind >> 16:
        kind, size = kind & 0xFFFF, kind >> 16
        if size > 4:
            raise ValueError("a small element has more than four bytes")
        return kind, view[at + 4 : at + 4 + size], at + 8
    if at + 8 + size > len(view):
        raise ValueError(f"it ends {at + 8 + size - len(view)} bytes too early")
    return kind, view[at + 8 : at + 8 + size], at + 8 + size + -size % 8


def _numbers(view: memoryview, at: int, order: str) -> tuple[NDArray[Any], int]:
    kind, content, end = _element(view, at, order)
    if kind not in _NUMBERS:
        raise ValueError(f"numbers have the unknown type {kind}")
    return np.frombuffer(content, order + _NUMBERS[kind]), end


def _text(view: memoryview, at: int, order: str) -> tuple[bytes, int]:
    _, content, end = _element(view, at, order)
    return bytes(content), end


def _header(view: memoryview, order: str) -> tuple[int, tuple[int, ...], str, int]:
    """Flags, dimensions and name of a matrix, and where its content starts."""
    flags, at = _numbers(view, 0, order)
    shape, at = _numbers(view, at, order)
    name, at = _text(view, at, order)
    whole = flags.dtype.kind in "iu" and shape.dtype.kind in "iu"
    if not whole or flags.size != 2 or not 2 <= shape.size <= _MAX_DIMENSIONS or shape.min() < 0:
        raise ValueError("a variable's header makes no sense")
    return int(flags[0]), tuple(int(n) for n in shape), name.decode("latin-1"), at


def _kind(flags: int) -> str:
    if flags & _LOGICAL:
        return "logical"
    number = flags & 0xFF
    if number in _CLASSES:
        return np.dtype(_CLASSES[number]).name
    return "sparse" if number == _SPARSE else _CLASS_NAMES.get(number, "opaque")


class Decoder:
    """Keeps account of what one variable unpacks to, and knows which fields are wanted.

    A few bytes can stand for many: a number may be stored in a smaller type than it is read as, a sparse matrix stores no
    zeros, an empty matrix is eight bytes in the file and a hundred in memory, and references may repeat.
    """

    def __init__(self, fields: Collection[str] | None) -> None:
        self.fields, self.left = fields, MAX_BYTES

    def wants(self, field: str) -> bool:
        """Whether this field of structs is to be decoded."""
        return self.fields is None or field in self.fields

    def enter(self, depth: int) -> None:
        """Count one more value at this depth of nesting."""
        self.spend(0)
        if depth > _MAX_DEPTH:
            raise ValueError(f"cells and structs are nested more than {_MAX_DEPTH} deep")

    def spend(self, count: int) -> None:
        """Count so many more bytes."""
        self.left -= count + COST_OF_A_NODE
        if self.left < 0:
            raise ValueError(f"a variable unpacks to more than the limit of {MAX_BYTES:,} bytes")


class _Mat5Decoder(Decoder):
    def __init__(self, order: str, fields: Collection[str] | None) -> None:
        super().__init__(fields)
        self.order = order

    def matrix(self, view: memoryview, depth: int) -> Value:
        self.enter(depth)
        if len(view) == 0:  # how MATLAB writes [] inside a cell
            return np.zeros((0, 0))
        flags, shape, _, at = _header(view, self.order)
        number, count = flags & 0xFF, prod(shape)
        if number in _CLASSES:
            return self._plain(view, at, flags, shape)
        if number == _SPARSE:
            return self._sparse(view, at, flags, shape)
        if number == _CELL:
            return self._matrices(view, at, count, depth)[0]
        if number == _STRUCT:
            return self._structs(view, at, count, depth)
        return None

    def _structs(self, view: memoryview, at: int, count: int, depth: int) -> list[Value]:
        width, at = _numbers(view, at, self.order)
        text, at = _text(view, at, self.order)
        if width.size != 1 or width.dtype.kind not in "iu" or width[0] < 1:
            raise ValueError("a struct's field names have no length")
        step = int(width[0])
        names = [text[i : i + step].split(b"\0")[0].decode("latin-1") for i in range(0, len(text), step)]
        if count * len(names) * 8 > len(view):
            raise ValueError("a struct has more elements than bytes")
        structs: list[Value] = []
        for _ in range(count if names else 0):
            values, at = self._matrices(view, at, len(names), depth, names)
            structs.append(dict(zip(names, values, strict=True)))
        return structs

    def _matrices(
        self, view: memoryview, at: int, count: int, depth: int, names: Sequence[str] = ()
    ) -> tuple[list[Value], int]:
        if count * 8 > len(view) - at:
            raise ValueError("a cell has more elements than bytes")
        values: list[Value] = []
        for index in range(count):
            kind, content, at = _element(view, at, self.order)
            if kind != _MATRIX:
                raise ValueError("a cell or struct holds something that is no matrix")
            values.append(self.matrix(content, depth + 1) if not names or self.wants(names[index]) else None)
        return values, at

    def _plain(self, view: memoryview, at: int, flags: int, shape: tuple[int, ...]) -> NDArray[Any]:
        """Numbers may be stored in a smaller type than the variable's class; the class decides."""
        if flags & _COMPLEX:
            raise ValueError("it holds complex numbers")
        numbers, _ = _numbers(view, at, self.order)
        if numbers.size != prod(shape):
            raise ValueError(f"a matrix of shape {shape} holds {numbers.size} numbers")
        dtype = np.dtype(np.bool_ if flags & _LOGICAL else _CLASSES[flags & 0xFF])
        if dtype.kind in "iu" and numbers.dtype.kind == "f":
            raise ValueError(f"a matrix of {dtype.name} stores floating-point numbers")
        self.spend(numbers.size * dtype.itemsize)
        return numbers.astype(dtype, copy=False).reshape(shape, order="F")

    def _sparse(self, view: memoryview, at: int, flags: int, shape: tuple[int, ...]) -> NDArray[Any]:
        if len(shape) != 2 or flags & _COMPLEX:
            raise ValueError("a sparse matrix has more than two dimensions or complex numbers")
        dtype = np.dtype(np.bool_ if flags & _LOGICAL else np.float64)
        self.spend(prod(shape) * dtype.itemsize)
        stored, at = _numbers(view, at, self.order)
        rows = _indices(stored)
        stored, at = _numbers(view, at, self.order)
        starts = _indices(stored)
        values, _ = _numbers(view, at, self.order)
        if starts.size != shape[1] + 1 or (np.diff(starts) < 0).any() or starts[0] != 0:
            raise ValueError("a sparse matrix has no valid columns")
        count = int(starts[-1])
        if count > min(rows.size, values.size) or (count and rows[:count].max() >= shape[0]):
            raise ValueError("a sparse matrix points outside itself")
        dense: NDArray[Any] = np.zeros(shape, dtype=dtype)
        dense[rows[:count], np.repeat(np.arange(shape[1]), np.diff(starts))] = values[:count]
        return dense


def _indices(numbers: NDArray[Any]) -> NDArray[np.int64]:
    """Row or column indices as signed integers: differences of unsigned ones wrap around."""
    if numbers.dtype.kind not in "iu" or (numbers.size and not 0 <= numbers.min() <= numbers.max() < 1 << 62):
        raise ValueError("a sparse matrix has invalid row or column indices")
    return numbers.astype(np.int64)
