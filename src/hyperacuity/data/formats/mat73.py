"""MATLAB's MAT-file format, version 7.3 (``save -v7.3``): HDF5 with MATLAB's conventions, read by h5py.

Only what lies inside the file is read: links to other files, external storage and virtual data sets are refused, and one variable
may not ask for more than ``MAX_BYTES`` in total. Chunks are unpacked here: the library trusts a chunk's stream to be as long as
it says. It may still crash on damaged files, so readers go through :mod:`~hyperacuity.data.formats.hdf5_process`.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from hyperacuity.data.formats.mat5 import COST_OF_A_NODE, MAX_VARIABLES, Decoder, Value, Variable, inflate

_OVERHEAD = 64
"""Bytes by which deflate may make a chunk longer, besides a hundredth."""


def variables(path: Path) -> list[Variable]:
    """The variables of a file."""
    with h5py.File(path, "r", locking=False) as file:
        if len(file) > MAX_VARIABLES:
            raise ValueError(f"it holds more than {MAX_VARIABLES:,} variables")
        result = []
        for name in file:
            if name.startswith("#"):
                continue
            item = _inside(file, name)
            if isinstance(item, h5py.Dataset):
                result.append(Variable(name, _kind(item), tuple(reversed(item.shape or ()))))
            else:
                is_struct = isinstance(item, h5py.Group)
                result.append(Variable(name, "struct", (1, 1)) if is_struct else Variable(name, "opaque", ()))
        return result


def decode(path: Path, name: str, fields: Collection[str] | None = None) -> Value:
    """The value of a variable; the rules are those of :func:`hyperacuity.data.formats.mat5.decode`."""
    with h5py.File(path, "r", locking=False) as file:
        return _Hdf5Decoder(file, fields).value(_inside(file, name), 0)


def _inside(group: h5py.Group, name: str) -> Any:
    if not isinstance(group.get(name, getlink=True), h5py.HardLink):
        raise ValueError(f"{name} is a link to somewhere else, which is not followed")
    item = group[name]
    if isinstance(item, h5py.Dataset) and (item.is_virtual or item.external):
        raise ValueError(f"{name} keeps its data in other files, which are not opened")
    return item


def _kind(item: h5py.Dataset) -> str:
    given = item.attrs.get("MATLAB_class", b"")
    text = given.decode("latin-1") if isinstance(given, bytes) else str(given)
    if h5py.check_ref_dtype(item.dtype) is not None:
        return "cell"
    return {"double": "float64", "single": "float32"}.get(text, text) or item.dtype.name


def _filters(item: h5py.Dataset) -> list[int]:
    """The filters by which chunks were packed, first step first."""
    plan = item.id.get_create_plist()
    filters = [plan.get_filter(i)[0] for i in range(plan.get_nfilters())]
    if not set(filters) <= {h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE} or len(filters) > 2:
        raise ValueError(f"{item.name} is packed in a way that MATLAB does not use")
    return filters


def _unpacked(packed: bytes, filters: list[int], size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The numbers of one chunk: exactly ``size`` bytes."""
    data = packed
    for step in reversed(filters):
        if step == h5py.h5z.FILTER_DEFLATE:
            data = inflate(memoryview(data), size)
        else:  # shuffled: first all first bytes, then all second ones, …
            columns = np.frombuffer(data, np.uint8)[: size // dtype.itemsize * dtype.itemsize]
            data = columns.reshape(dtype.itemsize, -1).T.tobytes()
    if len(data) != size:
        raise ValueError(f"a chunk holds {len(data)} bytes where {size} are declared")
    return np.frombuffer(data, dtype)


class _Hdf5Decoder(Decoder):
    """Follows references through one file."""

    def __init__(self, file: h5py.File, fields: Collection[str] | None) -> None:
        super().__init__(fields)
        self.file = file

    def value(self, item: Any, depth: int) -> Value:
        self.enter(depth)
        if isinstance(item, h5py.Group):
            return self._struct(item, depth)
        if not isinstance(item, h5py.Dataset) or item.shape is None or _kind(item) == "char":
            return None
        if item.attrs.get("MATLAB_empty", 0):
            return [] if _kind(item) == "cell" else np.zeros((0, 0))
        if _kind(item) == "cell":
            return self._references(item, depth)
        return self._array(item)

    def _array(self, item: h5py.Dataset) -> NDArray[Any]:
        self.spend(prod(item.shape) * item.dtype.itemsize)
        if item.dtype.kind not in "biuf":
            raise ValueError(f"{item.name} holds {item.dtype} values, expected numbers")
        if item.is_virtual or item.external:
            raise ValueError(f"{item.name} keeps its data in other files, which are not opened")
        values: NDArray[Any] = self._chunked(item) if item.chunks else item[()]
        # Files written by other programs lack MATLAB's marks and are not transposed.
        array = values.T if "MATLAB_class" in item.attrs else values
        return array.astype(np.bool_) if _kind(item) == "logical" else array

    def _chunked(self, item: h5py.Dataset) -> NDArray[Any]:
        if not item.id.get_type().equal(h5py.h5t.py_create(item.dtype, logical=True)):
            raise ValueError(f"{item.name} stores numbers in a way that MATLAB does not use")
        filters = _filters(item)
        size = prod(item.chunks) * item.dtype.itemsize
        corners = [range(0, full, step) for full, step in zip(item.shape, item.chunks, strict=True)]
        self.spend(size + prod(map(len, corners)) * COST_OF_A_NODE)
        values: NDArray[Any] = np.full(item.shape, item.fillvalue, dtype=item.dtype)
        for corner in product(*corners):
            stored = item.id.get_chunk_info_by_coord(corner)
            if stored.byte_offset is None:  # never written: it holds the fill value
                continue
            if stored.size > size + _OVERHEAD + size // 100:
                raise ValueError(f"a chunk of {item.name} is compressed to {stored.size:,} bytes, more than unpacked")
            skipped, packed = item.id.read_direct_chunk(corner)
            chunk = _unpacked(packed, [f for i, f in enumerate(filters) if not skipped >> i & 1], size, item.dtype)
            part = values[tuple(slice(at, at + step) for at, step in zip(corner, item.chunks, strict=True))]
            part[...] = chunk.reshape(item.chunks)[tuple(map(slice, part.shape))]
        return values

    def _references(self, item: h5py.Dataset, depth: int) -> list[Value]:
        self.spend(item.size * COST_OF_A_NODE)
        return [self.value(self.file[reference], depth + 1) for reference in item[()].ravel()]

    def _struct(self, group: h5py.Group, depth: int) -> Value:
        self.spend(len(group) * COST_OF_A_NODE)
        members = {name: _inside(group, name) for name in group}
        # A struct array keeps one plain array of references per field; a lone struct keeps the values themselves.
        arrays = members and all(
            isinstance(m, h5py.Dataset) and _kind(m) == "cell" and "MATLAB_class" not in m.attrs
            for m in members.values()
        )
        values = {name: self.value(m, depth + 1) if self.wants(name) else None for name, m in members.items()}
        if not arrays:
            return values
        count = max(len(v) for v in values.values() if isinstance(v, list)) if any(values.values()) else 0
        return [{name: v[i] if isinstance(v, list) else None for name, v in values.items()} for i in range(count)]
