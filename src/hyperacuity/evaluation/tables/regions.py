"""Region scores as people and programs read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console

from hyperacuity.evaluation.tables import closing, counts, interval, new_table, number, paired
from hyperacuity.regions.benchmark import LevelSummary, RegionScore

if TYPE_CHECKING:
    from hyperacuity.evaluation.result import Result


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
