"""Whatever is kept and was damaged is a miss or a named error; ``fuzz/kept.py`` does the same as often as one likes."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("httpx", reason="the studio needs the package httpx")


def test_damaged_artefacts_are_misses_or_named_errors(monkeypatch, many):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "fuzz"))
    import kept

    endings, wrong = kept.fuzz(many(80, 4000), seed=3)
    assert wrong == []
    assert {name for name in kept.ARTEFACTS if endings[f"{name}: named"] or endings[f"{name}: right"]} == set(
        kept.ARTEFACTS
    )
    assert endings["cards: named"]
    assert endings["arrays: right"]
