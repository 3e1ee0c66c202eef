"""The one idea: tally an image into additive counts, collect the tallies of a data set into scores.

A tally holds counts or sums, never ratios. Tallies therefore add, cache, resume, resample (a bootstrap is a weighted sum of
tallies) and travel between machines; threads, stores, intervals and reports are written once, over this class.

A benchmark is a protocol, which prints as a signature, a tally and a score, and a :class:`~hyperacuity.tasks.Task` that names
them. A tally carries the protocol it was made under, so that no score can be signed with another one.
``docs/add-a-benchmark.md`` has a whole one.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, get_args, get_type_hints

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import InputError, UsageError
from hyperacuity.syntax import field_texts

if TYPE_CHECKING:
    pass

Counts = NDArray[np.int64]
Sums = NDArray[np.float64]
Scores = NDArray[np.float64]
Weights = NDArray[np.int64]
Arrays = dict[str, NDArray[Any]]

MOST_COUNTED = 2**53
"""The largest count: up to here, sums in double precision are exact."""

ROUNDING = 1e-6
"""Sums of fractions may exceed a limit by this share."""


@dataclass(frozen=True)
class Signature:
    """A protocol as a value that prints as one line, ``task|key:value|…|v:version``; the line stands beside every score.

    Two scores are comparable when their signatures are equal.

    >>> Signature.of("boundary", 1, tol="0.0075diag", thin="guo-hall", thr=99)
    boundary|tol:0.0075diag|thin:guo-hall|thr:99|v:1
    >>> Signature.parse("boundary|thr:99|v:1").with_parts(truth="inverted")
    boundary|thr:99|truth:inverted|v:1
    """

    task: str
    version: int
    parts: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, task: str, version: int, /, **parts: object) -> Self:
        """The signature with these parts, in this order."""
        return cls(task, version, tuple((key, str(value)) for key, value in parts.items()))

    @classmethod
    def parse(cls, line: str) -> Self:
        """The inverse of ``str``. ``InputError`` for a line that is no signature."""
        task, *parts = line.split("|")
        pairs = [tuple(part.split(":", 1)) for part in parts]
        if not task or not pairs or any(len(pair) != 2 for pair in pairs) or not re.fullmatch(r"v:\d+", parts[-1]):
            raise InputError(f"{line!r} is no signature, expected task|key:value|…|v:version")
        return cls(task, int(pairs[-1][1]), tuple((key, value) for key, value in pairs[:-1]))

    def with_parts(self, **more: object) -> Self:
        """The signature with further parts before the version."""
        return replace(self, parts=(*self.parts, *((key, str(value)) for key, value in more.items())))

    def differences(self, other: Signature) -> list[str]:
        """Differences of two signatures, in words; empty when they are equal.

        >>> Signature.parse("boundary|thr:99|v:1").differences(Signature.parse("boundary|thr:19|nms:none|v:1"))
        ['thr is 99 in one and 19 in the other', 'nms is missing in one and none in the other']
        """
        mine, theirs = ({"task": s.task, **dict(s.parts), "version": str(s.version)} for s in (self, other))
        return [
            f"{key} is {mine.get(key, 'missing')} in one and {theirs.get(key, 'missing')} in the other"
            for key in dict.fromkeys((*mine, *theirs))
            if mine.get(key) != theirs.get(key)
        ]

    def __str__(self) -> str:
        return "|".join([self.task, *(f"{key}:{value}" for key, value in self.parts), f"v:{self.version}"])

    __repr__ = __str__


def number(value: float) -> str:
    """A number as signatures print it: short where that is exact, and never the same for two different numbers.

    >>> number(0.0075), number(3.0), number(0.1 + 0.2), number(1e-9)
    ('0.0075', '3', '0.30000000000000004', '1e-09')
    """
    value = float(value) + 0.0  # of the two zeros, which are equal, the one without a sign
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def count_or_list(value: int | str | tuple[float, ...]) -> str:
    """A count, a word, or a list of numbers as signatures print them; a list of one whole number keeps its point.

    >>> count_or_list(1), count_or_list((1.0,)), count_or_list((0.5,)), count_or_list((0.5, 1.0))
    ('1', '1.0', '0.5', '0.5,1')
    """
    if not isinstance(value, tuple):
        return str(value)
    printed = ",".join(map(number, value))
    return f"{printed}.0" if printed.isdigit() else printed


@dataclass(frozen=True)
class BaseProtocol:
    """Base of protocols, frozen values agreed before a run that print as signatures and go to dictionaries and back.

    A task's protocol sets ``task``, and ``version``, which goes up whenever the same input would get another score; and says
    what its signature is made of (:meth:`parts`). A string after a field says what it is for (:meth:`descriptions`). ``reading``
    are further parts, which tell how files were read (``truth: inverted``) where that makes other arrays of the same files.
    """

    task: ClassVar[str]
    version: ClassVar[int] = 1
    reading: tuple[tuple[str, str], ...] = field(default=(), kw_only=True)

    def parts(self) -> dict[str, object]:
        """The signature's parts between the task and the version."""
        raise NotImplementedError

    @property
    def signature(self) -> Signature:
        """The protocol as a signature."""
        return Signature.of(self.task, self.version, **self.parts(), **dict(self.reading))

    def read_as(self, **reading: object) -> Self:
        """Change the protocol for files that were read in a way the signature has to tell; parts that are None are left out."""
        parts = tuple((key.replace("_", "-"), str(value)) for key, value in reading.items() if value is not None)
        return replace(self, reading=parts)

    @classmethod
    def descriptions(cls) -> dict[str, str]:
        """The options by name with what each is for: the string that stands after the field, as far as there is one."""
        source = getattr(sys.modules[cls.__module__], "__file__", None)
        texts = field_texts(Path(source), cls.__name__) if source else {}
        return {part.name: texts.get(part.name, "") for part in fields(cls) if part.name != "reading"}

    def for_system(self, system: str) -> Self:
        """The protocol as it is for one system, where systems may be treated differently."""
        return self

    @property
    def by_system(self) -> bool:
        """True if systems are treated each in its own way."""
        return False

    def with_system(self, system: str, protocol: BaseProtocol) -> Self | None:
        """The protocol that treats one more system as ``protocol`` does; None if the two differ in anything else."""
        return None

    def completed(self, systems: Sequence[str], predictions_of: Callable[[str], Iterable[Any]]) -> Self:
        """The protocol with what only the predictions can tell; they are read when they are asked for."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """The protocol as what JSON can say."""
        return asdict(self)

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> Self:
        """The inverse of :meth:`to_dict`, also after a way through JSON. ``InputError`` for options of another version."""
        try:
            return _restored(options, cls)  # type: ignore[no-any-return]
        except (TypeError, UsageError) as error:
            raise InputError(f"these options of {cls.task} were written by another version of this package") from error


def plain(value: Any) -> Any:
    """Mappings, sequences, arrays and paths as what JSON knows; NaN and infinity, which it lacks, become None.

    >>> plain({"f": np.array([0.5, np.nan]), 3: (Path("a"), {"b"})})
    {'f': [0.5, None], '3': ['a', ['b']]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Sequence | set | frozenset) and not isinstance(value, str | bytes):
        return [plain(item) for item in (sorted(value) if isinstance(value, set | frozenset) else value)]
    return value


