"""The look that charts share."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

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
