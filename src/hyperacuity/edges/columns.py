"""Columns of edge measures, and what JSON and closing lines say of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperacuity.columns import Column, Columns, Lines
from hyperacuity.edges.benchmark import EdgeScore, EdgeTally, Protocol, wins
from hyperacuity.edges.names import measure


def columns(protocol: Protocol) -> Columns:
    """The measures, by the papers' symbols, with the mean threshold of each."""
    widest = max(map(len, protocol.names))
    return Columns(
        tuple(_minimum(m, name) for m, name in enumerate(protocol.names)),
        tuple(column for m, name in enumerate(protocol.names) for column in _more(m, name)),
        Lines(
            "measure",
            ("minimum", "threshold", "wins"),
            {
                f"{name.ljust(widest)}  {measure(name).symbol}": (name, f"threshold of {name}", f"wins of {name}")
                for name in protocol.names
            },
            by_line=True,
        ),
        across=_wins,
        as_dict=as_dict,
    )


def _minimum(m: int, name: str) -> Column:
    return Column(
        name,
        measure(name).symbol,
        "min",
        4,
        f"{name}: mean over images of the least score",
        value=lambda score: float(score.minimum[m]),
        interval=lambda score: score.interval[m],
        screen_digits=4,
    )


def _more(m: int, name: str) -> tuple[Column, Column]:
    threshold, won = f"threshold of {name}", f"wins of {name}"
    return (
        Column(threshold, threshold, "", 1, value=lambda score: float(score.threshold[m])),
        Column(won, won, "", 1, screen_digits=1),
    )


def _wins(systems: Mapping[str, Mapping[str, EdgeTally]]) -> dict[str, dict[str, float]]:
    """Images on which each system has the lowest minimum, by measure; nothing for one system."""
    if len(systems) < 2:
        return {}
    names = next(iter(next(iter(systems.values())).values())).protocol.names  # type: ignore[attr-defined]  # of edges
    return {
        system: {f"wins of {name}": float(won) for name, won in zip(names, row, strict=True)}
        for system, row in wins(systems).items()
    }


def as_dict(score: EdgeScore, system: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A system's least score by each measure, with its interval and threshold."""
    measures: dict[str, Any] = {}
    for m, name in enumerate(score.protocol.names):
        best = {"minimum": float(score.minimum[m]), "interval": score.interval[m].tolist()}
        won = {"wins": values[f"wins of {name}"]} if f"wins of {name}" in values else {}
        measures[name] = best | {"threshold": float(score.threshold[m])} | won
    return {"images": score.images, "measures": measures}