def _restored(value: Any, kind: Any) -> Any:
    """A value of a dataclass as its type says: lists become tuples, mappings the dataclass that the type names."""
    if isinstance(value, Mapping):
        known = next(one for one in (kind, *get_args(kind)) if is_dataclass(one))
        hints = get_type_hints(known)
        return known(**{name: _restored(item, hints.get(name)) for name, item in value.items()})  # type: ignore[operator]
    if isinstance(value, list | tuple):
        return tuple(_restored(item, None) for item in value)
    return value


P = TypeVar("P", bound=BaseProtocol)


@dataclass(frozen=True, eq=False)
class Tally:
    """Base of every task's tally: a frozen dataclass whose fields are numpy arrays of numbers, and the protocol they follow."""

    protocol: BaseProtocol = field(kw_only=True)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of the arrays."""
        return tuple(part.name for part in fields(cls) if part.name != "protocol")

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays by name."""
        return {name: getattr(self, name) for name in self.names()}

    def __add__(self, other: Self) -> Self:
        """Element-wise sum. Tallies of different protocols do not add (``UsageError``)."""
        if type(other) is not type(self):
            return NotImplemented
        _refuse_mixture((self, other), "added")
        sums: dict[str, NDArray[Any]] = {}
        for name, one in self.arrays.items():
            # numpy would broadcast one level over ninety-nine without a word.
            if (mine := np.shape(one)) != (theirs := np.shape(getattr(other, name))):
                raise UsageError(f"tallies of shapes {mine} and {theirs} cannot be added ({name})")
            sums[name] = np.asarray(np.add(one, getattr(other, name)))
        return type(self)(**sums, protocol=self.protocol)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        same = (np.array_equal(one, getattr(other, name), equal_nan=True) for name, one in self.arrays.items())
        return self.protocol == other.protocol and all(same)

    __hash__ = None  # type: ignore[assignment]  # arrays are mutable

    def validate(self) -> None:
        """Raise ``InputError`` for arrays that no image can give, nor any sum of images.

        Here: fields annotated as ``Counts`` hold whole numbers from 0 to 2⁵³. A task's tally adds what else must hold, with the
        methods that follow. Stores and cards validate whatever they write and read.
        """
        for part in fields(self):
            if part.type in ("Counts", Counts):
                counts = np.asarray(getattr(self, part.name))
                if counts.dtype.kind not in "biu":
                    raise InputError(f"{part.name} has numbers of type {counts.dtype}, expected whole numbers")
                if counts.size and not 0 <= counts.min() <= counts.max() <= MOST_COUNTED:
                    self.require((counts >= 0) & (counts <= MOST_COUNTED), part.name, "a count from 0 to 2⁵³")

    def truth_counts(self) -> Arrays:
        """The arrays that depend on the truth and the protocol alone: the same for every system, of the same truths."""
        return {}

    def require(self, holds: ArrayLike, name: str, expected: str) -> None:
        """Raise ``InputError`` with the first number of an array for which a condition does not hold, or with the array."""
        each = np.asarray(holds, np.bool_)
        if not each.all():
            array = np.asarray(getattr(self, name))
            index = np.argwhere(~each)[0].tolist() if each.shape == array.shape else []
            raise InputError(f"{name}{index or ''} is {array[tuple(index)].tolist()}, expected {expected}")

    def require_shape(self, shape: tuple[int, ...], *names: str) -> None:
        """Raise ``InputError`` for an array of another shape."""
        for name in names:
            if (found := np.shape(getattr(self, name))) != shape:
                raise InputError(f"{name} has shape {found}, expected {shape}")

    def require_finite(self, *names: str) -> None:
        """Raise ``InputError`` where an array is negative, infinite or NaN."""
        for name in names:
            array = np.asarray(getattr(self, name))
            self.require((array >= 0) & np.isfinite(array), name, "a non-negative number")

    def require_at_most(self, limit: str | ArrayLike, *names: str) -> None:
        """Raise ``InputError`` where an array is NaN, negative, or exceeds a limit: another array by name, or numbers.

        Arrays of fractions may exceed it by a rounding error.
        """
        most = np.asarray(getattr(self, limit) if isinstance(limit, str) else limit)
        for name in names:
            part = np.asarray(getattr(self, name))
            exact = part.dtype.kind in "biu" and most.dtype.kind in "biu"
            with np.errstate(over="ignore"):
                fits = (part >= 0) & (part <= (most if exact else most + ROUNDING * (1 + most)))
            if not fits.all():
                index = np.argwhere(~fits)[0].tolist() if fits.shape == part.shape else []
                above = np.broadcast_to(most, fits.shape)[tuple(index)] if index else most
                self.require(fits, name, f"0 to {f'{limit}, ' if isinstance(limit, str) else ''}{above}")

    def pack(self) -> bytes:
        """The arrays as bytes, for stores: a line of JSON that names each one's type and shape, then the arrays, deflated.

        The line is the dictionary of the deflated part, whose checksums therefore cover both. The bytes depend on the values
        alone, so equal tallies have equal bytes. The protocol is not in them: a store keeps it once for all tallies under a
        signature. ``InputError`` for a tally that does not :meth:`validate`.
        """
        self.validate()
        arrays = {name: np.asarray(array) for name, array in self.arrays.items()}
        header = {name: [a.dtype.newbyteorder("<").str, list(a.shape)] for name, a in arrays.items()}
        body = b"".join(a.astype(a.dtype.newbyteorder("<"), copy=False).tobytes() for a in arrays.values())
        line = json.dumps(header, separators=(",", ":")).encode()
        stream = zlib.compressobj(6, zdict=line)
        return line + b"\n" + stream.compress(body) + stream.flush()

    @classmethod
    def unpack(cls, data: bytes, protocol: BaseProtocol) -> Self:
        """The inverse of :meth:`pack`. ``InputError`` for what is not a valid tally of this class; nothing is unpickled."""
        return cls._checked(unpacked_arrays(data), protocol)

    @classmethod
    def _checked(cls, arrays: Mapping[str, NDArray[Any]], protocol: BaseProtocol) -> Self:
        try:
            tally = cls(**arrays, protocol=protocol)
            tally.validate()
        except (TypeError, ValueError, IndexError, InputError) as error:
            raise InputError(f"stored tally is damaged or not a {cls.__qualname__} ({error})") from error
        return tally


