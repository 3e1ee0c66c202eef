"""Palettes and papers: which colours go together in one scene, and what each sheet is made of."""

from __future__ import annotations

from dataclasses import dataclass

from hyperacuity.data.scenes.dice import Dice, direction
from hyperacuity.kernels.paper import DOTS, FELT, GINGHAM, HATCH, PLAIN, SPECKLE, STRIPES, WASH, WAVES, WOVEN

Colour = tuple[float, float, float]

_PALETTES: tuple[tuple[str, str], ...] = (
    # grounds, then papers
    ("f2e8d5 d9c7a8", "e4572e f3a712 29335c a8c686 669bbc c6563c fcf6e8 3d6b5c"),
    ("1f2a44 2d3a5c", "f4d35e ee964b f95738 faf0ca 0d8a8a 7fb7be d3f3ee c44536"),
    ("dfe7e3 c5d5cf", "2f6f5e 8fb996 e0b354 d96c4f 394a59 f5efe0 b9cfc4 7a9e7e"),
    ("efe3dd e2cfc7", "b5525c e8a598 6d597a 355070 eab69f 56738f fbf3ee d88c7a"),
    ("c9a77c b58f62", "f7f1e3 2b2d42 d1495b edae49 00798c 66a182 8d5b4c efd9b4"),
    ("26413c 1d332f", "e3b23c edebd7 a39594 d9594c 6e9887 f0d7a1 3f6c62 c98b70"),
    ("e9edf2 ced7e2", "3a6ea5 c0d6e4 f2b134 ed553b 173f5f 20639b f6f0e4 7da0bd"),
    ("f7dfc9 efc9a7", "7a3b2e c8553d f28f3b 588b8b 2d5757 ffd5c2 b6465f 8a9b68"),
    ("3b2e3a 4d3b4b", "e8c1c5 c06c84 f8b195 f67280 6c5b7b 355c7d f5e6d3 99b898"),
    ("dcd8cf c8c1b4", "4a5043 9a8c7c b08968 ddb892 7f5539 e6ccb2 606c38 faf5ea"),
    ("d6eadf b8dccd", "eac4d5 809bce 95b8d1 e8a87c c38d9e 41b3a3 f6f1d1 5f7a9d"),
    ("f0ead6 e3d8b4", "1d3557 457b9d a8dadc e63946 f1c453 2a9d8f 8ab17d e9c46a"),
    ("4b5d67 3b4a52", "f6e7cb d9b48f bb9457 99582a e07a5f f2cc8f 81b29a cfe0dc"),
    ("fbf5ec efe2cf", "222f3e 576574 c8d6e5 ee5253 feca57 10ac84 01a3a4 f5cba7"),
)

# How often each kind is taken; plain paper is the most common, as in any craft box.
_KINDS = (PLAIN,) * 8 + (STRIPES,) * 2 + (WASH,) * 3 + (SPECKLE, WOVEN, DOTS, GINGHAM, WAVES, HATCH, FELT)
_GROUNDS = (PLAIN, PLAIN, WASH, WOVEN, SPECKLE, FELT)


@dataclass(frozen=True)
class Paper:
    """One sheet's stuff: its kind, two tones, the tone of its motif, and how the pattern lies."""

    kind: int
    tones: tuple[Colour, Colour, Colour]
    across: tuple[float, float]
    pitch: float
    grain: float
    curl: tuple[float, float]
    seed: int


@dataclass(frozen=True)
class Palette:
    """Colours in linear light that go together."""

    grounds: tuple[Colour, ...]
    papers: tuple[Colour, ...]


def draw_palette(dice: Dice) -> Palette:
    """One of the palettes, a few of its papers left in the box."""
    grounds, papers = dice.choose(_PALETTES)
    return Palette(
        tuple(_linear(code) for code in grounds.split()),
        tuple(dice.sample([_linear(code) for code in papers.split()], 6 + dice.integer(2))),
    )


def draw_paper(dice: Dice, palette: Palette, *, unit: float, radius: float, ground: bool = False) -> Paper:
    """A sheet in the palette's colours. ``unit`` scales the pattern with the picture; small pieces get finer patterns."""
    if ground:
        kind = dice.choose(_GROUNDS)
        first, second = palette.grounds[0], palette.grounds[1]
    else:
        kind = dice.choose(_KINDS)
        first, second = dice.sample(palette.papers, 2)
        if kind in (WASH, FELT, WOVEN):  # these want a tone of the same hue
            second = _toned(first, dice.choose([0.55, 0.7, 1.35]))
        elif kind == HATCH:
            second = _toned(first, 0.35)
    exposure = dice.between(0.88, 1.1)
    return Paper(
        kind=kind,
        tones=(_toned(first, exposure), _toned(second, exposure), _toned(first, dice.choose([0.55, 0.68, 1.45]))),
        across=direction(dice.unit()),
        pitch=max(3.5, min(unit * dice.choose([5.0, 7.0, 9.0, 12.0]), radius * 0.26)),
        grain=dice.between(0.6, 1.3),
        curl=(dice.between(-1.0, 1.0), dice.between(-1.0, 1.0)),
        seed=dice.integer(1 << 31),
    )


def _linear(code: str) -> Colour:
    """A hexadecimal colour in linear light. The display's exponent is taken as 2, so that √ undoes it exactly."""
    red, green, blue = (int(code[i : i + 2], 16) / 255 for i in (0, 2, 4))
    return red * red, green * green, blue * blue


def _toned(colour: Colour, factor: float) -> Colour:
    red, green, blue = (min(value * factor, 0.94) for value in colour)
    return red, green, blue
