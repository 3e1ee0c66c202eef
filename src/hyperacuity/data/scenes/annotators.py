"""Simulated annotators: people who outline the same picture with more or less patience and a not quite steady hand.

Regions vanish one after another, the least important first: importance is area times squared colour difference to the region
that would absorb it. An annotator of detail q keeps a share q of the regions and traces it with a smooth wobble of about a pixel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data.formats.berkeley import boundaries_of
from hyperacuity.data.scenes.dice import Dice, Floats
from hyperacuity.data.scenes.truth import regions
from hyperacuity.maps import EdgeMap, LabelMap

_SPECK = 24
"""Pieces of fewer pixels than this are never outlined."""

_MOTIF = 16
"""Factor by which a difference within a sheet counts less than one between sheets."""


@dataclass(frozen=True, eq=False)
class Annotation:
    """One annotator's drawing: the share of regions kept, the segmentation, and its boundaries."""

    detail: float
    labels: LabelMap
    boundaries: EdgeMap


def annotate(
    dice: Dice, parts: LabelMap, sheets: LabelMap, image: NDArray[np.uint8], *, count: int, jitter: float, unit: float
) -> tuple[Annotation, ...]:
    """``count`` annotations, the most patient first. ``parts`` are the finest regions, ``sheets`` the sheet of each pixel."""
    steps = merging_order(parts, sheets, image)
    finest = int(parts.max()) + 1
    specks = np.bincount(parts.ravel(), minlength=finest) < _SPECK
    worth = finest - int(specks.sum())
    drawn = []
    for detail in (1 - 0.8 * i / max(1, count - 1) for i in range(count)):
        kept = max(1, int(worth * detail + 0.5))
        seen = _merged(finest, steps[: max(0, finest - kept)])[parts]
        traced = _without_specks(regions(_wobbled(dice, seen, jitter * max(1.0, unit), unit)))
        drawn.append(Annotation(detail, traced, boundaries_of(traced)))
    return tuple(drawn)


def merging_order(parts: LabelMap, sheets: LabelMap, image: NDArray[np.uint8]) -> list[tuple[int, int]]:
    """The order in which regions vanish: (region, the neighbour that absorbs it), until one region is left.

    Specks go first, whatever their colour. Whole numbers throughout, ties by the smaller number, so the order is the same
    everywhere.
    """
    flat = parts.ravel()
    count = int(flat.max()) + 1
    area: list[int] = np.bincount(flat, minlength=count).tolist()
    sums: list[list[int]] = [
        np.bincount(flat, weights=image[..., c].ravel(), minlength=count).astype(np.int64).tolist() for c in range(3)
    ]
    sheet = np.zeros(count, np.int64)
    sheet[flat] = sheets.ravel()
    owner: list[int] = sheet.tolist()
    borders = _borders(parts)

    def absorber(region: int) -> int:
        near = borders[region]
        return min(near, key=lambda other: (owner[other] != owner[region], -near[other], other))

    def importance(region: int) -> int:
        other = absorber(region)
        if area[region] < _SPECK:
            return area[region] - _SPECK
        contrast = sum((band[region] // area[region] - band[other] // area[other]) ** 2 for band in sums)
        return area[region] * (contrast + 1) // (_MOTIF if owner[other] == owner[region] else 1)

    weight = {region: importance(region) for region in range(count)} if count > 1 else {}
    steps = []
    while len(weight) > 1:
        region = min(weight, key=lambda r: (weight[r], r))
        other = absorber(region)
        steps.append((region, other))
        area[other] += area[region]
        for band in sums:
            band[other] += band[region]
        for neighbour, length in borders.pop(region).items():
            del borders[neighbour][region]
            if neighbour != other:
                borders[neighbour][other] = borders[neighbour].get(other, 0) + length
                borders[other][neighbour] = borders[other].get(neighbour, 0) + length
        del weight[region]
        if len(weight) > 1:
            for changed in (other, *borders[other]):
                weight[changed] = importance(changed)
    return steps


def _borders(labels: LabelMap) -> dict[int, dict[int, int]]:
    """For every region its neighbours and the number of pixel pairs across their border."""
    count = int(labels.max()) + 1
    pairs = []
    for a, b in ((labels[:-1], labels[1:]), (labels[:, :-1], labels[:, 1:])):
        differs = a != b
        pairs.append(a[differs].astype(np.int64) * count + b[differs])
    borders: dict[int, dict[int, int]] = {region: {} for region in range(count)}
    result, lengths = np.unique(np.concatenate(pairs), return_counts=True)
    for pair, length in zip(result.tolist(), lengths.tolist(), strict=True):
        first, second = divmod(pair, count)
        total = borders[first].get(second, 0) + length
        borders[first][second] = borders[second][first] = total
    return borders


def _merged(count: int, steps: list[tuple[int, int]]) -> LabelMap:
    """For each region the one it ends up in after these steps."""
    final = np.arange(count, dtype=np.int32)
    for region, other in reversed(steps):
        final[region] = final[other]
    return final


def _without_specks(labels: LabelMap) -> LabelMap:
    """The segmentation after every piece below the size of a speck has gone to the neighbour it shares most border with."""
    while True:
        area = np.bincount(labels.ravel())
        small = np.flatnonzero(area < _SPECK)
        if len(small) == 0 or len(area) == 1:
            return labels
        borders = _borders(labels)
        target = np.arange(len(area), dtype=np.int32)
        for region in small.tolist():
            near = borders[region]
            target[region] = min(near, key=lambda other: (area[other] < _SPECK, -near[other], other))
        labels = regions(target[labels])


def _wobbled(dice: Dice, labels: LabelMap, jitter: float, unit: float) -> LabelMap:
    """The map read at points displaced smoothly by about ``jitter`` pixels (one standard deviation along each axis)."""
    height, width = labels.shape
    rows = np.arange(height)[:, None] + _wander(dice, labels.shape, unit) * jitter
    columns = np.arange(width)[None, :] + _wander(dice, labels.shape, unit) * jitter
    at_row = np.clip(np.floor(rows + 0.5), 0, height - 1).astype(np.int64)
    at_column = np.clip(np.floor(columns + 0.5), 0, width - 1).astype(np.int64)
    return labels[at_row, at_column]


def _wander(dice: Dice, shape: tuple[int, int], unit: float) -> Floats:
    """A smooth random field of unit variance, a quick tremor over a slow drift."""
    return _field(dice, shape, 18 * max(unit, 0.5)) * 2.0 + _field(dice, shape, 70 * max(unit, 0.5)) * 1.5


def _field(dice: Dice, shape: tuple[int, int], spacing: float) -> Floats:
    """Smoothly interpolated lattice values, uniform in [−1, 1]."""
    rows, columns = (int(length / spacing) + 2 for length in shape)
    lattice = (dice.words(rows * columns) >> np.uint64(11)).astype(np.float64).reshape(rows, columns) * 2.0**-52 - 1
    points = [np.arange(length) / spacing for length in shape]
    whole = [np.floor(point).astype(np.int64) for point in points]
    part = [point - np.floor(point) for point in points]
    blend = [p * p * (3 - 2 * p) for p in part]
    lines = lattice[:, whole[1]] * (1 - blend[1]) + lattice[:, whole[1] + 1] * blend[1]
    down = blend[0][:, None]
    field: Floats = lines[whole[0]] * (1 - down) + lines[whole[0] + 1] * down
    return field
