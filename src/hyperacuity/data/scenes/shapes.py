"""Outlines to cut from paper: each function draws one kind of shape from the dice, about one unit in radius.

An outline is a tuple of closed contours, filled by the non-zero winding rule: contours of one sense unite, a contour of the
other sense is a hole. A shape may carry a ``motif``: an inner outline in another tone, which only a careful annotator
marks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hyperacuity.data.scenes.dice import Dice, Floats, cosine, sine

Outline = tuple[Floats, ...]


@dataclass(frozen=True)
class Shape:
    """An outline and the motif printed on it (empty for none)."""

    outline: Outline
    motif: Outline = ()


def _turns(count: int) -> Floats:
    turns: Floats = np.arange(count) / count
    return turns


def _polar(radius: Floats, turns: Floats) -> Floats:
    return np.stack([radius * cosine(turns), radius * sine(turns)], axis=1)


def _circle(x: float, y: float, radius: float, count: int = 48) -> Floats:
    turns = _turns(count)
    circle: Floats = _polar(np.full(count, radius), turns) + np.array([x, y])
    return circle


def _rounded(corners: Floats, cuts: int, depth: float = 0.2) -> Floats:
    """Corners cut off again and again (Chaikin): a smooth closed curve."""
    for _ in range(cuts):
        following = np.roll(corners, -1, axis=0)
        before = corners + (following - corners) * depth
        after = following + (corners - following) * depth
        corners = np.stack([before, after], axis=1).reshape(-1, 2)
        depth = 0.25
    return corners


def _smaller(outline: Outline, factor: float) -> Outline:
    return tuple(contour * factor for contour in outline)


def ellipse(dice: Dice) -> Shape:
    """An ellipse or a disc, sometimes with an inner one."""
    body = _circle(0, 0, 1, 72) * np.array([1, dice.choose([1.0, dice.between(0.45, 0.95)])])
    return Shape((body,), _smaller((body,), dice.between(0.4, 0.7)) if dice.chance(0.4) else ())


def polygon(dice: Dice) -> Shape:
    """Three to seven corners, sharp or rounded."""
    corners = 3 + dice.integer(5)
    turns = np.array([(i + dice.between(-0.28, 0.28)) / corners for i in range(corners)])
    outline = _polar(np.full(corners, 1.0), turns)
    return Shape((_rounded(outline, dice.choose([0, 3, 3]), dice.between(0.06, 0.2)),))


def blob(dice: Dice) -> Shape:
    """A pebble: a circle with a few slow waves."""
    turns = _turns(96)
    radius = np.ones(96)
    for wave in range(2, 6):
        radius = radius + dice.between(0.0, 0.42) / wave * cosine(wave * turns + dice.unit())
    body = _polar(radius * 0.88, turns)
    return Shape((body,), _smaller((body,), dice.between(0.45, 0.7)) if dice.chance(0.3) else ())


def flower(dice: Dice) -> Shape:
    """Round petals about a heart."""
    petals = 5 + dice.integer(5)
    turns = _turns(24 * petals)
    radius = 0.78 + dice.between(0.1, 0.24) * cosine(petals * turns)
    return Shape((_polar(radius, turns),), (_circle(0, 0, dice.between(0.2, 0.36)),) if dice.chance(0.7) else ())


def alga(dice: Dice) -> Shape:
    """A branching form with deep round lobes of unequal reach."""
    lobes = 5 + dice.integer(4)
    turns = _turns(28 * lobes)
    reach = 0.6 + 0.36 * cosine(lobes * turns)
    for wave in (1, 2):
        reach = reach * (1 + dice.between(0.0, 0.22) * cosine(wave * turns + dice.unit()))
    twist = dice.between(-0.05, 0.05) * reach
    return Shape((_polar(reach, turns + twist),))


def star(dice: Dice) -> Shape:
    """Five to eight points, sharp or soft."""
    points = 5 + dice.integer(4)
    inner = dice.between(0.42, 0.66)
    radius = np.where(np.arange(2 * points) % 2 == 0, 1.0, inner)
    body = _polar(radius, _turns(2 * points))
    body = _rounded(body, dice.choose([0, 2]), dice.between(0.08, 0.16))
    return Shape((body,), _smaller((body,), 0.5) if dice.chance(0.3) else ())


def leaf(dice: Dice) -> Shape:
    """A leaf with a bent midrib, plain or lobed; often its two halves differ in tone."""
    steps = np.arange(49) / 48
    width = dice.between(0.3, 0.55) * 4 * steps * (1 - steps) * (1 + dice.between(-0.5, 0.5) * (1 - 2 * steps))
    if dice.chance(0.3):
        width = width * (1 + dice.between(0.15, 0.32) * cosine(steps * (3 + dice.integer(4))))
    rib = np.stack([2 * steps - 1, dice.between(-0.5, 0.5) * (4 * steps * (1 - steps) - 0.5)], axis=1)
    up = rib + np.stack([np.zeros(49), width], axis=1)
    down = rib - np.stack([np.zeros(49), width], axis=1)
    body = np.concatenate([up, down[-2:0:-1]])
    half = np.concatenate([up + np.array([0.0, 0.1]), rib[::-1]])
    return Shape((body,), (half,) if dice.chance(0.6) else ())


def strip(dice: Dice) -> Shape:
    """A long ribbon, straight or waving."""
    steps = np.arange(97) / 96
    length, width = dice.between(2.2, 3.6), dice.between(0.12, 0.26)
    height = dice.choose([0.0, 0.22, 0.35]) * sine(steps * dice.between(0.7, 1.5) + dice.unit())
    along = (steps - 0.5) * 2 * length
    slope = (np.append(height[1:], height[-1]) - np.append(height[0], height[:-1])) * (48 / (2 * length))
    norm = np.sqrt(1 + slope * slope)
    side = np.stack([-slope / norm, 1 / norm], axis=1) * width
    spine = np.stack([along, height], axis=1)
    return Shape((np.concatenate([spine + side, (spine - side)[::-1]]),))


def cloud(dice: Dice) -> Shape:
    """Puffs in a row on a flat base."""
    puffs = 3 + dice.integer(3)
    outline = []
    for i in range(puffs):
        x = -0.75 + 1.5 * (i + dice.between(-0.15, 0.15)) / (puffs - 1)
        middle = 1 - x * x
        outline.append(_circle(x, -0.12 - 0.22 * middle, dice.between(0.26, 0.36) + 0.14 * middle))
    base = _rounded(np.array([[-1.0, -0.2], [1.0, -0.2], [1.0, 0.22], [-1.0, 0.22]]), 3, 0.12)
    return Shape((base, *outline))


def crescent(dice: Dice) -> Shape:
    """A moon."""
    outer = _polar(np.full(65, 1.0), (np.arange(65) / 64 - 0.5) * dice.between(0.58, 0.7))
    tip_x, tip_y = outer[-1]
    height = np.arange(31, -32, -1) / 32
    inner = np.stack([tip_x + dice.between(0.35, 1.0) * (1 - height * height), tip_y * height], axis=1)
    return Shape((np.concatenate([outer, inner]) - np.array([0.3, 0.0]),))


def ring(dice: Dice) -> Shape:
    """A disc with a hole."""
    return Shape((_circle(0, 0, 1, 72), _circle(0, 0, dice.between(0.45, 0.72), 64)[::-1]))


def heart(dice: Dice) -> Shape:
    """A heart, slim or broad."""
    turns = _turns(80)
    lobe = sine(turns)
    x = lobe * lobe * lobe * dice.between(0.9, 1.1)
    y = -(13 * cosine(turns) - 5 * cosine(2 * turns) - 2 * cosine(3 * turns) - cosine(4 * turns)) / 16
    return Shape((np.stack([x, y], axis=1),))


def fish(dice: Dice) -> Shape:
    """A lens of a body and a tail."""
    steps = np.arange(41) / 40
    arc = dice.between(0.34, 0.5) * 4 * steps * (1 - steps)
    up = np.stack([steps * 1.5 - 1, -arc], axis=1)
    down = np.stack([steps * 1.5 - 1, arc], axis=1)
    tail = np.array([[0.3, 0.0], [1.0, -0.45], [0.84, 0.0], [1.0, 0.45]])
    body = np.concatenate([up, down[-2:0:-1]])
    return Shape((body, _rounded(tail, 2, 0.08)), (_circle(-0.66, -0.08, 0.07, 24),) if dice.chance(0.7) else ())


# Capitals on a grid of 6 × 8 units: corners "x,y", contours parted by "/".
_LETTERS = {
    "A": "2.1,0 3.9,0 6.2,8 4.5,8 4.05,6.3 1.95,6.3 1.5,8 -0.2,8 / 3,2.2 2.3,4.9 3.7,4.9",
    "E": "0.4,0 5.6,0 5.6,1.6 2.1,1.6 2.1,3.2 5,3.2 5,4.7 2.1,4.7 2.1,6.4 5.6,6.4 5.6,8 0.4,8",
    "H": "0,0 1.7,0 1.7,3.1 4.3,3.1 4.3,0 6,0 6,8 4.3,8 4.3,4.7 1.7,4.7 1.7,8 0,8",
    "K": "0,0 1.7,0 1.7,3.2 4.1,0 6.1,0 3.1,3.9 6.2,8 4.1,8 1.7,4.7 1.7,8 0,8",
    "L": "0.6,0 2.3,0 2.3,6.4 5.6,6.4 5.6,8 0.6,8",
    "N": "0,0 1.7,0 4.4,4.9 4.4,0 6,0 6,8 4.4,8 1.6,3.1 1.6,8 0,8",
    "T": "0,0 6,0 6,1.6 3.85,1.6 3.85,8 2.15,8 2.15,1.6 0,1.6",
    "V": "-0.2,0 1.6,0 3,5.6 4.4,0 6.2,0 3.9,8 2.1,8",
    "X": "0,0 2,0 3,2.5 4,0 6,0 4.1,4 6,8 4,8 3,5.5 2,8 0,8 1.9,4",
    "Z": "0.2,0 5.8,0 5.8,1.4 2.3,6.4 5.8,6.4 5.8,8 0.2,8 0.2,6.6 3.7,1.6 0.2,1.6",
}


def letter(dice: Dice) -> Shape:
    """A plain capital."""
    contours = _LETTERS[dice.choose(sorted(_LETTERS))].split("/")
    corners = ([corner.split(",") for corner in contour.split()] for contour in contours)
    return Shape(tuple((np.array(contour, np.float64) - np.array([3.0, 4.0])) / 5 for contour in corners))


def hills(dice: Dice) -> Shape:
    """A sheet whose upper edge rolls: wide enough to reach beyond both sides of the picture."""
    steps = np.arange(129) / 128
    edge = np.zeros(129)
    for wave in (1.7, 3.1, 5.3):
        edge = edge + dice.between(0.03, 0.2) / wave * 1.7 * sine(wave * steps + dice.unit())
    top = np.stack([(steps - 0.5) * 8, edge], axis=1)
    return Shape((np.concatenate([top, np.array([[4.0, 4.0], [-4.0, 4.0]])]),))


Maker = Callable[[Dice], Shape]

LEAVES: tuple[Maker, ...] = (
    ellipse, polygon, blob, flower, alga, star, leaf, strip, cloud, crescent, ring, heart, fish, letter,
)  # fmt: skip
"""Every kind of shape that may lie anywhere; ``hills`` alone belongs at the back."""

UPRIGHT: tuple[Maker, ...] = (hills, cloud, heart, fish, letter)
"""Shapes that have an up and a down: they are tilted a little, not turned."""
