"""Digests of the truths that an image is scored against: one for each annotator's, and one for whatever else is counted.

A digest has sixteen bytes, and is that of the arrays as the benchmark counts them: a truth read from MATLAB's format, from a
picture or made in memory has the same digest where it is the same truth. Kinds of numbers are told apart (a mask is no map of
labels), widths are not: numbers are widened first, which loses nothing.

Whatever else a tally depends on, other than the prediction, is included: regions on which questions are asked, and masks that
come with the data. What is derived from a truth is not.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.progress import track

from hyperacuity.errors import InputError
from hyperacuity.kinds import Cell
from hyperacuity.kinds.arrays import opened
from hyperacuity.run.jobs import TaskJob
from hyperacuity.tally import Tally

if TYPE_CHECKING:
    from hyperacuity.cards.card import Card

DIGEST_BYTES = 16
_WIDEST = {"b": "|u1", "i": "<i8", "u": "<i8", "f": "<f8"}


def digest_of(truth: Any) -> str:
    """The digest of one annotator's truth: arrays, numbers, text and what is made of them.

    ``TypeError`` for what has no such parts.

    >>> import numpy as np
    >>> one = np.eye(3, dtype=bool)
    >>> digest_of(one) == digest_of(one.copy()), digest_of(one) == digest_of(one.astype(int))
    (True, False)
    >>> digest_of(np.float32([0.5])) == digest_of(np.float64([0.5]))
    True
    """
    found = hashlib.blake2b(digest_size=DIGEST_BYTES)
    _add(found, truth)
    return found.hexdigest()


def fingerprint(truths: Mapping[str, Sequence[str]]) -> str:
    """One short name for a data set, from the digests of each image's truths: equal names, equal images with equal truths.

    >>> fingerprint({"a": ["1"], "b": ["2"]}) == fingerprint({"b": ["2"], "a": ["1"]})
    True
    """
    listed = sorted([image, *digests] for image, digests in truths.items())
    return hashlib.blake2b(json.dumps(listed).encode(), digest_size=8).hexdigest()


def _add(found: Any, value: Any) -> None:
    """Feed a value to a hash; what it is, and how large, goes before it, so that no two values look alike."""
    if value is None or isinstance(value, str):
        found.update(f"{type(value).__name__} {json.dumps(value)}\n".encode())
    elif is_dataclass(value) and not isinstance(value, type):
        _add(found, {part.name: getattr(value, part.name) for part in fields(value)})
    elif isinstance(value, Mapping):
        found.update(f"mapping {len(value)}\n".encode())
        for key in sorted(value, key=str):
            _add(found, str(key))
            _add(found, value[key])
    elif isinstance(value, np.ndarray | np.generic | bool | int | float):
        _add_array(found, np.asarray(value))
    elif isinstance(value, Sequence):
        found.update(f"sequence {len(value)}\n".encode())
        for item in value:
            _add(found, item)
    else:
        raise TypeError(f"a {type(value).__name__} has no digest")


def _add_array(found: Any, array: np.ndarray[Any, Any]) -> None:
    kind = "i" if array.dtype.kind == "u" else array.dtype.kind
    if kind not in _WIDEST:
        raise TypeError(f"an array of {array.dtype} has no digest")
    wide = np.ascontiguousarray(array, _WIDEST[kind])
    if kind == "f":
        wide = np.where(np.isnan(wide), np.nan, wide + 0.0)  # one NaN, one zero
    found.update(f"array {kind} {list(array.shape)}\n".encode())
    found.update(wide.tobytes())


TruthDigests = tuple[str, ...]
"""Digests of an image's truths: each annotator's, and one more if the tally depends on more than these."""


def digests_of_cell(job: TaskJob, cell: Cell) -> TruthDigests:
    """The digests of an image of files. ``InputError`` for truths that cannot be read."""
    truths = job.kind.truths(cell)
    more = job.kind.counted_too(cell, truths, job.protocol)
    return (*_of_truths(job, truths), *([digest_of(more)] if more else []))


def digests_of_arrays(job: TaskJob, truths: Any) -> TruthDigests:
    """The digests of an image in memory. ``InputError`` for truths that cannot be right."""
    return _of_truths(job, job.kind.people(opened(truths, "truths")))


def digests_of_cells(job: TaskJob, cells: Iterable[Cell], *, workers: int | None = None) -> dict[str, TruthDigests]:
    """The digests of many images, by name, read in threads; images whose truths cannot be read are left out."""

    def read(cell: Cell) -> TruthDigests | None:
        try:
            return digests_of_cell(job, cell)
        except InputError:
            return None  # has failed its own cell

    every = list(cells)
    return {cell.image: found for cell, found in zip(every, each("truths", read, every, workers), strict=True) if found}


def each(what: str, do: Callable[[Any], Any], things: Sequence[Any], workers: int | None = None) -> list[Any]:
    """The results for every thing, computed in threads, with a bar in a terminal."""
    console = Console(stderr=True)
    with ThreadPoolExecutor(workers) as pool:
        made = pool.map(do, things)
        bar = track(
            made, f"reading {what}", len(things), console=console, transient=True, disable=not console.is_terminal
        )
        return list(bar)


def _of_truths(job: TaskJob, truths: Sequence[Any]) -> TruthDigests:
    return tuple(digest_of(job.kind.checked(truth, job.protocol)) for truth in truths)


def difference_of_truths(job: TaskJob, image: str, mine: TruthDigests, theirs: TruthDigests) -> str:
    """The truths of an image that differ between here and a card, in words; empty where none does."""
    if mine == theirs:
        return ""
    word, more = job.kind.people_are, job.kind.counted_too_is(job.protocol)
    people = len(mine) - bool(more)
    if len(mine) != len(theirs):
        return f"truth of {image} differs: {len(theirs) - bool(more)} {word}s on the card, {people} here"
    apart = [n for n, (one, other) in enumerate(zip(mine, theirs, strict=True), 1) if one != other]
    numbers = ", ".join(str(n) for n in apart if n <= people)
    parts = [f": {word} {numbers} of {people}" if people > 1 else ""] if numbers else []
    parts += [f": {more}"] if apart[-1] > people else []
    return f"truth of {image} differs{' and '.join(parts)}"


def difference_of_counts(image: str, mine: Tally, theirs: Tally) -> str:
    """The counts of the same truth in which two tallies differ, in words; empty if they agree."""
    here, there = mine.truth_counts(), theirs.truth_counts()
    apart = [name for name, array in here.items() if not np.array_equal(array, there[name])]
    if not apart:
        return ""
    one, other = (np.asarray(counts[apart[0]]).tolist() for counts in (there, here))
    return f"the truth of {image} is the same, yet its count ({apart[0]}) is {one}, expected {other}"


def contradictions(cards: Sequence[Card]) -> dict[int, str]:
    """Find cards whose counts of a truth are not those of most cards with the same truth and protocol: a sentence by position.

    Where no count is that of most cards, all of them are named: one is wrong, and nothing here tells which.
    """
    groups: dict[tuple[str, str, bool, TruthDigests], list[int]] = {}
    for n, card in enumerate(cards):
        for image in card.images:
            groups.setdefault((str(card.signature), image, card.people, tuple(card.truths[image])), []).append(n)
    found: dict[int, str] = {}
    for (_, image, _, _), members in groups.items():
        counts = {n: _as_text(cards[n].tallies[image]) for n in members}
        (usual, votes), *others = [*Counter(counts.values()).most_common(2), ("", 0)]
        if votes == len(members):
            continue
        right = next((n for n in members if counts[n] == usual), None) if votes > others[0][1] else None
        for n in members:
            if counts[n] != usual or right is None:
                other = right if right is not None else next(k for k in members if counts[k] != counts[n])
                sentence = difference_of_counts(image, cards[other].tallies[image], cards[n].tallies[image])
                found.setdefault(n, f"{sentence} as on the card of {cards[other].system}")
    return found


def _as_text(tally: Tally) -> str:
    return str({name: np.asarray(array).tolist() for name, array in tally.truth_counts().items()})
