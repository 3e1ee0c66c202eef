"""The one idea: tally an image into additive counts, collect the tallies of a data set into scores.

A tally holds counts or sums, never ratios. Tallies therefore add, cache, resume, resample (a bootstrap is a weighted sum of
tallies) and travel between machines; threads, stores, intervals and reports are written once, over this class.

A benchmark is a protocol, a tally and a score, and a :class:`Task` that names them (:mod:`hyperacuity.tasks`). A tally carries
the protocol it was made under, so that no score can be signed with another one. ``docs/add-a-benchmark.md`` has a whole one.
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
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Self, TypeVar, get_args, get_type_hints

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.errors import InputError, UsageError
from hyperacuity.signatures import Signature as Signature
from hyperacuity.signatures import count_or_list as count_or_list
from hyperacuity.signatures import number as number
from hyperacuity.syntax import field_texts

if TYPE_CHECKING:
    from hyperacuity.columns import Columns

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
S = TypeVar("S")
Vector = Literal["concat", "mean"]


@dataclass(frozen=True)
class Criteria:
    """The numbers a task is judged by under one protocol, and in which sense.

    ``rescore(tallies, weights)`` gives the scores of one system, resamples × criteria, when each image counts as often as a row
    of ``weights`` says: on the data set (all ones), on each image alone, on every resample. ``usual`` are the criteria to
    compare by when none are named, and ``vector`` is whether each image is a component of its own.
    """

    names: tuple[str, ...]
    senses: tuple[str, ...]
    rescore: Callable[[Sequence[Any], Weights], Scores]
    usual: tuple[str, ...]
    vector: Vector = "mean"

    def overall(self, tallies: Sequence[Any]) -> Scores:
        """The scores of one system on the data set."""
        scores: Scores = self.rescore(tallies, np.ones((1, len(tallies)), np.int64))[0]
        return scores

    def alone(self, tallies: Sequence[Any]) -> Scores:
        """The scores of one system on each image alone, images × criteria."""
        parts = [tallies[start : start + 500] for start in range(0, len(tallies), 500)]
        return np.concatenate([self.rescore(part, np.eye(len(part), dtype=np.int64)) for part in parts])

    def resampled(self, tallies: Sequence[Any], blocks: Iterable[Weights]) -> Scores:
        """The scores of one system on resampled data sets, whose weights come in blocks; resamples × criteria."""
        return np.concatenate([self.rescore(tallies, block) for block in blocks])


Example = tuple[Any, Any, Mapping[str, Any]]
"""A prediction, its truths, and options of :func:`hyperacuity.evaluate`."""


@dataclass(frozen=True)
class Task(Generic[P, T, S]):
    """All that the rest of the house needs to know of a benchmark. Tasks are found by name in :mod:`hyperacuity.tasks`.

    Parameters
    ----------
    name, title
        Name in signatures and of the command, and title on pages.
    protocol, tally_type
        Its types; ``protocol()`` has the defaults.
    tally
        ``(prediction, truths, protocol, **extras) -> tally`` of one image. Arrays in, numbers out, no files.
    collect
        ``({image: tally}, *, resamples, seed) -> score`` of a data set.
    criteria
        The numbers it is judged by, under a protocol.
    kind
        The kind of its data (:mod:`hyperacuity.kinds`): its name, or a value of a :class:`~hyperacuity.kinds.Kind` of your own.
    people, collect_people
        ``(truths, protocol) -> tally`` of each annotator against the others, and their score, where it is not ``collect``'s.
    protocols
        Protocols that have a name.
    by_name
        Whether ``tally`` takes the image's name (``image=``), because something is drawn at random for each.
    collect_sweep
        ``({value: {image: tally}}) -> score`` of one system at several values of a parameter, where that can be said.
    chance
        ``(criterion, {image: tally}) -> number``: the score that guessing reaches; NaN where that is not known.
    references, protocol_references
        Papers to cite: keys of the package's list or BibTeX entries, or a function of a signature; more for named protocols.
    examples
        ``(scene) -> [(prediction, truths, options)]``: small inputs made of a scene; to score them compiles all kernels.
    columns
        Columns of its tables, or a function of the protocol that gives them; by default its criteria.
    """

    name: str
    title: str
    protocol: type[P]
    tally_type: type[T]
    tally: Callable[..., T]
    collect: Callable[..., S]
    criteria: Callable[[P], Criteria]
    kind: Any = "contours"
    people: Callable[[Sequence[Any], P], T] | None = None
    collect_people: Callable[[Sequence[T]], Any] | None = None
    protocols: Mapping[str, P] = field(default_factory=dict)
    by_name: bool = False
    collect_sweep: Callable[[Mapping[str, Mapping[str, T]]], S] | None = None
    chance: Callable[[str, Mapping[str, T]], float] | None = None
    references: Sequence[str] | Callable[[Signature], Iterable[str]] = ()
    protocol_references: Mapping[str, Sequence[str]] = field(default_factory=dict)
    examples: Callable[[Any], Iterable[Example]] | None = None
    columns: Columns | Callable[[P], Columns] | None = None
