"""Painting sheets of paper: patterns, light, shadows.

Everything here is computed per pixel with ``+ − × ÷`` and ``floor`` in double precision, and random texture comes from an
integer hash of lattice points. numba neither reorders nor fuses such operations without ``fastmath``, so every machine
paints the same picture. Patterns are soft-edged at the scale of a pixel, which is why one evaluation per sheet and pixel
is enough although outlines are sampled more finely.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hyperacuity.kernels import Flags, Float64s, Int16s, Int64s, Uint8s, allocating_kernel, kernel

PLAIN, STRIPES, WASH, SPECKLE, WOVEN, DOTS, GINGHAM, WAVES, HATCH, FELT = range(10)
"""The kinds of paper."""


class Light(NamedTuple):
    """Direction and strength of the light."""

    towards_x: float
    towards_y: float
    reach: float
    """Displacement of a shadow, in pixels per unit of height."""
    strength: float
    """Share of the direct light that a sheet keeps away, in [0, 1]."""
    direct: tuple[float, float, float]
    ambient: tuple[float, float, float]
    brightest_x: float
    brightest_y: float
    falloff: float
    """Loss of direct light per squared pixel from the brightest point."""


class Shadows(NamedTuple):
    """Blurred masks of all sheets in cells of some pixels, one level of blur after another."""

    masks: Uint8s
    """Levels × cells; one sheet's cells after another's."""
    boxes: Int64s
    """Per sheet: where its cells start in ``masks``, then left, top, width and height in cells."""
    near: Flags
    """Rows × columns of tiles × sheets: whether a sheet can shade a tile at all."""
    cell: int
    tile: int


class Sheets(NamedTuple):
    """Sheets to paint, far to near."""

    shifts: Int64s
    """By how many samples a sheet stands to the left of its position in the world."""
    heights: Float64s
    kinds: Int64s
    seeds: Int64s
    lay: Float64s
    """Per sheet: origin x, y; direction across the pattern x, y; pitch; grain; curl x, y per pixel."""
    tones: Float64s
    """Per sheet the colours of the paper, of its pattern and of its motif, in linear light."""


@kernel
def _hash(x: int, y: int, seed: int) -> float:
    """A number in [0, 1) for a lattice point; 32-bit mixing in 64-bit integers, which cannot overflow."""
    h = (x * 374761393 + y * 668265263 + seed * 69069) & 0xFFFFFFFF
    h = ((h ^ (h >> 13)) * 1274126177) & 0xFFFFFFFF
    h = ((h ^ (h >> 15)) * 668265263) & 0xFFFFFFFF
    return (h ^ (h >> 16)) * (1.0 / 4294967296.0)


@kernel
def _noise(u: float, v: float, seed: int) -> float:
    """Value noise in [0, 1]: hashed lattice points, smoothly interpolated."""
    left, top = math.floor(u), math.floor(v)
    x, y = int(left), int(top)
    a, b = u - left, v - top
    a, b = a * a * (3 - 2 * a), b * b * (3 - 2 * b)
    upper = _hash(x, y, seed) * (1 - a) + _hash(x + 1, y, seed) * a
    lower = _hash(x, y + 1, seed) * (1 - a) + _hash(x + 1, y + 1, seed) * a
    return upper * (1 - b) + lower * b


@kernel
def _clamp(value: float) -> float:
    return min(max(value, 0.0), 1.0)


@kernel
def _wave(turns: float) -> float:
    """A smooth wave of period 1 in [−1, 1], made of parabolas."""
    part = turns - math.floor(turns)
    if part < 0.5:
        return 16 * part * (0.5 - part)
    return -16 * (part - 0.5) * (1 - part)


@kernel
def _line(u: float, pitch: float, share: float) -> float:
    """Soft-edged stripes across u: 1 on the given share of each pitch, 0 elsewhere."""
    part = u / pitch - math.floor(u / pitch)
    distance = (share * 0.5 - abs(part - 0.5)) * pitch
    return _clamp(distance / 1.2 + 0.5)


@kernel
def _spots(u: float, v: float, pitch: float, seed: int) -> float:
    """Irregular chips, one per lattice cell."""
    x, y = math.floor(u / pitch), math.floor(v / pitch)
    most = 0.0
    for j in range(y - 1, y + 2):
        for i in range(x - 1, x + 2):
            radius = pitch * (0.05 + 0.33 * _hash(i, j, seed + 3) * _hash(i, j, seed + 4))
            du = u - (i + 0.15 + 0.7 * _hash(i, j, seed + 1)) * pitch
            dv = v - (j + 0.15 + 0.7 * _hash(i, j, seed + 2)) * pitch
            most = max(most, _clamp((radius - math.sqrt(du * du + dv * dv)) / 1.2 + 0.5))
    return most


@kernel
def _pattern(kind: int, u: float, v: float, pitch: float, seed: int) -> float:
    """Share of the second tone at a point of the sheet, in [0, 1]."""
    if kind == STRIPES:
        return _line(u, pitch * 1.6, 0.42)
    if kind == WASH:
        slow = (
            _noise(u / (pitch * 7), v / (pitch * 7), seed) * 0.6
            + _noise(u / (pitch * 2.6), v / (pitch * 2.6), seed + 1) * 0.3
        )
        return _clamp((slow + _noise(u / pitch, v / pitch, seed + 2) * 0.1 - 0.22) * 1.7)
    if kind == SPECKLE:
        return _spots(u, v, pitch, seed) * 0.85
    if kind == DOTS:
        row = math.floor(v / pitch / 1.5)
        du = u / pitch / 1.7 + 0.5 * (row - 2 * math.floor(row / 2))
        du = (du - math.floor(du) - 0.5) * pitch * 1.7
        dv = (v / pitch / 1.5 - row - 0.5) * pitch * 1.5
        return _clamp((pitch * 0.42 - math.sqrt(du * du + dv * dv)) / 1.2 + 0.5)
    if kind == GINGHAM:
        return 0.5 * (_line(u, pitch * 2, 0.5) + _line(v, pitch * 2, 0.5)) * 0.85
    if kind == WAVES:
        return _line(u + pitch * 0.45 * _wave(v / pitch / 3.2), pitch * 1.5, 0.4)
    if kind == HATCH:
        wobble = u + 1.4 * _noise(v / 14, u / 14, seed)
        return _line(wobble, pitch * 0.8, 0.16) * _clamp(_noise(u / 6, v / 24, seed + 1) * 2.2 - 0.25) * 0.75
    if kind == FELT:
        return _clamp(_noise(u / 2.2, v / 2.2, seed) * 0.5 + _noise(u / 9, v / 5, seed + 1) * 0.7 - 0.25)
    if kind == WOVEN:
        return 0.35 * _noise(u / 1.6, v / 26, seed) + 0.35 * _noise(u / 26, v / 1.6, seed + 1)
    return 0.12 * _noise(u / 30, v / 30, seed)


@kernel
def _height(kind: int, u: float, v: float, seed: int) -> float:
    """The sheet's relief at a point, about [0, 1]: fibres for most, threads for woven cloth."""
    if kind == WOVEN:
        thread = 3.4
        a, b = u / thread, v / thread
        i, j = math.floor(a), math.floor(b)
        over = (i + j) - 2 * math.floor((i + j) / 2)
        across = (a - i - 0.5) if over < 0.5 else (b - j - 0.5)
        along = (b - j - 0.5) if over < 0.5 else (a - i - 0.5)
        return (1 - 3 * across * across) * (1 - 1.2 * along * along) * 0.9 + 0.25 * _noise(u / 1.3, v / 1.3, seed + 9)
    fine = _noise(u / 1.7, v / 1.7, seed + 7)
    fibres = _noise(u / 5.5, v / 1.9, seed + 8)
    if kind == FELT:
        return 0.9 * fine + 1.1 * _noise(u / 3.1, v / 3.1, seed + 11) + 0.5 * fibres
    return 0.55 * fine + 0.45 * fibres


