"""The look that charts share."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from hyperacuity.errors import UsageError
from hyperacuity.report import theme

alt = pytest.importorskip("altair")
pytest.importorskip("vl_convert")


def chart() -> object:
    theme.register()
    return alt.Chart({"values": [{"x": 1, "y": 2}]}).mark_point().encode(x="x:Q", y="y:Q")


@settings(deadline=None, max_examples=80)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_labels_keep_apart_in_the_order_of_their_lines(places: list[float]) -> None:
    gap = 0.1
    found = theme.spread(places, gap, low=0, high=1)
    in_order = [found[n] for n in sorted(range(len(places)), key=lambda n: places[n])]
    assert all(b - a >= gap - 1e-9 for a, b in pairwise(in_order))
    assert min(found) >= -1e-9
    assert max(found) <= 1 + 1e-9
    if all(b - a >= gap for a, b in pairwise(sorted(places))):
        assert found == pytest.approx(places)


def test_systems_differ_in_more_than_colour() -> None:
    styles = theme.systems([f"system {n}" for n in range(8)])
    assert len({style.marker for style in styles.values()}) == 8
    assert len({(style.colour, tuple(style.dash)) for style in styles.values()}) == 8
    meaningful = {theme.HIT, theme.FALSE, theme.MISS, theme.INCONSISTENT, theme.HUMAN.colour}
    assert not meaningful & {style.colour for style in styles.values()}


def linear(colour: str) -> np.ndarray:
    """Linear light of a colour of the web (IEC 61966-2-1)."""
    value = np.array([int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)])
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


SIGHTS = {
    "usual": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
"""How colours look without one kind of cones: Machado, Oliveira & Fernandes (2009), in linear light."""


def oklab(light: np.ndarray) -> np.ndarray:
    """Ottosson's colour space, in which distances are as large as they look."""
    to_cones = [[0.41222, 0.53633, 0.05145], [0.21190, 0.68070, 0.10740], [0.08830, 0.28172, 0.62998]]
    to_lab = [[0.21045, 0.79362, -0.00407], [1.97800, -2.42859, 0.45059], [0.02590, 0.78277, -0.80868]]
    return np.array(to_lab) @ np.cbrt(np.array(to_cones) @ light)


@pytest.mark.parametrize("sight", SIGHTS)
def test_eight_systems_are_told_apart_by_colour(sight: str) -> None:
    seen = [
        oklab(np.clip(np.array(SIGHTS[sight]) @ linear(style.colour), 0, 1))
        for style in theme.systems([f"system {n}" for n in range(8)]).values()
    ]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 0.08  # a just noticeable one is 0.02


def test_systems_stand_out_on_light_and_dark_pages() -> None:
    def luminance(colour: str) -> float:
        return float(linear(colour) @ [0.2126, 0.7152, 0.0722])

    def contrast(one: str, other: str) -> float:  # as the W3C's guidelines have it
        low, high = sorted((luminance(one), luminance(other)))
        return (high + 0.05) / (low + 0.05)

    for style in theme.systems([f"system {n}" for n in range(8)]).values():
        assert contrast(style.colour, "#ffffff") > 2.2
        assert contrast(style.colour, "#16181d") > 2.2


def test_systems_beyond_the_eighth_differ_in_colour_marker_or_dash() -> None:
    styles = theme.systems([f"system {n}" for n in range(32)]).values()
    assert len({(style.colour, style.marker) for style in styles}) == 32


@pytest.mark.parametrize("suffix", [".svg", ".png", ".json"])
def test_a_chart_is_written_with_its_signature(suffix: str, tmp_path: Path) -> None:
    path = theme.save(chart(), tmp_path / f"chart{suffix}", signature="edges|v:1")
    if suffix == ".png":
        with Image.open(path) as picture:
            assert min(picture.size) > 100
            assert picture.mode == "RGB"
    else:
        assert "edges|v:1" in path.read_text(encoding="utf-8")


def test_a_chart_cannot_be_written_just_anywhere(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a chart is written as"):
        theme.save(chart(), tmp_path / "chart.bmp")
    with pytest.raises(UsageError, match="cannot be written"):
        theme.save(chart(), tmp_path / "nowhere" / "chart.svg")
