"""Region scores as people and programs read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console

from hyperacuity.evaluation.export import Column
from hyperacuity.evaluation.tables import closing, counts, interval, new_table, number, paired
from hyperacuity.regions.benchmark import LevelSummary, RegionScore

if TYPE_CHECKING:
    from hyperacuity.evaluation.result import Result

COLUMNS = (
    Column("covering", "covering", note="Of the annotators' regions, at the best level for all images"),
    Column("pri", "PRI", note="Probabilistic Rand index, at the best level for all images"),
    Column("vi", "VI", better="min", note="Variation of information, at the best level for all images"),
)


def summary(result: Result) -> dict[str, Any]:
    """The result for JSON."""
    scores: dict[str, RegionScore] = result.scores
    systems = {
        name: {
            "images": score.images,
            "covering": _as_dict(score.covering) | {"best": score.best},
            "pri": _as_dict(score.pri),
            "vi": _as_dict(score.vi),
        }
        for name, score in scores.items()
    }
    images = max((score.images for score in scores.values()), default=0)
    return {"signature": str(result.signature), "images": images, "systems": systems, **paired(result)}


def _as_dict(summary: LevelSummary) -> dict[str, Any]:
    return {"ods": summary.ods, "ois": summary.ois, "level": summary.level, "interval": summary.interval}


def numbers(score: RegionScore) -> dict[str, float]:
    """What a row of a table says of a system besides its criteria."""
    parts = (("covering", score.covering), ("pri", score.pri), ("vi", score.vi))
    found = {f"{name} {what}": getattr(own, what) for name, own in parts for what in ("ois", "level")}
    return {**found, "best covering": score.best}


def show(result: Result, console: Console) -> None:
    """One line per system and measure."""
    scores: dict[str, RegionScore] = result.scores
    table = new_table("system", "measure", right=("ODS", "95 % interval", "level", "OIS", "best"))
    for name, score in scores.items():
        rows = (("covering ↑", score.covering, number(score.best)), ("PRI ↑", score.pri, ""), ("VI ↓", score.vi, ""))
        for n, (measure, found, best) in enumerate(rows):
            ods = (number(found.ods), interval(found.interval, 4), number(found.level, 2))
            table.add_row("" if n else name, measure, *ods, number(found.ois), best, end_section=n == 2)
    console.print(table)
    closing(result, console, counts(result, {name: score.images for name, score in scores.items()}))
