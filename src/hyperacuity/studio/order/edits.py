"""Regions that a person changes: two merged into one, or one split along a line.

Numbers of other regions stay as they are, but for one: where two are merged, the last region takes the number that becomes free.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from hyperacuity.maps import LabelMap
from hyperacuity.studio.order.regions import MAX_REGIONS, Regions
from hyperacuity.studio.order.relations import Pair, Statements, remove
from hyperacuity.studio.web import Refused

SMALLEST = 4
"""Pixels that a part of a split region has at least; what is smaller goes to the part beside it."""

FARTHEST = 100_000
"""Pixels beyond which no line goes."""


@dataclass(frozen=True)
class RegionMerge:
    """Two regions become one, which has the smaller number."""

    a: int
    b: int


@dataclass(frozen=True)
class RegionSplit:
    """A region is cut along a line x, y, x, y, …; the largest part keeps its number, the others are added at the end."""

    region: int
    line: tuple[int, ...]


Edit = RegionMerge | RegionSplit


def edited(labels: LabelMap, edits: Iterable[Edit]) -> LabelMap:
    """Regions 0, 1, … (void −1) after some edits.

    >>> labels = np.array([[0, 0, 1, 1, 2, 2]] * 6, np.int32)
    >>> edited(labels, [RegionMerge(1, 0)])[0].tolist(), edited(labels, [RegionSplit(2, (4, 2, 5, 2))])[[0, -1], 5].tolist()
    ([0, 0, 0, 0, 1, 1], [3, 2])
    """
    labels = labels.copy()
    for edit in edits:
        if isinstance(edit, RegionMerge):
            low, high = sorted((edit.a, edit.b))
            last = int(labels.max())
            labels[labels == high] = low
            labels[labels == last] = high if last != high else low
        else:
            parts = parts_of(labels, edit.region, edit.line)
            new = parts > 1
            labels[new] = int(labels.max()) + parts[new] - 1
    return labels


def parts_of(labels: LabelMap, region: int, line: Sequence[int]) -> NDArray[np.int32]:
    """The parts into which a line cuts a region: 1 the largest, 2, …; 0 elsewhere. Pieces that the line does not meet are in 1.

    >>> labels = np.zeros((6, 6), np.int32)
    >>> parts_of(labels, 0, (0, 2, 5, 2))[[0, 1, 3, 5], 0].tolist(), int(parts_of(labels, 0, (0, 2, 3, 2)).max())
    ([2, 2, 1, 1], 1)
    """
    inside = labels == region
    cut = _drawn(line, labels.shape) & inside
    pieces, _ = ndimage.label(inside)
    met = inside & np.isin(pieces, np.unique(pieces[cut]))
    cells, count = ndimage.label(met & ~cut)
    sizes = np.bincount(cells.ravel(), minlength=count + 1)[1:]
    large = np.flatnonzero(sizes >= SMALLEST) + 1
    parts: NDArray[np.int32] = inside.astype(np.int32)
    if large.size < 2:
        return parts
    rank = np.zeros(count + 1, np.int32)
    rank[large[np.argsort(-sizes[large - 1], kind="stable")]] = np.arange(1, large.size + 1)
    numbered = rank[cells]
    nearest = ndimage.distance_transform_edt(numbered == 0, return_distances=False, return_indices=True)
    parts[met] = numbered[tuple(nearest)][met]
    return parts


def _drawn(line: Sequence[int], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """The pixels of a line, connected diagonally at least, as far as they lie in the image."""
    drawn = np.zeros(shape, np.bool_)
    points = np.array(line, np.int64).reshape(-1, 2)
    for (x, y), (u, v) in pairwise(points.tolist()):
        steps = max(abs(u - x), abs(v - y), 1)
        columns = np.rint(np.linspace(x, u, steps + 1)).astype(np.int64)
        rows = np.rint(np.linspace(y, v, steps + 1)).astype(np.int64)
        seen = (rows >= 0) & (rows < shape[0]) & (columns >= 0) & (columns < shape[1])
        drawn[rows[seen], columns[seen]] = True
    return drawn


def merged_number(region: int, edit: RegionMerge, last: int) -> int:
    """Number of a region after two of the regions 0, …, ``last`` were merged.

    >>> [merged_number(region, RegionMerge(3, 1), 4) for region in range(5)]
    [0, 1, 2, 1, 3]
    """
    low, high = sorted((edit.a, edit.b))
    return low if region == high else high if region == last else region


def merged_statements(statements: Statements, edit: RegionMerge, last: int) -> Statements:
    """Statements after two of the regions 0, …, ``last`` were merged. Where both were placed, or related to a third, what was
    said of the one that keeps its number counts.

    >>> said = Statements({0: 1, 1: 2, 3: 3}, {(0, 2): 1, (1, 2): -1, (0, 1): 1})
    >>> merged_statements(said, RegionMerge(0, 1), 3)
    Statements(positions={0: 1, 1: 2}, pairs={(0, 2): 1})
    """
    low, high = sorted((edit.a, edit.b))
    positions = dict(statements.positions)
    if low in positions and high in positions:
        positions = remove(positions, high)
    pairs: dict[Pair, int] = {}
    for (a, b), relation in sorted(statements.pairs.items(), key=lambda one: high in one[0]):
        one, other = merged_number(a, edit, last), merged_number(b, edit, last)
        if one != other:
            pairs.setdefault((min(one, other), max(one, other)), relation if one < other else -relation)
    return Statements({merged_number(region, edit, last): at for region, at in positions.items()}, pairs)


def merged_pairs(pairs: Iterable[Pair], edit: RegionMerge, last: int) -> frozenset[Pair]:
    """Pairs of regions after two of the regions 0, …, ``last`` were merged."""
    renamed = ((merged_number(a, edit, last), merged_number(b, edit, last)) for a, b in pairs)
    return frozenset((min(pair), max(pair)) for pair in renamed if pair[0] != pair[1])


def shape_of(level: int, edits: Sequence[Edit]) -> str:
    """Name of the regions of a level after some edits, for the page.

    >>> shape_of(3, ()), len(shape_of(3, (RegionMerge(0, 1),)))
    ('3', 18)
    """
    digest = hashlib.blake2s(repr(edits).encode(), digest_size=8).hexdigest()
    return f"{level}.{digest}" if edits else str(level)


def edit_facts(edits: Iterable[Edit]) -> list[dict[str, object]]:
    """Edits for the provenance; regions are numbered from 1, as they were at the time."""
    return [
        {"merged": [edit.a + 1, edit.b + 1]}
        if isinstance(edit, RegionMerge)
        else {"split": edit.region + 1, "line": list(edit.line)}
        for edit in edits
    ]


def check_edit(regions: Regions, action: Mapping[str, Any]) -> None:
    """Refuse regions that do not exist or are not neighbours, and lines that are not valid."""
    for name in ("region", "a", "b"):
        if name in action and action[name] >= regions.count:
            raise Refused(422, f"{name}: there is no such region")
    if action["kind"] == "merge":
        pair = sorted((action["a"], action["b"]))
        if pair not in regions.pairs.tolist():
            raise Refused(422, "only neighbours can be merged")
    elif len(action["line"]) % 2 or any(type(one) is not int or abs(one) > FARTHEST for one in action["line"]):
        raise Refused(400, "line: expected whole numbers x, y, x, y, …")


def count_parts(regions: Regions, action: Mapping[str, Any]) -> int:
    """Count the parts into which a line cuts a region; ``Refused`` if it does not cut it, or for too many regions."""
    parts = int(parts_of(regions.labels, action["region"], action["line"]).max())
    if parts < 2:
        raise Refused(422, "this line does not divide the region: draw it from one side to the other")
    if regions.count + parts - 1 > MAX_REGIONS:
        raise Refused(422, f"these would be more than {MAX_REGIONS} regions")
    return parts
