"""The one idea: tally an image into additive counts, collect the tallies of a data set into scores.

A tally holds counts or sums, never ratios. Tallies therefore add, cache, resume, resample (a bootstrap is a weighted sum of
tallies) and travel between machines; threads, stores, intervals and reports are written once, over this class.

A task subclasses :class:`Tally` with numpy fields::

    @dataclass(frozen=True, eq=False)
    class Counts(Tally):
        matched: Int64Array      # one entry per threshold
        total: Int64Array
"""

from __future__ import annotations

import itertools
import json
import math
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hyperacuity.errors import InputError, UsageError

Counts = NDArray[np.int64]
Sums = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tally:
    """Base of every task's tally: a frozen dataclass whose fields are numpy arrays of numbers."""

    def __add__(self, other: Self) -> Self:
        """Element-wise sum; both tallies must come from the same protocol, so they have the same class and shapes."""
        if type(other) is not type(self):
            return NotImplemented
        return type(self)(*(_sum(f.name, getattr(self, f.name), getattr(other, f.name)) for f in fields(self)))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(np.array_equal(getattr(self, f.name), getattr(other, f.name), equal_nan=True) for f in fields(self))

    __hash__ = None  # type: ignore[assignment]  # arrays are mutable

    def pack(self) -> bytes:
        """The tally as bytes, for stores: a line of JSON that names each array's type and shape, then the arrays, deflated.

        The bytes depend on the values alone, so equal tallies have equal bytes.
        """
        arrays = {f.name: np.asarray(getattr(self, f.name)) for f in fields(self)}
        header = {name: [a.dtype.newbyteorder("<").str, list(a.shape)] for name, a in arrays.items()}
        body = b"".join(a.astype(a.dtype.newbyteorder("<"), copy=False).tobytes() for a in arrays.values())
        return json.dumps(header, separators=(",", ":")).encode() + b"\n" + zlib.compress(body, 6)

    @classmethod
    def unpack(cls, data: bytes) -> Self:
        """The inverse of :meth:`pack`. Bytes that are not a tally of this class raise ``InputError``; nothing is unpickled."""
        try:
            line, _, rest = data.partition(b"\n")
            layout = [(name, _number_type(kind), tuple(shape)) for name, (kind, shape) in json.loads(line).items()]
            sizes = [dtype.itemsize * math.prod(shape) for _, dtype, shape in layout]
            body = _inflate(rest, sum(sizes))
            starts = itertools.accumulate(sizes, initial=0)
            return cls(
                **{
                    name: np.frombuffer(body[start : start + size], dtype).reshape(shape)
                    for (name, dtype, shape), size, start in zip(layout, sizes, starts, strict=False)
                }
            )
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError, zlib.error) as error:
            raise InputError(f"stored tally is damaged or not a {cls.__qualname__} ({error})") from error


def _sum(name: str, first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    # numpy would broadcast one threshold over ninety-nine without a word.
    if np.shape(first) != np.shape(second):
        raise UsageError(
            f"tallies of different protocols cannot be added: {name} has shape {np.shape(first)} in one "
            f"and {np.shape(second)} in the other"
        )
    return np.asarray(np.add(first, second))


def _number_type(name: str) -> np.dtype[Any]:
    if not re.fullmatch(r"[<|][biuf][0-9]{1,2}", name):
        raise ValueError(f"array of type {name!r}")
    return np.dtype(name)


def _inflate(data: bytes, size: int) -> bytes:
    """Exactly ``size`` bytes; no more are ever made, whatever the data claim to hold."""
    stream = zlib.decompressobj()
    body = stream.decompress(data, size + 1) if size >= 0 else b""
    if len(body) != size or not stream.eof or stream.unused_data:
        raise ValueError(f"expected {size} bytes of numbers")
    return body


def stack(tallies: Iterable[Tally], field: str) -> NDArray[Any]:
    """One field of many tallies as one array, images first: the input of sums and of bootstrap resampling."""
    return np.stack([getattr(tally, field) for tally in tallies])


def signature(task: str, version: int, /, **parts: object) -> str:
    """A protocol as one line that stands beside every score: ``task|key:value|…|v:version``.

    Two scores are comparable when their signatures are equal.

    >>> signature("boundary", 1, tol="0.0075diag", thin="guo-hall", thr=99)
    'boundary|tol:0.0075diag|thin:guo-hall|thr:99|v:1'
    """
    return "|".join([task, *(f"{key}:{value}" for key, value in parts.items()), f"v:{version}"])