def unpacked_arrays(data: bytes) -> dict[str, NDArray[Any]]:
    """The arrays in a packed tally of whatever task, by name. ``InputError`` for damaged bytes."""
    try:
        line, _, rest = data.partition(b"\n")
        # Lengths are numbers only: a text among them would be repeated as often as another one says.
        layout = [
            (name, _number_type(kind), tuple(map(index, shape))) for name, (kind, shape) in json.loads(line).items()
        ]
        sizes = [dtype.itemsize * math.prod(shape) for _, dtype, shape in layout]
        body = _inflate(rest, sum(sizes), line)
        starts = itertools.accumulate(sizes, initial=0)
        return {
            name: np.frombuffer(body[start : start + size], dtype).reshape(shape)
            for (name, dtype, shape), size, start in zip(layout, sizes, starts, strict=False)
        }
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError, zlib.error) as error:
        raise InputError(f"stored tally is damaged ({error})") from error


def _number_type(name: str) -> np.dtype[Any]:
    if not re.fullmatch(r"[<|][biuf][0-9]{1,2}", name):
        raise ValueError(f"array of type {name!r}")
    return np.dtype(name)


def _inflate(data: bytes, size: int, line: bytes) -> bytes:
    """Exactly ``size`` bytes; no more are ever made, whatever the data claim to hold. The dictionary may have been left out."""
    stream = zlib.decompressobj(zdict=line)
    body = stream.decompress(data, size + 1) if size >= 0 else b""
    if len(body) != size or not stream.eof or stream.unused_data:
        raise ValueError(f"expected {size} bytes of numbers")
    return body