@kernel
def _shade(masks: Uint8s, level: int, box: Int64s, x: float, y: float) -> float:
    """A blurred mask at a point given in cells, by bilinear interpolation; 0 outside its box."""
    left, top = math.floor(x), math.floor(y)
    i, j = int(left) - box[1], int(top) - box[2]
    if i < 0 or j < 0 or i >= box[3] - 1 or j >= box[4] - 1:
        return 0.0
    a, b = x - left, y - top
    at = box[0] + j * box[3] + i
    upper = masks[level, at] * (1 - a) + masks[level, at + 1] * a
    at += box[3]
    lower = masks[level, at] * (1 - a) + masks[level, at + 1] * a
    return float((upper * (1 - b) + lower * b) * (1 / 255.0))


@allocating_kernel
def blur_masks(masks: Uint8s, boxes: Int64s, radii: Int64s) -> None:
    """Fill each further level of every mask with a running mean of the level before, twice across and twice down."""
    for k in range(boxes.shape[0]):
        start, width, height = boxes[k, 0], boxes[k, 3], boxes[k, 4]
        if width == 0 or height == 0:
            continue
        size = max(width, height)
        line = np.empty(size, np.int64)
        for level in range(masks.shape[0]):
            source = masks[max(level - 1, 0), start : start + width * height].reshape(height, width)
            target = masks[level, start : start + width * height].reshape(height, width)
            for j in range(height):
                for i in range(width):
                    target[j, i] = source[j, i]
            for _ in range(2):
                for j in range(height):
                    _running_mean(target[j], line, radii[level])
                for i in range(width):
                    _running_mean(target[:, i], line, radii[level])


