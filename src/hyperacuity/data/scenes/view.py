"""The two views of a world: which sheet every sample shows, and the photographs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data.scenes.dice import Dice, Floats, bell
from hyperacuity.data.scenes.world import FINE, GRID, Polygons, World
from hyperacuity.kernels import paper as kernel
from hyperacuity.kernels import raster
from hyperacuity.kernels.paper import Light, Shadows, Sheets

PARTS = 2
"""Parts of a sheet that a sample may show: the plain paper (0) or the motif on it (1)."""

Codes = NDArray[np.int16]

_BLUR = np.array([1, 2, 3], np.int64)  # radii of the running means, in cells, one on top of the other
_TILE = 16  # pixels
_TALL = 18.0  # height of the nearest sheet above the ground, in pixels of a picture 320 high


def sample_views(world: World) -> tuple[Codes, Codes]:
    """For every sample of the left and of the right view the code ``PARTS · sheet + part``: painter's algorithm, far to near."""
    width, height = world.size
    left = np.zeros((height * GRID, width * GRID), np.int16)
    right = np.zeros_like(left)
    for k, sheet in enumerate(world.sheets):
        for part, contours in enumerate((sheet.outline, sheet.motif)):
            if contours is None:
                continue
            runs = raster.spans(contours.corners, contours.ends, FINE // GRID, height * GRID)
            first = PARTS * k if part else 0
            last = PARTS * k + 1
            raster.paint(left, runs, 0, PARTS * k + part, first, last)
            raster.paint(right, runs, int(world.shifts[k]), PARTS * k + part, first, last)
    return left, right


def cast_shadows(world: World) -> Shadows:
    """Each sheet's mask on a coarse grid, blurred to three degrees."""
    width, height = world.size
    cell = max(1, int(2 * world.unit + 0.5))
    margin = 40 * cell
    extent = np.array([[-margin, -margin], [width + int(world.shifts[-1]) // GRID + margin, height + margin]])
    boxes = np.zeros((len(world.sheets), 5), np.int64)
    pieces = []
    total = 0
    for k, sheet in enumerate(world.sheets):
        if sheet.outline is None:
            continue
        mask = _coarse_mask(sheet.outline, extent, cell, boxes[k])
        boxes[k, 0] = total
        total += mask.size
        pieces.append(mask.ravel())
    masks = np.zeros((len(_BLUR), total), np.uint8)
    masks[0] = np.concatenate(pieces)
    kernel.blur_masks(masks, boxes, _BLUR)
    return Shadows(masks, boxes, _near(boxes, extent, cell), cell, _TILE)


def _coarse_mask(outline: Polygons, extent: NDArray[np.int64], cell: int, box: NDArray[np.int64]) -> NDArray[np.uint8]:
    """A sheet's mask in cells, with a margin for blurring; ``box`` receives its corner and size in cells."""
    margin = 12
    low = np.maximum(outline.corners.min(axis=0) // (FINE * cell) - margin, extent[0] // cell)
    high = np.minimum(-(-outline.corners.max(axis=0) // (FINE * cell)) + margin, extent[1] // cell)
    columns, rows = (int(count) for count in np.maximum(high - low, 0))
    box[1:] = low[0], low[1], columns, rows
    pixels = np.zeros((rows * cell, columns * cell), np.int16)
    runs = raster.spans(outline.corners - low * cell * FINE, outline.ends, FINE, rows * cell)
    raster.paint(pixels, runs, 0, 1, 0, 0)
    share: NDArray[np.int64] = pixels.reshape(rows, cell, columns, cell).sum(axis=(1, 3), dtype=np.int64)
    return (share * 255 // (cell * cell)).astype(np.uint8)


def _near(boxes: NDArray[np.int64], extent: NDArray[np.int64], cell: int) -> NDArray[np.bool_]:
    """Sheets that can shade each tile of the world: rows × columns of tiles × sheets."""
    columns, rows = int(extent[1, 0]) // _TILE + 1, int(extent[1, 1]) // _TILE + 1
    near = np.zeros((rows, columns, len(boxes)), np.bool_)
    reach = 24 * cell
    for k, (_, x, y, width, height) in enumerate(boxes.tolist()):
        if width * height:
            top, left = max(0, (y * cell - reach) // _TILE), max(0, (x * cell - reach) // _TILE)
            bottom, right = ((y + height) * cell + reach) // _TILE + 1, ((x + width) * cell + reach) // _TILE + 1
            near[top:bottom, left:right, k] = True
    return near


def photograph(world: World, codes: Codes, shadows: Shadows, *, right: bool, shadow: float, texture: float) -> Floats:
    """One view in linear light, before lens and sensor."""
    width, height = world.size
    towards_x, towards_y = world.towards_light
    light = Light(
        towards_x=towards_x,
        towards_y=towards_y,
        reach=0.5 * world.unit,
        strength=float(shadow),
        direct=(0.80, 0.755, 0.68),
        ambient=(0.30, 0.325, 0.37),
        brightest_x=width * (0.5 + 0.22 * towards_x),
        brightest_y=height * (0.5 + 0.22 * towards_y),
        falloff=1.2 / (width * width + height * height),
    )
    papers = [sheet.paper for sheet in world.sheets]
    sheets = Sheets(
        shifts=world.shifts if right else np.zeros_like(world.shifts),
        heights=(world.shifts - world.shifts[0]) * (_TALL / (world.shifts[-1] - world.shifts[0])),
        kinds=np.array([paper.kind for paper in papers], np.int64),
        seeds=np.array([paper.seed for paper in papers], np.int64),
        lay=np.array(
            [
                (
                    *s.centre,
                    *s.paper.across,
                    s.paper.pitch,
                    s.paper.grain * texture,
                    *(curl / s.radius for curl in s.paper.curl),
                )
                for s in world.sheets
            ]
        ),
        tones=np.array([paper.tones for paper in papers]),
    )
    return kernel.photograph(codes, GRID, PARTS, sheets, shadows, light)


def expose(linear: Floats, dice: Dice, *, blur: float, noise: float) -> NDArray[np.uint8]:
    """Lens and sensor: a Gaussian blur, the display's square root, noise, eight bits.

    The noise has the same deviation at every grey level, because photon noise, which grows with √light, is even after √.
    """
    seen: Floats = np.sqrt(_blurred(_blurred(linear, bell(blur), 0), bell(blur), 1)) * 255
    if noise > 0:
        height, width = linear.shape[:2]
        shared = dice.normals((height, width, 1))
        seen = seen + (shared * 0.8 + dice.normals((height, width, 3)) * 0.6) * noise
    return np.floor(np.clip(seen, 0, 255) + 0.5).astype(np.uint8)


def _blurred(picture: Floats, weights: Floats, axis: int) -> Floats:
    """Weighted sum of neighbours along an axis, the border repeated."""
    radius = len(weights) - 1
    pad = [(0, 0)] * picture.ndim
    pad[axis] = (radius, radius)
    padded = np.moveaxis(np.pad(picture, pad, mode="edge"), axis, 0)
    count = picture.shape[axis]
    total: Floats = padded[radius : radius + count] * weights[0]
    for i in range(1, radius + 1):
        total += (padded[radius - i : radius - i + count] + padded[radius + i : radius + i + count]) * weights[i]
    return np.moveaxis(total, 0, axis)