def stack(tallies: Iterable[Tally], name: str) -> NDArray[Any]:
    """One array of many tallies as one, images first: the input of sums and of bootstrap resampling."""
    return np.stack([getattr(tally, name) for tally in tallies])


def total(tallies: Sequence[T]) -> T:
    """The sum of one tally or more."""
    first, *others = tallies
    for other in others:
        first = first + other
    return first


def described(protocol: P, text: str) -> P:
    """A copy of a protocol with a docstring, which like every docstring is no part of the code that tallies depend on."""
    same = copy(protocol)
    object.__setattr__(same, "__doc__", text)
    return same


def named_protocol(protocols: Mapping[str, P], name: str, changes: Mapping[str, Any]) -> P:
    """The protocol of this name, with changes. ``UsageError`` where there is none."""
    if name not in protocols:
        raise UsageError(f"there is no protocol {name!r}; there are {', '.join(protocols)}")
    return replace(protocols[name], **changes)


def protocol_of(tallies: Iterable[Tally], kind: type[P]) -> P:
    """The protocol that all these tallies were made under.

    ``UsageError`` when there are none, when they follow different protocols (it says what differs), or when it is another
    task's.
    """
    every = list(tallies)
    if not every:
        raise UsageError("there are no tallies to collect: no image was evaluated")
    _refuse_mixture(every, "collected together")
    agreed = every[0].protocol
    if not isinstance(agreed, kind):
        raise UsageError(f"these tallies are of {agreed.signature.task}, expected {kind.task}")
    return agreed


def _refuse_mixture(tallies: Sequence[Tally], what: str) -> None:
    first = tallies[0].protocol
    for other in tallies:
        if other.protocol is not first and other.protocol != first:
            apart = "; ".join(first.signature.differences(other.protocol.signature)) or f"{first} and {other.protocol}"
            raise UsageError(f"tallies of different protocols cannot be {what}: {apart}")


T = TypeVar("T", bound=Tally)
