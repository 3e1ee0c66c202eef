"""The world: sheets of paper, one above another, each at its own depth.

A sheet is flat, faces the cameras and has one disparity, so everything about it is known exactly. World coordinates are those
of the left view, in pixels; the right view shows a sheet shifted to the left by its disparity. Outlines are kept in fixed
point, :data:`FINE` units to the pixel, and disparities in whole samples, :data:`GRID` to the pixel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data.scenes import shapes
from hyperacuity.data.scenes.dice import Dice, direction
from hyperacuity.data.scenes.papers import Palette, Paper, draw_palette, draw_paper

Pair = tuple[float, float]

GRID = 5
"""Samples per pixel along each axis; odd, so that one of them lies at the pixel's centre."""

FINE = 64 * GRID
"""Units of fixed point per pixel."""


@dataclass(frozen=True)
class Polygons:
    """Closed contours in fixed point: corners x, y, and the index at which each contour ends."""

    corners: NDArray[np.int64]
    ends: NDArray[np.int64]


@dataclass(frozen=True)
class PaperSheet:
    """One cut-out: what, where, of which paper. The sheet at the very back has no outline: it covers everything."""

    kind: str
    paper: Paper
    centre: Pair
    radius: float
    outline: Polygons | None
    motif: Polygons | None


@dataclass(frozen=True)
class World:
    """All sheets, far to near, with their disparities in samples (strictly growing), and the direction towards the light."""

    size: tuple[int, int]
    unit: float
    sheets: tuple[PaperSheet, ...]
    shifts: NDArray[np.int64]
    towards_light: Pair


def make_world(dice: Dice, *, size: tuple[int, int], leaves: int, radii: Pair, disparities: Pair) -> World:
    """Draw a world: a ground, a few wide sheets and the given number of leaves.

    Radii follow the density r⁻³ between the two ``radii`` (shares of the shorter side), under which a dead leaves image looks
    the same at every scale (Lee, Mumford & Huang 2001). Larger leaves tend to lie farther back.
    """
    width, height = size
    unit = min(size) / 320
    palette = draw_palette(dice)
    kinds = dice.sample(shapes.LEAVES, 4 + dice.integer(3))
    backing = draw_paper(dice, palette, unit=unit, radius=max(size), ground=True)
    ground = PaperSheet("ground", backing, (width / 2, height / 2), max(size), None, None)
    wide = _wide_sheets(dice, palette, size, unit)
    drawn = []
    for _ in range(leaves):
        far, near = (1 / (end * end) for end in radii)
        radius = min(size) * float(1 / np.sqrt(far + (near - far) * dice.unit()))
        depth = radius * dice.between(0.4, 2.2)
        centre = (dice.between(-0.04, 1.1) * width, dice.between(-0.04, 1.04) * height)
        paper = draw_paper(dice, palette, unit=unit, radius=radius)
        drawn.append((depth, _cut(dice, dice.choose(kinds), paper, centre, radius, dice.unit())))
    drawn.sort(key=lambda entry: -entry[0])
    sheets = (ground, *wide, *(sheet for _, sheet in drawn))
    turn = dice.between(-0.46, -0.29) if dice.chance(0.7) else dice.between(-0.21, -0.04)
    return World(size, unit, sheets, _shifts(dice, len(sheets), disparities), direction(turn))


def _wide_sheets(dice: Dice, palette: Palette, size: tuple[int, int], unit: float) -> list[PaperSheet]:
    """Two to four big pieces behind the leaves: hills one before another, or overlapping forms."""
    width, height = size
    count = 2 + dice.integer(3)
    rolling = dice.chance(0.5)
    sheets = []
    for i in range(count):
        if rolling:
            make: shapes.Maker = shapes.hills
            centre = (width / 2, (0.3 + 0.62 * (i + dice.between(0.1, 0.9)) / count) * height)
            radius = max(size) / 3
        else:
            make = dice.choose((shapes.blob, shapes.polygon, shapes.strip, shapes.ellipse))
            centre = (dice.unit() * width, dice.unit() * height)
            radius = min(size) * dice.between(0.35, 0.6)
        paper = draw_paper(dice, palette, unit=unit, radius=radius)
        sheets.append(_cut(dice, make, paper, centre, radius, dice.unit()))
    return sheets


def _cut(dice: Dice, make: shapes.Maker, paper: Paper, centre: Pair, radius: float, turn: float) -> PaperSheet:
    if make in shapes.UPRIGHT:
        turn = dice.between(-0.06, 0.06)
    shape = make(dice)
    heading = direction(turn)
    outline = _fixed(shape.outline, centre, radius, heading)
    motif = _fixed(shape.motif, centre, radius, heading) if shape.motif else None
    return PaperSheet(make.__name__, paper, centre, radius, outline, motif)


def _fixed(outline: shapes.Outline, centre: Pair, radius: float, heading: Pair) -> Polygons:
    points = np.concatenate(outline)
    x = (points[:, 0] * heading[0] - points[:, 1] * heading[1]) * radius + centre[0]
    y = (points[:, 1] * heading[0] + points[:, 0] * heading[1]) * radius + centre[1]
    corners = np.floor(np.stack([x, y], axis=1) * FINE + 0.5).astype(np.int64)
    return Polygons(corners, np.cumsum([len(contour) for contour in outline]).astype(np.int64))


def _shifts(dice: Dice, count: int, disparities: Pair) -> NDArray[np.int64]:
    """Disparities in samples, from the first to the last, each larger than the one before by a random step."""
    low, high = (int(np.floor(value * GRID + 0.5)) for value in disparities)
    steps = [0.0]
    for _ in range(count - 1):
        steps.append(steps[-1] + dice.between(0.3, 1.7))
    free = high - low - (count - 1)
    return np.array([low + i + int(free * step / steps[-1]) for i, step in enumerate(steps)], np.int64)
