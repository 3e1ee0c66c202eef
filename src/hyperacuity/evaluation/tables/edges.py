"""Edge measures as people and programs read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from hyperacuity.edges import EdgeScore, Protocol, measure, wins
from hyperacuity.evaluation.export import Column
from hyperacuity.evaluation.tables import closing, counts, interval, number, paired

if TYPE_CHECKING:
    from hyperacuity.evaluation.result import Result


def _wins(result: Result) -> Mapping[str, Any]:
    return wins(result.by_system) if len(result.scores) > 1 else {}


def summary(result: Result) -> dict[str, Any]:
    """The result for JSON."""
    won = _wins(result)
    return {
        "signature": str(result.signature),
        "systems": {name: _system(score, won.get(name)) for name, score in result.scores.items()},
        **paired(result),
    }


def _system(score: EdgeScore, won: Any) -> dict[str, Any]:
    measures = {}
    for m, name in enumerate(score.protocol.names):
        best = {"minimum": float(score.minimum[m]), "interval": score.interval[m].tolist()}
        best |= {"threshold": float(score.threshold[m])} | ({} if won is None else {"wins": float(won[m])})
        measures[name] = best
    return {"images": score.images, "measures": measures}


def columns(protocol: Protocol) -> tuple[Column, ...]:
    """The measures, by the papers' symbols."""
    return tuple(
        Column(name, measure(name).symbol, better="min", digits=4, note=f"{name}: mean over images of the least score")
        for name in protocol.names
    )


def numbers(score: EdgeScore) -> dict[str, float]:
    """What a row of a table says of a system besides its measures: the mean threshold of each."""
    return {f"threshold of {name}": float(at) for name, at in zip(score.protocol.names, score.threshold, strict=True)}


def show(result: Result, console: Console) -> None:
    """One line per measure and system; the lowest minimum of each measure is marked with a star."""
    scores: Mapping[str, EdgeScore] = result.scores
    won = _wins(result)
    table = Table("measure", "", "system", box=None, pad_edge=False)
    for heading in ("minimum", "", "95 % interval", "threshold", *(["wins"] if won else [])):
        table.add_column(heading, justify="left" if not heading else "right")
    for m, name in enumerate(next(iter(scores.values())).protocol.names):
        lowest = min(float(score.minimum[m]) for score in scores.values())
        for n, (system, score) in enumerate(scores.items()):
            best = len(scores) > 1 and float(score.minimum[m]) == lowest
            title = (name, measure(name).symbol) if n == 0 else ("", "")
            lowest_at = (interval(score.interval[m], 4), number(score.threshold[m], 2))
            row = [*title, system, number(score.minimum[m]), "*" if best else "", *lowest_at]
            row += [number(won[system][m], 1)] if won else []
            table.add_row(*row, style="bold" if best else None, end_section=n == len(scores) - 1)
    console.print(table)
    closing(result, console, counts(result, {name: score.images for name, score in scores.items()}))