@kernel
def _running_mean(values: Uint8s, line: Int64s, radius: int) -> None:
    """Mean of 2·radius + 1 neighbours in whole numbers, in place; the ends repeat their last value."""
    count = values.shape[0]
    for i in range(count):
        line[i] = values[i]
    total = radius * line[0]
    for i in range(radius + 1):
        total += line[min(i, count - 1)]
    width = 2 * radius + 1
    for i in range(count):
        values[i] = (total + radius) // width
        total += line[min(i + radius + 1, count - 1)] - line[max(i - radius, 0)]


@kernel
def _reaching(
    k: int, x: float, y: float, heights: Float64s, shadows: Shadows, near: Flags, light: Light
) -> tuple[float, float]:
    """Direct and ambient light, each in [0, 1], that reach sheet ``k`` at a point past all sheets above it."""
    direct, ambient = 1.0, 1.0
    cell, masks, boxes = shadows.cell, shadows.masks, shadows.boxes
    levels = masks.shape[0]
    for other in range(k + 1, heights.shape[0]):
        if not near[other]:
            continue
        rise = heights[other] - heights[k]
        softness = min(rise * 0.2, levels - 1.0)
        level = min(int(softness), levels - 2)
        part = softness - level
        u = (x + light.towards_x * rise * light.reach) / cell - 0.5
        v = (y + light.towards_y * rise * light.reach) / cell - 0.5
        sharp, soft = _shade(masks, level, boxes[other], u, v), _shade(masks, level + 1, boxes[other], u, v)
        direct *= 1 - light.strength * (sharp * (1 - part) + soft * part)
        ambient *= 1 - 0.8 * light.strength * _shade(masks, levels - 1, boxes[other], x / cell - 0.5, y / cell - 0.5)
    return direct, ambient


@kernel
def _census(codes: Int16s, top: int, left: int, grid: int, seen: Int64s, shares: Int64s) -> int:
    """Count a pixel's samples by their codes; returns the number of different codes."""
    count = 0
    for j in range(top, top + grid):
        for i in range(left, left + grid):
            code = codes[j, i]
            slot = 0
            while slot < count and seen[slot] != code:
                slot += 1
            if slot == count:
                seen[count] = code
                shares[count] = 0
                count += 1
            shares[slot] += 1
    return count


