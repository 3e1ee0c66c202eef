"""Labelled edge maps: candidates of a source, a threshold, and what a person added and erased.

A map is never stored; it is replayed. Candidates whose strength reaches the threshold are edges, but for pixels that an action
has decided: *add*, *path* and *keep* make pixels edges, *erase*, *chain* and *lasso* make them none, the last one counts.
Deciding pixels and moving the threshold are independent, so a threshold moved later keeps what was drawn. Candidates may come
from several sources, the gradient and a network say; *source* goes from one to another, each has its threshold, and
what was decided stays. The page in the browser replays by the same rules; :func:`checksum` tells whether both came to the same
map.

Pixels are numbered row by row. A set of pixels is a list of runs: start, length, start, length and so on.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.detect import masks, rosin
from hyperacuity.maps import EdgeMap

TOP = 65535
"""The level of the strongest candidate."""

GRADIENT = "gradient"
"""The source of candidates that there always is: the masks [−1 0 1]."""

DRAWN = "drawn"
"""Origin of an edge pixel that was no candidate when it was decided."""

ADDING = ("add", "path", "keep")
ERASING = ("erase", "chain", "lasso")
ACTIONS = ("threshold", *ADDING, *ERASING)

_FREE, _EDGE, _NONE = 0, 1, 2


@dataclass(frozen=True, eq=False)
class EdgeCandidates:
    """Candidates for edges: the gradient of an image in levels, and which pixels survive non-maximum suppression.

    Attributes
    ----------
    level : uint16 H×W, the length of the gradient; the strongest candidate has :data:`TOP`.
    survives : bool H×W.
    start : the threshold to start with, a level from 1 to :data:`TOP`: Rosin's corner of the candidates' histogram.
    """

    level: NDArray[np.uint16]
    survives: NDArray[np.bool_]
    start: int

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self.level.nbytes + self.survives.nbytes

    def above(self, threshold: int) -> EdgeMap:
        """The candidates that reach a threshold."""
        reached: EdgeMap = self.survives & (self.level >= threshold)
        return reached


@dataclass(frozen=True)
class Action:
    """An action of a person: a new threshold (a level), pixels (runs) that were added or erased, or another source.

    ``sources`` are ids: of *source* the one that is taken from here on, of *offer* those that there were to choose from.
    """

    kind: str
    runs: tuple[int, ...] = ()
    threshold: int | None = None
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Replayed:
    """The map after all actions, as wide as it was drawn; the source and the threshold in force; where each edge comes from.

    ``origin`` is int16 H×W: the index of the source of which an edge pixel is a candidate or was one when it was kept, −1 for
    what was drawn. Only edges have one that means something.
    """

    edges: EdgeMap
    source: str
    threshold: int
    origin: NDArray[np.int16]
    sources: tuple[str, ...]

    def accepted(self, edges: EdgeMap) -> dict[str, int]:
        """Count the edges that come from each source, and those that were drawn."""
        counts = np.bincount(self.origin[edges] + 1, minlength=len(self.sources) + 1).tolist()
        return {**dict(zip(self.sources, counts[1:], strict=True)), DRAWN: counts[0]}


def find_candidates(image: NDArray[Any]) -> EdgeCandidates:
    """The candidates of a photograph (grey or colour, 8 or 16 bit). A flat image has none.

    References
    ----------
    Abdulrahman, Magnier & Montesinos (2017), section 3.1.

    Examples
    --------
    >>> step = np.zeros((3, 6), np.uint8); step[:, 3:] = 200
    >>> find_candidates(step).above(TOP).astype(int)[1]
    array([0, 0, 1, 0, 0, 0])
    """
    seen = masks(image, thin_norm="none")
    survives = seen.thin > 0
    if not survives.any():
        return EdgeCandidates(np.zeros(survives.shape, np.uint16), survives, TOP)
    shares = np.minimum(seen.strength / seen.thin.max(), 1)
    level = np.maximum(np.rint(shares * TOP), survives).astype(np.uint16)
    return EdgeCandidates(level, survives, max(1, round(rosin(level[survives]))))


def replay_sources(candidates: Mapping[str, EdgeCandidates], actions: Iterable[Action]) -> Replayed:
    """The map after all actions. ``candidates`` are those of several sources, by id; the first is in force at the beginning.

    >>> step = np.zeros((4, 6), np.uint8); step[:, 3:] = 200
    >>> actions = [Action("erase", (6, 6)), Action("add", (10, 1))]
    >>> replay_sources({GRADIENT: find_candidates(step)}, actions).edges.astype(int)
    array([[0, 0, 0, 0, 0, 0],
           [0, 0, 0, 0, 1, 0],
           [0, 0, 1, 0, 0, 0],
           [0, 0, 0, 0, 0, 0]])
    """
    sources = tuple(candidates)
    source = sources[0]
    shape = candidates[source].level.shape
    thresholds = {name: one.start for name, one in candidates.items()}
    decided = np.zeros(candidates[source].level.size, np.uint8)
    origin = np.full(decided.size, -1, np.int16)
    for action in actions:
        if action.threshold is not None:
            thresholds[source] = action.threshold
        if action.kind == "source":
            source = action.sources[0]
        where = pixels(action.runs)
        if action.kind == "keep":  # an edge that was decided before stays what it was
            shown = (decided[where] == _FREE) & candidates[source].above(thresholds[source]).ravel()[where]
            origin[where] = np.where(shown, sources.index(source), origin[where])
        else:
            origin[where] = -1
        decided[where] = _EDGE if action.kind in ADDING else _NONE
    decision = decided.reshape(shape)
    free: EdgeMap = candidates[source].above(thresholds[source]) & (decision == _FREE)
    from_where = np.where(free, np.int16(sources.index(source)), origin.reshape(shape)).astype(np.int16)
    return Replayed(free | (decision == _EDGE), source, thresholds[source], from_where, sources)


def pixels(runs: Sequence[int]) -> NDArray[np.int64]:
    """The pixels of a list of runs.

    >>> pixels([3, 2, 10, 1])
    array([ 3,  4, 10])
    """
    pairs = np.asarray(runs, dtype=np.int64).reshape(-1, 2)
    starts, lengths = pairs[:, 0], pairs[:, 1]
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())


def are_runs(runs: Sequence[Any], size: int) -> bool:
    """True for a list of runs within an image of this many pixels: in order, apart from each other, none empty.

    >>> are_runs([3, 2, 10, 1], 11), are_runs([3, 2, 4, 1], 11), are_runs([10, 2], 11), are_runs([1], 11)
    (True, False, False, False)
    """
    if len(runs) % 2 or not all(type(number) is int and 0 <= number <= size for number in runs):
        return False
    pairs = np.asarray(runs, dtype=np.int64).reshape(-1, 2)
    ends = pairs.sum(axis=1)
    return bool((pairs[:, 1] > 0).all() and (ends <= size).all() and (pairs[1:, 0] >= ends[:-1]).all())


def checksum(edges: EdgeMap) -> int:
    """CRC-32 of a map, one byte per pixel, row by row; the page computes the same."""
    return zlib.crc32(edges.tobytes())