@kernel
def _rim(codes: Int16s, top: int, left: int, grid: int, parts: int, step_x: int, step_y: int, code: int) -> int:
    """Number of a pixel's samples of one code at an edge that faces the light, less those at one that turns away."""
    height, width = codes.shape
    rim = 0
    for j in range(top, top + grid):
        for i in range(left, left + grid):
            if codes[j, i] != code:
                continue
            for sense in (1, -1):
                y, x = j + sense * step_y, i + sense * step_x
                if 0 <= y < height and 0 <= x < width and codes[y, x] // parts < code // parts:
                    rim += sense
    return rim


@kernel
def _inside(codes: Int16s, top: int, left: int, grid: int, parts: int, step_x: int, step_y: int) -> bool:
    """True if the corners of a pixel, moved towards and away from the light, show the sheet that the pixel shows."""
    height, width = codes.shape
    sheet = codes[top, left] // parts
    for sense in (1, -1):
        for j in (top, top + grid - 1):
            for i in (left, left + grid - 1):
                y, x = j + sense * step_y, i + sense * step_x
                if 0 <= y < height and 0 <= x < width and codes[y, x] // parts != sheet:
                    return False
    return True


@allocating_kernel
def photograph(codes: Int16s, grid: int, parts: int, sheets: Sheets, shadows: Shadows, light: Light) -> Float64s:
    """One view in linear light, H×W×3, from the map of which sheet each of grid × grid samples per pixel shows.

    A sample's code is ``parts · sheet + part``; part 0 is the paper, part 1 the motif on it.
    """
    height, width = codes.shape[0] // grid, codes.shape[1] // grid
    picture = np.zeros((height, width, 3), np.float64)
    samples = grid * grid
    seen = np.empty(samples, np.int64)
    shares = np.empty(samples, np.int64)
    step_x, step_y = math.floor(light.towards_x * grid * 0.9 + 0.5), math.floor(light.towards_y * grid * 0.9 + 0.5)
    for row in range(height):
        for column in range(width):
            top, left = row * grid, column * grid
            count = _census(codes, top, left, grid, seen, shares)
            inside = count == 1 and _inside(codes, top, left, grid, parts, step_x, step_y)
            for slot in range(count):
                k, part = seen[slot] // parts, seen[slot] % parts
                rim = 0.0 if inside else _rim(codes, top, left, grid, parts, step_x, step_y, seen[slot]) / shares[slot]
                x, y = column + 0.5 + sheets.shifts[k] / grid, row + 0.5
                near = shadows.near[row // shadows.tile, int(x) // shadows.tile]
                direct, ambient = _reaching(k, x, y, sheets.heights, shadows, near, light)

                kind, seed, lay = sheets.kinds[k], sheets.seeds[k], sheets.lay[k]
                dx, dy = x - lay[0], y - lay[1]
                u, v = dx * lay[2] + dy * lay[3], dy * lay[2] - dx * lay[3]
                lit_u = light.towards_x * lay[2] + light.towards_y * lay[3]
                lit_v = light.towards_y * lay[2] - light.towards_x * lay[3]
                relief = lay[5] * (_height(kind, u, v, seed) - _height(kind, u + lit_u, v + lit_v, seed))
                curl = min(max(dx * lay[6] + dy * lay[7], -1.0), 1.0)
                off_x, off_y = x - light.brightest_x, y - light.brightest_y
                falloff = 1 - light.falloff * (off_x * off_x + off_y * off_y)
                sun = direct * falloff * (1 + 0.07 * curl + 0.22 * relief + 0.16 * rim)
                sky = ambient * (1 + 0.06 * relief)

                second = _pattern(kind, u, v, lay[4], seed)
                for c in range(3):
                    first = sheets.tones[k, part * 2, c]
                    tone = first + (sheets.tones[k, 1, c] - first) * second
                    share = shares[slot] / samples
                    picture[row, column, c] += share * tone * (light.direct[c] * sun + light.ambient[c] * sky)
    return picture
